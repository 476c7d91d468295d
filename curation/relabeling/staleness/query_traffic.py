"""Traffic now against traffic at sampling: what each query's share of the searches was and is.

Logs are ordered by when they were imported, which the audit trail says whatever a clock does. Those between
two draws make a window. A query's share at sampling is of the window that it was drawn from; its share now
is of the logs that came after the last draw. Without such logs, traffic now is unknown.

Spellings are grouped as in sampling (`sampling.frame.spellings`), unless the current sample's were not. A
group's searches count for its query, the most asked one where it has several; the others have those of their
own text. A group without a query of the project that is in the last window alone is a new query.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from curation.sampling.frame.limits import Limits
from curation.sampling.frame.spellings import group_spellings
from curation.sampling.stored_sample import read_current
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


class NewQuery(NamedTuple):
    """A query that only the new logs have; `searches` is how often they have it."""

    normalised: str
    searches: int


class LoggedTraffic(NamedTuple):
    """The logs by window, as they were read.

    Attributes
    ----------
    totals: searches of each window, oldest first; the last window is after the last draw.
    counts: normalised text → searches of each window.
    drawn: query id → the window that it was drawn from.
    known: normalised texts of the project's queries.
    grouped: whether other spellings count as the query.
    """

    totals: tuple[int, ...]
    counts: Mapping[str, tuple[int, ...]]
    drawn: Mapping[str, int]
    known: frozenset[str]
    grouped: bool


class TrafficTable(NamedTuple):
    """The traffic of queries by window.

    Attributes
    ----------
    totals: searches of each window, oldest first; the last window is after the last draw.
    counts: normalised text of a query → searches of each window, with other spellings.
    drawn: query id → the window that it was drawn from.
    new: asked in the last window only, the most asked first; none without new logs.
    """

    totals: tuple[int, ...]
    counts: Mapping[str, tuple[int, ...]]
    drawn: Mapping[str, int]
    new: tuple[NewQuery, ...]

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


def read_traffic(cursor: Cursor) -> LoggedTraffic:
    """The logs of the project."""
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
    sample = read_current(cursor)
    grouped = Limits().group_spellings if sample is None else sample.parameters["group_spellings"]
    known = frozenset(text for (text,) in cursor.execute("SELECT normalised FROM queries").fetchall())
    by_text = {text: tuple(found) for text, found in counts.items()}
    return LoggedTraffic(tuple(totals), by_text, drawn, known, grouped)


def traffic_of(logged: LoggedTraffic) -> TrafficTable:
    """The traffic of all queries of the project, and the queries that are new; without holding the file."""
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(logged.totals))
    for text, query in _queries_of(logged).items():
        for window, searches in enumerate(logged.counts.get(text, ())):
            counts[query][window] += searches
    new = [NewQuery(text, found[-1]) for text, found in counts.items() if _is_new(text, found, logged)]
    known = {text: tuple(found) for text, found in counts.items() if text in logged.known}
    new.sort(key=lambda query: (-query.searches, query.normalised))
    return TrafficTable(logged.totals, known, logged.drawn, tuple(new))


def _is_new(text: str, searches: list[int], logged: LoggedTraffic) -> bool:
    return text not in logged.known and searches[-1] > 0 and not any(searches[:-1])


def _queries_of(logged: LoggedTraffic) -> dict[str, str]:
    """Each text that is logged or a query → the query that its searches count for."""
    texts = sorted({*logged.counts, *logged.known})
    if not logged.grouped:
        return dict(zip(texts, texts, strict=True))
    times = np.array([sum(logged.counts.get(text, ())) for text in texts], np.int64)
    leaders = group_spellings(texts, times).leaders.tolist()
    heads: dict[int, int] = {}  # leader → the most asked query of its group
    for place, leader in enumerate(leaders):
        if texts[place] in logged.known and (leader not in heads or times[place] > times[heads[leader]]):
            heads[leader] = place
    return {
        text: text if text in logged.known else texts[heads.get(leader, leader)]
        for text, leader in zip(texts, leaders, strict=True)
    }


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
    SELECT normalised, import_id, sum(count)::BIGINT FROM traffic WHERE normalised <> '' GROUP BY ALL
"""
