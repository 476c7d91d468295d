"""Staleness of the set: its pairs and queries with all that may have made grades wrong, and what is due."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from curation.core.text import pluralize
from curation.ingest.importers.queries import active_queries
from curation.people.seal_access import sealed_queries
from curation.relabeling.calendar import (
    DONE,
    NOT_PLANNED,
    OPEN,
    PLANNED,
    REVISIT,
    UNFINISHED,
    Quarter,
    QuarterWork,
    planned_pairs,
    present_quarter,
    read_work,
)
from curation.relabeling.judged_pairs import CHANGED, GONE, JudgedPair, read_pairs
from curation.relabeling.retired_queries import retired_queries
from curation.relabeling.text_changes import changed_shares
from curation.relabeling.traffic import LEFT, QueryTraffic, TrafficTable, read_traffic
from curation.store import Query, Store


@dataclass(frozen=True)
class RelabelingCalendar:
    """The calendar of the last two years, and what is due in the present quarter.

    Attributes
    ----------
    quarters: each with the pairs of the set that were last judged in it and its re-labeling if it had one;
        oldest first, the present one last.
    older, unknown: pairs that were judged before these quarters, or at a time that nobody knows.
    renewed: pairs of the set that the re-labelings of the last four quarters judged whole.
    renewed_share: of the set; None for an empty one.
    unfinished: the earlier re-labeling that is neither done nor closed.
    reasons: why something is due → number of pairs, queries or documents.
    stale: pairs whose score says that they are out of date; `planned` of them are in the quarter's plan.
    """

    quarters: tuple[tuple[Quarter, int, QuarterWork | None], ...]
    older: int
    unknown: int
    renewed: int
    renewed_share: float | None
    work: QuarterWork | None
    unfinished: QuarterWork | None
    reasons: dict[str, int]
    stale: int
    planned: int

    @property
    def quarter(self) -> Quarter:
        """The present quarter."""
        return self.quarters[-1][0]

    @property
    def state(self) -> str:
        """The state of the present quarter's re-labeling; 'not planned' without one."""
        return self.work.state if self.work is not None else NOT_PLANNED

    @property
    def is_due(self) -> bool:
        """Whether somebody has something to do: nothing was done yet and there is a reason, or work is open
        or was left half done.
        """
        if self.unfinished is not None or self.state in (PLANNED, OPEN, UNFINISHED):
            return True
        return self.state == NOT_PLANNED and bool(self.reasons)

    @property
    def stale_sentence(self) -> str:
        """How many pairs are out of date, and what the quarter does about them."""
        if not self.stale:
            return "No pair is out of date."
        sentence = f"{pluralize(self.stale, 'pair is', 'pairs are')} out of date"
        if self.state in (PLANNED, OPEN):
            return f"{sentence}; the plan of {self.quarter} renews {self.planned:,} of them."
        if self.state == UNFINISHED:
            return f"{sentence}; the re-labeling of {self.quarter} is {self.state}."
        if self.state == DONE:
            return f"{sentence}; the re-labeling of {self.quarter} is done, so they wait for the next one."
        return f"{sentence}; {self.quarter} has no plan yet."


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
    """The whole set, stalest first; pairs of queries that a release seals are without their grade.

    Attributes
    ----------
    stale: pairs with a score from `judged_pairs.STALE` on whose document is in the corpus.
    sealed: pairs whose grade is not named.
    has_new_traffic: whether a log was imported after the sample was drawn; without, traffic now is unknown.
    new_queries: texts asked in the new logs only with their searches, the most asked first.
    """

    quarter: Quarter
    pairs: tuple[JudgedPair, ...]
    queries: tuple[QueryStaleness, ...]
    stale: int
    sealed: int
    has_new_traffic: bool
    new_queries: tuple[tuple[str, int], ...]
    calendar: RelabelingCalendar


@dataclass(frozen=True)
class SetState:
    """What is read of the set at one moment, for its staleness and for a plan; pairs are scored.

    retired: normalised texts of queries. sealed: queries whose grades a release seals.
    """

    quarter: Quarter
    pairs: list[JudgedPair]
    queries: dict[str, Query]
    traffic: TrafficTable
    retired: frozenset[str]
    sealed: frozenset[str]
    work: list[QuarterWork]


def staleness(store: Store, today: date | None = None) -> SetStaleness:
    """How stale the set is in the quarter of `today`."""
    state = read_state(store, today)
    pairs = [pair.without_grade() if pair.query_id in state.sealed else pair for pair in state.pairs]
    queries = _by_query(state, pairs)
    with store.reading() as cursor:
        planned = planned_pairs(cursor, state.work, state.quarter)
    stale = {pair.pair for pair in state.pairs if pair.is_stale}
    return SetStaleness(
        quarter=state.quarter,
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.score, pair.pair))),
        queries=queries,
        stale=len(stale),
        sealed=sum(pair.query_id in state.sealed for pair in pairs),
        has_new_traffic=state.traffic.has_new,
        new_queries=state.traffic.new,
        calendar=_calendar(state, [query.traffic.trend for query in queries], stale, planned),
    )


