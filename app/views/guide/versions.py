"""Guide, versions: all that were in force, and what changes between any two, the draft included."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.guide.difference import show_difference
from app.views.guide.editor import GuideEditor
from curation.guides.difference import guide_difference
from curation.guides.guide import Guide, guide_by_hash
from curation.guides.parse_guide import guide_problems, parse_guide
from curation.guides.versions import SHORT, GuideVersion, guide_versions, version_table
from curation.guides.write_guide import source_of
from curation.store import Store

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


def _name(guide_version: GuideVersion) -> str:
    when = f", {guide_version.since:%d %b %Y}" if guide_version.since else ""
    return (
        f"{guide_version.guide_hash[:SHORT]}  "
        f"{guide_version.title}{when}{', current' if guide_version.in_force else ''}"
    )
