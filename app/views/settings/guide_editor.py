"""The guide editor: the session's copy of a lead's draft of the labeling guide, including unsaved changes.

The callback of a field stores the change in memory at once, because Streamlit drops the change if another
click follows. The next run of the page then saves all changes to the project.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

import streamlit as st

from curation.guides.drafts import GuideDraft, find_draft, save_draft
from curation.guides.guide_text import find_problems
from curation.store import Store

TITLE_AND_TEXT = -1
"""The part of the guide with title and text; the remaining parts are numbered by grade."""
_SESSION = "guide editor"
Edit = Callable[[str], str]
"""A function that changes the text of a guide."""


class GuideEditor:
    """The draft of the guide in this session, with changes that are not saved yet.

    Attributes
    ----------
    generation: number of times the text was replaced by other means than its fields; part of the fields'
        keys.
    part: the part of the guide whose fields are shown first.
    valid: the last text without a problem, for the preview; '' if every text had a problem.
    """

    def __init__(self, draft: GuideDraft, part: int) -> None:
        self._lock = RLock()
        self._field_edits: list[Edit] = []
        self._structure_edits: list[Edit] = []
        self.generation = 0
        self.part = part
        self.valid = ""
        self.draft = draft
        self._note_if_valid()

    @property
    def source(self) -> str:
        return self.draft.source

    @property
    def unsaved_source(self) -> str:
        """Return the text of the draft with the changes that are not saved yet."""
        source = self.source
        for edit in (*self._field_edits, *self._structure_edits):
            source = edit(source)
        return source

    def change(self, edit: Edit) -> None:
        """Remember a field's new value until the changes are saved."""
        self._field_edits.append(edit)

    def rearrange(self, edit: Edit, part: int) -> None:
        """Remember a change that adds or removes fields; the page then shows this part of the guide."""
        self._structure_edits.append(edit)
        self.part = part

    def save(self, store: Store) -> None:
        """Save the remembered changes; raise the same errors as `save_draft`. No Streamlit function is
        called, so nothing can interrupt the save.
        """
        with self._lock:
            source = self.unsaved_source
            if source != self.source:
                self.draft = save_draft(store, source, self.draft.author, self.draft.revision)
                self._note_if_valid()
            self.generation += bool(self._structure_edits)
            self._field_edits, self._structure_edits = [], []

    def load(self, draft: GuideDraft) -> None:
        """Replace the editor's text, and show the new text in new fields."""
        with self._lock:
            self._field_edits, self._structure_edits = [], []
            self.draft = draft
            self.generation += 1
            self._note_if_valid()

    def _note_if_valid(self) -> None:
        if not find_problems(self.source):
            self.valid = self.source


def get_editor(store: Store, author: str) -> GuideEditor | None:
    """Return the session's guide editor; None if the author has no draft in the project."""
    with store.reading() as cursor:
        draft = find_draft(cursor, author)
    editor: GuideEditor | None = st.session_state.get(_SESSION)
    if draft is None:
        st.session_state.pop(_SESSION, None)
        return None
    if editor is None or editor.draft.author != author:
        editor = st.session_state[_SESSION] = GuideEditor(draft, TITLE_AND_TEXT)
    return editor


def replace_draft(store: Store, source: str, author: str, editor: GuideEditor | None) -> None:
    """Replace the author's draft with a text, without any Streamlit call; the previous draft stays stored."""
    with store.reading() as cursor:
        draft = find_draft(cursor, author)
    saved = save_draft(store, source, author, draft and draft.revision)
    if editor is not None:
        editor.load(saved)
