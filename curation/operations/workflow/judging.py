"""The steps of people and rounds: who is at it, how far they are, and when they will be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.core.text import amount, percent
from curation.labeling.practice.status import practice_statuses
from curation.labeling.rounds.forecast import (
    AnnotatorWork,
    Forecast,
    annotators_work,
    daily_answers,
    forecast,
)
from curation.labeling.rounds.lifecycle import RoundState, all_states, answered_share
from curation.operations.workflow.preparing import Prepared
from curation.operations.workflow.stage import Action, Stage, State, named
from curation.people.annotators import able_to_judge, usual_names
from curation.store import Cursor, Store

RECENT = timedelta(hours=1)
"""Who answered within it is at work."""

MANAGE = "Manage"
"""The part of the page Rounds where a round is resumed."""

OPEN = "Open a round"
"""The part of the page Rounds where one is opened."""

SILENT = timedelta(days=3)
"""After so long without an answer, an open round needs somebody to ask why."""


class OpenWork(NamedTuple):
    """What rounds there are.

    Attributes
    ----------
    open: rounds with something left to answer, paused ones among them.
    answered: items of the open rounds. left: those that can still be shown.
    finished: rounds that people were asked in, in which nothing is left to answer or that were closed.
    imported: sets of judgments that were imported.
    opened_at: of the newest round that people were asked in.
    people: who can judge, leads and reviewers left out.
    failed: who has not passed practice.
    """

    open: tuple[RoundState, ...]
    answered: int
    left: int
    finished: int
    imported: int
    opened_at: datetime | None
    people: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def share(self) -> float:
        """What is answered of the open rounds."""
        return answered_share(self.answered, self.left)


def read_rounds(cursor: Cursor) -> OpenWork:
    """Read the rounds; practice and pilots are none of this step."""
    states = [state for state in all_states(cursor) if state.kind not in ("practice", "pilot")]
    asked = [state for state in states if state.kind != "imported"]
    open_rounds = tuple(one for one in asked if not one.closed and one.open_items)
    failed = [
        practice_status.annotator
        for practice_status in practice_statuses(cursor)
        if practice_status.state.passed is False
    ]
    return OpenWork(
        open=open_rounds,
        answered=sum(open_round.answered for open_round in open_rounds),
        left=sum(open_round.open_items for open_round in open_rounds),
        finished=len(asked) - len(open_rounds),
        imported=len(states) - len(asked),
        opened_at=max((one.opened_at for one in asked), default=None),
        people=tuple(usual_names(able_to_judge(cursor))),
        failed=tuple(dict.fromkeys(failed)),
    )


def people_step(open_work: OpenWork) -> Stage:
    """Who judges; a project whose judgments came otherwise needs nobody."""
    add = Action("Add people", "people", "goldgrade annotator add NAME")
    if open_work.people:
        line = f"{amount(len(open_work.people), 'annotator')}: {named(open_work.people)}."
        return Stage("people", "done", line, replace(add, label="See the people"))
    if open_work.open or open_work.finished or open_work.imported:
        return Stage("people", "done", "No annotator; leads and reviewers can judge, too.", add)
    return Stage("people", "not begun", "Two annotators or more, and a reviewer who settles disputes.", add)


def round_step(
    open_work: OpenWork, work: Sequence[AnnotatorWork], prepared: Prepared, now: datetime
) -> Stage:
    """Open rounds with their progress; else what waits for a round."""
    new = prepared.pool is not None and (
        open_work.opened_at is None or prepared.pool.built_at > open_work.opened_at
    )
    waiting = prepared.unshown if new or not (open_work.finished or open_work.imported) else 0
    if open_work.open:
        step = _open(open_work, work, now)
    elif waiting:
        step = _waiting(open_work, waiting)
    elif open_work.finished or open_work.imported:
        step = Stage(
            "round", "done", _finished(open_work), Action("See the rounds", "rounds", "goldgrade round list")
        )
    else:
        step = Stage("round", "not begun", "People judge the documents of each query.", _open_round())
    if open_work.failed:
        who = f"{named(open_work.failed)} did not pass practice and cannot begin."
        people = Action("See who practises", "people", "goldgrade practice status")
        step = replace(step, state="needs attention", line=f"{who} {step.line}", action=people)
    return step


def _waiting(open_work: OpenWork, waiting: int) -> Stage:
    state: State = "needs attention" if open_work.finished else "not begun"
    line = f"{amount(waiting, 'pair waits', 'pairs wait')} to be judged"
    who = (
        f"{amount(len(open_work.people), 'annotator')} can judge"
        if open_work.people
        else "no annotator is here yet"
    )
    return Stage("round", state, f"{line}; {who}.", _open_round())


def _open_round() -> Action:
    command = "goldgrade round open NAME --annotators a,b"
    return Action(OPEN, "rounds", command, {"part": OPEN})


def _finished(open_work: OpenWork) -> str:
    rounds = f"{amount(open_work.finished, 'round')} judged" if open_work.finished else ""
    imported = f"{amount(open_work.imported, 'file')} of judgments imported" if open_work.imported else ""
    return f"{' · '.join(filter(None, [rounds, imported]))}. No round is open."


def _open(open_work: OpenWork, work: Sequence[AnnotatorWork], now: datetime) -> Stage:
    whole = open_work.answered + open_work.left
    names = named([one.round for one in open_work.open])
    line = f"{names}: {open_work.answered:,} of {whole:,} answered ({percent(open_work.share)})."
    newest = open_work.open[-1].round
    progress = Action("See progress", "rounds", f"goldgrade round status {newest}", {"round": newest})
    step = Stage("round", "at work", line, progress, daily_answers(work, now))
    paused = [one.round for one in open_work.open if one.paused]
    if paused:
        manage = replace(progress, label="Resume it", parameters={"round": paused[-1], "part": MANAGE})
        return replace(step, state="needs attention", line=f"{line} Paused: {named(paused)}.", action=manage)
    last = max((one.answered[-1] for one in work if one.answered), default=None)
    since = last or open_work.open[-1].opened_at
    if now - since > SILENT:
        said = f"{line} Nobody has answered since {since:%d %b %Y}."
        return replace(step, state="needs attention", line=said)
    return replace(step, line=" ".join(filter(None, [line, _who(work, now), _when(forecast(work, now))])))


def read_answers(store: Store, rounds: Sequence[RoundState]) -> list[AnnotatorWork]:
    """Everybody's work in all of these rounds."""
    found: dict[str, AnnotatorWork] = {}
    for state in rounds:
        for one in annotators_work(store, state.round):
            held = found.get(one.annotator, AnnotatorWork(one.annotator, 0, [], []))
            answered = sorted([*held.answered, *one.answered])
            seconds = [*held.seconds, *one.seconds]
            grades = dict(Counter(held.grades) + Counter(one.grades))
            found[one.annotator] = AnnotatorWork(
                one.annotator, held.open + one.open, answered, seconds, grades
            )
    return [found[name] for name in sorted(found)]


def _who(work: Sequence[AnnotatorWork], now: datetime) -> str:
    here = [one.annotator for one in work if one.answered and now - one.answered[-1] <= RECENT]
    return f"In the last hour: {named(here)}." if here else ""


def _when(seen: Forecast) -> str:
    if seen.done_at is None:
        return ""
    if seen.low is None or seen.high is None:
        return f"Done about {seen.done_at:%d %b}."
    return f"Done about {seen.done_at:%d %b} ({seen.low:%d %b} to {seen.high:%d %b})."
