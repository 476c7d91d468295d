"""Groups and parts that the exhaustive check has passed: what it alone finds becomes an edge as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.progress import Progress, silent
from curation.splits.assignment.assignment import assign_parts
from curation.splits.assignment.by_time import ByTime, assign_by_time
from curation.splits.assignment.carried_over import (
    CarriedOver,
    carried_over_groups,
)
from curation.splits.certificate.certify import certify
from curation.splits.certificate.findings import Findings
from curation.splits.groups import leakage_groups
from curation.splits.inputs import GradedQueries
from curation.splits.refusals import refuse_joined
from curation.splits.request import NewSplit
from curation.splits.ties.edges import Edge


class CheckedAssignment(NamedTuple):
    """Groups and parts that nothing crosses.

    Attributes
    ----------
    groups, parts: query id → group, part.
    missed: edges that only the exhaustive check found.
    by_time: how the cut by time went; None where parts were balanced.
    """

    groups: dict[str, str]
    parts: dict[str, str]
    findings: Findings
    missed: list[Edge]
    by_time: ByTime | None


def assign_and_check(
    graded: GradedQueries,
    request: NewSplit,
    carried: CarriedOver,
    edges: Sequence[Edge],
    progress: Progress = silent,
) -> CheckedAssignment:
    """Group, assign and check until nothing crosses: what the check alone finds becomes an edge as well.

    Raises
    ------
    RefusedError: carried-over queries of different parts are tied, or groups have no time.
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
    graded: GradedQueries, request: NewSplit, groups: Mapping[str, str], fixed: Mapping[str, str]
) -> tuple[dict[str, str], ByTime | None]:
    fractions, options = request.fractions, request.options
    if options.by_time and len(fractions) > 1:
        return assign_by_time(groups, graded.inputs.times, fractions, options.undated, fixed)
    return assign_parts(groups, graded.levels, fractions, request.seed, fixed), None
