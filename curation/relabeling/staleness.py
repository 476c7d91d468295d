"""Staleness of the gold set: scores of pairs and queries, and the re-labeling that is due this quarter."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.people.seal_access import read_sealed_queries
from curation.queries.retired_queries import read_retired_queries
from curation.relabeling import calendar
from curation.relabeling.judged_pairs import CHANGED, GONE, JudgedPair, read_pairs
from curation.relabeling.text_changes import compute_changed_shares
from curation.relabeling.traffic import LEFT, QueryTraffic, TrafficTable, read_traffic
from curation.store import Query, Store


@dataclass(frozen=True)
class RelabelingCalendar:
    """The judged pairs of the last two years by quarter, and the re-labeling that is due now.

    Attributes
    ----------
    quarters: each quarter with the number of pairs that were last judged in it, and with its re-labeling if
        it had one; oldest first, the present quarter last.
    older, unknown: numbers of pairs that were judged before these quarters, or at an unknown time.
    renewed: number of pairs of the set that the re-labelings of the last four quarters judged whole.
    renewed_share: the share of these pairs in the set; None for an empty set.
    work: the re-labeling of the present quarter.
    unfinished: the earlier re-labeling that is still open.
    reasons: number of pairs, queries or documents for each reason to judge again.
    stale, planned: number of stale pairs, and number of the stale pairs that the plan of the quarter
        contains.
    """

    quarters: tuple[tuple[calendar.Quarter, int, calendar.QuarterWork | None], ...]
    older: int
    unknown: int
    renewed: int
    renewed_share: float | None
    work: calendar.QuarterWork | None
    unfinished: calendar.QuarterWork | None
    reasons: dict[str, int]
    stale: int
    planned: int

    @property
    def quarter(self) -> calendar.Quarter:
        """Return the calendar's current quarter."""
        return self.quarters[-1][0]

    @property
    def state(self) -> str:
        """Return the state of the current quarter's re-labeling; 'not planned' without a plan."""
        return self.work.state if self.work is not None else calendar.NOT_PLANNED

    @property
    def is_due(self) -> bool:
        """Return whether a lead has to act: pairs are due without a plan, or a re-labeling is unfinished."""
        if self.unfinished or self.state in (calendar.PLANNED, calendar.OPEN, calendar.UNFINISHED):
            return True
        return self.state == calendar.NOT_PLANNED and bool(self.reasons)

    @property
    def stale_sentence(self) -> str:
        """Return a sentence that says how many pairs are stale, and how many are judged again."""
        if not self.stale:
            return "No pair is out of date."
        sentence = f"{pluralize(self.stale, 'pair is', 'pairs are')} out of date"
        if self.state in (calendar.PLANNED, calendar.OPEN):
            return f"{sentence}; the plan of {self.quarter} renews {self.planned:,} of these pairs."
        if self.state == calendar.UNFINISHED:
            return f"{sentence}; the re-labeling of {self.quarter} is {self.state}."
        if self.state == calendar.DONE:
            return f"{sentence}; the re-labeling of {self.quarter} is done; the next quarter renews the rest."
        return f"{sentence}; {self.quarter} has no plan yet."


@dataclass(frozen=True)
class QueryStaleness:
    """The staleness of a query: the mean score of its pairs, and counts of stale and changed pairs.

    Attributes
    ----------
    pairs, changed, gone, stale: numbers of pairs: all, with a changed document, with a gone document, stale.
    oldest: the highest age of a pair, in quarters; None if the age of a pair is unknown.
    score: the mean score of the pairs whose document is in the corpus.
    """

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
    """The staleness of the whole gold set, stalest pairs and queries first.

    Sealed pairs have no grade here.

    Attributes
    ----------
    stale: number of stale pairs; see `judged_pairs.JudgedPair.is_stale`.
    sealed: number of pairs that a release seals.
    has_new_traffic: whether a log was imported after the last draw; otherwise traffic now is unknown.
    new_queries: texts that only the new logs contain, with their searches; most asked first.
    """

    quarter: calendar.Quarter
    pairs: tuple[JudgedPair, ...]
    queries: tuple[QueryStaleness, ...]
    stale: int
    sealed: int
    has_new_traffic: bool
    new_queries: tuple[tuple[str, int], ...]
    calendar: RelabelingCalendar


@dataclass(frozen=True)
class SetState:
    """The gold set at one moment, with scored pairs: the input of the staleness tables and of a plan.

    retired: normalised texts of retired queries. sealed: ids of the queries whose grades a release seals.
    """

    quarter: calendar.Quarter
    pairs: list[JudgedPair]
    queries: dict[str, Query]
    traffic: TrafficTable
    retired: frozenset[str]
    sealed: frozenset[str]
    work: list[calendar.QuarterWork]


