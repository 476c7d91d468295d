"""Search traffic: how often each query is asked now, compared with when it was sampled.

The query logs are ordered by their imports in the audit trail, so a wrong clock changes nothing. The query
logs that were imported between two draws of samples form a window. The window "then" of a query is the window
from which the query was sampled. The window "now" is the window after the last draw. The traffic now is
unknown if this window has no log.

The ratio of a query is its number of searches now over its number of searches then. The median ratio of all
texts that are in both windows, weighted by the precision of each ratio, measures the change of the total
traffic. Shares of the total would mislead: if a single query rises, the shares of all other queries fall. A
query has left the traffic if nobody asks it now, and its ratio is below the median ratio by more than noise
at 95 %. The noise comes from both counts and from the median. It is larger if the ratios scatter more than
random counts.

Spellings are grouped as in sampling (`queries.sampling.spellings`), unless the current sample was drawn
without groups. The searches of a group of spellings count for the group's query, or for its most asked query
if several queries share the group. The other queries count only the searches for their exact text. A group is
a new query if the project has no query of the group and only the last window contains the group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log, pi, sqrt
from typing import NamedTuple

import numpy as np

from curation.core.statistics.arrays import Floats, Ints
from curation.core.statistics.intervals import Z95
from curation.queries.sampling.requests import DrawRequest
from curation.queries.sampling.spellings import group_spellings
from curation.queries.sampling.stored_sample import read_current_sample
from curation.store import Cursor

MIN_SEARCHES = 20
"""Minimum number of searches in both windows together for a text whose ratio counts in the median."""
MIN_TEXTS = 3
"""Minimum number of texts for the median ratio, so that one changed query does not change it."""
NORMAL_MEDIAN = 0.6745
"""The median of the absolute value of a standard normal variable."""
# A position is a row of the audit trail; -1 is the position of samples and logs that the trail does not have.
_POSITIONS = """
WITH sampled AS (
    SELECT s.sample_id, coalesce(min(e.rowid), -1) AS position
    FROM samples s LEFT JOIN events e ON e.action = 'sample' AND e.detail->>'sample' = s.sample_id
    GROUP BY s.sample_id),
imported AS (
    SELECT i.import_id, coalesce(min(e.rowid), -1) AS position FROM traffic_imports i
    LEFT JOIN events e ON e.action = 'import traffic' AND e.detail->>'import' = i.import_id
    GROUP BY i.import_id),
draws AS (SELECT DISTINCT position FROM sampled)
"""
_WINDOWS = f"{_POSITIONS} SELECT count(*) + 1 FROM draws"  # noqa: S608
_COUNTS = f"""{_POSITIONS}
SELECT normalised, (SELECT count(*) FROM draws d WHERE d.position < i.position), sum(count)::BIGINT
FROM traffic JOIN imported i USING (import_id) GROUP BY ALL
"""  # noqa: S608
_DRAWN = f"""{_POSITIONS},
drawn AS (
    SELECT query_id, min(position) AS position FROM sample_queries JOIN sampled USING (sample_id)
    GROUP BY query_id)
