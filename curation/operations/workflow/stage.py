"""A stage of a project's workflow: its state in one line, and the action that continues it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from curation.agreement.gate import GateCheck

State = Literal["not begun", "at work", "done", "needs attention"]

STATE_LABELS: Mapping[State, str] = {"not begun": "to do", "at work": "in progress"}
"""Labels for states whose stored names are not shown to people."""


@dataclass(frozen=True)
class Action:
    """The page and the command with which people do the work of a stage.

    Attributes
    ----------
    label: text of the link to the page.
    page: address of the page. parameters: query string that opens a part of the page.
    command: the command that does the same work.
    """

    label: str
    page: str
    command: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """One stage of a project's workflow, such as sample or freeze, with its state.

    Attributes
    ----------
    line: the state in one line, with counts, people at work and dates.
    answers: number of answers of the open round for each of the last days.
    alpha: ordinal alpha and the alpha that the gate demands; None if nothing was judged or alpha was not
        read.
    """

    name: str
    state: State
    line: str
    action: Action
    answers: Mapping[date, int] | None = None
    alpha: GateCheck | None = None


def find_next_stage(stages: Sequence[Stage]) -> Stage | None:
    """Find the first stage of the workflow that needs attention, otherwise the first one that is not done."""
    attention = (stage for stage in stages if stage.state == "needs attention")
    unfinished = (stage for stage in stages if stage.state != "done")
    return next(attention, None) or next(unfinished, None)