def compute_staleness(store: Store, today: date | None = None) -> SetStaleness:
    """Compute the staleness of the gold set in the quarter of `today`."""
    state = read_set_state(store, today)
    pairs = [pair.without_grade() if pair.query_id in state.sealed else pair for pair in state.pairs]
    grouped: defaultdict[str, list[JudgedPair]] = defaultdict(list)
    for pair in pairs:
        grouped[pair.query_id].append(pair)
    queries = [_make_query_staleness(state, members) for members in grouped.values()]
    with store.reading() as cursor:
        planned = calendar.read_planned_pairs(cursor, state.work, state.quarter)
    stale = {pair.pair for pair in state.pairs if pair.is_stale}
    return SetStaleness(
        quarter=state.quarter,
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.score, pair.pair))),
        queries=tuple(sorted(queries, key=lambda query: (-query.score, query.query_id))),
        stale=len(stale),
        sealed=sum(pair.query_id in state.sealed for pair in pairs),
        has_new_traffic=state.traffic.has_new,
        new_queries=state.traffic.new,
        calendar=_make_calendar(state, [query.traffic.trend for query in queries], stale, planned),
    )


def read_set_state(store: Store, today: date | None = None) -> SetState:
    """Read the pairs of the gold set, with their staleness scores in the quarter of `today`."""
    with store.reading() as cursor:
        traffic = read_traffic(cursor)
        quarter, work = calendar.find_present_quarter(cursor, today), calendar.read_work(cursor)
        pairs, sealed = read_pairs(cursor), frozenset(read_sealed_queries(cursor))
        queries = {query.query_id: query for query in read_active_queries(cursor)}
        retired = frozenset(read_retired_queries(cursor))
    shares = compute_changed_shares(store, pairs)
    return SetState(
        quarter=quarter,
        pairs=[pair.with_score(quarter, shares.get(pair.hashes)) for pair in pairs],
        queries=queries,
        traffic=traffic,
        retired=retired,
        sealed=sealed,
        work=work,
    )


def _make_query_staleness(state: SetState, pairs: Sequence[JudgedPair]) -> QueryStaleness:
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
        traffic=state.traffic.find_traffic(query.query_id, query.normalised),
        score=sum(pair.score for pair in present) / len(present) if present else 0.0,
    )


def _make_calendar(
    state: SetState, trends: Sequence[str], stale: set[tuple[str, str]], planned: set[tuple[str, str]]
) -> RelabelingCalendar:
    """Make the calendar of re-labelings from the state of the gold set and the search trend of each query."""
    pairs, work, quarter = state.pairs, state.work, state.quarter
    judged = Counter(pair.judged for pair in pairs)
    quarters = [quarter.before(back) for back in reversed(range(calendar.REVISIT_QUARTERS + 1))]
    by_quarter = {row.quarter: row for row in work}
    recent = {row.quarter for row in work if row.round is not None and quarter.since(row.quarter) < 4}
    renewed = sum(pair.renewed in recent for pair in pairs)
    earlier = [row for row in work if row.quarter != quarter and row.state == calendar.OPEN]
    return RelabelingCalendar(
        quarters=tuple((name, judged[name], by_quarter.get(name)) for name in quarters),
        older=len(pairs) - judged[None] - sum(judged[name] for name in quarters),
        unknown=judged[None],
        renewed=renewed,
        renewed_share=renewed / len(pairs) if pairs else None,
        work=by_quarter.get(quarter),
        unfinished=earlier[-1] if earlier else None,
        reasons=_count_reasons(state, trends),
        stale=len(stale),
        planned=len(stale & planned),
    )


def _count_reasons(state: SetState, trends: Sequence[str]) -> dict[str, int]:
    """Count the pairs, queries or documents for each reason to judge again."""
    present = [pair for pair in state.pairs if pair.document != GONE]
    ages = [pair.older_than if pair.age is None else pair.age for pair in present]
    reworded = sum(bool(pair.guide_behind) for pair in present)
    old = sum(age is not None and age >= calendar.REVISIT_QUARTERS for age in ages)
    counts = {
        "pairs whose document changed": sum(pair.document == CHANGED for pair in present),
        "pairs whose evidence is not in the new text": sum(pair.evidence_lost for pair in state.pairs),
        "pairs with a grade or vote whose definition in the guide changed": reworded,
        "pairs last judged in an earlier quarter": sum(age is None or age > 0 for age in ages),
        "pairs last judged two years ago or earlier": old,
        "queries that no longer occur in the traffic": sum(trend == LEFT for trend in trends),
        "queries new in the traffic": len(state.traffic.new),
    }
    return {reason: count for reason, count in counts.items() if count}
