"""What changes between two guides: grades added, removed, renamed, redefined; the text word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from curation.core.similarity.text_blocks import TextBlock, word_blocks
from curation.core.text import amount
from curation.guides.front_matter import source_values
from curation.guides.guide import Grade, Guide

_WORDS = re.compile(r"\S+|\n+")
_SOFT = re.compile(r"(?<!\n)\n[ \t]*(?![\n#|>*\-\d])")
"""The end of a line within a paragraph of Markdown."""

_CONTEXT = 20
"""Words next to a change that are shown of what stays."""

_SUMMARIES = {"name": "renamed", "definition": "redefined", "key": "another key", "colour": "another colour",
         "examples": "other examples"}  # fmt: skip


@dataclass(frozen=True)
class GradeChange:
    """A grade of one value in two guides; None where a guide does not have it.

    changed: the entries that differ, of name, definition, key, colour, examples.
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
        """What became of it, in a few words."""
        if self.kind != "changed":
            return self.kind
        return ", ".join(_SUMMARIES[entry] for entry in self.changed)


@dataclass(frozen=True)
class GuideDifference:
    """Two guides side by side.

    Attributes
    ----------
    grades: every grade that one of them has, from the lowest.
    body: runs of words, in the order of the text.
    other: names of front-matter entries besides title and scale whose values differ.
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
        """Words removed from the text, and words added to it."""
        removed, added = (
            sum(len(block.text.split()) for block in self.body if block.kind == kind)
            for kind in ("removed", "added")
        )
        return removed, added

    @property
    def changed_body(self) -> tuple[TextBlock, ...]:
        """The changes of the text with some words around them; an ellipsis is in the place of the others."""
        last = len(self.body) - 1
        return tuple(
            _shortened(block, place > 0, place < last) if block.kind == "same" else block
            for place, block in enumerate(self.body)
        )

    @property
    def summary(self) -> list[str]:
        """A sentence for each thing that changes; one where nothing does."""
        said = []
        if self.before.title != self.after.title:
            said.append(f"The title changes from “{self.before.title}” to “{self.after.title}”.")
        said += [_sentence(changed_grade) for changed_grade in self.changed_grades]
        removed, added = self.body_changes
        if removed or added:
            said.append(f"The text loses {amount(removed, 'word')} and gains {added:,}.")
        said += [f"The entry “{name}” of the front matter changes." for name in self.other]
        if not said:
            said.append("They are the same." if self.same else "Only spaces or the file's layout differ.")
        return said


def guide_difference(before: Guide, after: Guide) -> GuideDifference:
    """What changes from one guide to the other."""
    old, new = ({grade.value: grade for grade in guide.scale} for guide in (before, after))
    grades = tuple(_change(value, old.get(value), new.get(value)) for value in sorted({*old, *new}))
    blocks = word_blocks(*(_WORDS.findall(_SOFT.sub(" ", guide.body)) for guide in (before, after)))
    return GuideDifference(before, after, grades, blocks, _other(before, after))


def _shortened(block: TextBlock, after_change: bool, before_change: bool) -> TextBlock:
    words = block.text.split(" ")
    head, tail = words[: _CONTEXT * after_change], words[len(words) - _CONTEXT * before_change :]
    if len(head) + len(tail) >= len(words):
        return block
    return TextBlock("same", " ".join([*head, "…", *tail]).strip("\n"))


def _change(value: int, before: Grade | None, after: Grade | None) -> GradeChange:
    changed: tuple[str, ...] = ()
    if before is not None and after is not None:
        changed = tuple(name for name in _SUMMARIES if getattr(before, name) != getattr(after, name))
    return GradeChange(value, before, after, changed)


def _sentence(grade_change: GradeChange) -> str:
    if grade_change.before is None or grade_change.after is None:
        grade = grade_change.after or grade_change.before
        assert grade is not None
        return f"Grade {grade_change.value}, “{grade.name}”, is {grade_change.kind}."
    name = f"Grade {grade_change.value}, “{grade_change.before.name}”"
    if "name" in grade_change.changed:
        name += f", is “{grade_change.after.name}” now"
    rest = [_SUMMARIES[entry] for entry in grade_change.changed if entry != "name"]
    return ", ".join([name, *rest]) + "."


def _other(before: Guide, after: Guide) -> tuple[str, ...]:
    """Unknown where the whole text of one is not stored."""
    if not (before.source and after.source):
        return ()
    old, new = (source_values(guide.source) for guide in (before, after))
    names = (name for name in {**old, **new} if name not in ("title", "scale"))
    return tuple(name for name in names if old.get(name) != new.get(name))
