"""Carried over: queries of a released split stay in their part when the set grows.

All releases count. A team that tuned on the dev part of any release has seen its queries, and a team that
reports on a test part must not have. Where releases have a query in different parts, the newest release
decides, because it is the one in use; such queries are counted. The releases that count can be named.

A query that is tied to a carried-over query goes to the same part. Where ties join carried-over queries of
different parts, one of them would have to move. That is refused with the chain that joins them, so that the
chain can be cut by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.errors import NotFoundError, RefusedError
from curation.core.text import amount
from curation.splits.groups import members_of, shortest_chain
from curation.splits.ties.edges import Edge
from curation.store import Cursor
from curation.store.release_parts import read_part


class CarriedOver(NamedTuple):
    """The parts that queries have in releases.

    Attributes
    ----------
    parts: query id → part.
    releases: ids of the releases that were read, oldest first.
    disagreeing: queries that these releases have in different parts; the newest release decides.
    """

    parts: dict[str, str]
    releases: tuple[str, ...]
    disagreeing: int


NOTHING_CARRIED_OVER = CarriedOver({}, (), 0)


def read_carried_over(cursor: Cursor, names: Sequence[str] | None = None) -> CarriedOver:
    """The parts of all released queries; of the releases of these names, or of all.

    Raises
    ------
    NotFoundError: there is no release of such a name.
    """
    rows = cursor.execute("SELECT name, release_id FROM releases ORDER BY rowid").fetchall()
    known = [name for name, _ in rows]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        have = f"It has {', '.join(known)}." if known else "It has none yet."
        raise NotFoundError(f"The project has no release {unknown[0]!r} to keep parts of. {have}")
    found: dict[str, str] = {}
    releases: list[str] = []
    disagreeing = set()
    for name, release_id in rows:
        if names is not None and name not in names:
            continue
        parts = {row["query_id"]: row["part"] for row in read_part(cursor, release_id, "queries")}
        disagreeing |= {query for query, part in parts.items() if found.get(query, part) != part}
        found |= parts
        releases = [*(other for other in releases if other != release_id), release_id]
    return CarriedOver(found, tuple(releases), len(disagreeing))


def carried_over_among(
    carried: CarriedOver, queries: Mapping[str, str], parts: Mapping[str, float]
) -> CarriedOver:
    """What is carried over of these queries.

    Raises
    ------
    RefusedError: a carried-over query has a part that is not among these.
    """
    inside = {query: part for query, part in sorted(carried.parts.items()) if query in queries}
    for part in sorted(set(inside.values()) - set(parts)):
        number = sum(other == part for other in inside.values())
        raise RefusedError(
            f"{amount(number, 'query is', 'queries are')} in the part {part!r} of a release, which this "
            "split would not have. Name it as well, or give up the released parts.",
            command=f"--part {part}=FRACTION names it, --fresh gives them up.",
        )
    return CarriedOver(inside, carried.releases, carried.disagreeing) if inside else NOTHING_CARRIED_OVER


def carried_over_groups(
    groups: Mapping[str, str], carried: Mapping[str, str], edges: Sequence[Edge]
) -> tuple[dict[str, str], list[list[Edge]]]:
    """Group → part of the groups with a carried-over query, and a chain of edges for each group that joins
    carried-over queries of different parts.

    Parameters
    ----------
    carried: query id → part.
    """
    found: dict[str, str] = {}
    chains = []
    for name, members in members_of({query: groups[query] for query in carried if query in groups}).items():
        parts = {carried[query] for query in members}
        if len(parts) == 1:
            found[name] = parts.pop()
        else:
            part = carried[members[0]]
            starts = [query for query in members if carried[query] == part]
            chains.append(shortest_chain(starts, set(members).difference(starts), edges))
    return found, chains
