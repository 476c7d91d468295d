"""Staleness of the set: each pair and each query with all that may have made its grades wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from curation.ingest.importers.queries import active_queries
from curation.labeling.consensus.evidence import newer_versions, read_marks
from curation.people.seal_access import SEALED, sealed_queries
from curation.relabeling.staleness.calendar import (
    QuarterWork,
    RelabelingCalendar,
    calendar_of,
    planned_pairs,
    present_quarter,
    read_work,
)
from curation.relabeling.staleness.judged_pairs import CHANGED, GONE, JudgedPair, read_pairs
from curation.relabeling.staleness.precision import SHARES, ExpectedPrecision, read_spread
from curation.relabeling.staleness.quarter import Quarter
from curation.relabeling.staleness.retired import retired_queries
from curation.relabeling.staleness.score import STALE, StalenessParts, parts_of
from curation.relabeling.staleness.text_changes import changed_shares
from curation.relabeling.staleness.traffic import (
    NewQuery,
    QueryTraffic,
    TrafficTable,
    read_traffic,
    traffic_of,
)
from curation.releases.verify import load_release
from curation.store import Query, Store


@dataclass(frozen=True)
class PairStaleness:
    """How stale a pair is.

    Attributes
    ----------
    age: quarters since it was judged; None: not known, and then `older_than` says since when it is known.
    document: 'same', 'changed', 'gone' or 'unknown'; with the versions judged and in force.
    changed_share: of its document's words; None where the text did not change.

    Where a release seals the query, `how` is 'sealed', and grade, votes and confidence are not named. Whether
    the guide is behind is left out, here and of the score, because it depends on the grade.
    """

    query_id: str
    document_id: str
    grade: int | None
    how: str
    votes: dict[int, int]
    cannot_tell: int
    confidence: float | None
    judged: str | None
    age: int | None
    older_than: int | None
    document: str
    read_hash: str | None
    now_hash: str | None
    changed_share: float | None
    guide_behind: bool | None
    parts: StalenessParts
    score: float

    @property
    def is_stale(self) -> bool:
        """Whether it should be judged again; a document that is gone cannot be. Nothing that was judged this
        quarter is out of date unless its document or the guide changed since.
        """
        quarters = self.older_than if self.age is None else self.age
        moved = self.document == CHANGED or self.guide_behind or quarters != 0
        return self.score >= STALE and self.document != GONE and moved


@dataclass(frozen=True)
class QueryStaleness:
    """How stale a query is; the score is the mean of its pairs' whose document is in the corpus."""

    query_id: str
    text: str
    type: str
    tags: tuple[str, ...]
    pairs: int
    changed: int
    gone: int
    stale: int
    oldest: int | None
    traffic: QueryTraffic
    score: float


@dataclass(frozen=True)
class SetStaleness:
    """The whole set, stalest first.

    Attributes
    ----------
    release: the release whose pairs these are; None: all of the project.
    stale: pairs with a score from `score.STALE` on whose document is in the corpus.
    sealed: pairs whose grade is not named.
    has_new_traffic: whether a log was imported after the sample was drawn; without, traffic now is unknown.
    new_queries: asked in the new logs only, the most asked first.
    expected: what the random parts of plans of several sizes should find.
    """

    quarter: str
    release: str | None
    pairs: tuple[PairStaleness, ...]
    queries: tuple[QueryStaleness, ...]
    stale: int
    sealed: int
    has_new_traffic: bool
    new_queries: tuple[NewQuery, ...]
    expected: tuple[ExpectedPrecision, ...]
    calendar: RelabelingCalendar


@dataclass(frozen=True)
class SetState:
    """What is read of the set at one moment, for its staleness and for a plan.

    retired: normalised texts of queries. sealed: queries whose
        grades a release seals.
    """

    quarter: Quarter
    pairs: list[JudgedPair]
    queries: dict[str, Query]
    traffic: TrafficTable
    retired: frozenset[str]
    sealed: frozenset[str]
    work: list[QuarterWork]


