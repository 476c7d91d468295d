"""Which grades of an earlier guide read otherwise in a later one, so that labels of these grades are due.

A grade's own words are its name, definition and examples, and the lines of the guide's text about it alone: a
row, list item or heading that begins with its value or name, and what is below such a heading. The other
lines are about every grade. The rule:

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
from typing import Any

from curation.core.text import canonical_json
from curation.guides.guide import Guide
from curation.store import Cursor

Wording = tuple[dict[int, str], str]
"""The words of a guide: each grade's own, and those of all."""
Grades = frozenset[int | None]
"""None: also answers without a grade."""

_HEADING = re.compile(r"(#+)\s")
_BEGINS = r"[\s|*_#>`-]*(?:{})[*_`\s]*(?:[|:=(–—-]|$)"


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
    changed = {one: _changed(before, words[line]) for one, before in words.items()}
    return {name: frozenset() if one == line else changed[one] for name, one in lines.items()}


def _changed(before: Sequence[Wording], now: Sequence[Wording]) -> Grades:
    grades = {grade for wording in before for grade in wording[0]}
    if {one[1] for one in before}.isdisjoint(one[1] for one in now):
        return frozenset({*grades, None})
    kept = {item for one in now for item in one[0].items()}
    own = {grade for grade in grades if kept.isdisjoint((grade, one[0].get(grade, "")) for one in before)}
    added = {grade for one in now for grade in one[0]} - grades
    lower = {max((one for one in grades if one < grade), default=None) for grade in added}
    higher = {min((one for one in grades if one > grade), default=None) for grade in added}
    return frozenset(own | ((lower | higher) - {None}))


def _wording(scale: Sequence[Mapping[str, Any]], body: str) -> Wording:
    begins = {grade["value"]: _beginning(grade) for grade in scale}
    own: defaultdict[int, list[str]] = defaultdict(list)
    common: list[str] = []
    section, level = None, 0
    for line in filter(None, (" ".join(row.split()) for row in body.splitlines())):
        about = next((value for value, begin in begins.items() if begin.match(line)), None)
        heading = _HEADING.match(line)
        if heading and (about is not None or len(heading[1]) <= level):
            section, level = about, len(heading[1])
        about = section if about is None else about
        (common if about is None else own[about]).append(line)
    said = {
        grade["value"]: [grade["name"], grade["definition"], grade.get("examples"), own[grade["value"]]]
        for grade in scale
    }
    return ({value: canonical_json(words) for value, words in said.items()}, " ".join(common))


def _beginning(grade: Mapping[str, Any]) -> re.Pattern[str]:
    return re.compile(_BEGINS.format(f"{grade['value']}|{re.escape(grade['name'])}"), re.IGNORECASE)
