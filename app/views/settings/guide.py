"""Settings, Guide: the page part on which leads read and improve the labeling guide."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.grading import show_guide
from app.page_context import PageContext
from app.views.settings import guide_document, guide_editing, guide_publishing, guide_questions
from app.views.settings.guide_editing import GUIDE_FORM
from app.views.settings.guide_editor import GuideEditor, get_editor
from app.views.settings.guide_publishing import show_difference
from curation.core.errors import CurationError
from curation.guides import questions
from curation.guides.difference import compare_guides
from curation.guides.drafts import list_drafts
from curation.guides.guide import Guide, current_guide, load_guide
from curation.guides.guide_editing import compose_source
from curation.guides.guide_text import find_problems, parse_guide
from curation.guides.versions import VERSION_LENGTH, GuideVersion, build_version_table, list_versions
from curation.store import Store

DRAFT = "draft"


def show(context: PageContext) -> None:
    acts, store = context.acts, context.store
    editor = get_editor(store, acts.by)
    _save_draft(store, editor)
    last_result = acts.form(GUIDE_FORM).result
    if last_result:
        ui.success(last_result)
    PARTS[ui.choose_part("Part", PARTS, "show")](store, acts, editor)


def _save_draft(store: Store, editor: GuideEditor | None) -> None:
    """Save the text that the person typed into the fields, whatever part of the page is open."""
    if editor is not None:
        try:
            editor.save(store)
        except CurationError as error:
            ui.problem(error)


def _show_current(store: Store, acts: Acts, _: GuideEditor | None) -> None:
    with store.reading() as cursor:
        guide, drafts = current_guide(cursor), list_drafts(cursor)
        unanswered = sum(question.answer is None for question in questions.list_questions(cursor))
    with st.container(horizontal=True, vertical_alignment="center"):
        ui.download("Download", compose_source(guide), "guide.md")
        sentences = "Annotators read the current guide with every item."
        other_authors = [draft.author for draft in drafts if draft.author != acts.by]
        if other_authors:
            verb = "is" if len(other_authors) == 1 else "are"
            sentences += f" {', '.join(other_authors)} {verb} writing the next guide."
        if unanswered:
            sentences += f" {unanswered:,} question{'s wait' if unanswered > 1 else ' waits'} for an answer."
        ui.note(sentences)
    show_guide(guide, "current", is_wide=True)


def _show_versions(store: Store, _: Acts, editor: GuideEditor | None) -> None:
    with store.reading() as cursor:
        versions = list_versions(cursor)
    ui.tables(build_version_table(versions))
    ui.note("How many current judgments were given under each version of the guide.")
    names = {version.guide_hash: _describe_version(version) for version in versions}
    if editor is not None and not find_problems(editor.source):
        names = {DRAFT: "My draft", **names}
    if len(names) < 2:
        ui.note(
            "Nothing to compare yet. This page compares versions once there is a second version or a draft."
        )
        return
    ui.heading("Changes")
    order = list(names)
    with st.container(horizontal=True):
        before = st.selectbox("From", order, index=1, format_func=names.__getitem__, width=340)
        after = st.selectbox("To", order, index=0, format_func=names.__getitem__, width=340)
    old, new = _load_guide(store, before, editor), _load_guide(store, after, editor)
    show_difference(compare_guides(old, new))
    ui.download("Download the first", compose_source(old), f"guide-{before[:VERSION_LENGTH]}.md")


def _load_guide(store: Store, name: str, editor: GuideEditor | None) -> Guide:
    if name == DRAFT and editor is not None:
        return parse_guide(editor.source)
    with store.reading() as cursor:
        return load_guide(cursor, name)


def _describe_version(guide_version: GuideVersion) -> str:
    date = f", {guide_version.since:%d %b %Y}" if guide_version.since else ""
    return (
        f"{guide_version.guide_hash[:VERSION_LENGTH]}  "
        f"{guide_version.title}{date}{', current' if guide_version.in_force else ''}"
    )


PARTS = {
    "Read": _show_current,
    "Document": guide_document.show,
    "Edit": guide_editing.show,
    "Publish": guide_publishing.show,
    "Versions": _show_versions,
    "Questions": guide_questions.show,
}
