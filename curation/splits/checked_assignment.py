"""Checked assignment: groups and parts that pass the exhaustive check, and parts carried over from releases.

A tie that only the check finds joins its two queries into one group as well. Queries of a released split stay
in their part when the set grows. All releases count: a team that tuned on the dev part of any release has
seen the queries of this part, and a team that reports on a test part must not have seen the test queries. If
releases have a query in different parts, the newest release decides, because teams use the newest release.
The number of these queries is reported.

A query that is tied to a carried-over query goes to the same part. If ties join carried-over queries of
different parts, a released query would have to change its part. goldgrade refuses this split, and the refusal
shows the chain of ties that joins the queries, so that somebody can cut a tie by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import pluralize
from curation.splits.assignment import assign_parts, members_of
from curation.splits.by_time import ByTime, assign_by_time
from curation.splits.certify import Findings, certify
from curation.splits.edges import Edge
from curation.splits.groups import leakage_groups, shortest_chain
from curation.splits.inputs import GradedQueries
from curation.splits.refusals import refuse_joined
from curation.splits.request import SplitRequest
from curation.store import Cursor
from curation.store.release_parts import read_part


class CheckedAssignment(NamedTuple):
    """Leakage groups and parts of a split that has no tie between different parts.

    Attributes
    ----------
    groups, parts: query id → group, part.
    missed: edges that only the exhaustive check found.
    by_time: facts about the cut by time; None if parts were balanced.
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
    """Group the queries, assign the groups to parts and check, until no tie crosses the parts.

    A tie that only the check finds joins its two queries in the next round.

    Raises
    ------
    RefusedError: carried-over queries of different parts are tied.
    """
    inputs = graded.inputs
    missed: list[Edge] = []
    by_time: ByTime | None = None
    while True:
        groups = leakage_groups(inputs.queries, [*edges, *missed])
        fixed, chains = carried_over_groups(groups, carried.parts, [*edges, *missed])
        refuse_joined(chains, carried.parts, inputs)
        if request.by_time and len(request.fractions) > 1:
            parts, by_time = assign_by_time(groups, inputs.times, request.fractions, fixed)
        else:
            parts = assign_parts(groups, graded.levels, request.fractions, request.seed, fixed)
        findings = certify(inputs, parts, request.rules, progress)
        if not findings.leaks:
            return CheckedAssignment(groups, parts, findings, missed, by_time)
        if any(groups[leak.query_a] == groups[leak.query_b] for leak in findings.leaks):
            raise AssertionError(f"an edge crosses the split: {findings.leaks[0]}")
        missed += [
            Edge(leak.query_a, leak.query_b, leak.kind, leak.similarity, leak.documents)
            for leak in findings.leaks
        ]


class CarriedOver(NamedTuple):
    """The parts of the split that queries have in releases of the project.

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
    """Read the parts of all released queries."""
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
    """Return the parts that these queries carry over from releases.

    Raises
    ------
    RefusedError: a carried-over query has a part that is not among these parts.
    """
    inside = {query: part for query, part in sorted(carried.parts.items()) if query in queries}
    for part in sorted(set(inside.values()) - set(parts)):
        number = sum(other == part for other in inside.values())
        raise RefusedError(
            f"{pluralize(number, 'query is', 'queries are')} in the part {part!r} of a release, but the new "
            "split has no such part. Add this part, or ignore the parts that queries have in releases.",
            command=f"--part {part}=FRACTION adds the part. --fresh ignores the parts that queries have in "
            "releases.",
        )
    return CarriedOver(inside, carried.releases, carried.disagreeing) if inside else NOTHING_CARRIED_OVER


def carried_over_groups(
    groups: Mapping[str, str], carried: Mapping[str, str], edges: Sequence[Edge]
) -> tuple[dict[str, str], list[list[Edge]]]:
    """Map each group with a carried-over query to its part, and find a chain of ties for each refused group.

    A group is refused if the group joins carried-over queries of different parts.

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
