"""Guide, differing: what changes from one guide to another, in words and in their texts."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from curation.core.similarity.text_blocks import word_blocks
from curation.guides.difference import GradeChange, GuideDifference
from curation.guides.guide import Grade


def show_difference(guide_difference: GuideDifference) -> None:
    ui.sentences("\n".join(guide_difference.summary))
    for changed_grade in guide_difference.changed_grades:
        _changed_grade(changed_grade)
    if any(guide_difference.body_changes) or guide_difference.before.title != guide_difference.after.title:
        ui.heading("Title and text")
        title = word_blocks(guide_difference.before.title.split(), guide_difference.after.title.split())
        ui.text_difference(title, guide_difference.changed_body)


def _changed_grade(grade_change: GradeChange) -> None:
    sides = [_chip(grade) for grade in (grade_change.before, grade_change.after) if grade is not None]
    shown = (
        sides
        if grade_change.kind == "changed" and {"name", "colour"} & set(grade_change.changed)
        else sides[-1:]
    )
    arrow = " → "
    st.html(f'<h3 class="gs-changed-grade">{arrow.join(shown)} <small>{grade_change.summary}</small></h3>')
    old, new = (
        grade.definition.split() if grade else [] for grade in (grade_change.before, grade_change.after)
    )
    if old != new:
        ui.changed_words(word_blocks(old, new))
    if "examples" in grade_change.changed and grade_change.before and grade_change.after:
        before, after = _examples(grade_change.before), _examples(grade_change.after)
        changes = [f"Example removed: {said}" for said in sorted(before - after)]
        changes += [f"Example added: {said}" for said in sorted(after - before)]
        ui.sentences("\n".join(changes))


def _chip(grade: Grade) -> str:
    colour = f'<i style="background:{grade.colour}"></i>'
    return f'<span class="gs-grade">{colour}{grade.value} {escape(grade.name)}</span>'


def _examples(grade: Grade) -> set[str]:
    return {f"{example.query}: {example.document} ({example.why})" for example in grade.examples}
