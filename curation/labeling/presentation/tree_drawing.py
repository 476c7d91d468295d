"""Trees of documents drawn as safe elements, whole or as the passage with the most query words.

A passage consists of whole blocks; a block that does not fit is cut and marked as continued. A short list or
table stays whole. A longer list or table is cut between items or rows, a long paragraph between sentences. A
cut table keeps its header rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from curation.core.spans import Span
from curation.labeling.presentation.excerpts import Segment, find_best_run, find_marked_spans, split_sentences
from curation.labeling.presentation.markable import Sentence, cut_segments
from curation.labeling.presentation.markup import BLOCKS, Branch, Element, Leaf, Node, Tree

_CONTINUED = BLOCKS - frozenset("h3 h4 h5 h6 hr li dd dt td th tr thead tbody tfoot caption".split())
"""Blocks that get a mark "continued" where they are cut; nested blocks get no mark."""
_TEXTLESS = frozenset("br hr img td th".split())
"""Elements that are shown without text."""
_HEADINGS = frozenset("h3 h4 h5 h6 caption thead".split())
"""Blocks that are kept together with the next block."""


class _Unit(NamedTuple):
    """A part of a document's text that is never cut; `heads` says whether it is the heading of the next
    part."""

    start: int
    end: int
    heads: bool


class _View(NamedTuple):
    """The part of a tree's text to show on screen, with highlighted words and markable sentences."""

    start: int
    end: int
    marks: list[Span]
    places: list[int]
    sentences: Sequence[Sentence]

    def nodes(self, leaf: Leaf) -> list[Node]:
        """Return the nodes for the part of a text leaf that is within the view."""
        first, last = max(self.start, leaf.start), min(self.end, leaf.start + len(leaf.text))
        pieces, end_of_last = [], first
        first_index, last_index = bisect_left(self.places, first), bisect_left(self.places, last)
        for index in range(max(0, first_index - 1), last_index):
            start, end = max(self.marks[index][0], end_of_last), min(self.marks[index][1], last)
            if start < end:
                pieces += [(end_of_last, start, False), (start, end, True)]
                end_of_last = end
        pieces.append((end_of_last, last, False))
        ranges = [(a - leaf.start, b - leaf.start, is_marked) for a, b, is_marked in pieces if a < b]
        segments = [Segment(leaf.text[start:end], is_marked) for start, end, is_marked in ranges]
        return wrap_sentences(segments, first, self.sentences)


def leave_out_title(tree: Tree, title: str) -> Tree:
    """Leave out a tree's first heading if it repeats the title and something follows; the text keeps its
    positions."""
    match tree.root.children:
        case [Branch(name="h3" | "h4" | "h5" | "h6") as heading, _, *_] as blocks:
            if tree.text[heading.start : heading.end].casefold().split() == title.casefold().split():
                root = replace(tree.root, start=heading.end, children=blocks[1:])
                return tree._replace(root=root)
    return tree


def find_passage(tree: Tree, stems: frozenset[str], longest: int, within: Span | None = None) -> Span:
    """Find the passage of at most `longest` characters in a tree's text that has the most distinct query
    stems.

    Parameters
    ----------
    within: the part of the text to choose from, extended to whole blocks.
    """
    units = _join_headings(_find_units(tree, tree.root, longest), longest)
    if within is not None:
        units = [unit for unit in units if unit.start < within[1] and unit.end > within[0]] or units
    if not units:
        return 0, len(tree.text)
    boundaries = [*(unit.start for unit in units), units[-1].end]
    first, last = find_best_run(tree.text, stems, boundaries, longest)
    return first, max(unit.end for unit in units if first <= unit.start < last)


def wrap_sentences(segments: Sequence[Segment], start: int, sentences: Sequence[Sentence]) -> list[Node]:
    """Wrap each sentence's segments in a `span` with the sentence's position (`cut_segments`)."""
    if not sentences:
        return [*segments]
    nodes: list[Node] = []
    for span, pieces in cut_segments(segments, start, sentences):
        nodes += pieces if span is None else [Element("span", {"at": span}, [*pieces])]
    return nodes


