"""The state of the gold set from which a quarter's list of pairs is made: judged pairs, traffic and plans."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from curation.ingest.importers.queries import read_active_queries
from curation.people.seal_access import read_sealed_queries
from curation.queries.retired_queries import read_retired_queries
from curation.relabeling.calendar import Quarter, QuarterWork, find_present_quarter, read_work
from curation.relabeling.judged_pairs import CHANGED, GONE, JudgedPair, read_pairs
from curation.relabeling.text_changes import find_untouched
from curation.relabeling.traffic import TrafficTable, read_traffic
from curation.store import Query, Store


@dataclass(frozen=True)
class SetState:
    """The gold set at one moment, with the age of each pair.

    retired: normalised texts of retired queries. sealed: ids of the queries whose grades a release seals.
    """

    quarter: Quarter
    pairs: list[JudgedPair]
    queries: dict[str, Query]
    traffic: TrafficTable
    retired: frozenset[str]
    sealed: frozenset[str]
    work: list[QuarterWork]

    @property
    def untouched(self) -> int:
        """Return the number of pairs whose document changed elsewhere than in what people read."""
        return sum(pair.document == CHANGED and not pair.is_touched for pair in self.pairs)

    @property
    def is_fresh(self) -> bool:
        """Return whether people judged each pair this quarter, and no document or guide has changed since."""
        return not any(pair.reason or (pair.least_age and pair.document != GONE) for pair in self.pairs)


def read_set_state(store: Store, today: date | None = None) -> SetState:
    """Read the pairs of the gold set, with their reasons to be judged again in the quarter of `today`."""
    with store.reading() as cursor:
        traffic = read_traffic(cursor)
        quarter, work = find_present_quarter(cursor, today), read_work(cursor)
        pairs, sealed = read_pairs(cursor), frozenset(read_sealed_queries(cursor))
        queries = {query.query_id: query for query in read_active_queries(cursor)}
        retired = frozenset(read_retired_queries(cursor))
    untouched = find_untouched(store, pairs, queries)
    pairs = [pair.in_quarter(quarter, untouched) for pair in pairs]
    return SetState(quarter, pairs, queries, traffic, retired, sealed, work)
