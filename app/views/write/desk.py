"""The desk, the state of a part of Write: the query on screen, queries put off, and drafts in the browser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import streamlit as st

from app import ui
from app.acts import Acts
from app.signin.current_user import sessions
from curation.core.characters import isolate

LATER_KEY = "l"
"""The keyboard key that puts a query off."""


@dataclass
class Desk:
    """The state of a part of the page Write between runs of the page. Streamlit cannot interrupt a change of
    this state.

    Attributes
    ----------
    at: the ids of the query on screen: an assignment, or a task and a query. None: the page chooses the next
        query.
    seen: the revision of the query when it came on screen.
    skipped: the queries that were put off.
    whole: the positions of documents that are shown in full.
    done: a sentence about the last action; the page shows it until the next action.
    sent: the name of the draft that was sent last.
    """

    at: tuple[str, ...] | None = None
    seen: int | None = None
    skipped: list[tuple[str, ...]] = field(default_factory=list)
    whole: set[int] = field(default_factory=set)
    done: str = ""
    sent: str = ""

    def leave(self, done: str, sent: str = "") -> None:
        """Move on to the next query."""
        self.open(None, done)
        self.sent = sent

    def open(self, at: tuple[str, ...] | None, done: str = "") -> None:
        """Show a given query on screen."""
        self.at, self.seen, self.whole, self.done = at, None, set(), done

    def put_off(self, at: tuple[str, ...]) -> None:
        """Move on to the next query; the skipped query returns after all other queries."""
        self.skipped = [*(other for other in self.skipped if other != at), at]
        self.leave("Put off. The query comes again after the others.")

    def next_of(self, waiting: list[tuple[str, ...]]) -> tuple[str, ...] | None:
        """Return the first query that was not put off; if all queries were put off, start again with the
        first.
        """
        left = [item for item in waiting if item not in self.skipped]
        if waiting and not left:
            self.skipped = []
        return next(iter(left or waiting), None)

    def show_done(self) -> None:
        """Show the sentence about the person's last action."""
        if self.done:
            ui.confirmation(self.done)

    def whole_button(self, index: int, key: str) -> None:
        """Show a button that switches between a document in full and its best passage."""
        label = "Passage only" if index in self.whole else "Whole document"
        st.button(label, key=f"whole {index} {key}", on_click=self._turn, args=(index,))

    def _turn(self, index: int) -> None:
        self.whole ^= {index}


def desk(part: str) -> Desk:
    """Return this session's state of a part of the page Write."""
    state: Desk = st.session_state.setdefault(f"desk {part}", Desk())
    return state


def later_button(was_done: bool, key: str) -> bool:
    """Show the button that moves on to the next query; an unfinished query on screen returns later."""
    label = "Leave it" if was_done else "Later"
    about = "Come back to this query after the others"
    return st.button(label, key=f"later {key}", shortcut=LATER_KEY, help=about)


def draft_name(acts: Acts, part: str, item: str) -> str:
    """Return the name of a draft in the browser, made from project, author, part of the page and item."""
    return f"goldgrade:{sessions().project}:{acts.by}:{part}:{item}"


def join_answers(answers: Iterable[str]) -> str:
    """Join answers in one line, isolated so that the writing direction of an answer does not affect other
    answers.
    """
    return " / ".join(map(isolate, answers))
