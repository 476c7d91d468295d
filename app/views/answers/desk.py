"""Answers, what somebody of this session is at: a query to write for, or one to decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import streamlit as st

from curation.core.text import isolated


def joined(answers: Iterable[str]) -> str:
    """Answers in one line; no override in one of them turns the others."""
    return " / ".join(map(isolated, answers))


@dataclass
class Desk:
    """What a part of the page remembers between its runs; no run of Streamlit stops while it changes.

    Attributes
    ----------
    at: what is on screen: an assignment, or task and query; None: the next one is looked for.
    seen: its revision when it came on screen.
    skipped: what was put off.
    whole: the places of documents that are shown whole.
    done: what was done last; shown until the next action.
    sent: the name of the draft that was sent last.
    """

    at: tuple[str, ...] | None = None
    seen: int | None = None
    skipped: list[tuple[str, ...]] = field(default_factory=list)
    whole: set[int] = field(default_factory=set)
    done: str = ""
    sent: str = ""

    def leave(self, done: str, sent: str = "") -> None:
        """Go on to the next."""
        self.open(None, done)
        self.sent = sent

    def open(self, at: tuple[str, ...] | None, done: str = "") -> None:
        self.at, self.seen, self.whole, self.done = at, None, set(), done

    def put_off(self, at: tuple[str, ...]) -> None:
        self.skipped = [*(other for other in self.skipped if other != at), at]
        self.leave("Put off. It comes again after the others.")

    def next_of(self, waiting: list[tuple[str, ...]]) -> tuple[str, ...] | None:
        """The first that was not put off; when all were, they come round again."""
        left = [one for one in waiting if one not in self.skipped]
        if waiting and not left:
            self.skipped = []
        return next(iter(left or waiting), None)

    def turn(self, place: int) -> None:
        """Show a document whole, or its passage again."""
        self.whole ^= {place}


def desk(part: str) -> Desk:
    """What this session is at in a part of the page."""
    found: Desk = st.session_state.setdefault(f"desk {part}", Desk())
    return found
