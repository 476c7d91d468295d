"""Limits of a draw: which queries of the traffic can be drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from curation.core.errors import InputError, NotFoundError, refuse_problems
from curation.core.operation import option, out_of_bounds

HEAD, TORSO = 1 / 3, 2 / 3
"""The shares of traffic at which these bands end."""


@dataclass(frozen=True)
class Limits:
    """What of the traffic can be drawn; estimates from the sample then speak of that part alone.

    Attributes
    ----------
    since, until: times, UTC; `until` itself is outside. With either, rows without a known time are too.
    min_count: how often a query must have been asked within the window.
    exclude_judged: leave out queries that a round but for pilots and practice shows, or that a release holds.
    group_spellings: draw near-identical spellings as one query, the most asked of them.
    exclude_released: leave out queries that any release holds.
    exclude_releases: leave out queries that these releases hold, by name or release id.
    """

    since: datetime | None = option(
        None, "Asked from this time on (UTC)", "Only traffic from this time on, UTC: 2026-01-31T08:00."
    )
    until: datetime | None = option(
        None,
        "Asked before this time (UTC)",
        "Only traffic before this time, UTC. 2026-04-01 ends with March.",
    )
    min_count: int = option(
        1, "Asked at least this often", "Only queries asked at least this many times.", least=1
    )
    exclude_judged: bool = option(
        False,
        "Leave out queries that a round shows or a release holds",
        "Leave out queries that are in a round or a release.",
    )
    group_spellings: bool = option(
        True,
        "Draw spellings one slip apart as one query",
        "Draw spellings one slip apart as one query. Their traffic is added up.",
    )
    exclude_released: bool = option(
        False, "Leave out queries that any release holds", "Leave out queries that are in any release."
    )
    exclude_releases: Sequence[str] = option(
        (),
        "Leave out queries of these releases",
        "Leave out queries that are in this release. Repeatable.",
        flag="--exclude-release",
    )


class ReleasedQueries(NamedTuple):
    """The queries that releases hold.

    Attributes
    ----------
    ids: name → id of each release, oldest first.
    queries: release id → query ids.
    """

    ids: Mapping[str, str]
    queries: Mapping[str, Collection[str]]


NO_RELEASES = ReleasedQueries({}, {})


def check_limits(limits: Limits) -> None:
    """Raise an InputError for an empty window or a minimum below 1."""
    if limits.since and limits.until and limits.since >= limits.until:
        raise InputError(
            f"The time window reaches from {limits.since} up to, not including, {limits.until}: "
            "it holds no moment. Let it begin before it ends.",
            command="--since comes before --until.",
        )
    refuse_problems(out_of_bounds(Limits, vars(limits)))


def release_ids(released: ReleasedQueries, wanted: Sequence[str]) -> list[str]:
    """The ids of releases given by name or id, sorted."""
    ids = {**released.ids, **{release_id: release_id for release_id in released.ids.values()}}
    unknown = [name for name in wanted if name not in ids]
    if unknown:
        have = f"It has {', '.join(released.ids)}." if released.ids else "It has none yet."
        raise NotFoundError(f"The project has no release {', '.join(map(repr, unknown))}. {have}")
    return sorted({ids[name] for name in wanted})
