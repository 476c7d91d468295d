"""Guide: what annotators read, the next version, what putting it in force means, and questions about it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.app_page import LEADS, SETTINGS, AppPage
from app.context import project_store
from app.grading import guide_panel
from app.views.guide import document, editing, versions
from app.views.guide.editor import GUIDE, GuideEditor, editor_of
from app.views.guide.forcing import _ask, show_forcing
from app.views.guide.questions import show_questions
from curation.core.errors import CurationError
from curation.guides.drafts import open_drafts
from curation.guides.guide import current_guide
from curation.guides.questions import guide_questions
from curation.guides.write_guide import source_of
from curation.store import Annotator, Store

READ, DOCUMENT, EDIT, FORCE, VERSIONS, QUESTIONS = PARTS = (
    *("Read", "Document", "Edit", "Publish", "Versions", "Questions"),
)


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    editor = editor_of(store, acts.by)
    _save(store, editor)
    done = acts.form(GUIDE).result
    if done:
        st.success("\n\n".join(map(ui.plain, done.splitlines())), icon=":material/check:")
    part = ui.part("Part", PARTS, "show")
    if part == DOCUMENT:
        document.show(store, acts, editor, _ask)
    elif part == EDIT:
        editing.show(store, acts, editor)
    elif part == FORCE:
        show_forcing(store, acts, editor)
    elif part == VERSIONS:
        versions.show(store, editor)
    elif part == QUESTIONS:
        show_questions(store, acts)
    else:
        _read(store, acts)


PAGE = AppPage(52, "Guide", "guide", LEADS, show, group=SETTINGS)


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
        unanswered = sum(guide_question.answer is None for guide_question in guide_questions(cursor))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download", source_of(guide), "guide.md", "text/markdown", icon=":material/download:"
        )
        said = f"Current version {guide.guide_hash[:8]}. Annotators read it with every item."
        writing = [draft.author for draft in drafts if draft.author != acts.by]
        if writing:
            said += f" {', '.join(writing)} {'is' if len(writing) == 1 else 'are'} writing the next one."
        if unanswered:
            said += f" {unanswered:,} question{'s wait' if unanswered > 1 else ' waits'} for an answer."
        ui.quiet(said)
    guide_panel(guide, "current", wide=True)
