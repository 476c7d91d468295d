"""The stages in which people judge and decide: rounds and their people, disputes, and the split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import GateCheck
from curation.core.text import percent, pluralize
from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.marks import read_marks
from curation.labeling.consensus.second_opinions import awaited_opinions
from curation.labeling.consensus.votes import read_votes
from curation.labeling.rounds.pace import AnnotatorWork, annotators_work, daily_answers, forecast
from curation.labeling.rounds.practice import practice_statuses
from curation.labeling.rounds.rounds import RoundState, all_states, answered_share
from curation.operations.workflow.stage import Action, Prepared, Stage, State, named
from curation.people.annotators import able_to_judge, usual_names
from curation.store import Cursor, Store, get_setting

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
    answered: items of the open rounds. left: items that can still be shown.
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
        """How much of the open rounds is answered."""
        return answered_share(self.answered, self.left)


def read_rounds(cursor: Cursor) -> OpenWork:
    """Read the rounds; practice and pilots do not belong to this stage."""
    states = [state for state in all_states(cursor) if state.kind not in ("practice", "pilot")]
    asked = [state for state in states if state.kind != "imported"]
    open_rounds = tuple(state for state in asked if not state.closed and state.open_items)
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
        opened_at=max((state.opened_at for state in asked), default=None),
        people=tuple(usual_names(able_to_judge(cursor))),
        failed=tuple(dict.fromkeys(failed)),
    )


def people_stage(open_work: OpenWork) -> Stage:
    """Who judges; a project whose judgments came otherwise needs nobody."""
    add = Action("Add people", "team", "goldgrade people add NAME")
    if open_work.people:
        line = f"{pluralize(len(open_work.people), 'annotator')}: {named(open_work.people)}."
        return Stage("people", "done", line, replace(add, label="See the people"))
    if open_work.open or open_work.finished or open_work.imported:
        return Stage("people", "done", "No annotator; leads and reviewers can judge, too.", add)
    return Stage("people", "not begun", "Two annotators or more, and a reviewer who settles disputes.", add)


def round_stage(
    open_work: OpenWork, work: Sequence[AnnotatorWork], prepared: Prepared, now: datetime
) -> Stage:
    """Open rounds with their progress; else what waits for a round."""
    new = prepared.pool is not None and (
        open_work.opened_at is None or prepared.pool.built_at > open_work.opened_at
    )
    waiting = prepared.unshown if new or not (open_work.finished or open_work.imported) else 0
    if open_work.open:
        stage = _open(open_work, work, now)
    elif waiting:
        stage = _waiting(open_work, waiting)
    elif open_work.finished or open_work.imported:
        stage = Stage(
            "round",
            "done",
            _finished(open_work),
            Action("See the rounds", "rounds", "goldgrade round status"),
        )
    else:
        stage = Stage("round", "not begun", "People judge the documents of each query.", _open_round())
    if open_work.failed:
        who = f"{named(open_work.failed)} did not pass practice and cannot begin."
        people = Action("See who practises", "team", "goldgrade practice NAME")
        stage = replace(stage, state="needs attention", line=f"{who} {stage.line}", action=people)
    return stage


def _waiting(open_work: OpenWork, waiting: int) -> Stage:
    state: State = "needs attention" if open_work.finished else "not begun"
    line = f"{pluralize(waiting, 'pair waits', 'pairs wait')} to be judged"
    who = (
        f"{pluralize(len(open_work.people), 'annotator')} can judge"
        if open_work.people
        else "no annotator is here yet"
    )
    return Stage("round", state, f"{line}; {who}.", _open_round())


def _open_round() -> Action:
    command = "goldgrade round open NAME --annotators a,b"
    return Action(OPEN, "rounds", command, {"part": OPEN})


def _finished(open_work: OpenWork) -> str:
    rounds = f"{pluralize(open_work.finished, 'round')} judged" if open_work.finished else ""
    imported = f"{pluralize(open_work.imported, 'file')} of judgments imported" if open_work.imported else ""
    return f"{' · '.join(filter(None, [rounds, imported]))}. No round is open."


def _open(open_work: OpenWork, work: Sequence[AnnotatorWork], now: datetime) -> Stage:
    whole = open_work.answered + open_work.left
    names = named([state.round for state in open_work.open])
    line = f"{names}: {open_work.answered:,} of {whole:,} answered ({percent(open_work.share)})."
    newest = open_work.open[-1].round
    progress = Action("See progress", "rounds", f"goldgrade round status {newest}", {"round": newest})
    stage = Stage("round", "at work", line, progress, daily_answers(work, now))
    paused = [state.round for state in open_work.open if state.paused]
    if paused:
        manage = replace(progress, label="Resume it", parameters={"round": paused[-1], "part": MANAGE})
        return replace(stage, state="needs attention", line=f"{line} Paused: {named(paused)}.", action=manage)
    last = max((annotator.answered[-1] for annotator in work if annotator.answered), default=None)
    since = last or open_work.open[-1].opened_at
    if now - since > SILENT:
        silent = f"{line} Nobody has answered since {since:%d %b %Y}."
        return replace(stage, state="needs attention", line=silent)
    return replace(stage, line=" ".join(filter(None, [line, _who(work, now), _when(work, now)])))


def read_answers(store: Store, rounds: Sequence[RoundState]) -> list[AnnotatorWork]:
    """Everybody's work in all of these rounds."""
    work_of: dict[str, AnnotatorWork] = {}
    for state in rounds:
        for annotator_work in annotators_work(store, state.round):
            before = work_of.get(annotator_work.annotator, AnnotatorWork(annotator_work.annotator, 0, [], []))
            answered = sorted([*before.answered, *annotator_work.answered])
            seconds = [*before.seconds, *annotator_work.seconds]
            grades = dict(Counter(before.grades) + Counter(annotator_work.grades))
            work_of[annotator_work.annotator] = AnnotatorWork(
                annotator_work.annotator, before.open + annotator_work.open, answered, seconds, grades
            )
    return [work_of[name] for name in sorted(work_of)]


