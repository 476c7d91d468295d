"""Traffic now against traffic at sampling: which queries are asked more, less, or not at all any more.

Logs are ordered by when they were imported, which the audit trail says whatever a clock does. Those between
two draws make a window. A query's past is the window that it was drawn from; its present is the logs that
came after the last draw. Without such logs, traffic now is unknown.

A query is compared with its own past: searches now over searches then. What the total did is taken out by the
median of this ratio over all texts that both windows have, each weighted by what its counts say of it. Shares
of the total would say that everything fell where a single query rose. A query has moved if its ratio differs
from the median by more than noise at 95 %: of both counts, and of the median itself. The noise is the
noise of counts, or more where the texts scatter more around their median than counts do.

Spellings are grouped as in sampling (`queries.sampling.spellings`), unless the current sample's were
not. A group's searches count for its query, the most asked one where it has several; the others have those
of their own text. A group without a query of the project that is in the last window alone is a new query.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import Z95
from curation.queries.requests import DrawRequest
from curation.queries.sampling.spellings import group_spellings
from curation.queries.sampling.stored_sample import read_current
from curation.store import Cursor

STEADY, RISING, FALLING, LEFT, UNKNOWN_TREND = "steady", "rising", "falling", "gone", "unknown"
ENOUGH = 20
"""Searches of a text in both windows together, from which on its ratio says something of the total."""
FEWEST = 3
"""With fewer texts nobody can say whether one of them moved or all the others did."""
NORMAL_MEDIAN = 0.6745
"""The median of absolute standard normal deviates."""
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


class QueryTraffic(NamedTuple):
    """A query's traffic.

    Attributes
    ----------
    then: searches at sampling; None for queries that were not drawn.
    expected: searches now had it done what the median query did; None if that is not known.
    now: searches since the last draw; None if there are no logs since.
    trend: 'rising' or 'falling' where it moved; 'gone' where a falling one is not asked at all; 'steady';
        'unknown'.
    """

    then: int | None
    expected: float | None
    now: int | None
    trend: str


class TotalChange(NamedTuple):
    """What the total did from one window to another, by logarithms of the texts' ratios.

    Attributes
    ----------
    median: of the ratios; error: its standard error.
    scatter: standard deviations of a ratio in units of what its counts alone would have, at least 1.
    texts: how many were compared.
    """

    median: float
    error: float
    scatter: float
    texts: int


@dataclass(frozen=True)
class TrafficTable:
    """The logs by window. What takes long is computed when it is asked for, without holding the file.

    Attributes
    ----------
    totals: searches of each window, oldest first; the last window is after the last draw.
    logged: normalised text → searches of each window.
    drawn: query id → the window that it was drawn from.
    known: normalised texts of the project's queries.
    grouped: whether other spellings count as the query.
    """

    totals: tuple[int, ...]
    logged: Mapping[str, tuple[int, ...]]
    drawn: Mapping[str, int]
    known: frozenset[str]
    grouped: bool

    @cached_property
    def _by_text(self) -> dict[str, list[int]]:
        """Text of a query, or of a new group of spellings → searches of each window."""
        counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(self.totals))
        for text, query in self._queries().items():
            for window, searches in enumerate(self.logged.get(text, ())):
                counts[query][window] += searches
        return dict(counts)

    @cached_property
    def counts(self) -> dict[str, tuple[int, ...]]:
        """Normalised text of a query → searches of each window, with other spellings."""
        return {text: tuple(count) for text, count in self._by_text.items() if text in self.known}

    @cached_property
    def new(self) -> tuple[tuple[str, int], ...]:
        """Normalised texts asked in the last window only, with their searches, the most asked first; empty
        without new logs."""
        new = [
            (text, count[-1])
            for text, count in self._by_text.items()
            if text not in self.known and count[-1] > 0 and not any(count[:-1])
        ]
        return tuple(sorted(new, key=lambda query: (-query[1], query[0])))

    @cached_property
    def changes(self) -> tuple[TotalChange, ...]:
        """What the total did from each window to the last."""
        columns = np.array([*self._by_text.values()], np.int64).reshape(-1, len(self.totals))
        return tuple(total_change(column, columns[:, -1]) for column in columns.T)

    @property
    def has_new(self) -> bool:
        """Whether a log came after the last draw."""
        return bool(self.totals) and self.totals[-1] > 0

    def of(self, query_id: str, normalised: str) -> QueryTraffic:
        """The traffic of one query."""
        counts = self.counts.get(normalised, (0,) * len(self.totals))
        now, window = (counts[-1] if self.has_new else None), self._window(query_id)
        if window is None or now is None:
            return QueryTraffic(None if window is None else counts[window], None, now, UNKNOWN_TREND)
        change = self.changes[window]
        expected = counts[window] * exp(change.median)
        return QueryTraffic(counts[window], expected, now, trend_of(counts[window], now, change))

    def _queries(self) -> dict[str, str]:
        """Each text that is logged or a query → the query that its searches count for."""
        texts = sorted({*self.logged, *self.known})
        if not self.grouped:
            return dict(zip(texts, texts, strict=True))
        times = np.array([sum(self.logged.get(text, ())) for text in texts], np.int64)
        leaders = group_spellings(texts, times).tolist()
        heads: dict[int, int] = {}  # leader → the most asked query of its group
        for index, leader in enumerate(leaders):
            if texts[index] in self.known and (leader not in heads or times[index] > times[heads[leader]]):
                heads[leader] = index
        return {
            text: text if text in self.known else texts[heads.get(leader, leader)]
            for text, leader in zip(texts, leaders, strict=True)
        }

    def _window(self, query_id: str) -> int | None:
        """Its window, or the one before it that has a log: a draw can follow another without one."""
        window = self.drawn.get(query_id)
        if window is None:
            return None
        return next((index for index in range(window, -1, -1) if self.totals[index]), None)


def trend_of(then: int, now: int, change: TotalChange) -> str:
    """What became of a query that was asked so often then and now; half a search is added to either count."""
    moved, variance = log((now + 0.5) / (then + 0.5)) - change.median, 1 / (then + 0.5) + 1 / (now + 0.5)
    far = Z95 * sqrt(change.scatter**2 * variance + change.error**2)
    if moved < -far and not now:
        return LEFT
    if change.texts < FEWEST:
        return UNKNOWN_TREND
    return RISING if moved > far else FALLING if moved < -far else STEADY


def total_change(then: Ints, now: Ints) -> TotalChange:
    """What the total did, by counts of all texts in two windows; by the totals where few texts are in
    both."""
    both = (then > 0) & (now > 0) & (then + now >= ENOUGH)
    if both.sum() < FEWEST:
        total = log((now.sum() + 0.5) / (then.sum() + 0.5))
        return TotalChange(total, 0.0, 1.0, int(both.sum()))
    ratios, error = np.log(now[both] / then[both]), np.sqrt(1 / then[both] + 1 / now[both])
    median = _weighted_median(ratios, 1 / error)
    scatter = max(1.0, float(np.median(np.abs(ratios - median) / error)) / NORMAL_MEDIAN)
    return TotalChange(median, scatter * sqrt(pi / 2 / float((1 / error**2).sum())), scatter, int(both.sum()))


def _weighted_median(values: Floats, weights: Floats) -> float:
    """What minimises the weighted sum of absolute differences."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def read_traffic(cursor: Cursor) -> TrafficTable:
    """The logs of the project."""
    draws = [row[0] for row in cursor.execute(_DRAWS).fetchall()]
    windows = {name: bisect_left(draws, position) for name, position in cursor.execute(_IMPORTS).fetchall()}
    number = len(draws) + 1
    totals = [0] * number
    for name, searches in cursor.execute(_TOTALS).fetchall():
        totals[windows[name]] += searches
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * number)
    for normalised, name, searches in cursor.execute(_COUNTS).fetchall():
        counts[normalised][windows[name]] += searches
    drawn = {
        query_id: bisect_left(draws, position) for query_id, position in cursor.execute(_DRAWN).fetchall()
    }
    sample = read_current(cursor)
    grouped = DrawRequest().group_spellings if sample is None else sample.parameters["group_spellings"]
    known = frozenset(text for (text,) in cursor.execute("SELECT normalised FROM queries").fetchall())
    logged = {text: tuple(count) for text, count in counts.items()}
    return TrafficTable(tuple(totals), logged, drawn, known, grouped)
