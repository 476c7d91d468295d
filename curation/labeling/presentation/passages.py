"""The passage of a tree: whole blocks where they fit, and visibly continued where they do not.

A list or table that is short stays whole. A longer one is cut between its items or rows, a long paragraph
between its sentences. A table keeps its head.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from curation.core.spans import Span
from curation.labeling.presentation.elements import BLOCKS, Element, Node
from curation.labeling.presentation.excerpts import Segment, best_run, marked_spans, sentences
from curation.labeling.presentation.markable import Sentence, in_sentences
from curation.labeling.presentation.markup import Branch, Leaf, Tree

_CONTINUED = BLOCKS - frozenset("h3 h4 h5 h6 hr li dd dt td th tr thead tbody tfoot caption".split())
"""Blocks that say that they go on; of what is in them the reader sees it there."""

_EMPTY = frozenset("br hr img td th".split())
"""Elements that are shown without text."""

_HEADS = frozenset("h3 h4 h5 h6 caption thead".split())
"""Blocks that mean nothing without what follows."""


class _Unit(NamedTuple):
    """A part of the text that is not cut; `heads` if it is about the part after it."""

    start: int
    end: int
    heads: bool


class _View(NamedTuple):
    """What is shown of a tree: a part of its text, the marked parts, and the sentences that can be marked."""

    start: int
    end: int
    marks: list[Span]
    places: list[int]
    sentences: Sequence[Sentence]

    def nodes(self, leaf: Leaf) -> list[Node]:
        """The shown part of a leaf."""
        first, last = max(self.start, leaf.start), min(self.end, leaf.start + len(leaf.text))
        found, at = [], first
        before, after = bisect_left(self.places, first), bisect_left(self.places, last)
        for place in range(max(0, before - 1), after):
            start, end = max(self.marks[place][0], at), min(self.marks[place][1], last)
            if start < end:
                found += [(at, start, False), (start, end, True)]
                at = end
        pieces = [*found, (at, last, False)]
        shown = [
            Segment(leaf.text[a - leaf.start : b - leaf.start], marked) for a, b, marked in pieces if a < b
        ]
        return sentence_nodes(shown, first, self.sentences)


def passage_of(tree: Tree, stems: frozenset[str], longest: int, within: Span | None = None) -> Span:
    """The part of the tree's text with most different stems, of at most `longest` characters.

    Parameters
    ----------
    within: the part of the text to choose from, grown to whole blocks.
    """
    units = _with_heads(_units(tree, tree.root, longest), longest)
    if within is not None:
        units = [unit for unit in units if unit.start < within[1] and unit.end > within[0]] or units
    if not units:
        return 0, len(tree.text)
    places = [*(unit.start for unit in units), units[-1].end]
    first, last = best_run(tree.text, stems, places, longest)
    return first, max(unit.end for unit in units if first <= unit.start < last)


def sentence_nodes(segments: Sequence[Segment], start: int, among: Sequence[Sentence]) -> list[Node]:
    """Segments, those of a sentence within a `span` that has its place; see `markable.in_sentences`."""
    if not among:
        return [*segments]
    nodes: list[Node] = []
    for place, pieces in in_sentences(segments, start, among):
        nodes += pieces if place is None else [Element("span", {"at": place}, [*pieces])]
    return nodes


def drawn(tree: Tree, stems: frozenset[str], span: Span, among: Sequence[Sentence] = ()) -> list[Node]:
    """A part of a tree as safe elements, its words marked by stem.

    Parameters
    ----------
    among: the sentences that can be marked.
    """
    marks = marked_spans(tree.text[slice(*span)], stems)
    marks = [(start + span[0], end + span[0]) for start, end in marks]
    view = _View(*span, marks, [start for start, _ in marks], among)
    nodes = _children(tree.root, view)
    _order_headings(nodes, 2)
    return nodes


def _units(tree: Tree, branch: Branch, longest: int) -> list[_Unit]:
    """The parts that are not cut: blocks that fit, else their blocks, else their sentences."""
    if branch.end - branch.start <= longest and branch.name:
        return [_Unit(branch.start, branch.end, branch.name in _HEADS)]
    units: list[_Unit] = []
    at = branch.start
    for block in _branches(branch):
        if block.name in BLOCKS:
            units += _sentences(tree, at, block.start, longest)
            units += _units(tree, block, longest)
            at = block.end
    units += _sentences(tree, at, branch.end, longest)
    return [unit for unit in units if tree.text[unit.start : unit.end].strip()]


def _sentences(tree: Tree, start: int, end: int, longest: int) -> list[_Unit]:
    places = accumulate(map(len, sentences(tree.text[start:end], longest)), initial=start)
    return [_Unit(*span, False) for span in pairwise(places)]


def _with_heads(units: Sequence[_Unit], longest: int) -> list[_Unit]:
    """The parts, those that head another one together with it."""
    found: list[_Unit] = []
    for unit in units:
        if found and found[-1].heads and unit.end - found[-1].start <= longest:
            unit = unit._replace(start=found.pop().start)
        found.append(unit)
    return found


def _children(branch: Branch, view: _View) -> list[Node]:
    nodes: list[Node] = []
    for child in branch.children:
        if isinstance(child, Leaf):
            nodes += view.nodes(child)
        else:
            nodes += _element(child, view)
    return nodes


def _element(branch: Branch, view: _View) -> list[Node]:
    if branch.start == branch.end:  # a line break, a rule, an image, an empty cell
        if not view.start <= branch.start <= view.end:
            return []
        nodes = _children(branch, view)
        return [Element(branch.name, branch.attributes, nodes)] if nodes or branch.name in _EMPTY else []
    if branch.end <= view.start or branch.start >= view.end:
        return []
    attributes = dict(branch.attributes)
    sides = ["before"] * (branch.start < view.start) + ["after"] * (branch.end > view.end)
    if sides and branch.name in _CONTINUED:
        attributes["cut"] = " ".join(sides)
    if branch.name == "ol":
        left_out = sum(child.end <= view.start for child in _branches(branch))
        attributes |= {"start": str(int(attributes.get("start", "1")) + left_out)} if left_out else {}
    nodes = _children(branch, view)
    if branch.name == "table" and branch.start < view.start:
        nodes = [*_head(branch, view), *nodes]
    return [Element(branch.name, attributes, nodes)]


def _head(table: Branch, view: _View) -> list[Node]:
    """The head of a table whose first rows are left out."""
    heads = [part for part in _branches(table) if part.name == "thead" and part.end <= view.start]
    return [node for head in heads for node in _element(head, view._replace(start=head.start, end=head.end))]


def _branches(branch: Branch) -> Sequence[Branch]:
    return [child for child in branch.children if isinstance(child, Branch)]


def _order_headings(nodes: list[Node], last: int) -> int:
    """Lower no heading by more than one level at once, wherever the passage begins; the last level."""
    for place, node in enumerate(nodes):
        if isinstance(node, Segment):
            continue
        if node.name in ("h3", "h4", "h5", "h6"):
            last = min(int(node.name[1]), last + 1)
            nodes[place] = node._replace(name=f"h{last}")
        else:
            last = _order_headings(node.children, last)
    return last
