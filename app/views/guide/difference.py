"""Guide, differing: what changes from one guide to another, in words and in their texts."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from curation.core.similarity.text_blocks import word_blocks
from curation.guides.difference import GradeChange, GuideDifference
from curation.guides.guide import Grade


def show_difference(found: GuideDifference) -> None:
    ui.sentences("\n".join(found.summary))
    for one in found.changed_grades:
        _changed_grade(one)
    if any(found.body_changes) or found.before.title != found.after.title:
        ui.heading("Title and text")
        title = word_blocks(found.before.title.split(), found.after.title.split())
        ui.text_difference(title, found.changed_body)


def _changed_grade(one: GradeChange) -> None:
    sides = [_chip(grade) for grade in (one.before, one.after) if grade is not None]
    shown = sides if one.kind == "changed" and {"name", "colour"} & set(one.changed) else sides[-1:]
    arrow = " → "
    st.html(f'<h3 class="gs-changed-grade">{arrow.join(shown)} <small>{one.summary}</small></h3>')
    old, new = (grade.definition.split() if grade else [] for grade in (one.before, one.after))
    if old != new:
        ui.changed_words(word_blocks(old, new))
    if "examples" in one.changed and one.before and one.after:
        before, after = _examples(one.before), _examples(one.after)
        changes = [f"Example removed: {said}" for said in sorted(before - after)]
        changes += [f"Example added: {said}" for said in sorted(after - before)]
        ui.sentences("\n".join(changes))


def _chip(grade: Grade) -> str:
    colour = f'<i style="background:{grade.colour}"></i>'
    return f'<span class="gs-grade">{colour}{grade.value} {escape(grade.name)}</span>'


def _examples(grade: Grade) -> set[str]:
    return {f"{one.query}: {one.document} ({one.why})" for one in grade.examples}
