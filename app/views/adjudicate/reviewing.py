"""Adjudicate, what the reviewer of this session is at."""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st

Pair = tuple[str, str]


@dataclass
class Reviewing:
    """What the page remembers between its runs; unlike Streamlit's own state, no run stops while it changes.

    Attributes
    ----------
    at: the pair on screen, query and document; None: the next one is looked for.
    seen: how many decisions it had when it came on screen.
    pairs, waiting: the disputed pairs, and how many wait for an opinion, when `at` was looked for.
    skipped: the pairs that were put off.
    asking: the pair that the question about the guide is open for.
    picked: the pair that a grade is chosen for, and the grade.
    done: what was done last; shown until the reviewer goes on.
    sent: the name of the draft of the reason that was decided with last.
    """

    at: Pair | None = None
    seen: int | None = None
    pairs: list[Pair] = field(default_factory=list)
    waiting: int = 0
    skipped: list[Pair] = field(default_factory=list)
    asking: str | None = None
    picked: tuple[str | None, int | str | None] = (None, None)
    done: str = ""
    sent: str = ""

    def pick(self, pair: str, value: int | str) -> None:
        self.picked, self.done = (pair, value), ""

    def ask(self, pair: str | None, done: str = "") -> None:
        """Open or close the question about the guide."""
        self.asking, self.done = pair, done

    def leave(self, done: str, sent: str = "") -> None:
        """Go on to the next pair."""
        self.at, self.asking, self.picked, self.done, self.sent = None, None, (None, None), done, sent


def reviewing() -> Reviewing:
    """What this session is at."""
    found: Reviewing = st.session_state.setdefault("reviewing", Reviewing())
    return found
