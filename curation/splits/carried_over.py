"""Parts of a split that queries keep from earlier releases.

Queries of a released split stay in their part when the set grows. All releases count: a team that tuned on
the dev part of any release has seen its queries, and a team that reports on a test part must not have seen
the test queries. If a query has different parts in several releases, the newest decides, because teams use
the newest release; these queries are counted.

A query that is tied to a carried-over query goes to the same part. If ties join carried-over queries of
different parts, goldgrade refuses the split, because a released query would have to change its part. The
refusal shows the chain of ties, so that somebody can cut a tie by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import pluralize
from curation.splits.assignment import Groups, Parts, list_members
from curation.splits.chains import find_shortest_chain
from curation.splits.edges import Edge
from curation.store import Cursor
from curation.store.release_parts import read_part


class CarriedOver(NamedTuple):
    """The parts, such as dev and test, in which the project's releases have queries.

    Attributes
    ----------
    parts: query id → part.
    releases: ids of the releases, oldest first.
    disagreeing: queries that these releases have in different parts; the newest release decides.
    """

    parts: dict[str, str]
    releases: tuple[str, ...]
    disagreeing: int


NOTHING_CARRIED_OVER = CarriedOver({}, (), 0)


def read_carried_over(cursor: Cursor) -> CarriedOver:
    """Read in which part, such as dev or test, each query is in the project's releases."""
    rows = cursor.execute("SELECT release_id FROM releases ORDER BY rowid").fetchall()
    part_of: dict[str, str] = {}
    releases: list[str] = []
    disagreeing = set()
    for (release_id,) in rows:
        released_parts = {row["query_id"]: row["part"] for row in read_part(cursor, release_id, "queries")}
        disagreeing |= {
            query_id for query_id, part in released_parts.items() if part_of.get(query_id, part) != part
        }
        part_of |= released_parts
        releases = [*(earlier for earlier in releases if earlier != release_id), release_id]
    return CarriedOver(part_of, tuple(releases), len(disagreeing))


def select_carried(carried: CarriedOver, queries: Mapping[str, str], parts: Collection[str]) -> CarriedOver:
    """Select the queries of a new split that keep their part from a release, with these parts.

    Parameters
    ----------
    parts: names of the parts of the new split.

    Raises
    ------
    RefusedError: a carried-over query has a part that is not among these parts.
    """
    part_of = {query_id: part for query_id, part in sorted(carried.parts.items()) if query_id in queries}
    absent_parts = sorted(set(part_of.values()) - set(parts))
    if absent_parts:
        part = absent_parts[0]
        count = list(part_of.values()).count(part)
        raise RefusedError(
            f"{pluralize(count, 'query is', 'queries are')} in the part {part!r} of a release, but the new "
            "split has no such part. Add this part, or ignore the parts that queries have in releases.",
            command=f"--part {part}=FRACTION adds the part. --fresh ignores the parts that queries have in "
            "releases.",
        )
    return CarriedOver(part_of, carried.releases, carried.disagreeing) if part_of else NOTHING_CARRIED_OVER


def map_carried_groups(
    groups: Groups, carried: Parts, edges: Sequence[Edge]
) -> tuple[dict[str, str], list[list[Edge]]]:
    """Map each leakage group that contains released queries to their part, and give a chain of ties for each
    group with released queries of different parts.

    Carried-over queries of different parts in one group are a conflict.

    Parameters
    ----------
    carried: query id → part.
    """
    part_of_group: dict[str, str] = {}
    chains = []
    carried_groups = {query_id: groups[query_id] for query_id in carried if query_id in groups}
    for group_id, members in list_members(carried_groups).items():
        parts = {carried[query_id] for query_id in members}
        if len(parts) == 1:
            part_of_group[group_id] = parts.pop()
        else:
            first_part = carried[members[0]]
            starts = [query_id for query_id in members if carried[query_id] == first_part]
            chains.append(find_shortest_chain(starts, set(members).difference(starts), edges))
    return part_of_group, chains
