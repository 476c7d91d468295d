"""Guide, the editor's state: the text of the lead's draft in this session, and its revision in the project.

A field tells of its change in a callback, which runs whatever the page draws next. So no words are lost by a
click that follows them at once. Changes wait here until the run of the page saves them.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

import streamlit as st

from curation.guides.drafts import GuideDraft, own_draft, save_draft
from curation.guides.parse_guide import guide_problems
from curation.store import Store

GUIDE = "guide"
"""The form state that the forms of the page share."""
_SESSION = "guide editor"
Edit = Callable[[str], str]


class GuideEditor:
    """The draft as this session has it.

    Attributes
    ----------
    generation: how often the text was replaced other than by its fields; part of the fields' keys.
    part: the part of the guide whose fields are shown first.
    valid: the last text without a problem, for the preview; '' before the first.
    """

    def __init__(self, draft: GuideDraft, part: int) -> None:
        self._lock = RLock()
        self._fields: list[Edit] = []
        self._others: list[Edit] = []
        self.generation = 0
        self.part = part
        self.valid = ""
        self.draft = draft
        self._keep_valid()

    @property
    def source(self) -> str:
        return self.draft.source

    @property
    def wanted(self) -> str:
        """The text with what was remembered and not saved yet."""
        source = self.source
        for edit in (*self._fields, *self._others):
            source = edit(source)
        return source

    def change(self, edit: Edit) -> None:
        """Remember what a field says now."""
        self._fields.append(edit)

    def rearrange(self, edit: Edit, part: int) -> None:
        """Remember a change that brings other fields, after which this part is shown."""
        self._others.append(edit)
        self.part = part

    def save(self, store: Store) -> None:
        """Save what was remembered; raises as `save_draft` does. No call of Streamlit can stop it."""
        with self._lock:
            source = self.wanted
            if source != self.source:
                self.draft = save_draft(store, source, self.draft.author, self.draft.revision)
                self._keep_valid()
            self.generation += bool(self._others)
            self._fields, self._others = [], []

    def load(self, draft: GuideDraft) -> None:
        """Show another text in fresh fields."""
        with self._lock:
            self._fields, self._others = [], []
            self.draft = draft
            self.generation += 1
            self._keep_valid()

    def _keep_valid(self) -> None:
        if not guide_problems(self.source):
            self.valid = self.source


def editor_of(store: Store, author: str) -> GuideEditor | None:
    """The session's editor; None where the author has no draft in the project."""
    with store.reading() as cursor:
        held = own_draft(cursor, author)
    editor: GuideEditor | None = st.session_state.get(_SESSION)
    if held is None:
        st.session_state.pop(_SESSION, None)
        return None
    if editor is None or editor.draft.author != author:
        editor = st.session_state[_SESSION] = GuideEditor(held, -1)
    return editor


def replace_draft(store: Store, source: str, author: str, editor: GuideEditor | None) -> None:
    """Put a text in the place of the author's draft, which stays stored. Calls nothing of Streamlit."""
    with store.reading() as cursor:
        held = own_draft(cursor, author)
    saved = save_draft(store, source, author, held and held.revision)
    if editor is not None:
        editor.load(saved)
