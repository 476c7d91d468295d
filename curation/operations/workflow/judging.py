"""The stages in which people judge pairs: people and round."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from curation.core.text import join_names, percent, pluralize
from curation.labeling.rounds import pace
from curation.labeling.rounds.pace import AnnotatorWork
from curation.labeling.rounds.practice import read_practice_statuses
from curation.labeling.rounds.round_states import RoundState, compute_answered_share, read_round_states
from curation.operations.workflow.preparing import Preparation
from curation.operations.workflow.stage import Action, Stage, State
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Cursor, Store

RECENT = timedelta(hours=1)
"""An annotator who answered within this time is at work."""
MANAGE = "Manage"
"""The part of the page Rounds in which a lead resumes a round."""
QUESTIONS = "Questions"
"""The part of the page Rounds with flagged answers and questions."""
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
        """Return the share of the open rounds' items that annotators have answered."""
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


def has_grades(cursor: Cursor) -> bool:
    """Return whether a project has a grade that somebody gave or that was imported."""
    return bool(cursor.execute("SELECT 1 FROM judgment_events WHERE kind = 'grade' LIMIT 1").fetchall())


def make_people_stage(progress: RoundProgress) -> Stage:
    """Make the people stage; a project with only imported judgments does not need annotators."""
    add = Action("Add people", "team", "goldgrade people add NAME")
    if progress.annotators:
        line = f"{pluralize(len(progress.annotators), 'annotator')}: {join_names(progress.annotators)}."
        return Stage("people", "done", line, replace(add, label="See the people"))
    if progress.open_rounds or progress.finished or progress.imported:
        return Stage(
            "people", "done", "There are no annotators yet. Leads and reviewers can judge, too.", add
        )
    line = "Add at least two annotators, and a reviewer who decides disputes."
    return Stage("people", "not begun", line, add)


def make_round_stage(
    progress: RoundProgress, work: Sequence[AnnotatorWork], facts: Preparation, now: datetime
) -> Stage:
    """Make the round stage: the progress of open rounds, or the pairs that wait for a round."""
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
        stage = Stage("round", "not begun", "Let people judge the documents of each query.", open_round)
    if progress.failed:
        who = f"{join_names(progress.failed)} did not pass practice and cannot begin."
        people = Action("See who practices", "team", "goldgrade practice NAME")
        stage = replace(stage, state="needs attention", line=f"{who} {stage.line}", action=people)
    return stage


def _make_open_rounds_stage(progress: RoundProgress, work: Sequence[AnnotatorWork], now: datetime) -> Stage:
    item_count = progress.answered + progress.unanswered
    names = join_names([state.round for state in progress.open_rounds])
    rounds = "round" if len(progress.open_rounds) == 1 else "rounds"
    answered = f"{progress.answered:,} of {item_count:,} answered, {percent(progress.share)}"
    line = f"Finish the {rounds} {names} ({answered})."
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
        line += f" Active in the last hour: {join_names(recent)}."
    done_at, _ = pace.forecast_end(work, now)
    if done_at is not None:
        line += f" The round will be done around {done_at:%d %b}."
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
