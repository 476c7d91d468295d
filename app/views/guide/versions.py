"""Guide, differing: what changes from one guide to another, in words and in their texts.

Guide, versions: all that were in force, and what changes between any two, the draft included.
"""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.views.guide.editor import GuideEditor
from curation.guides.guide import Grade, Guide, guide_by_hash, guide_problems, parse_guide
from curation.guides.versions import (
    SHORT,
    GradeChange,
    GuideDifference,
    GuideVersion,
    guide_difference,
    guide_versions,
    source_of,
    version_table,
)
from curation.similarity.text_blocks import word_blocks
from curation.store import Store


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


DRAFT = "draft"


def show(store: Store, editor: GuideEditor | None) -> None:
    with store.reading() as cursor:
        found = guide_versions(cursor)
    ui.tables(version_table(found))
    ui.quiet("Judgments that count, by the version under which each was given.")
    names = {one.guide_hash: _name(one) for one in found}
    if editor is not None and not guide_problems(editor.source):
        names = {DRAFT: "My draft", **names}
    if len(names) < 2:
        ui.quiet("Once there is a second version, or a draft, you see here what changes.")
        return
    ui.heading("What changes")
    order = list(names)
    with st.container(horizontal=True):
        before = st.selectbox("From", order, index=1, format_func=names.__getitem__, width=340)
        after = st.selectbox("To", order, index=0, format_func=names.__getitem__, width=340)
    old, new = _guide(store, before, editor), _guide(store, after, editor)
    show_difference(guide_difference(old, new))
    st.download_button(
        "Download the first", source_of(old), f"guide-{before[:SHORT]}.md", "text/markdown",
        icon=":material/download:",
    )  # fmt: skip


def _guide(store: Store, name: str, editor: GuideEditor | None) -> Guide:
    if name == DRAFT and editor is not None:
        return parse_guide(editor.source)
    with store.reading() as cursor:
        return guide_by_hash(cursor, name)


def _name(one: GuideVersion) -> str:
    when = f", {one.since:%d %b %Y}" if one.since else ""
    return f"{one.guide_hash[:SHORT]}  {one.title}{when}{', current' if one.in_force else ''}"
