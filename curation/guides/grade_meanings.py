"""The meaning of grades across guides: which grades a new labeling guide leaves unchanged, and which it
rewords.

Two guides are equivalent if their grades mean the same: only presentation, evidence or layout differs, or a
lead declared that the grades mean the same. Labels given under a guide stay valid under all equivalent
guides.

The wording of a grade is the grade's name, definition and examples, and the lines of the guide's text about
this grade only: a row, list item or heading that begins with its value or name, and the lines below such a
heading. The remaining lines of a guide count as lines about every grade. Labels become due for judging again
(`find_reworded_grades`) by this rule:

- the wording of a grade changed, or the grade was removed: labels of this grade are due, and also each pair
  with a vote for the grade;
- a grade was added: labels of its neighbours on the scale are due, because their meaning may be narrower now;
- lines about every grade changed: all labels are due.

A guide is compared with the wordings of all guides that are equivalent to it.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from curation.core.digests import canonical_json
from curation.guides.guide import Guide
from curation.store import Cursor, get_setting

_SAME_GRADES = """
SELECT detail->>'guide', detail->>'same_grades_as' FROM events
WHERE action = 'use guide' AND detail->>'same_grades_as' IS NOT NULL ORDER BY rowid
"""
_HEADING = re.compile(r"(#+)\s")
_BEGINNING = r"[\s|*_#>`-]*(?:{})[*_`\s]*(?:[|:=(–—-]|$)"
"""Pattern of a line's beginning before, at and after the value or name of a grade."""
GradeSet = frozenset[int | None]
"""A set of grades; None stands for answers without a grade."""
Wording = dict[int | None, str]
"""The wording of a guide's grades: grade → text; None → the lines about every grade."""


def group_equivalent_guides(
    cursor: Cursor, new: Guide | None = None, same_grades: bool = False
) -> dict[str, str]:
    """Return each guide's group by hash: the hash of the first equivalent guide.

    Parameters
    ----------
    new: a guide that is treated as the current guide. same_grades: whether the grades of `new` mean the same
    as the grades of the current guide.
    """
    rows = cursor.execute("SELECT guide_hash, title, scale, body FROM guides ORDER BY rowid").fetchall()
    declared = cursor.execute(_SAME_GRADES).fetchall()
    if new is not None:
        rows.append((new.guide_hash, *new.grading))
        declared += [(new.guide_hash, get_setting(cursor, "guide"))] if same_grades else []
    first_by_grading: dict[tuple[str, ...], str] = {}
    groups: dict[str, str] = {}
    for guide_hash, *grading in rows:
        first_hash = first_by_grading.setdefault(tuple(grading), guide_hash)
        groups.setdefault(guide_hash, first_hash)
    for guide_hash, earlier_hash in declared:
        joined_group, earlier_group = groups[guide_hash], groups[earlier_hash]
        for member, group in groups.items():
            if group == joined_group:
                groups[member] = earlier_group
    return groups


def find_reworded_grades(cursor: Cursor, groups: Mapping[str, str], new: Guide) -> dict[str, GradeSet]:
    """Map each stored guide to the grades that the guide `new` words differently.

    Parameters
    ----------
    groups: guide hash → first equivalent guide, see `group_equivalent_guides`. new: a guide, which may not be
    stored yet.
    """
    wordings: defaultdict[str, list[Wording]] = defaultdict(list)
    for guide_hash, scale, body in cursor.execute("SELECT guide_hash, scale, body FROM guides").fetchall():
        wordings[groups[guide_hash]].append(_read_wording(json.loads(scale), body))
    new_group = groups[new.guide_hash]
    wordings[new_group].append(_read_wording([grade.model_dump() for grade in new.scale], new.body))
    reworded = {group: _compare_wordings(before, wordings[new_group]) for group, before in wordings.items()}
    reworded[new_group] = frozenset()
    return {guide_hash: reworded[group] for guide_hash, group in groups.items()}


def _compare_wordings(before: Sequence[Wording], after: Sequence[Wording]) -> GradeSet:
    grades, new_grades = _list_grades(before), _list_grades(after)
    new_texts = {item for wording in after for item in wording.items()}

    def is_reworded(grade: int | None) -> bool:
        return new_texts.isdisjoint((grade, wording.get(grade, "")) for wording in before)

    if is_reworded(None):
        return frozenset({*grades, None})
    reworded = set(filter(is_reworded, grades))
    for added in new_grades - grades:
        reworded |= {max((grade for grade in grades if grade < added), default=added)} - {added}
        reworded |= {min((grade for grade in grades if grade > added), default=added)} - {added}
    return frozenset(reworded)


def _list_grades(wordings: Sequence[Wording]) -> set[int]:
    return {grade for wording in wordings for grade in wording if grade is not None}


def _read_wording(scale: Sequence[Mapping[str, Any]], body: str) -> Wording:
    beginnings = {grade["value"]: _build_beginning_pattern(grade) for grade in scale}
    lines: defaultdict[int | None, list[str]] = defaultdict(list)
    section_grade, section_level = None, 0
    for line in filter(None, (" ".join(row.split()) for row in body.splitlines())):
        line_grade = next((value for value, pattern in beginnings.items() if pattern.match(line)), None)
        heading = _HEADING.match(line)
        if heading and (line_grade is not None or len(heading[1]) <= section_level):
            section_grade, section_level = line_grade, len(heading[1])
        lines[section_grade if line_grade is None else line_grade].append(line)
    wording: Wording = {None: " ".join(lines[None])}
    for grade in scale:
        texts = [grade["name"], grade["definition"], grade.get("examples"), lines[grade["value"]]]
        wording[grade["value"]] = canonical_json(texts)
    return wording


def _build_beginning_pattern(grade: Mapping[str, Any]) -> re.Pattern[str]:
    return re.compile(_BEGINNING.format(f"{grade['value']}|{re.escape(grade['name'])}"), re.IGNORECASE)