def staleness(
    store: Store,
    today: date | None = None,
    release: str | None = None,
) -> SetStaleness:
    """How stale the set is in the quarter of `today`.

    Parameters
    ----------
    release: only the pairs of this release.

    Raises
    ------
    NotFoundError: there is no such release.
    RefusedError: the release is not as it was frozen.
    """
    state = read_state(store, today, release)
    rows = pair_staleness(store, state)
    named = [_without_grade(row) if row.query_id in state.sealed else row for row in rows]
    queries = _by_query(state, named)
    trends = [query.traffic.trend for query in queries]
    with store.reading() as cursor:
        planned = planned_pairs(cursor, state.work, state.quarter)
        spread = read_spread(cursor, (pair.query_id for pair in state.pairs if pair.document != GONE))
    stale = {(row.query_id, row.document_id) for row in rows if row.is_stale}
    calendar = calendar_of(state.pairs, state.work, state.quarter, trends, len(state.traffic.new))
    due = replace(calendar.due, stale=len(stale), planned=len(stale & planned))
    return SetStaleness(
        quarter=state.quarter.name,
        release=release,
        pairs=tuple(sorted(named, key=lambda row: (-row.score, row.query_id, row.document_id))),
        queries=queries,
        stale=len(stale),
        sealed=sum(row.how == SEALED for row in named),
        has_new_traffic=state.traffic.has_new,
        new_queries=state.traffic.new,
        expected=tuple(spread.expected(fraction) for fraction in SHARES),
        calendar=replace(calendar, due=due),
    )


def read_state(store: Store, today: date | None = None, release: str | None = None) -> SetState:
    """Read the set; see `staleness`."""
    among = None
    if release is not None:
        among = {(row["query_id"], row["document_id"]) for row in load_release(store, release).rows("qrels")}
    with store.reading() as cursor:
        logged = read_traffic(cursor)
        quarter, work = present_quarter(cursor, today), read_work(cursor)
        pairs, sealed = read_pairs(cursor, among), frozenset(sealed_queries(cursor))
        queries = {query.query_id: query for query in active_queries(cursor)}
        retired = frozenset(retired_queries(cursor))
        marks = read_marks(cursor)
        newer = newer_versions(cursor, marks)
    pairs = [
        pair._replace(evidence_lost=pair.query_id not in sealed and marks.is_lost(pair.consensus, newer))
        for pair in pairs
    ]
    return SetState(
        quarter=quarter,
        pairs=pairs,
        queries=queries,
        traffic=traffic_of(logged),
        retired=retired,
        sealed=sealed,
        work=work,
    )


def pair_staleness(store: Store, state: SetState) -> list[PairStaleness]:
    """The staleness of every pair, in the order of the state."""
    shares = changed_shares(store, state.pairs)
    return [_row(pair, state.quarter, shares) for pair in state.pairs]


def _row(pair: JudgedPair, quarter: Quarter, shares: Mapping[tuple[str, str], float]) -> PairStaleness:
    changed = shares.get((pair.read_hash or "", pair.now_hash or "")) if pair.document == CHANGED else None
    parts = parts_of(pair, quarter, changed)
    consensus = pair.consensus
    return PairStaleness(
        query_id=consensus.query_id,
        document_id=consensus.document_id,
        grade=consensus.grade,
        how=consensus.how,
        votes=dict(consensus.votes),
        cannot_tell=consensus.cannot_tell,
        confidence=consensus.confidence,
        judged=pair.judged.name if pair.judged else None,
        age=quarter.since(pair.judged) if pair.judged else None,
        older_than=quarter.since(pair.known_since) if pair.known_since and not pair.judged else None,
        document=pair.document,
        read_hash=pair.read_hash,
        now_hash=pair.now_hash,
        changed_share=changed,
        guide_behind=pair.guide_behind,
        parts=parts,
        score=parts.score,
    )


def _without_grade(row: PairStaleness) -> PairStaleness:
    hidden = replace(row, grade=None, how=SEALED, votes={}, cannot_tell=0, confidence=None)
    parts = row.parts._replace(guide=None)
    return replace(hidden, guide_behind=None, parts=parts, score=parts.score)


def _by_query(state: SetState, rows: Sequence[PairStaleness]) -> tuple[QueryStaleness, ...]:
    grouped: defaultdict[str, list[tuple[JudgedPair, PairStaleness]]] = defaultdict(list)
    for pair, row in zip(state.pairs, rows, strict=True):
        grouped[pair.query_id].append((pair, row))
    found = [_query(state, query_id, members) for query_id, members in grouped.items()]
    return tuple(sorted(found, key=lambda query: (-query.score, query.query_id)))


def _query(
    state: SetState, query_id: str, members: Sequence[tuple[JudgedPair, PairStaleness]]
) -> QueryStaleness:
    query, (first, _) = state.queries[query_id], members[0]
    rows = [row for _, row in members]
    left = [row for row in rows if row.document != GONE]
    ages = [row.age for row in rows if row.age is not None]
    return QueryStaleness(
        query_id=query_id,
        text=query.text,
        type=first.type,
        tags=first.tags,
        pairs=len(rows),
        changed=sum(row.document == CHANGED for row in rows),
        gone=sum(row.document == GONE for row in rows),
        stale=sum(row.is_stale for row in rows),
        oldest=max(ages) if len(ages) == len(rows) else None,
        traffic=state.traffic.of(query_id, query.normalised),
        score=sum(row.score for row in left) / len(left) if left else 0.0,
    )
