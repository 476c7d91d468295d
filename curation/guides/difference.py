"""Differences between two labeling guides, in each grade and, word by word, in the text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from curation.core.similarity.text_blocks import TextBlock, word_blocks
from curation.core.text import pluralize
from curation.guides.front_matter import read_entries
from curation.guides.guide import Grade, Guide

_WORDS = re.compile(r"\S+|\n+")
_SOFT_BREAK = re.compile(r"(?<!\n)\n[ \t]*(?![\n#|>*\-\d])")
"""Pattern of a line end within a paragraph of Markdown."""
_CONTEXT_WORDS = 20
"""Number of unchanged words on each side of a change in a summary."""
_SUMMARIES = {"name": "renamed", "definition": "redefined", "key": "another key"}
_SUMMARIES |= {"colour": "another colour", "examples": "other examples"}
"""Entry of a grade → the words that describe a change of this entry."""


@dataclass(frozen=True)
class GradeChange:
    """The same grade in two labeling guides, before and after; None if a guide does not have the grade.

    changed: names of the entries of the grade that differ: name, definition, key, colour, examples.
    """

    value: int
    before: Grade | None
    after: Grade | None
    changed: tuple[str, ...]

    @property
    def kind(self) -> str:
        if self.before is None or self.after is None:
            return "added" if self.before is None else "removed"
        return "changed" if self.changed else "same"

    @property
    def summary(self) -> str:
        """Say in a few words how the grade changed between the two guides."""
        if self.kind != "changed":
            return self.kind
        return ", ".join(_SUMMARIES[entry] for entry in self.changed)


@dataclass(frozen=True)
class GuideDifference:
    """A comparison of two labeling guides.

    Attributes
    ----------
    grades: all grades of the two guides, from the lowest. body: equal, removed and added words, in the order
    of the text. other: names of front-matter entries besides title and scale whose values differ.
    """

    before: Guide
    after: Guide
    grades: tuple[GradeChange, ...]
    body: tuple[TextBlock, ...]
    other: tuple[str, ...]

    @property
    def same(self) -> bool:
        return self.before.guide_hash == self.after.guide_hash

    @property
    def changed_grades(self) -> tuple[GradeChange, ...]:
        return tuple(grade for grade in self.grades if grade.kind != "same")

    @property
    def body_changes(self) -> tuple[int, int]:
        """Return the numbers of words removed from and added to the guide's text."""
        counts = Counter[str]()
        for block in self.body:
            counts[block.kind] += len(block.text.split())
        return counts["removed"], counts["added"]

    @property
    def changed_body(self) -> tuple[TextBlock, ...]:
        """Return the changes in the guide's text, each with some words before and after it."""
        last = len(self.body) - 1
        return tuple(_shorten(block, index > 0, index < last) for index, block in enumerate(self.body))

    @property
    def summary(self) -> list[str]:
        """Return a sentence for each change between the two guides, or one sentence if nothing changes."""
        sentences = []
        if self.before.title != self.after.title:
            sentences.append(f"The title changes from “{self.before.title}” to “{self.after.title}”.")
        sentences += [_describe_change(changed_grade) for changed_grade in self.changed_grades]
        removed, added = self.body_changes
        if removed or added:
            sentences.append(f"The text loses {pluralize(removed, 'word')} and gains {added:,}.")
        sentences += [f"The entry “{name}” of the front matter changes." for name in self.other]
        if not sentences:
            layout = "Only spaces or the layout of the file differ."
            sentences.append("The guides are the same." if self.same else layout)
        return sentences


def compare_guides(before: Guide, after: Guide) -> GuideDifference:
    """Compare two labeling guides, grade by grade and word by word."""
    old, new = ({grade.value: grade for grade in guide.scale} for guide in (before, after))
    grades = tuple(_compare_grades(value, old.get(value), new.get(value)) for value in sorted({*old, *new}))
    blocks = word_blocks(*(_WORDS.findall(_SOFT_BREAK.sub(" ", guide.body)) for guide in (before, after)))
    return GuideDifference(before, after, grades, blocks, _find_changed_entries(before, after))


def _shorten(block: TextBlock, after_change: bool, before_change: bool) -> TextBlock:
    """Shorten an unchanged block of text to the words next to the changes; changed blocks stay whole."""
    words = block.text.split(" ")
    n_head = _CONTEXT_WORDS if after_change else 0
    n_tail = _CONTEXT_WORDS if before_change else 0
    head, tail = words[:n_head], words[len(words) - n_tail :]
    if block.kind != "same" or len(head) + len(tail) >= len(words):
        return block
    return TextBlock("same", " ".join([*head, "…", *tail]).strip("\n"))


def _compare_grades(value: int, before: Grade | None, after: Grade | None) -> GradeChange:
    changed: tuple[str, ...] = ()
    if before is not None and after is not None:
        changed = tuple(name for name in _SUMMARIES if getattr(before, name) != getattr(after, name))
    return GradeChange(value, before, after, changed)


def _describe_change(grade_change: GradeChange) -> str:
    if grade_change.before is None or grade_change.after is None:
        grade = grade_change.after or grade_change.before
        assert grade is not None
        return f"Grade {grade_change.value}, “{grade.name}”, is {grade_change.kind}."
    name = f"Grade {grade_change.value}, “{grade_change.before.name}”"
    if "name" in grade_change.changed:
        name += f", is “{grade_change.after.name}” now"
    changes = [_SUMMARIES[entry] for entry in grade_change.changed if entry != "name"]
    return ", ".join([name, *changes]) + "."


def _find_changed_entries(before: Guide, after: Guide) -> tuple[str, ...]:
    """Return the names of other front-matter entries that differ; none if a guide's text is not stored."""
    if not (before.source and after.source):
        return ()
    old, new = (read_entries(guide.source) for guide in (before, after))
    names = (name for name in {**old, **new} if name not in ("title", "scale"))
    return tuple(name for name in names if old.get(name) != new.get(name))
