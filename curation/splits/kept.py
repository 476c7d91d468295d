"""Kept sides: queries that lie in a released split stay in their part when the set grows.

All releases count: whoever tuned on the dev part of any of them has seen its queries, and whoever reports on
its test part must not have. Where two releases have a query in different parts, the newer one counts, because
that is what is in use; such queries are counted. Releases can also be named, or left out of account.

A query that is tied to a kept one goes where that is. Where ties join kept queries of different parts, one
of them would have to move: that is refused with the chain that joins them, so that it can be cut by name.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.errors import NotFoundError, RefusedError
from curation.splits.edges import Edge
from curation.splits.groups import members_of
from curation.store import Cursor

SHOWN = 5


class Kept(NamedTuple):
    """What releases say about where queries lie.

    Attributes
    ----------
    parts: query id → part.
    releases: the ids of the releases that say so, oldest first.
    disagreeing: queries that these releases have in different parts; the newest counts.
    """

    parts: dict[str, str]
    releases: tuple[str, ...]
    disagreeing: int


NOTHING = Kept({}, (), 0)


def read_kept(cursor: Cursor, names: Sequence[str] | None = None) -> Kept:
    """The parts of all released queries; of the releases of these names, or of all.

    Raises
    ------
    NotFoundError: there is no release of such a name.
    """
    rows = cursor.execute(_RELEASED).fetchall()
    known = [name for name, *_ in rows]
    unknown = [name for name in names or () if name not in known]
    if unknown:
        have = f"It has {', '.join(known)}." if known else "It has none yet."
        raise NotFoundError(f"--keep {unknown[0]}: the project has no such release. {have}")
    found: dict[str, str] = {}
    releases: list[str] = []
    disagreeing = set()
    for name, release_id, queries in rows:
        if names is not None and name not in names:
            continue
        parts = {row["query_id"]: row["part"] for row in map(json.loads, queries.split("\n")[:-1])}
        disagreeing |= {query for query, part in parts.items() if found.get(query, part) != part}
        found |= parts
        releases = [*(held for held in releases if held != release_id), release_id]
    return Kept(found, tuple(releases), len(disagreeing))


def of_queries(kept: Kept, queries: Mapping[str, str], parts: Mapping[str, float]) -> Kept:
    """What is kept of these queries.

    Raises
    ------
    RefusedError: a kept query lies in a part that is not among these.
    """
    inside = {query: part for query, part in sorted(kept.parts.items()) if query in queries}
    for part in sorted(set(inside.values()) - set(parts)):
        number = sum(held == part for held in inside.values())
        raise RefusedError(
            f"{number:,} queries lie in the part {part!r} of a release, which this split would not have. "
            f"Name it as well (--part {part}=FRACTION), or give up the released parts: --fresh."
        )
    return Kept(inside, kept.releases if inside else (), kept.disagreeing if inside else 0)


def kept_groups(
    groups: Mapping[str, str], kept: Mapping[str, str], edges: Sequence[Edge]
) -> tuple[dict[str, str], list[list[Edge]]]:
    """Group → part of the groups with a kept query, and a chain of edges for each group in which kept queries
    of different parts meet."""
    found: dict[str, str] = {}
    chains = []
    for name, members in members_of({query: groups[query] for query in kept if query in groups}).items():
        sides = {kept[query] for query in members}
        if len(sides) == 1:
            found[name] = sides.pop()
        else:
            chains.append(_between(members, kept, edges))
    return found, chains


def _between(members: Sequence[str], kept: Mapping[str, str], edges: Sequence[Edge]) -> list[Edge]:
    """The shortest way from the kept queries of one part, that of the first, to one of another."""
    strongest = sorted(edges, key=lambda edge: (-edge.similarity, edge))
    neighbours: dict[str, dict[str, Edge]] = defaultdict(dict)
    for edge in strongest:
        neighbours[edge.query_a].setdefault(edge.query_b, edge)
        neighbours[edge.query_b].setdefault(edge.query_a, edge)
    part = kept[members[0]]
    came: dict[str, str | None] = {query: None for query in members if kept[query] == part}
    queue = deque(came)
    while queue:
        at = queue.popleft()
        if kept.get(at, part) != part:
            return _steps(at, came, neighbours)
        for query_id in sorted(neighbours[at]):
            if query_id not in came:
                came[query_id] = at
                queue.append(query_id)
    raise AssertionError(f"no edges join {members[0]} with another part")


def _steps(
    at: str, came: Mapping[str, str | None], neighbours: Mapping[str, Mapping[str, Edge]]
) -> list[Edge]:
    steps = []
    while (before := came[at]) is not None:
        steps.append(neighbours[before][at])
        at = before
    return steps[::-1]


_RELEASED = """
    SELECT r.name, r.release_id, p.content
    FROM releases r JOIN release_parts p USING (release_id)
    WHERE p.part = 'queries'
    ORDER BY r.frozen_at, r.name
"""
