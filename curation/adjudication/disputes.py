"""Disputes: the pairs on which annotators disagree, as a reviewer reads them.

A reviewer sees the grades and notes of a pair but never who gave them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

from curation.adjudication.decisions import Pair, ReviewerDecision, current_decisions
from curation.adjudication.second_opinions import awaited_opinions
from curation.consensus.consensus import dispute_weight, settled
from curation.consensus.votes import read_votes
from curation.errors import NotFoundError
from curation.store import Cursor, Store
from curation.store.documents import VERSION
from curation.text import digest


class Opinion(NamedTuple):
    """What one annotator said, without a name; grade is None for cannot-tell, explained by `reason`."""

    grade: int | None
    reason: str | None
    note: str | None


@dataclass(frozen=True)
class Dispute:
    """A pair on which annotators disagree, or which was decided.

    Attributes
    ----------
    grades: ascending, one per annotator who gave one.
    spread: highest grade less lowest.
    distinct: number of different grades.
    opinions: grades and cannot-tells with their notes, ordered by what they say.
    decision: the current one, if any.
    weight: what a decision would change: the disagreement between the grades times the traffic of the query
        (`consensus.consensus.dispute_weight`). Unknown traffic counts as the median of all disputes.
    """

    query_id: str
    document_id: str
    query: str
    title: str
    grades: tuple[int, ...]
    cannot_tell: int
    spread: int
    distinct: int
    opinions: tuple[Opinion, ...]
    decision: ReviewerDecision | None
    weight: float = 0.0


@dataclass(frozen=True)
class Case:
    """A judged pair with all that a reviewer reads: the document as the annotators last saw it."""

    dispute: Dispute
    information_need: str | None
    body: str
    url: str | None
    published: str | None

    @property
    def revision(self) -> int:
        """How many decisions the pair has had: what `decide` takes as `seen_revision`."""
        return self.dispute.decision.revision + 1 if self.dispute.decision else 0


def disputes(store: Store, include_settled: bool = False) -> list[Dispute]:
    """Disputed pairs, by what a decision would change; with `include_settled` also those decided before.

    A pair that waits for one more opinion is left out.
    """
    wanted = {"disputed", "adjudicated"} if include_settled else {"disputed"}
    with store.reading() as cursor:
        votes, waiting = read_votes(cursor), awaited_opinions(cursor)
    pairs = [
        (pair.query_id, pair.document_id)
        for pair in settled(votes).pairs
        if pair.how in wanted and not (pair.how == "disputed" and pair[:2] in waiting)
    ]
    with store.reading() as cursor:
        described, traffic = _describe(cursor, pairs), dict(cursor.execute(_TRAFFIC).fetchall())
    return sorted(
        _weighed(described, traffic),
        key=lambda item: (-item.weight, -item.spread, digest(item.query_id, item.document_id)),
    )


def dispute(store: Store, query_id: str, document_id: str) -> Case:
    """A judged pair, disputed or not, with what a reviewer needs to read.

    Raises
    ------
    NotFoundError: nobody has judged the pair.
    """
    with store.reading() as cursor:
        found = _describe(cursor, [(query_id, document_id)])
        if not found or not (found[0].opinions or found[0].decision):
            raise unjudged(query_id, document_id)
        row = cursor.execute(_READING, [query_id, document_id]).fetchone()
    return Case(found[0], *(row or (None, "", None, None)))


def unjudged(query: str, document_id: str) -> NotFoundError:
    """The error for a pair that nobody has judged."""
    return NotFoundError(
        f"Nobody has judged the document {document_id!r} for the query {query!r}. "
        "`goldset adjudicate list` shows the pairs that wait for a decision."
    )


def _weighed(described: Sequence[Dispute], traffic: Mapping[str, int]) -> list[Dispute]:
    known = [traffic[item.query_id] for item in described if item.query_id in traffic]
    usual = median(known) if known else 1
    return [
        replace(item, weight=dispute_weight(Counter(item.grades), traffic.get(item.query_id, usual)))
        for item in described
    ]


def _describe(cursor: Cursor, pairs: Sequence[Pair]) -> list[Dispute]:
    if not pairs:
        return []
    decisions = current_decisions(cursor, pairs)
    described = []
    parameters = list(map(list, zip(*pairs, strict=True)))
    for query_id, document_id, query, title, said in cursor.execute(_DESCRIPTION, parameters).fetchall():
        opinions = tuple(Opinion(*opinion) for opinion in said or ())
        grades = tuple(opinion.grade for opinion in opinions if opinion.grade is not None)
        described.append(
            Dispute(
                query_id=query_id,
                document_id=document_id,
                query=query,
                title=title,
                grades=grades,
                cannot_tell=len(opinions) - len(grades),
                spread=max(grades) - min(grades) if grades else 0,
                distinct=len(set(grades)),
                opinions=opinions,
                decision=decisions.get((query_id, document_id)),
            )
        )
    return described


_READING = f"""
    SELECT q.information_need, coalesce(d.body, ''), d.url, d.published
    FROM counted_judgments j
    LEFT JOIN queries q USING (query_id)
    LEFT JOIN {VERSION}
    WHERE j.query_id = ? AND j.document_id = ?
    ORDER BY j.submitted_at DESC, j.presentation_id LIMIT 1
"""  # noqa: S608

_TRAFFIC = """
    SELECT query_id, traffic FROM sample_queries
    WHERE sample_id = (SELECT value FROM settings WHERE name = 'sample')
"""

_DESCRIPTION = f"""
    WITH wanted AS (SELECT unnest(?::TEXT[]) AS query_id, unnest(?::TEXT[]) AS document_id)
    SELECT w.query_id, w.document_id,
           coalesce(any_value(q.text), w.query_id),
           coalesce(max_by(d.title, j.submitted_at), ''),
           list((j.grade, j.reason, j.note) ORDER BY j.grade, j.reason, j.note)
               FILTER (j.presentation_id IS NOT NULL)
    FROM wanted w
    LEFT JOIN queries q USING (query_id)
    LEFT JOIN counted_judgments j USING (query_id, document_id)
    LEFT JOIN {VERSION}
    GROUP BY w.query_id, w.document_id
"""  # noqa: S608
