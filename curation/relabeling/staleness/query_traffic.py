"""Traffic now against traffic at sampling: what each query's share of the searches was and is.

Logs are ordered by when they were imported, which the audit trail says whatever a clock does. Those between
two draws make a window. A query's share at sampling is of the window that it was drawn from; its share now
is of the logs that came after the last draw. Without such logs, traffic now is unknown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from curation.statistics.intervals import share_difference, wilson
from curation.store import Cursor

STEADY, RISING, FALLING, LEFT, UNKNOWN_TREND = "steady", "rising", "falling", "gone", "unknown"


class TrafficShare(NamedTuple):
    """A share of all searches with Wilson's 95 % interval; `searches` of `total`."""

    searches: int
    total: int
    share: float
    low: float
    high: float


class QueryTraffic(NamedTuple):
    """A query's traffic.

    Attributes
    ----------
    then: at sampling; None for queries that were not drawn.
    now: in the logs since the last draw; None where there are none.
    trend: 'rising' or 'falling' where the 95 % interval of the difference is beyond 0; 'gone' where a fallen
        one is not asked at all; 'steady'; 'unknown'.
    """

    then: TrafficShare | None
    now: TrafficShare | None
    trend: str

    @property
    def change(self) -> float | None:
        """How far the share moved, 0 to 1, of the larger of both; 0 where it is steady, None where
        unknown.
        """
        if self.then is None or self.now is None:
            return None
        if self.trend == STEADY:
            return 0.0
        return abs(self.now.share - self.then.share) / max(self.now.share, self.then.share)


class TrafficTable(NamedTuple):
    """The traffic of known queries by window, as it was read.

    Attributes
    ----------
    totals: searches of each window, oldest first; the last window is after the last draw.
    counts: normalised text → searches of each window.
    drawn: query id → the window that it was drawn from.
    """

    totals: tuple[int, ...]
    counts: Mapping[str, tuple[int, ...]]
    drawn: Mapping[str, int]

    @property
    def has_new(self) -> bool:
        """Whether a log came after the last draw."""
        return bool(self.totals) and self.totals[-1] > 0

    def of(self, query_id: str, normalised: str) -> QueryTraffic:
        """The traffic of one query."""
        counts = self.counts.get(normalised, (0,) * len(self.totals))
        then = self._then(query_id, counts)
        now = share_of(counts[-1], self.totals[-1]) if self.has_new else None
        return QueryTraffic(then, now, trend_of(then, now))

    def _then(self, query_id: str, counts: tuple[int, ...]) -> TrafficShare | None:
        """Its window, or the one before it that has a log: a draw can follow another without one."""
        window = self.drawn.get(query_id)
        if window is None:
            return None
        filled = [place for place in range(window + 1) if self.totals[place]]
        return share_of(counts[filled[-1]], self.totals[filled[-1]]) if filled else None


def share_of(searches: int, total: int) -> TrafficShare:
    """A share with its interval; total > 0."""
    return TrafficShare(searches, total, searches / total, *wilson(searches, total))


def trend_of(then: TrafficShare | None, now: TrafficShare | None) -> str:
    """What became of a share."""
    if then is None or now is None:
        return UNKNOWN_TREND
    low, high = share_difference((now.searches, now.total), (then.searches, then.total))
    if low > 0:
        return RISING
    if high < 0:
        return FALLING if now.searches else LEFT
    return STEADY


def read_traffic(cursor: Cursor) -> TrafficTable:
    """The traffic of all queries of the project."""
    draws = [row[0] for row in cursor.execute(_DRAWS).fetchall()]
    windows = {name: bisect_left(draws, place) for name, place in cursor.execute(_IMPORTS).fetchall()}
    number = len(draws) + 1
    totals = [0] * number
    for name, searches in cursor.execute(_TOTALS).fetchall():
        totals[windows[name]] += searches
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * number)
    for normalised, name, searches in cursor.execute(_COUNTS).fetchall():
        counts[normalised][windows[name]] += searches
    drawn = {query_id: bisect_left(draws, place) for query_id, place in cursor.execute(_DRAWN).fetchall()}
    return TrafficTable(tuple(totals), {text: tuple(found) for text, found in counts.items()}, drawn)


# Places in the audit trail. What has none (a project made without it) counts as the oldest.
_SAMPLED_AT = """
    SELECT s.sample_id, coalesce(min(e.rowid), -1) AS place
    FROM samples s LEFT JOIN events e ON e.action = 'sample' AND e.detail->>'sample' = s.sample_id
    GROUP BY s.sample_id
"""
_DRAWS = f"SELECT DISTINCT place FROM ({_SAMPLED_AT}) ORDER BY place"  # noqa: S608
_DRAWN = f"""
    SELECT query_id, min(place) FROM sample_queries JOIN ({_SAMPLED_AT}) USING (sample_id) GROUP BY query_id
"""  # noqa: S608
_IMPORTS = """
    SELECT i.import_id, coalesce(min(e.rowid), -1)
    FROM traffic_imports i
    LEFT JOIN events e ON e.action = 'import traffic' AND e.detail->>'import' = i.import_id
    GROUP BY i.import_id
"""
_TOTALS = "SELECT import_id, sum(count)::BIGINT FROM traffic GROUP BY import_id"
_COUNTS = """
    SELECT normalised, import_id, sum(count)::BIGINT FROM traffic
    WHERE normalised IN (SELECT normalised FROM queries) GROUP BY ALL
"""
