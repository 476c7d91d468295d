"""What changes between two guides: grades, the text word by word, and which grades' labels are due for it.

A grade's own words are its name, definition and examples, and the lines of the guide's text about it alone: a
row, list item or heading that begins with its value or name, and what is below such a heading. The other
lines are about every grade. The rule by which labels are due (`reworded_grades`):

- own words changed, or the grade was removed: labels of this grade are due, and so is each pair for which
  somebody voted for it, whatever grade the pair has;
- a grade was added: labels of its neighbours on the scale are due, because each may have lost a part to it;
- other lines changed: all labels are due.

Guides of one line (see `guide_lines`) mean the same: wordings that either has count for both.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from curation.core.digests import canonical_json
from curation.core.similarity.text_blocks import TextBlock, word_blocks
from curation.core.text import pluralize
from curation.guides.guide import Grade, Guide
from curation.guides.guide_text import source_values
from curation.store import Cursor

_WORDS = re.compile(r"\S+|\n+")
_SOFT = re.compile(r"(?<!\n)\n[ \t]*(?![\n#|>*\-\d])")
"""The end of a line within a paragraph of Markdown."""
_CONTEXT = 20
"""Words next to a change that are shown of what stays."""
_SUMMARIES = {"name": "renamed", "definition": "redefined", "key": "another key", "colour": "another colour",
         "examples": "other examples"}  # fmt: skip
Wording = tuple[dict[int, str], str]
"""The words of a guide: by grade, and the words about every grade."""
Grades = frozenset[int | None]
"""None: also answers without a grade."""
_HEADING = re.compile(r"(#+)\s")
_BEGINS = r"[\s|*_#>`-]*(?:{})[*_`\s]*(?:[|:=(–—-]|$)"


@dataclass(frozen=True)
class GradeChange:
    """A grade of one value in two guides; None if a guide does not have it.

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
            _shortened(block, index > 0, index < last) if block.kind == "same" else block
            for index, block in enumerate(self.body)
        )

    @property
    def summary(self) -> list[str]:
        """A sentence for each thing that changes; one where nothing does."""
        sentences = []
        if self.before.title != self.after.title:
            sentences.append(f"The title changes from “{self.before.title}” to “{self.after.title}”.")
        sentences += [_sentence(changed_grade) for changed_grade in self.changed_grades]
        removed, added = self.body_changes
        if removed or added:
            sentences.append(f"The text loses {pluralize(removed, 'word')} and gains {added:,}.")
        sentences += [f"The entry “{name}” of the front matter changes." for name in self.other]
        if not sentences:
            sentences.append(
                "They are the same." if self.same else "Only spaces or the file's layout differ."
            )
        return sentences


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


def reworded_grades(cursor: Cursor, lines: Mapping[str, str], into: Guide) -> dict[str, Grades]:
    """Guide → its grades that read otherwise in the guide `into`, which need not be stored yet.

    Parameters
    ----------
    lines: guide → its line; see `guide_lines`.
    """
    words: defaultdict[str, list[Wording]] = defaultdict(list)
    for name, scale, body in cursor.execute("SELECT guide_hash, scale, body FROM guides").fetchall():
        words[lines[name]].append(_wording(json.loads(scale), body))
    line = lines[into.guide_hash]
    words[line].append(_wording([grade.model_dump() for grade in into.scale], into.body))
    changed = {line_of_guide: _changed(before, words[line]) for line_of_guide, before in words.items()}
    return {
        name: frozenset() if line_of_guide == line else changed[line_of_guide]
        for name, line_of_guide in lines.items()
    }


def _changed(before: Sequence[Wording], now: Sequence[Wording]) -> Grades:
    grades = {grade for wording in before for grade in wording[0]}
    if {wording[1] for wording in before}.isdisjoint(wording[1] for wording in now):
        return frozenset({*grades, None})
    kept = {item for wording in now for item in wording[0].items()}
    reworded = {
        grade for grade in grades if kept.isdisjoint((grade, wording[0].get(grade, "")) for wording in before)
    }
    added = {grade for wording in now for grade in wording[0]} - grades
    lower = {max((wording for wording in grades if wording < grade), default=None) for grade in added}
    higher = {min((wording for wording in grades if wording > grade), default=None) for grade in added}
    return frozenset(reworded | ((lower | higher) - {None}))


def _wording(scale: Sequence[Mapping[str, Any]], body: str) -> Wording:
    begins = {grade["value"]: _beginning(grade) for grade in scale}
    lines_of_grade: defaultdict[int, list[str]] = defaultdict(list)
    common: list[str] = []
    section, level = None, 0
    for line in filter(None, (" ".join(row.split()) for row in body.splitlines())):
        about = next((value for value, begin in begins.items() if begin.match(line)), None)
        heading = _HEADING.match(line)
        if heading and (about is not None or len(heading[1]) <= level):
            section, level = about, len(heading[1])
        about = section if about is None else about
        (common if about is None else lines_of_grade[about]).append(line)
    by_grade = {
        grade["value"]: [
            grade["name"],
            grade["definition"],
            grade.get("examples"),
            lines_of_grade[grade["value"]],
        ]
        for grade in scale
    }
    return ({value: canonical_json(words) for value, words in by_grade.items()}, " ".join(common))


def _beginning(grade: Mapping[str, Any]) -> re.Pattern[str]:
    return re.compile(_BEGINS.format(f"{grade['value']}|{re.escape(grade['name'])}"), re.IGNORECASE)
