"""Synthetic queries: people judge a share of them, drawn at random by seed.

A synthetic query, which a language model wrote, is withheld until it is drawn for judgment. A drawn query
becomes a current query, and the document that the query was written for becomes a candidate. The share that
people judge is a share of all synthetic queries of the project, rounded up. The share can be raised but not
lowered, so a drawn query stays drawn. The seed decides the order in which synthetic queries are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from curation.core.digests import sort_by_seed
from curation.core.errors import InputError
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.people.annotators import require_author
from curation.queries.coverage.writing.coverage_queries import add_origin_candidates
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now

_LATEST_DRAWS = """
    SELECT query_id, revision, drawn, share FROM synthetic_draws
    WHERE query_id NOT IN (SELECT query_id FROM retired_queries)
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1 ORDER BY query_id
"""
_COUNTS_BY_MODEL = """
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
    """How many synthetic queries there are, and how many of them people judge.

    Attributes
    ----------
    share: share of queries to judge that was asked for last; None without synthetic queries.
    queries: number of synthetic queries that are not retired.
    drawn: number of drawn queries, which people judge.
    added: number of queries drawn by this call.
    """

    share: float | None
    queries: int
    drawn: int
    added: int = 0

    @property
    def sentences(self) -> list[str]:
        """Say how many synthetic queries were newly drawn, and how many people judge."""
        of = pluralize(self.queries, "synthetic query", "synthetic queries")
        new = [f"{pluralize(self.added, 'query', 'queries')} drawn."] if self.added else []
        return [*new, f"People judge {self.drawn:,} of {of}; people do not see the other queries."]


NOTHING_DRAWN = JudgedShare(None, 0, 0)


class JudgedOrigins(NamedTuple):
    """Counts of a model's synthetic queries, and of the judgments on the documents that the queries were
    written for.

    Attributes
    ----------
    model: name of the model.
    queries, withheld: numbers of current queries and of withheld queries.
    judged: number of current queries whose document has a grade by a person.
    relevant: number of judged queries whose document most grades call relevant.
    share: relevant queries as a share of judged queries.
    """

    model: str
    queries: int
    withheld: int
    judged: int
    relevant: int
    share: Estimate


def check_share(share: float) -> None:
    """Reject a share of judged queries that is not above 0 or that exceeds 1."""
    if not 0 < share <= 1:
        raise InputError(
            f"The share of queries that people judge is {share:g}; expected a number above 0 and at most 1. "
            "Synthetic queries test nothing if nobody judges them."
        )


def withhold_query(cursor: Cursor, query_id: str, share: float, seed: int, author: str) -> None:
    """Mark a new synthetic query as not yet judged by people, in the transaction that stores the query."""
    _append_draws(cursor, [(query_id, 0, False)], share, seed, author)


def draw_queries(store: Store, share: float, seed: int, author: str = COMMAND_LINE) -> JudgedShare:
    """Draw synthetic queries until people judge a share of all of them.

    Raises
    ------
    InputError: the share is not above 0, or is above 1.
    RefusedError: the author is not a lead.
    """
    check_share(share)
    with store.transaction(appends=True) as cursor:
        require_author(cursor, author, "lead")
        rows = cursor.execute(_LATEST_DRAWS).fetchall()
        undrawn = [(query_id, revision) for query_id, revision, is_drawn, _ in rows if not is_drawn]
        missing = max(0, ceil(round(share * len(rows), 9)) - (len(rows) - len(undrawn)))
        newly_drawn = sorted(sort_by_seed(undrawn, seed, lambda row: ["judged share", row[0]])[:missing])
        if newly_drawn:
            add_origin_candidates(cursor, [query_id for query_id, _ in newly_drawn])
            draws = [(query_id, revision + 1, True) for query_id, revision in newly_drawn]
            _append_draws(cursor, draws, share, seed, author)
            detail = {"share": share, "seed": seed, "queries": [query_id for query_id, _ in newly_drawn]}
            record_event(cursor, "draw synthetic queries", detail, author)
    return JudgedShare(share, len(rows), len(rows) - len(undrawn) + len(newly_drawn), len(newly_drawn))


def read_synthetic_ids(cursor: Cursor) -> frozenset[str]:
    """Read the ids of the queries that language models wrote."""
    rows = cursor.execute("SELECT query_id FROM queries WHERE source = 'synthetic'").fetchall()
    return frozenset(query_id for (query_id,) in rows)


def read_judged_origins(store: Store) -> list[JudgedOrigins]:
    """Count, for each model, the documents for which it wrote queries and that people judged or found
    relevant."""
    with store.reading() as cursor:
        relevant = current_guide(cursor).values[1]
        rows = cursor.execute(_COUNTS_BY_MODEL, {"relevant": relevant}).fetchall()
    return [
        JudgedOrigins(model, queries, withheld, judged, n_relevant, share_estimate(n_relevant, judged))
        for model, queries, withheld, judged, n_relevant in rows
    ]


def build_origins_table(origins: Sequence[JudgedOrigins]) -> Table:
    """Show, for each model, its queries and the judgments on the documents that the queries were written
    for."""
    columns = ("model", "current", "withheld", "document judged", "relevant", "share relevant, 95 %")
    rows = tuple((*origin[:5], origin.share.interval(2)) for origin in origins)
    return Table("Synthetic queries, and the documents that they were written for", columns, rows)


def _append_draws(
    cursor: Cursor, rows: Sequence[tuple[str, int, bool]], share: float, seed: int, author: str
) -> None:
    constants = {"share": share, "seed": seed, "author": author, "drawn_at": utc_now()}
    append_rows(cursor, "synthetic_draws", rows, ("query_id", "revision", "drawn"), **constants)
