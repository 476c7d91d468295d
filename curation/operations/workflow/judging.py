"""The stages in which people judge pairs and settle the grades: people, round, adjudicate and split."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.agreement.gate import GateCheck
from curation.core.text import percent, pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.marks import read_marks
from curation.labeling.consensus.second_opinions import read_awaited_opinions
from curation.labeling.consensus.votes import read_votes
from curation.labeling.rounds import pace
from curation.labeling.rounds.pace import AnnotatorWork
from curation.labeling.rounds.practice import read_practice_statuses
from curation.labeling.rounds.round_states import RoundState, compute_answered_share, read_round_states
from curation.operations.workflow.preparing import Preparation
from curation.operations.workflow.stage import Action, Stage, State, join_names
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Cursor, Store, get_setting

RECENT = timedelta(hours=1)
"""An annotator who answered within this time is at work."""
MANAGE = "Manage"
"""The part of the page Rounds in which a lead resumes a round."""
OPEN = "Open a round"
"""The part of the page Rounds in which a lead opens a round."""
MAX_SILENCE = timedelta(days=3)
"""The time without an answer after which an open round needs attention."""


class RoundProgress(NamedTuple):
    """The rounds of a project and the people who judge in them.

    Attributes
    ----------
    open_rounds: rounds with open items, paused rounds included.
    answered, unanswered: numbers of answered and of open items in the open rounds.
    finished: number of rounds that are closed or have no open item.
    imported: number of imported sets of judgments.
    opened_at: time at which the newest round was opened.
    annotators: names of the annotators who can judge, without leads and reviewers.
    failed: names of the annotators who did not pass practice.
    """

    open_rounds: tuple[RoundState, ...]
    answered: int
    unanswered: int
    finished: int
    imported: int
    opened_at: datetime | None
    annotators: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def share(self) -> float:
        """The answered share of the items of the open rounds."""
        return compute_answered_share(self.answered, self.unanswered)


def read_rounds(cursor: Cursor) -> RoundProgress:
    """Read the rounds and their people; practice rounds and pilots do not count."""
    states = [state for state in read_round_states(cursor) if state.kind not in ("practice", "pilot")]
    labeling_rounds = [state for state in states if state.kind != "imported"]
    open_rounds = tuple(state for state in labeling_rounds if not state.closed and state.open_items)
    failed = [status.annotator for status in read_practice_statuses(cursor) if status.state.passed is False]
    return RoundProgress(
        open_rounds=open_rounds,
        answered=sum(state.answered for state in open_rounds),
        unanswered=sum(state.open_items for state in open_rounds),
        finished=len(labeling_rounds) - len(open_rounds),
        imported=len(states) - len(labeling_rounds),
        opened_at=max((state.opened_at for state in labeling_rounds), default=None),
        annotators=tuple(select_default_names(list_eligible_annotators(cursor))),
        failed=tuple(dict.fromkeys(failed)),
    )


def make_people_stage(progress: RoundProgress) -> Stage:
    """Make the stage of people; a project with imported judgments only needs no annotator."""
    add = Action("Add people", "team", "goldgrade people add NAME")
    if progress.annotators:
        line = f"{pluralize(len(progress.annotators), 'annotator')}: {join_names(progress.annotators)}."
        return Stage("people", "done", line, replace(add, label="See the people"))
    if progress.open_rounds or progress.finished or progress.imported:
        return Stage("people", "done", "No annotator; leads and reviewers can judge, too.", add)
    line = "A project needs two annotators or more, and a reviewer who settles disputes."
    return Stage("people", "not begun", line, add)


def make_round_stage(
    progress: RoundProgress, work: Sequence[AnnotatorWork], facts: Preparation, now: datetime
) -> Stage:
    """Make the stage of rounds: the progress of open rounds, or the pairs that wait for a round."""
    pool, opened_at = facts.pool, progress.opened_at
    is_pool_newer = pool is not None and (opened_at is None or pool.built_at > opened_at)
    is_judged = bool(progress.finished or progress.imported)
    open_round = Action(OPEN, "rounds", "goldgrade round open NAME --annotators a,b", {"part": OPEN})
    if progress.open_rounds:
        stage = _make_open_rounds_stage(progress, work, now)
    elif facts.unassigned_pairs and (is_pool_newer or not is_judged):
        state: State = "needs attention" if progress.finished else "not begun"
        line = f"{pluralize(facts.unassigned_pairs, 'pair waits', 'pairs wait')} to be judged"
        can_judge = f"{pluralize(len(progress.annotators), 'annotator')} can judge"
        who = can_judge if progress.annotators else "the project has no annotator yet"
        stage = Stage("round", state, f"{line}; {who}.", open_round)
    elif is_judged:
        rounds = f"{pluralize(progress.finished, 'round')} judged" if progress.finished else ""
        files = pluralize(progress.imported, "file") if progress.imported else ""
        counts = filter(None, [rounds, files and f"{files} of judgments imported"])
        see = Action("See the rounds", "rounds", "goldgrade round status")
        stage = Stage("round", "done", f"{' · '.join(counts)}. No round is open.", see)
    else:
        stage = Stage("round", "not begun", "People judge the documents of each query.", open_round)
    if progress.failed:
        who = f"{join_names(progress.failed)} did not pass practice and cannot begin."
        people = Action("See who practises", "team", "goldgrade practice NAME")
        stage = replace(stage, state="needs attention", line=f"{who} {stage.line}", action=people)
    return stage


def _make_open_rounds_stage(progress: RoundProgress, work: Sequence[AnnotatorWork], now: datetime) -> Stage:
    item_count = progress.answered + progress.unanswered
    names = join_names([state.round for state in progress.open_rounds])
    line = f"{names}: {progress.answered:,} of {item_count:,} answered ({percent(progress.share)})."
    newest = progress.open_rounds[-1].round
    see_progress = Action("See progress", "rounds", f"goldgrade round status {newest}", {"round": newest})
    stage = Stage("round", "at work", line, see_progress, pace.count_daily_answers(work, now))
    paused = [state.round for state in progress.open_rounds if state.paused]
    if paused:
        manage = replace(see_progress, label="Resume it", parameters={"round": paused[-1], "part": MANAGE})
        line += f" Paused: {join_names(paused)}."
        return replace(stage, state="needs attention", line=line, action=manage)
    last_answer = {annotator.annotator: annotator.answered[-1] for annotator in work if annotator.answered}
    since = max(last_answer.values(), default=progress.open_rounds[-1].opened_at)
    if now - since > MAX_SILENCE:
        line += f" Nobody has answered since {since:%d %b %Y}."
        return replace(stage, state="needs attention", line=line)
    recent = [name for name, at in last_answer.items() if now - at <= RECENT]
    if recent:
        line += f" In the last hour: {join_names(recent)}."
    if (done_at := pace.forecast_end(work, now)[0]) is not None:
        line += f" Done about {done_at:%d %b}."
    return replace(stage, line=line)


def read_annotator_work(store: Store, rounds: Sequence[RoundState]) -> list[AnnotatorWork]:
    """Read the work of each annotator, summed over the rounds."""
    work_of: defaultdict[str, list[AnnotatorWork]] = defaultdict(list)
    for state in rounds:
        for work in pace.read_annotators_work(store, state.round):
            work_of[work.annotator].append(work)
    return [
        AnnotatorWork(
            annotator=name,
            open=sum(work.open for work in works),
            answered=sorted(at for work in works for at in work.answered),
            seconds=[seconds for work in works for seconds in work.seconds],
            grades=dict(sum((Counter(work.grades) for work in works), Counter())),
        )
        for name, works in sorted(work_of.items())
    ]


class SettledGrades(NamedTuple):
    """The judged pairs, their disputes, and the graded queries by part of the split.

    Attributes
    ----------
    judged, disputed, decided: numbers of pairs that are judged, disputed, and decided by a reviewer.
    awaiting_opinion: number of disputed pairs that wait for a second opinion.
    graded, unassigned: numbers of active queries with a grade, and of these queries in no part of the split.
    parts: number of queries in each part; None without a split.
    """

    judged: int
    disputed: int
    awaiting_opinion: int
    decided: int
    graded: int
    unassigned: int
    parts: Mapping[str, int] | None


def read_settled(cursor: Cursor) -> SettledGrades:
    """Read the judged pairs, their disputes, and the parts of the split."""
    pairs = compute_consensus(read_votes(cursor)).pairs
    marks, waiting = read_marks(cursor), read_awaited_opinions(cursor)
    disputed = [pair[:2] for pair in pairs if marks.is_disputed(pair)]
    active = {query.query_id for query in read_active_queries(cursor)}
    graded = {pair.query_id for pair in pairs if pair.grade is not None} & active
    split_id = get_setting(cursor, "split")
    sql = "SELECT query_id, part FROM split_assignments WHERE split_id = ?"
    part_of = dict(cursor.execute(sql, [split_id]).fetchall())
    return SettledGrades(
        judged=len(pairs),
        disputed=len(disputed),
        awaiting_opinion=sum(pair in waiting for pair in disputed),
        decided=sum(pair.how == "adjudicated" for pair in pairs),
        graded=len(graded),
        unassigned=len(graded - part_of.keys()),
        parts=dict(sorted(Counter(part_of.values()).items())) if split_id is not None else None,
    )


def make_adjudicate_stage(grades: SettledGrades, alpha: GateCheck | None) -> Stage:
    """Make the stage of adjudication: the disputed pairs that wait for a decision."""
    agreement = Action("See agreement", "agreement", "goldgrade agreement")
    if not grades.judged:
        line = "A reviewer settles the pairs on which annotators differ."
        return Stage("adjudicate", "not begun", line, agreement)
    decided = f"{pluralize(grades.decided, 'pair')} decided" if grades.decided else ""
    waiting = grades.disputed - grades.awaiting_opinion
    if waiting:
        line = f"{pluralize(waiting, 'pair waits', 'pairs wait')} for a decision"
        if grades.awaiting_opinion:
            line += f"; {grades.awaiting_opinion:,} more get one more opinion first"
        line += f"; {decided} so far." if decided else "."
        decide = Action(f"Decide {pluralize(waiting, 'pair')}", "adjudicate", "goldgrade disputes")
        return Stage("adjudicate", "needs attention", line, decide, alpha=alpha)
    if grades.awaiting_opinion:
        line = f"{pluralize(grades.awaiting_opinion, 'pair gets', 'pairs get')} one more opinion first."
        return Stage("adjudicate", "at work", line, agreement, alpha=alpha)
    line = f"No pair is disputed; {decided}." if decided else "No pair is disputed."
    return Stage("adjudicate", "done", line, agreement, alpha=alpha)


def make_split_stage(grades: SettledGrades, is_settled: bool) -> Stage:
    """Make the stage of the split: its parts, and the graded queries in no part.

    Parameters
    ----------
    is_settled: whether all pairs are judged and decided.
    """
    split = Action("Split the queries", "releases", "goldgrade split", {"stage": "Split"})
    if grades.parts is None:
        line = "A split divides queries into dev and test without leakage."
        if grades.graded:
            line = f"{pluralize(grades.graded, 'graded query is', 'graded queries are')} in no part yet."
        return Stage("split", "not begun", line, split)
    sizes = " · ".join(f"{part} {count:,}" for part, count in grades.parts.items())
    line = f"{sizes} queries."
    if grades.unassigned:
        line += f" {pluralize(grades.unassigned, 'graded query is', 'graded queries are')} in no part."
        if is_settled:
            return Stage("split", "needs attention", line, replace(split, label="Split again"))
    see = Action("See the parts", "releases", "goldgrade split --certificate", {"stage": "Split"})
    return Stage("split", "done", line, see)