def read_state(store: Store, today: date | None = None) -> SetState:
    """Read the set; see `staleness`."""
    with store.reading() as cursor:
        traffic = read_traffic(cursor)
        quarter, work = present_quarter(cursor, today), read_work(cursor)
        pairs, sealed = read_pairs(cursor), frozenset(sealed_queries(cursor))
        queries = {query.query_id: query for query in active_queries(cursor)}
        retired = frozenset(retired_queries(cursor))
    shares = changed_shares(store, pairs)
    return SetState(
        quarter=quarter,
        pairs=[pair.scored(quarter, shares.get(pair.hashes)) for pair in pairs],
        queries=queries,
        traffic=traffic,
        retired=retired,
        sealed=sealed,
        work=work,
    )


def _by_query(state: SetState, pairs: Sequence[JudgedPair]) -> tuple[QueryStaleness, ...]:
    grouped: defaultdict[str, list[JudgedPair]] = defaultdict(list)
    for pair in pairs:
        grouped[pair.query_id].append(pair)
    queries = [_query(state, members) for members in grouped.values()]
    return tuple(sorted(queries, key=lambda query: (-query.score, query.query_id)))


def _query(state: SetState, pairs: Sequence[JudgedPair]) -> QueryStaleness:
    query = state.queries[pairs[0].query_id]
    present = [pair for pair in pairs if pair.document != GONE]
    ages = [pair.age for pair in pairs if pair.age is not None]
    return QueryStaleness(
        query_id=query.query_id,
        text=query.text,
        type=pairs[0].type,
        tags=pairs[0].tags,
        pairs=len(pairs),
        changed=sum(pair.document == CHANGED for pair in pairs),
        gone=len(pairs) - len(present),
        stale=sum(pair.is_stale for pair in pairs),
        oldest=max(ages) if len(ages) == len(pairs) else None,
        traffic=state.traffic.of(query.query_id, query.normalised),
        score=sum(pair.score for pair in present) / len(present) if present else 0.0,
    )


def _calendar(
    state: SetState, trends: Sequence[str], stale: set[tuple[str, str]], planned: set[tuple[str, str]]
) -> RelabelingCalendar:
    """The calendar; `trends` are of the traffic of each query of the set."""
    pairs, work, quarter = state.pairs, state.work, state.quarter
    judged = Counter(pair.judged for pair in pairs)
    quarters = [quarter.before(back) for back in reversed(range(REVISIT + 1))]
    by_quarter = {row.quarter: row for row in work}
    recent = {row.quarter for row in work if row.round is not None and quarter.since(row.quarter) < 4}
    renewed = sum(pair.renewed in recent for pair in pairs)
    earlier = [row for row in work if row.quarter != quarter and row.state == OPEN]
    return RelabelingCalendar(
        quarters=tuple((name, judged[name], by_quarter.get(name)) for name in quarters),
        older=len(pairs) - judged[None] - sum(judged[name] for name in quarters),
        unknown=judged[None],
        renewed=renewed,
        renewed_share=renewed / len(pairs) if pairs else None,
        work=by_quarter.get(quarter),
        unfinished=earlier[-1] if earlier else None,
        reasons=_reasons(state, trends),
        stale=len(stale),
        planned=len(stale & planned),
    )


def _reasons(state: SetState, trends: Sequence[str]) -> dict[str, int]:
    """Why something is due → number of pairs, queries or documents."""
    known = [(pair, pair.judged or pair.known_since) for pair in state.pairs if pair.document != GONE]
    ages = [None if when is None else state.quarter.since(when) for _, when in known]
    counts = {
        "pairs whose document changed": sum(pair.document == CHANGED for pair in state.pairs),
        "pairs whose evidence is not in the new text": sum(pair.evidence_lost for pair in state.pairs),
        "pairs with a grade or vote whose words changed in the guide": sum(
            bool(pair.guide_behind) for pair, _ in known
        ),
        "pairs last judged in an earlier quarter": sum(age is None or age > 0 for age in ages),
        "pairs last judged two years ago or earlier": sum(age is not None and age >= REVISIT for age in ages),
        "queries that the traffic has left": sum(trend == LEFT for trend in trends),
        "queries new in the traffic": len(state.traffic.new),
    }
    return {reason: count for reason, count in counts.items() if count}
