"""The share of a model's queries that people judge.

A query that a language model wrote is withheld until it is drawn. Those that are drawn are in force: they are
pooled, shown and graded like any other, and the document that each was written for is a candidate. The share
is of all synthetic queries of the project, rounded up. It can be raised and not lowered, so what was drawn
once stays. The order of drawing is random by seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from curation.core.errors import InputError
from curation.core.statistics.intervals import wilson
from curation.core.text import seeded
from curation.guides.guide import current_guide
from curation.people.annotators import require_author
from curation.queries.coverage.writing.coverage_queries import propose_origins
from curation.store import (
    COMMAND_LINE,
    Cursor,
    Store,
    append_rows,
    record_event,
    utc_now,
)

_LATEST = """
    SELECT query_id, revision, drawn, share FROM synthetic_draws
    WHERE query_id NOT IN (SELECT query_id FROM retired_queries)
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1 ORDER BY query_id
"""
_ORIGINS = """
    WITH graded AS (
        SELECT c.query_id, count(j.grade) AS votes, count(*) FILTER (j.grade >= $relevant) AS good
        FROM coverage_queries c
        JOIN counted_judgments j ON j.query_id = c.query_id AND j.document_id = c.document_id
        GROUP BY c.query_id)
    SELECT c.writer, count(*) FILTER (w.query_id IS NULL), count(w.query_id),
           count(*) FILTER (w.query_id IS NULL AND g.votes > 0),
           count(*) FILTER (w.query_id IS NULL AND 2 * g.good > g.votes)
    FROM coverage_queries c JOIN queries q USING (query_id)
    LEFT JOIN withheld_queries w USING (query_id) LEFT JOIN graded g USING (query_id)
    WHERE q.source = 'synthetic' AND c.query_id NOT IN (SELECT query_id FROM retired_queries)
    GROUP BY c.writer ORDER BY c.writer
"""


class JudgedShare(NamedTuple):
    """Synthetic queries, and how many of them people judge.

    Attributes
    ----------
    share: that was asked for last; None where there are no queries.
    queries: all that models wrote and nobody retired.
    drawn: those in force.
    added: of these, drawn by this call.
    """

    share: float | None
    queries: int
    drawn: int
    added: int = 0


NOTHING_DRAWN = JudgedShare(None, 0, 0)


class JudgedOrigins(NamedTuple):
    """What people said of the documents that synthetic queries in force were written for.

    Attributes
    ----------
    model: that wrote them.
    queries, withheld: in force, and not.
    judged: queries whose document has a grade of people.
    relevant: of these, with more than half of the grades from the relevant one on.
    interval: Wilson's, 95 %, of the share of relevant ones; None where none is judged.
    """

    model: str
    queries: int
    withheld: int
    judged: int
    relevant: int
    interval: tuple[float, float] | None


def check_share(share: float) -> None:
    """Raise an InputError unless people judge some of the queries."""
    if not 0 < share <= 1:
        raise InputError(
            f"The share of queries that people judge is {share:g}; expected a number above 0, 1 at most. "
            "Queries of a language model that nobody judges test nothing."
        )


def withhold(cursor: Cursor, query_id: str, share: float, seed: int, author: str) -> None:
    """Withhold a query that was just written; part of another's transaction."""
    _append(cursor, [(query_id, 0, False)], share, seed, author)


def draw_queries(store: Store, share: float, seed: int, author: str = COMMAND_LINE) -> JudgedShare:
    """Draw queries until people judge this share of all that models wrote.

    Raises
    ------
    InputError: the share is not above 0, or above 1.
    RefusedError: the author is no lead.
    """
    check_share(share)
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        rows = cursor.execute(_LATEST).fetchall()
        waiting = [(query_id, revision) for query_id, revision, drawn, _ in rows if not drawn]
        needed = max(0, ceil(round(share * len(rows), 9)) - (len(rows) - len(waiting)))
        new = sorted(seeded(waiting, seed, lambda row: ["judged share", row[0]])[:needed])
        if new:
            propose_origins(cursor, [query_id for query_id, _ in new])
            _append(
                cursor, [(query_id, revision + 1, True) for query_id, revision in new], share, seed, author
            )
            detail = {"share": share, "seed": seed, "queries": [query_id for query_id, _ in new]}
            record_event(cursor, "draw synthetic queries", detail, author)
    return JudgedShare(share, len(rows), len(rows) - len(waiting) + len(new), len(new))


def judged_origins(store: Store, relevant: int | None = None) -> list[JudgedOrigins]:
    """What people said of each model's queries, by model.

    Parameters
    ----------
    relevant: the grade from which a document is relevant; None: the second of the scale.

    Raises
    ------
    InputError: the grade is not on the scale, or is its lowest.
    """
    with store.reading() as cursor:
        grades = current_guide(cursor).values[1:]
        relevant = grades[0] if relevant is None else relevant
        if relevant not in grades:
            raise InputError(f"A relevant grade is one of {', '.join(map(str, grades))}; found {relevant}.")
        rows = cursor.execute(_ORIGINS, {"relevant": relevant}).fetchall()
    return [
        JudgedOrigins(model, queries, withheld, judged, good, wilson(good, judged) if judged else None)
        for model, queries, withheld, judged, good in rows
    ]


def _append(
    cursor: Cursor, rows: Sequence[tuple[str, int, bool]], share: float, seed: int, author: str
) -> None:
    asked = {"share": share, "seed": seed, "author": author, "drawn_at": utc_now()}
    append_rows(cursor, "synthetic_draws", rows, ("query_id", "revision", "drawn"), **asked)
