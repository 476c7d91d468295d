"""A person's desk on the page Write: the query on screen, and how the person moves between queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import streamlit as st

from app import ui
from app.acts import Acts
from app.signin.cookies import cookie_codec
from curation.core.characters import isolate

PUT_OFF_SHORTCUT = "l"


QueryIds = tuple[str, ...]


@dataclass
class Desk:
    """The state of a part of the page Write between runs of the page; Streamlit cannot interrupt a change of
    this state.

    Attributes
    ----------
    current: the ids of the query on screen: an assignment, or a task and a query. None: the page chooses the
        next query.
    revision: the revision of the query when it came on screen.
    skipped_ids: the queries that were skipped, the last one at the end.
    whole_documents: the indexes of documents that are shown in full.
    confirmation: a sentence about the last action; the page shows it until the next action.
    sent_draft: the name of the draft that was sent last.
    """

    current: QueryIds | None = None
    revision: int | None = None
    skipped_ids: list[QueryIds] = field(default_factory=list)
    whole_documents: set[int] = field(default_factory=set)
    confirmation: str = ""
    sent_draft: str = ""

    def leave(self, confirmation: str, sent_draft: str = "") -> None:
        """Leave the query on screen, so that the page shows the next query."""
        self.open(None, confirmation)
        self.sent_draft = sent_draft

    def open(self, ids: QueryIds | None, confirmation: str = "") -> None:
        """Show a query on screen; if None, the page chooses one."""
        self.current, self.revision = ids, None
        self.whole_documents, self.confirmation = set(), confirmation

    def skip(self, ids: QueryIds) -> None:
        """Skip the query on screen, which the page shows again after all other queries."""
        self.skipped_ids = [*(other_ids for other_ids in self.skipped_ids if other_ids != ids), ids]
        self.leave("Skipped. The query comes back after the others.")

    def choose_next(self, waiting: list[QueryIds]) -> QueryIds | None:
        """Return the first query that was not skipped, or start over if all were skipped."""
        remaining = [ids for ids in waiting if ids not in self.skipped_ids]
        if waiting and not remaining:
            self.skipped_ids = []
        return next(iter(remaining or waiting), None)

    def show_confirmation(self) -> None:
        """Show the sentence about the person's last action."""
        if self.confirmation:
            ui.confirmation(self.confirmation)

    def show_whole_button(self, index: int, key: str) -> None:
        """Show a button that switches between a document in full and its best passage."""
        label = "Passage only" if index in self.whole_documents else "Whole document"
        st.button(label, key=f"whole {index} {key}", on_click=self._toggle_whole, args=(index,))

    def _toggle_whole(self, index: int) -> None:
        self.whole_documents ^= {index}


def get_desk(part: str) -> Desk:
    """Return this session's state of a part of the page Write."""
    state: Desk = st.session_state.setdefault(f"desk {part}", Desk())
    return state


def show_skip_button(is_answered: bool, key: str) -> bool:
    """Show the button that moves on to the next query; an unfinished query returns later."""
    label = "Leave it" if is_answered else "Later"
    help_text = "Skip for now; the query comes back after the others"
    return st.button(label, key=f"later {key}", shortcut=PUT_OFF_SHORTCUT, help=help_text)


def make_draft_name(acts: Acts, part: str, item: str) -> str:
    """Return a draft's name in the browser, made from the project, author, part of the page and item."""
    return f"goldgrade:{cookie_codec().project}:{acts.by}:{part}:{item}"


def join_answers(answers: Iterable[str]) -> str:
    """Join answers in one line, isolating each so that writing directions do not mix."""
    return " / ".join(map(isolate, answers))
