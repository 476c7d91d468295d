"""A step of the path: its state, one line about it, and where it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from curation.agreement.gate import GateCheck
from curation.labeling.rounds.forecast import DailyAnswers

State = Literal["not begun", "at work", "done", "needs attention"]

WORDS: Mapping[State, str] = {"not begun": "to do", "at work": "in progress"}
"""States that people read in other words."""
NAMES = (
    *("import", "sample", "pool", "people", "round", "adjudicate"),
    *("split", "freeze", "evaluate", "re-label"),
)
"""The steps in the order of the path."""


@dataclass(frozen=True)
class Action:
    """Where a step is done.

    Attributes
    ----------
    label: what the link says.
    page: the address of the page.
    parameters: the query string that opens its part.
    command: what does it on the command line.
    """

    label: str
    page: str
    command: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """One step.

    Attributes
    ----------
    line: its state in one line: counts, who is at it, what is due.
    answers: of the round at work.
    alpha: ordinal alpha against what the gate demands of it; None where nothing was judged or it is not read.
    """

    name: str
    state: State
    line: str
    action: Action
    answers: DailyAnswers | None = None
    alpha: GateCheck | None = None


def next_step(steps: Sequence[Stage]) -> str | None:
    """The step that comes next: the first that needs attention, else the first that is not done."""
    for wanted in (["needs attention"], ["not begun", "at work"]):
        for step in steps:
            if step.state in wanted:
                return step.name
    return None


def at_work(step: Stage, line: str) -> Stage:
    """The step while a job is at it."""
    return replace(step, state="at work", line=line)


def needs_attention(step: Stage, line: str) -> Stage:
    """The step with what somebody should look at before its own line."""
    return replace(step, state="needs attention", line=f"{line} {step.line}")


def named(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence: `ada, ben and 4 more`."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
