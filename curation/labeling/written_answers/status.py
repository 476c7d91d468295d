"""The status of an answer task: its writers' progress and agreement, and the state of each query."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.reports.tables import BarCell, Table
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.text import pluralize
from curation.labeling import answer_matching
from curation.labeling.written_answers.outcomes import compute_outcomes
from curation.labeling.written_answers.tasks import find_answer_task
from curation.people.seal_access import LEAVES_OUT, SEALED, read_closed_access
from curation.store import Store

MIN_QUERIES = 10
"""Smallest number of queries for which a share of agreement is shown."""
_TEXTS = "SELECT query_id, text FROM answer_task_queries JOIN queries USING (query_id) WHERE task_id = ?"
_WRITERS = """
SELECT a.writer, count(*), count(*) FILTER (s.answered), count(*) FILTER (s.kind = 'unanswerable'),
       count(*) FILTER (s.answered AND s.late), max(s.written_at) FILTER (s.answered)
FROM answer_assignments a LEFT JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? GROUP BY a.writer ORDER BY a.writer
"""
_ANSWERS_TO_COMPARE = """
SELECT a.query_id, list(s.answer ORDER BY a.writer)
FROM answer_assignments a JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? AND s.answered GROUP BY a.query_id HAVING count(*) > 1 ORDER BY a.query_id
"""
STATES = {
    "waiting": "Waiting for writers",
    "unwritten": "Nobody answered",
    "agreed": "Writers agree",
    "single": "One writer",
    "unanswerable": "The corpus does not answer the query",
    answer_matching.DISPUTED: "Waiting for a reviewer",
    answer_matching.DECIDED: "Decided",
    SEALED: "Done, and sealed",
}
"""State of a query → the words that people read."""


class WriterProgress(NamedTuple):
    """A writer's progress: how many queries were assigned, answered, marked unanswerable and answered
    late."""

    writer: str
    queries: int
    answered: int
    unanswerable: int
    late: int
    last_at: datetime | None


class TaskQuery(NamedTuple):
    """A query of an answer task with its outcome and reference answers; a sealed query has the outcome
    'sealed'."""

    query_id: str
    query: str
    how: str
    answers: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class AnswerTaskStatus:
    """The progress of an answer task: queries by state, and writers' agreement.

    Attributes
    ----------
    counts: state → number of queries; the states are waiting, unwritten, agreed, single, unanswerable,
        disputed and decided.
    agreement: share of the queries with two or more answers on which all writers agree by the rule, before
        any decision; there is no share for fewer than ten such queries.
    agreeing: number of queries on which all writers agree.
    """

    task: str
    opened_at: datetime
    closed: bool
    parameters: dict[str, Any]
    counts: dict[str, int]
    writers: tuple[WriterProgress, ...]
    agreement: Estimate
    agreeing: int
    queries: tuple[TaskQuery, ...]

    @property
    def sentences(self) -> list[str]:
        """Return sentences about the answer task, and about its writers' agreement."""
        queries = f"{pluralize(self.agreement.n, 'query', 'queries')} with two answers"
        if self.agreement.value is None:
            agreement = f"All writers agree on {self.agreeing:,} of {queries}. {self.agreement.why}"
        else:
            agreement = f"All writers agree on {self.agreement.percent_text()} of {queries}."
        return [
            f"{self.task} is {'closed' if self.closed else 'open'}; opened {self.opened_at:%d %b %Y %H:%M} "
            f"UTC, {pluralize(self.parameters['overlap'], 'writer')} for each query. Two answers agree if "
            f"their token F1 is {self.parameters['bound']:g} or more.",
            agreement,
        ]

    @property
    def tables(self) -> tuple[Table, Table]:
        """Return tables of each writer's progress and of the number of queries in each state."""
        columns = ("Writer", "Done", "Queries", "Answered", "Without an answer", "Late")
        writers = tuple((row.writer, BarCell(row.answered, row.queries), *row[1:5]) for row in self.writers)
        counts = tuple((STATES[how], count) for how, count in self.counts.items() if count)
        return (Table("Writers", columns, writers), Table("Queries by state", ("State", "Queries"), counts))


def read_answer_task_status(store: Store, name: str) -> AnswerTaskStatus:
    """Compute the progress of the answer task with this name.

    Raises
    ------
    NotFoundError: no task has the name; the error lists the names of all tasks.
    """
    with store.reading() as cursor:
        task = find_answer_task(cursor, name)
        outcomes = compute_outcomes(cursor, task.task_id)
        texts = dict(cursor.execute(_TEXTS, [task.task_id]).fetchall())
        writers = [WriterProgress(*row) for row in cursor.execute(_WRITERS, [task.task_id]).fetchall()]
        rows = cursor.execute(_ANSWERS_TO_COMPARE, [task.task_id]).fetchall()
        access = read_closed_access(cursor)
    outcome_counts = Counter(outcome.how for outcome in outcomes.values())
    bound = task.parameters["bound"]
    comparisons = [answer_matching.decide_outcome(answers, len(answers), bound=bound) for _, answers in rows]
    agreeing = sum(outcome.is_settled for outcome in comparisons)
    shown_outcomes = {
        query_id: outcome if access.can_show(query_id) else _hide_sealed_outcome(outcome)
        for query_id, outcome in outcomes.items()
    }
    return AnswerTaskStatus(
        name,
        task.opened_at,
        task.closed,
        task.parameters,
        {how: outcome_counts[how] for how in answer_matching.OUTCOMES},
        tuple(writers),
        share_estimate(
            agreeing, len(rows), MIN_QUERIES, f"A percentage needs at least {MIN_QUERIES} queries."
        ),
        agreeing,
        tuple(TaskQuery(query_id, texts[query_id], *outcome) for query_id, outcome in shown_outcomes.items()),
    )


def _hide_sealed_outcome(outcome: answer_matching.AnswerOutcome) -> answer_matching.AnswerOutcome:
    """Replace a sealed query's settled outcome with 'sealed'."""
    return answer_matching.AnswerOutcome(SEALED, (), LEAVES_OUT) if outcome.is_settled else outcome