def _who(work: Sequence[AnnotatorWork], now: datetime) -> str:
    here = [
        annotator.annotator
        for annotator in work
        if annotator.answered and now - annotator.answered[-1] <= RECENT
    ]
    return f"In the last hour: {named(here)}." if here else ""


def _when(work: Sequence[AnnotatorWork], now: datetime) -> str:
    done_at = forecast(work, now)[0]
    return "" if done_at is None else f"Done about {done_at:%d %b}."


class SettledGrades(NamedTuple):
    """What became of the judgments.

    Attributes
    ----------
    judged, disputed, decided: pairs; of the disputed ones, `awaited` get one more opinion first.
    graded: queries in force with a grade; `outside` those that the current split has in no part.
    parts: part → queries in it; None without a split.
    """

    judged: int
    disputed: int
    awaited: int
    decided: int
    graded: int
    outside: int
    parts: Mapping[str, int] | None


def read_settled(cursor: Cursor) -> SettledGrades:
    """Read what became of them."""
    pairs, marks = compute_consensus(read_votes(cursor)).pairs, read_marks(cursor)
    waiting = awaited_opinions(cursor)
    disputed = [pair[:2] for pair in pairs if marks.is_disputed(pair)]
    active = {query.query_id for query in active_queries(cursor)}
    graded = {pair.query_id for pair in pairs if pair.grade is not None} & active
    split_id = get_setting(cursor, "split")
    rows = cursor.execute("SELECT part, query_id FROM split_assignments WHERE split_id = ?", [split_id])
    parts: dict[str, int] = {}
    for part, query_id in rows.fetchall():
        parts[part] = parts.get(part, 0) + 1
        graded.discard(query_id)
    return SettledGrades(
        judged=len(pairs),
        disputed=len(disputed),
        awaited=sum(pair in waiting for pair in disputed),
        decided=sum(pair.how == "adjudicated" for pair in pairs),
        graded=len({pair.query_id for pair in pairs if pair.grade is not None} & active),
        outside=len(graded),
        parts=dict(sorted(parts.items())) if split_id is not None else None,
    )


def adjudicate_stage(settled_grades: SettledGrades, alpha: GateCheck | None) -> Stage:
    """Disputes that wait."""
    agreement = Action("See agreement", "agreement", "goldgrade agreement")
    if not settled_grades.judged:
        waits = "A reviewer settles the pairs on which annotators differ."
        return Stage("adjudicate", "not begun", waits, agreement)
    decided = f"{pluralize(settled_grades.decided, 'pair')} decided" if settled_grades.decided else ""
    waiting = settled_grades.disputed - settled_grades.awaited
    if waiting:
        more = (
            f"; {settled_grades.awaited:,} more get another opinion first" if settled_grades.awaited else ""
        )
        more += f"; {decided} so far." if decided else "."
        line = f"{pluralize(waiting, 'pair waits', 'pairs wait')} for a decision{more}"
        label = f"Decide {pluralize(waiting, 'pair')}"
        decide = Action(label, "adjudicate", "goldgrade disputes")
        return Stage("adjudicate", "needs attention", line, decide, alpha=alpha)
    if settled_grades.awaited:
        asked = f"{pluralize(settled_grades.awaited, 'pair gets', 'pairs get')} another opinion first."
        return Stage("adjudicate", "at work", asked, agreement, alpha=alpha)
    line = f"No pair is disputed; {decided}." if decided else "No pair is disputed."
    return Stage("adjudicate", "done", line, agreement, alpha=alpha)


def split_stage(settled_grades: SettledGrades, is_settled: bool) -> Stage:
    """The parts of the split.

    Parameters
    ----------
    is_settled: whether people are done judging and deciding.
    """
    command = "goldgrade split"
    split = Action("Split the queries", "releases", command, {"stage": "Split"})
    if settled_grades.parts is None:
        has = pluralize(settled_grades.graded, "graded query is", "graded queries are")
        line = (
            f"{has} in no part yet."
            if settled_grades.graded
            else "Splits queries into dev and test without leakage."
        )
        return Stage("split", "not begun", line, split)
    sizes = " · ".join(f"{part} {count:,}" for part, count in settled_grades.parts.items())
    line = f"{sizes} queries."
    if settled_grades.outside:
        line += f" {pluralize(settled_grades.outside, 'graded query is', 'graded queries are')} in no part."
        if is_settled:
            again = Action("Split again", "releases", command, {"stage": "Split"})
            return Stage("split", "needs attention", line, again)
    return Stage(
        "split",
        "done",
        line,
        Action("See the parts", "releases", "goldgrade split --certificate", {"stage": "Split"}),
    )