def draw_tree(tree: Tree, stems: frozenset[str], span: Span, sentences: Sequence[Sentence]) -> list[Node]:
    """Draw a part of a tree as safe elements, with words highlighted by stem.

    Parameters
    ----------
    sentences: the sentences that can be marked as evidence.
    """
    marks = find_marked_spans(tree.text[slice(*span)], stems)
    marks = [(start + span[0], end + span[0]) for start, end in marks]
    view = _View(*span, marks, [start for start, _ in marks], sentences)
    nodes = _draw_children(tree.root, view)
    _order_headings(nodes, 2)
    return nodes


def _find_units(tree: Tree, branch: Branch, longest: int) -> list[_Unit]:
    """Find the uncuttable parts: blocks that fit into a passage, otherwise their nested blocks, otherwise
    their sentences."""
    if branch.end - branch.start <= longest and branch.name:
        return [_Unit(branch.start, branch.end, branch.name in _HEADINGS)]
    units: list[_Unit] = []
    position = branch.start
    for block in _list_branches(branch):
        if block.name in BLOCKS:
            units += _split_into_units(tree, position, block.start, longest)
            units += _find_units(tree, block, longest)
            position = block.end
    units += _split_into_units(tree, position, branch.end, longest)
    return [unit for unit in units if tree.text[unit.start : unit.end].strip()]


def _split_into_units(tree: Tree, start: int, end: int, longest: int) -> list[_Unit]:
    boundaries = accumulate(map(len, split_sentences(tree.text[start:end], longest)), initial=start)
    return [_Unit(*span, False) for span in pairwise(boundaries)]


def _join_headings(units: Sequence[_Unit], longest: int) -> list[_Unit]:
    """Join each heading with the part of the text that follows it."""
    joined: list[_Unit] = []
    for unit in units:
        if joined and joined[-1].heads and unit.end - joined[-1].start <= longest:
            unit = unit._replace(start=joined.pop().start)
        joined.append(unit)
    return joined


def _draw_children(branch: Branch, view: _View) -> list[Node]:
    nodes: list[Node] = []
    for child in branch.children:
        if isinstance(child, Leaf):
            nodes += view.nodes(child)
        else:
            nodes += _draw_element(child, view)
    return nodes


def _draw_element(branch: Branch, view: _View) -> list[Node]:
    if branch.start == branch.end:  # a line break, a rule, an image, an empty cell
        if not view.start <= branch.start <= view.end:
            return []
        nodes = _draw_children(branch, view)
        return [Element(branch.name, branch.attributes, nodes)] if nodes or branch.name in _TEXTLESS else []
    if branch.end <= view.start or branch.start >= view.end:
        return []
    attributes = dict(branch.attributes)
    begins_earlier, ends_later = branch.start < view.start, branch.end > view.end
    if (begins_earlier or ends_later) and branch.name in _CONTINUED:
        cut_sides = {"before": begins_earlier, "after": ends_later}
        attributes["cut"] = " ".join(side for side, is_cut in cut_sides.items() if is_cut)
    if branch.name == "ol":
        left_out = sum(child.end <= view.start for child in _list_branches(branch))
        attributes |= {"start": str(int(attributes.get("start", "1")) + left_out)} if left_out else {}
    nodes = _draw_children(branch, view)
    if branch.name == "table" and begins_earlier:  # a table whose first rows are left out keeps its head
        for header in reversed(_list_branches(branch)):
            if header.name == "thead" and header.end <= view.start:
                nodes = [*_draw_element(header, view._replace(start=header.start, end=header.end)), *nodes]
    return [Element(branch.name, attributes, nodes)]


def _list_branches(branch: Branch) -> Sequence[Branch]:
    return [child for child in branch.children if isinstance(child, Branch)]


def _order_headings(nodes: list[Node], last_level: int) -> int:
    """Limit each heading to one level below the previous heading; return the level of the last heading."""
    for index, node in enumerate(nodes):
        if isinstance(node, Segment):
            continue
        if node.name in ("h3", "h4", "h5", "h6"):
            last_level = min(int(node.name[1]), last_level + 1)
            nodes[index] = node._replace(name=f"h{last_level}")
        else:
            last_level = _order_headings(node.children, last_level)
    return last_level
