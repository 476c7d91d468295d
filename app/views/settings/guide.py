"""Settings, guide: what annotators read, its next version, all versions, and questions about it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.grading import guide_panel
from app.page_context import PageContext
from app.views.settings import guide_document, guide_editing, guide_publishing, guide_questions
from app.views.settings.guide_editing import GUIDE, GuideEditor, editor_of
from app.views.settings.guide_publishing import show_difference
from curation.core.errors import CurationError
from curation.guides import questions
from curation.guides.difference import guide_difference
from curation.guides.drafts import open_drafts
from curation.guides.guide import (
    VERSION_LENGTH,
    Guide,
    GuideVersion,
    current_guide,
    guide_by_hash,
    guide_versions,
    version_table,
)
from curation.guides.guide_text import guide_problems, parse_guide, source_of
from curation.store import Store

READ, DOCUMENT, EDIT, PUBLISH, VERSIONS, QUESTIONS = PARTS = (
    *("Read", "Document", "Edit", "Publish", "Versions", "Questions"),
)
DRAFT = "draft"


def show(context: PageContext) -> None:
    acts, store = context.acts, context.store
    editor = editor_of(store, acts.by)
    _save(store, editor)
    done = acts.form(GUIDE).result
    if done:
        st.success("\n\n".join(map(ui.plain, done.splitlines())), icon=":material/check:")
    part = ui.part("Part", PARTS, "show")
    if part == DOCUMENT:
        guide_document.show(store, acts, editor)
    elif part == EDIT:
        guide_editing.show(store, acts, editor)
    elif part == PUBLISH:
        guide_publishing.show(store, acts, editor)
    elif part == VERSIONS:
        show_versions(store, editor)
    elif part == QUESTIONS:
        guide_questions.show(store, acts)
    else:
        _read(store, acts)


def _save(store: Store, editor: GuideEditor | None) -> None:
    """Save what was typed into the fields, whatever part is shown now."""
    if editor is not None:
        try:
            editor.save(store)
        except CurationError as error:
            ui.problem(error)


def _read(store: Store, acts: Acts) -> None:
    with store.reading() as cursor:
        guide, drafts = current_guide(cursor), open_drafts(cursor)
        unanswered = sum(question.answer is None for question in questions.guide_questions(cursor))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download", source_of(guide), "guide.md", "text/markdown", icon=":material/download:"
        )
        about = f"Current version {guide.guide_hash[:8]}. Annotators read it with every item."
        writing = [draft.author for draft in drafts if draft.author != acts.by]
        if writing:
            about += f" {', '.join(writing)} {'is' if len(writing) == 1 else 'are'} writing the next one."
        if unanswered:
            about += f" {unanswered:,} question{'s wait' if unanswered > 1 else ' waits'} for an answer."
        ui.quiet(about)
    guide_panel(guide, "current", wide=True)


def show_versions(store: Store, editor: GuideEditor | None) -> None:
    with store.reading() as cursor:
        versions = guide_versions(cursor)
    ui.tables(version_table(versions))
    ui.quiet("Judgments that count, by the version under which each was given.")
    names = {version.guide_hash: _name(version) for version in versions}
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
        "Download the first", source_of(old), f"guide-{before[:VERSION_LENGTH]}.md", "text/markdown",
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
        f"{guide_version.guide_hash[:VERSION_LENGTH]}  "
        f"{guide_version.title}{when}{', current' if guide_version.in_force else ''}"
    )
