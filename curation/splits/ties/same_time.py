"""Same time block: two queries that were first asked within the same block of so many seconds.

A query is found in the traffic by its normalised text, so other spellings of it do not count.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from math import floor

from curation.splits.inputs import SplitInputs
from curation.splits.rules import LONGEST_BLOCK
from curation.splits.ties.kind import FoundTies, TieKind, TieSearch
from curation.store import Cursor
from curation.text import amount

LABEL = "same time block"
NO_TIME = "queries have no time, so that no block of time ties them"


def find(search: TieSearch) -> FoundTies:
    """Pairs of queries for each block of time."""
    seconds, inputs = search.rules.time_block, search.inputs
    assert seconds is not None
    holders: dict[str, list[str]] = defaultdict(list)
    for name in search.ids:
        if name in inputs.times:
            holders[_block(inputs.times[name], seconds)].append(name)
    return search.of_equal_keys(holders, LABEL, {NO_TIME: len(inputs.queries) - len(inputs.times)})


def read_times(cursor: Cursor, inputs: SplitInputs) -> dict[str, datetime]:
    """Query id → when it was first asked (UTC); queries that the traffic has no time of are absent."""
    return dict(cursor.execute(_TIMES, {"queries": list(inputs.queries)}).fetchall())


def _block(time: datetime, seconds: int) -> str:
    """The start of the block that contains a time (UTC); blocks are counted from 1970."""
    stamp = floor(time.replace(tzinfo=UTC).timestamp())
    return datetime.fromtimestamp(stamp // seconds * seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _problem(seconds: int) -> str | None:
    if 1 <= seconds <= LONGEST_BLOCK:
        return None
    return f"a time block of {amount(seconds, 'second')}: expected 1 to {LONGEST_BLOCK:,}"


_TIMES = """
    SELECT q.query_id, min(t.time)
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.time IS NOT NULL
    GROUP BY q.query_id ORDER BY q.query_id
"""
TIE = TieKind(label=LABEL, setting="time_block", parameter="time_block", find=find, problem=_problem)
