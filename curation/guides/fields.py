"""The fields of a guide's text, for a form: title, grades and body, also while they break a rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from curation.guides.front_matter import read_values, split_source, with_values

GradeEntry = dict[str, Any]
COLOURS = ("#a8323e", "#a04a08", "#8a5a00", "#2b62a8", "#1c6e45", "#5b4a9c", "#0f6b73", "#8a3a6e")
"""Colours for new grades, each with white letters at least 4.5:1."""


@dataclass(frozen=True)
class GuideFields:
    """What a form shows of a guide's text.

    Attributes
    ----------
    grades: as the front matter has them, from the lowest to the highest, with all their entries.
    """

    title: str
    grades: tuple[GradeEntry, ...]
    body: str

    def with_grade(self, place: int, **entries: Any) -> GuideFields:
        """The fields with other entries of one grade."""
        grades = list(self.grades)
        grades[place] = {**grades[place], **entries}
        return replace(self, grades=tuple(grades))

    def examples(self, place: int) -> list[dict[str, Any]]:
        """The worked examples of one grade."""
        return list(self.grades[place].get("examples") or [])

    def with_new_grade(self) -> GuideFields:
        """The fields with one more grade at the upper end, which still needs its words."""
        values = [int(grade["value"]) for grade in self.grades if str(grade.get("value", "")).isdigit()]
        value = max(values, default=-1) + 1
        colour = next((one for one in COLOURS if one not in self._colours), COLOURS[0])
        new = {"value": value, "name": "", "key": str(value % 10), "colour": colour, "definition": ""}
        return replace(self, grades=(*self.grades, new))

    def without_grade(self, place: int) -> GuideFields:
        return replace(self, grades=(*self.grades[:place], *self.grades[place + 1 :]))

    @property
    def _colours(self) -> set[str]:
        return {str(grade.get("colour", "")).lower() for grade in self.grades}


def read_fields(source: str) -> GuideFields | None:
    """The fields of a text; None where its front matter cannot be read as such."""
    parts = split_source(source)
    values = read_values(parts[0]) if parts else None
    if parts is None or not isinstance(values, dict):
        return None
    scale = values.get("scale") or []
    if not isinstance(scale, list) or not all(_is_grade(one) for one in scale):
        return None
    return GuideFields(str(values.get("title") or ""), tuple(scale), parts[1].strip())


def write_fields(source: str, fields: GuideFields) -> str:
    """The text with these fields; entries of its front matter that are no field stay as they are."""
    return with_values(source, {"title": fields.title, "scale": list(fields.grades)}, fields.body)


def _is_grade(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(one, dict) for one in _list(value.get("examples")))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else [value]