SELECT query_id, (SELECT count(*) FROM draws d WHERE d.position < q.position) FROM drawn q
"""  # noqa: S608


class QueryTraffic(NamedTuple):
    """The number of searches for a query at sampling and now.

    Attributes
    ----------
    then: searches at sampling; None for a query that was not drawn.
    now: searches since the last draw; None if no log was imported since.
    has_left: whether people no longer ask the query.
    """

    then: int | None
    now: int | None
    has_left: bool


class TotalChange(NamedTuple):
    """The change of the total traffic between two windows of logs, from the logarithms of the texts' ratios.

    Attributes
    ----------
    median: the weighted median of the logarithms. error: the standard error of the median.
    scatter: the standard deviation of a ratio over the deviation that its counts explain; at least 1.
    """

    median: float
    error: float
    scatter: float


@dataclass(frozen=True)
class TrafficTable:
    """The number of searches for each text in each window of query logs; slow properties are computed once.

    Attributes
    ----------
    totals: searches of each window, oldest first; the last window is after the last draw.
    logged: normalised text → searches of each window.
    drawn: query id → the window from which the query was drawn.
    known: normalised texts of the project's queries.
    grouped: whether the searches of other spellings count for a query.
    """

    totals: tuple[int, ...]
    logged: Mapping[str, tuple[int, ...]]
    drawn: Mapping[str, int]
    known: frozenset[str]
    grouped: bool

    @cached_property
    def _by_text(self) -> dict[str, list[int]]:
        """Count the searches of each window of logs by the text of a query, or by a new group."""
        counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(self.totals))
        for text, query in self._query_of_text().items():
            for window, searches in enumerate(self.logged.get(text, ())):
                counts[query][window] += searches
        return dict(counts)

    @cached_property
    def counts(self) -> dict[str, tuple[int, ...]]:
        """Count the searches of each window of logs by normalised query, other spellings included."""
        return {text: tuple(count) for text, count in self._by_text.items() if text in self.known}

    @cached_property
    def new(self) -> tuple[tuple[str, int], ...]:
        """List the normalised texts that only the last window of logs contains, with their searches, most
        asked first."""
        new = [
            (text, count[-1])
            for text, count in self._by_text.items()
            if text not in self.known and count[-1] > 0 and not any(count[:-1])
        ]
        return tuple(sorted(new, key=lambda query: (-query[1], query[0])))

    @cached_property
    def changes(self) -> tuple[TotalChange, ...]:
        """Compute the change of the total traffic from each window to the last window."""
        columns = np.array([*self._by_text.values()], np.int64).reshape(-1, len(self.totals))
        return tuple(compute_total_change(column, columns[:, -1]) for column in columns.T)

    @property
    def has_new(self) -> bool:
        """Return whether a log was imported after the last draw."""
        return self.totals[-1] > 0

    def find_traffic(self, query_id: str, normalised: str) -> QueryTraffic:
        """Return the number of searches for one query at its sampling and now."""
        counts = self.counts.get(normalised, (0,) * len(self.totals))
        now, window = (counts[-1] if self.has_new else None), self._window_of_draw(query_id)
        if window is None or now is None:
            return QueryTraffic(None if window is None else counts[window], now, False)
        return QueryTraffic(counts[window], now, has_left(counts[window], now, self.changes[window]))

    def _query_of_text(self) -> dict[str, str]:
        """Map each text of a log or of a query to the text of the query to which its searches are added."""
        texts = sorted({*self.logged, *self.known})
        if not self.grouped:
            return dict(zip(texts, texts, strict=True))
        times = np.array([sum(self.logged.get(text, ())) for text in texts], np.int64)
        leaders = group_spellings(texts, times).tolist()
        group_queries: dict[
            int, int
        ] = {}  # leader of a group of spellings → the most asked query of the group
        for index, leader in enumerate(leaders):
            top_query = group_queries.get(leader)
            if texts[index] in self.known and (top_query is None or times[index] > times[top_query]):
                group_queries[leader] = index
        return {
            text: text if text in self.known else texts[group_queries.get(leader, leader)]
            for text, leader in zip(texts, leaders, strict=True)
        }

    def _window_of_draw(self, query_id: str) -> int | None:
        """Return the window of logs from which a query was sampled, or the last earlier one with a log."""
        window = self.drawn.get(query_id)
        if window is None:
            return None
        return next((index for index in range(window, -1, -1) if self.totals[index]), None)


def has_left(then: int, now: int, change: TotalChange) -> bool:
    """Return whether the logs lack a query by more than chance, from its searches plus half a search each."""
    change_log = log((now + 0.5) / (then + 0.5)) - change.median
    variance = 1 / (then + 0.5) + 1 / (now + 0.5)
    return not now and change_log < -Z95 * sqrt(change.scatter**2 * variance + change.error**2)


def compute_total_change(then: Ints, now: Ints) -> TotalChange:
    """Compute the change of the total traffic from the counts of all texts in two windows.

    If few texts are in both windows, the result is the ratio of the total searches.
    """
    is_shared = (then > 0) & (now > 0) & (then + now >= MIN_SEARCHES)
    if is_shared.sum() < MIN_TEXTS:
        total = log((now.sum() + 0.5) / (then.sum() + 0.5))
        return TotalChange(total, 0.0, 1.0)
    ratios = np.log(now[is_shared] / then[is_shared])
    error = np.sqrt(1 / then[is_shared] + 1 / now[is_shared])
    median = _weighted_median(ratios, 1 / error)
    scatter = max(1.0, float(np.median(np.abs(ratios - median) / error)) / NORMAL_MEDIAN)
    median_error = scatter * sqrt(pi / 2 / float((1 / error**2).sum()))
    return TotalChange(median, median_error, scatter)


def read_traffic(cursor: Cursor) -> TrafficTable:
    """Read the search counts of the project's query logs, by window."""
    [(windows,)] = cursor.execute(_WINDOWS).fetchall()
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0] * windows)
    for normalised, window, searches in cursor.execute(_COUNTS).fetchall():
        counts[normalised][window] += searches
    sample = read_current_sample(cursor)
    return TrafficTable(
        totals=tuple(map(sum, zip(*counts.values(), strict=True))) if counts else (0,) * windows,
        logged={text: tuple(count) for text, count in counts.items() if text},
        drawn=dict(cursor.execute(_DRAWN).fetchall()),
        known=frozenset(text for (text,) in cursor.execute("SELECT normalised FROM queries").fetchall()),
        grouped=DrawRequest().group_spellings
        if sample is None
        else bool(sample.parameters["group_spellings"]),
    )


def _weighted_median(values: Floats, weights: Floats) -> float:
    """Return the weighted median: the value that minimises the weighted sum of absolute differences."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulative, cumulative[-1] / 2)])
