"""Editing of a labeling guide's text: new values replace old values, and all other bytes stay the same.

Only entries of the front matter whose value changes are written again. All remaining entries, and the
comments between entries, stay identical byte for byte, so that an editor does not lose unknown entries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from curation.guides.front_matter import parse_nodes, read_values, split_source
from curation.guides.guide import Guide, PresentationTemplate
from curation.guides.guide_text import parse_guide

COLOURS = ("#a8323e", "#a04a08", "#8a5a00", "#2b62a8", "#1c6e45", "#5b4a9c", "#0f6b73", "#8a3a6e")
"""Colors for new grades; the contrast with white letters is at least 4.5:1."""
_OTHER_LINE_BREAKS = frozenset("\r\x85\u2028\u2029")
GradeEntry = dict[str, Any]


@dataclass(frozen=True)
class GuideFields:
    """Fields of a labeling guide's text, for editing in a form.

    Attributes
    ----------
    grades: grades with all entries, in the order of the front matter.
    """

    title: str
    grades: tuple[GradeEntry, ...]
    body: str

    def with_grade(self, index: int, **entries: Any) -> GuideFields:
        """Return the guide's fields with the entries for one grade changed."""
        grades = list(self.grades)
        grades[index] = {**grades[index], **entries}
        return replace(self, grades=tuple(grades))

    def examples(self, index: int) -> list[dict[str, Any]]:
        """Return the worked examples of one grade."""
        return list(self.grades[index].get("examples") or [])

    def with_new_grade(self) -> GuideFields:
        """Return the fields with a new, unnamed grade above the highest grade."""
        values = [int(grade["value"]) for grade in self.grades if str(grade.get("value", "")).isdigit()]
        value = max(values, default=-1) + 1
        used_colours = {str(grade.get("colour", "")).lower() for grade in self.grades}
        colour = next((colour for colour in COLOURS if colour not in used_colours), COLOURS[0])
        new_grade = {"value": value, "name": "", "key": str(value % 10), "colour": colour, "definition": ""}
        return replace(self, grades=(*self.grades, new_grade))

    def without_grade(self, index: int) -> GuideFields:
        """Return the fields of the guide without one grade."""
        return replace(self, grades=(*self.grades[:index], *self.grades[index + 1 :]))


class _Writer(yaml.SafeDumper):
    """A YAML writer that quotes texts with a line break other than \\n, which would be read as a space."""


def read_fields(source: str) -> GuideFields | None:
    """Return the fields of a guide's text; None if the front matter cannot be read as fields."""
    parts = split_source(source)
    if parts is None:
        return None
    front, body = parts
    values = read_values(front)
    if not isinstance(values, dict):
        return None
    scale = values.get("scale") or []
    if not isinstance(scale, list) or not all(_is_grade(entry) for entry in scale):
        return None
    return GuideFields(str(values.get("title") or ""), tuple(scale), body.strip())


def write_fields(source: str, fields: GuideFields) -> str:
    """Write fields into a guide's text; leave all other entries in the front matter unchanged."""
    return replace_values(source, {"title": fields.title, "scale": list(fields.grades)}, fields.body)


def replace_values(source: str, values: Mapping[str, Any], body: str) -> str:
    """Replace values of entries in a guide's text, and the body if it differs.

    Parameters
    ----------
    source: text of a guide whose front matter is YAML with named entries.
    """
    parts = split_source(source)
    if parts is None:
        raise ValueError("the guide has no front matter, so there are no fields to change")
    front, old_body = parts
    old_values = read_values(front)
    if not isinstance(old_values, dict):
        raise ValueError("the front matter has no named values, so there are no fields to change")
    for name, value in values.items():
        if name not in old_values:
            front += _write_entry(name, value)
        elif old_values[name] != value:
            front = _replace_value(front, name, value)
    if old_body.strip() != body.strip():
        old_body = f"\n{body.strip()}\n"
    return f"---\n{front}---\n{old_body}"


def compose_source(guide: Guide) -> str:
    """Return the whole text of a guide, composed from its fields if the text was not stored."""
    if guide.source:
        return guide.source
    blank = "---\ntitle: ''\n---\n"
    scale = [grade.model_dump(mode="json", exclude_defaults=True) for grade in guide.scale]
    return replace_values(blank, {"title": guide.title, "scale": scale}, guide.body)


def rename_grades_in_text(before: Guide, after: Guide) -> Guide:
    """Return the guide `after` with a renamed grade's new name also used in its text and definitions."""
    old_names = {grade.value: grade.name for grade in before.scale}
    names = {old_names.get(grade.value, grade.name): grade.name for grade in after.scale}
    renamed = sorted((old for old, new in names.items() if old != new), key=len, reverse=True)
    fields = read_fields(compose_source(after))
    if not renamed or fields is None:
        return after
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, renamed))})(?!\w)")

    def rename(text: str) -> str:
        return pattern.sub(lambda match: names[match[0]], text)

    grades = tuple(grade | {"definition": rename(grade["definition"])} for grade in fields.grades)
    new_fields = replace(fields, grades=grades, body=rename(fields.body))
    return parse_guide(write_fields(compose_source(after), new_fields))


def replace_presentation(guide: Guide, template: PresentationTemplate) -> Guide:
    """Return the guide with a different presentation of documents; the rest of the text is unchanged."""
    return parse_guide(replace_presentation_entry(compose_source(guide), template))


def replace_presentation_entry(source: str, template: PresentationTemplate) -> str:
    """Return a guide's text with a different presentation of documents."""
    parts = split_source(source)
    values = {"presentation": template.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
    return replace_values(source, values, parts[1] if parts else "")


def ask_for_evidence(source: str, from_grade: int) -> str:
    """Return a guide's text in which annotators may mark evidence from a grade on."""
    parts = split_source(source)
    values = {"evidence": {"ask": "optional", "from_grade": from_grade}}
    return replace_values(source, values, parts[1] if parts else "")


def _replace_value(front: str, name: str, value: Any) -> str:
    entries = parse_nodes(front).value
    index = next(index for index, (key, _) in enumerate(entries) if key.value == name)
    start = entries[index][0].start_mark.index
    end = entries[index + 1][0].start_mark.index if index + 1 < len(entries) else len(front)
    return front[:start] + _write_entry(name, value) + _find_trailing_comments(front[start:end]) + front[end:]


def _find_trailing_comments(entry: str) -> str:
    """Return the comments and empty lines between an entry and the next entry."""
    lines = entry.splitlines(keepends=True)
    first = len(lines)
    while first > 1 and (lines[first - 1].startswith("#") or not lines[first - 1].strip()):
        first -= 1
    return "".join(lines[first:])


def _write_entry(name: str, value: Any) -> str:
    return str(yaml.dump({name: value}, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=110))


def _represent_text(writer: _Writer, text: str) -> yaml.ScalarNode:
    style = '"' if _OTHER_LINE_BREAKS.intersection(text) else None
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style)


def _is_grade(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    examples = value.get("examples")
    return examples is None or (isinstance(examples, list) and all(isinstance(row, dict) for row in examples))


_Writer.add_representer(str, _represent_text)
