"""The status of an answer task: how far writers are, what became of queries, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.reports.page import BarCell, Table
from curation.core.statistics.intervals import wilson
from curation.core.text import amount, percent
from curation.labeling.written_answers.outcomes import outcomes
from curation.labeling.written_answers.rule import (
    AGREED,
    DECIDED,
    DISPUTED,
    HOWS,
    UNANSWERABLE,
    AnswerOutcome,
    WrittenAnswer,
    outcome_of,
)
from curation.labeling.written_answers.tasks import find_answer_task
from curation.people.seal_access import LEAVES_OUT, SEALED, shut_door
from curation.store import Store

FEWEST = 10
"""Queries below which there is no share of agreement."""

_TEXTS = "SELECT query_id, text FROM answer_task_queries JOIN queries USING (query_id) WHERE task_id = ?"

_WRITERS = """
SELECT a.writer, count(*), count(*) FILTER (s.answered), count(*) FILTER (s.kind = 'unanswerable'),
       count(*) FILTER (s.answered AND s.late), max(s.written_at) FILTER (s.answered)
FROM answer_assignments a LEFT JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? GROUP BY a.writer ORDER BY a.writer
"""

_SAID = """
SELECT a.query_id, list(s.answer ORDER BY a.writer)
FROM answer_assignments a JOIN answer_states s USING (assignment_id)
WHERE a.task_id = ? AND s.answered GROUP BY a.query_id HAVING count(*) > 1 ORDER BY a.query_id
"""

STATES = {
    "waiting": "Waiting for writers",
    "unwritten": "Nobody answered",
    "agreed": "Writers agree",
    "single": "One writer",
    "unanswerable": "The corpus does not answer it",
    DISPUTED: "Waiting for a reviewer",
    DECIDED: "Decided",
    SEALED: "Settled, and sealed",
}
"""What became of a query, as people read it."""


class WriterProgress(NamedTuple):
    """One writer: queries given, answered, of those said not to be answered by the corpus, and late."""

    writer: str
    queries: int
    answered: int
    unanswerable: int
    late: int
    last_at: datetime | None


class AnswerAgreement(NamedTuple):
    """Queries that two writers or more have answered, and of how many all agree; a share from ten queries."""

    queries: int
    agree: int
    share: float | None
    low: float | None
    high: float | None


class TaskQuery(NamedTuple):
    """A query of a task, what became of it, and its references; of a sealed one that is settled, 'sealed'."""

    query_id: str
    query: str
    how: str
    answers: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class AnswerTaskStatus:
    """How far a task is.

    Attributes
    ----------
    counts: waiting, unwritten, agreed, single, unanswerable, disputed, decided → number of queries.
    agreement: by the rule, before any decision.
    """

    task: str
    opened_at: datetime
    closed: bool
    parameters: dict[str, Any]
    counts: dict[str, int]
    writers: tuple[WriterProgress, ...]
    agreement: AnswerAgreement
    queries: tuple[TaskQuery, ...]


def answer_task_status(store: Store, name: str) -> AnswerTaskStatus:
    """The status of the task of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    with store.reading() as cursor:
        task = find_answer_task(cursor, name)
        found = outcomes(cursor, task.task_id)
        texts = dict(cursor.execute(_TEXTS, [task.task_id]).fetchall())
        writers = [WriterProgress(*row) for row in cursor.execute(_WRITERS, [task.task_id]).fetchall()]
        said = cursor.execute(_SAID, [task.task_id]).fetchall()
        door = shut_door(cursor)
    times = Counter(outcome.how for outcome in found.values())
    return AnswerTaskStatus(
        name,
        task.opened_at,
        task.closed,
        task.parameters,
        {how: times[how] for how in HOWS},
        tuple(writers),
        _agreement(said, task.parameters["bound"]),
        tuple(
            TaskQuery(query_id, texts[query_id], *_shown(outcome, door.shows(query_id)))
            for query_id, outcome in found.items()
        ),
    )


def _shown(outcome: AnswerOutcome, shown: bool) -> AnswerOutcome:
    """What became of a query; how a sealed one was settled stays where it is."""
    return outcome if shown or not outcome.is_settled else AnswerOutcome(SEALED, (), LEAVES_OUT)


def _agreement(said: Sequence[tuple[str, list[str | None]]], bound: float) -> AnswerAgreement:
    agree = 0
    for _, answers in said:
        given = [WrittenAnswer(str(place), answer) for place, answer in enumerate(answers)]
        agree += outcome_of(given, len(given), bound=bound).how in (AGREED, UNANSWERABLE)
    if len(said) < FEWEST:
        return AnswerAgreement(len(said), agree, None, None, None)
    return AnswerAgreement(len(said), agree, agree / len(said), *wilson(agree, len(said)))


def status_tables(status: AnswerTaskStatus) -> tuple[Table, Table]:
    """How far each writer is, and what became of the queries."""
    columns = ("Writer", "Done", "Queries", "Answered", "Without an answer", "Late")
    writers = tuple(
        (writer.writer, BarCell(writer.answered, writer.queries), *writer[1:5]) for writer in status.writers
    )
    counts = tuple((STATES[how], count) for how, count in status.counts.items() if count)
    return (
        Table("Writers", columns, writers),
        Table("What became of the queries", ("State", "Queries"), counts),
    )


def agreement_sentence(answer_agreement: AnswerAgreement) -> str:
    """In how many queries all writers agree, with the interval where there are enough."""
    queries = amount(answer_agreement.queries, "query", "queries")
    if answer_agreement.share is None:
        return (
            f"In {answer_agreement.agree:,} of {queries} with two answers all writers agree. There is a "
            "share from "
            f"{FEWEST} queries."
        )
    return (
        f"All writers agree in {percent(answer_agreement.share)} of {queries} with two answers (95 % "
        "interval "
        f"{percent(answer_agreement.low)} to {percent(answer_agreement.high)})."
    )
