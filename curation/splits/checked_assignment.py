"""Groups and parts that the exhaustive check has passed, and the parts that queries keep from releases.

What the check alone finds becomes an edge as well. Queries of a released split stay in their part when the
set grows. All releases count: a team that tuned on the dev part of any release has seen its queries, and a
team that reports on a test part must not have. Where releases have a query in different parts, the newest
release decides, because it is the one in use; such queries are counted.

A query that is tied to a carried-over query goes to the same part. Where ties join carried-over queries of
different parts, one of them would have to move. That is refused with the chain that joins them, so that the
chain can be cut by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.splits.assignment import ByTime, assign_by_time, assign_parts, members_of
from curation.splits.certify import Findings, certify
from curation.splits.groups import leakage_groups, refuse_joined, shortest_chain
from curation.splits.inputs import GradedQueries
from curation.splits.request import SplitRequest
from curation.splits.ties import Edge
from curation.store import Cursor
from curation.store.release_parts import read_part


class CheckedAssignment(NamedTuple):
    """Groups and parts that nothing crosses.

    Attributes
    ----------
    groups, parts: query id → group, part.
    missed: edges that only the exhaustive check found.
    by_time: how the cut by time went; None if parts were balanced.
    """

    groups: dict[str, str]
    parts: dict[str, str]
    findings: Findings
    missed: list[Edge]
    by_time: ByTime | None


def assign_and_check(
    graded: GradedQueries,
    request: SplitRequest,
    carried: CarriedOver,
    edges: Sequence[Edge],
    progress: Progress = silent,
) -> CheckedAssignment:
    """Group, assign and check until nothing crosses: what the check alone finds becomes an edge as well.

    Raises
    ------
    RefusedError: carried-over queries of different parts are tied.
    """
    inputs = graded.inputs
    missed: list[Edge] = []
    while True:
        groups = leakage_groups(inputs.queries, [*edges, *missed])
        fixed, chains = carried_over_groups(groups, carried.parts, [*edges, *missed])
        refuse_joined(chains, carried.parts, inputs)
        parts, by_time = _assigned(graded, request, groups, fixed)
        findings = certify(graded.inputs, parts, request.rules, progress)
        if not findings.leaks:
            return CheckedAssignment(groups, parts, findings, missed, by_time)
        if any(groups[leak.query_a] == groups[leak.query_b] for leak in findings.leaks):
            raise AssertionError(f"an edge crosses the split: {findings.leaks[0]}")
        missed += [
            Edge(leak.query_a, leak.query_b, leak.kind, leak.similarity, leak.documents)
            for leak in findings.leaks
        ]


def _assigned(
    graded: GradedQueries, request: SplitRequest, groups: Mapping[str, str], fixed: Mapping[str, str]
) -> tuple[dict[str, str], ByTime | None]:
    fractions = request.fractions
    if request.by_time and len(fractions) > 1:
        return assign_by_time(groups, graded.inputs.times, fractions, fixed)
    return assign_parts(groups, graded.levels, fractions, request.seed, fixed), None


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


def read_carried_over(cursor: Cursor) -> CarriedOver:
    """The parts of all released queries."""
    rows = cursor.execute("SELECT release_id FROM releases ORDER BY rowid").fetchall()
    part_of: dict[str, str] = {}
    releases: list[str] = []
    disagreeing = set()
    for (release_id,) in rows:
        parts = {row["query_id"]: row["part"] for row in read_part(cursor, release_id, "queries")}
        disagreeing |= {query for query, part in parts.items() if part_of.get(query, part) != part}
        part_of |= parts
        releases = [*(other for other in releases if other != release_id), release_id]
    return CarriedOver(part_of, tuple(releases), len(disagreeing))


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
            f"{pluralize(number, 'query is', 'queries are')} in the part {part!r} of a release, which this "
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
    part_of: dict[str, str] = {}
    chains = []
    for name, members in members_of({query: groups[query] for query in carried if query in groups}).items():
        parts = {carried[query] for query in members}
        if len(parts) == 1:
            part_of[name] = parts.pop()
        else:
            part = carried[members[0]]
            starts = [query for query in members if carried[query] == part]
            chains.append(shortest_chain(starts, set(members).difference(starts), edges))
    return part_of, chains
