"""The desk of a part of Write: the query on screen, queries that were put off, and drafts in the browser."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import streamlit as st

from app import ui
from app.acts import Acts
from app.signin.current_user import sessions
from curation.core.characters import isolated

LATER_KEY = "l"
"""The key that puts a query off."""


@dataclass
class Desk:
    """The state of a part of the page between its runs; no run of Streamlit stops while it changes.

    Attributes
    ----------
    at: the ids of the query on screen: an assignment, or a task and a query; None: the next query is chosen.
    seen: the revision of that query when it came on screen.
    skipped: the queries that were put off.
    whole: the places of documents that are shown whole.
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
        """Go on to the next query."""
        self.open(None, done)
        self.sent = sent

    def open(self, at: tuple[str, ...] | None, done: str = "") -> None:
        """Bring a query on screen."""
        self.at, self.seen, self.whole, self.done = at, None, set(), done

    def put_off(self, at: tuple[str, ...]) -> None:
        """Go on to the next query; this query comes again after the others."""
        self.skipped = [*(other for other in self.skipped if other != at), at]
        self.leave("Put off. It comes again after the others.")

    def next_of(self, waiting: list[tuple[str, ...]]) -> tuple[str, ...] | None:
        """Return the first query that was not put off; once all were put off, they come round again."""
        left = [item for item in waiting if item not in self.skipped]
        if waiting and not left:
            self.skipped = []
        return next(iter(left or waiting), None)

    def show_done(self) -> None:
        """Show the sentence about the last action."""
        if self.done:
            ui.confirmation(self.done)

    def whole_button(self, index: int, key: str) -> None:
        """Show a button that shows a document whole, or its passage again."""
        label = "Passage only" if index in self.whole else "Whole document"
        st.button(label, key=f"whole {index} {key}", on_click=self._turn, args=(index,))

    def _turn(self, index: int) -> None:
        self.whole ^= {index}


def desk(part: str) -> Desk:
    """Return this session's desk in a part of the page."""
    state: Desk = st.session_state.setdefault(f"desk {part}", Desk())
    return state


def later_button(was_done: bool, key: str) -> bool:
    """Show the button that goes on to the next query; the query on screen comes again unless it was done."""
    label = "Leave it" if was_done else "Later"
    about = "Come back to this query after the others"
    return st.button(label, key=f"later {key}", shortcut=LATER_KEY, help=about)


def draft_name(acts: Acts, part: str, item: str) -> str:
    """Name a draft in the browser after its project, its author, the part of the page and the item."""
    return f"goldgrade:{sessions().project}:{acts.by}:{part}:{item}"


def join_answers(answers: Iterable[str]) -> str:
    """Join answers in one line; no writing direction of one answer turns the others."""
    return " / ".join(map(isolated, answers))
