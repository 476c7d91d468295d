"""Refusals of a split, in sentences with the chains of edges that explain them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curation.core.errors import RefusedError
from curation.core.text import amount, percent
from curation.splits.assignment.assignment import ALL, PartShare
from curation.splits.certificate.certificate import without_sealed
from curation.splits.certificate.findings import Crossing
from curation.splits.cuts import RemainingTies
from curation.splits.groups import chain, members_of
from curation.splits.inputs import SplitInputs
from curation.splits.leakage_groups import LeakageGroup
from curation.splits.ties.edges import Edge
from curation.splits.ties.shared_document import LABEL as SHARED_DOCUMENT

SMALL = 10
"""A group of no more queries than this is never too large."""
STEPS_SHOWN = 12
GROUPS_SHOWN = 5


def edge_sentence(edge: Edge | Crossing, queries: Mapping[str, str]) -> str:
    """An edge in words, with the queries' texts."""
    first, second = (queries.get(name, name) for name in (edge.query_a, edge.query_b))
    shown = [*edge.documents[:2], *(["…"] if len(edge.documents) > 2 else [])]
    detail = f" ({', '.join(shown)})" if shown else ""
    return f"“{first}” – “{second}”: {edge.kind} {edge.similarity:.2f}{detail}"


def chain_lines(steps: Sequence[Edge], queries: Mapping[str, str]) -> list[str]:
    """The steps of a chain, a line each; a long one ends with the number of the others."""
    lines = [f"  {edge_sentence(edge, queries)}" for edge in steps[:STEPS_SHOWN]]
    if len(steps) > STEPS_SHOWN:
        lines.append(f"  … and {len(steps) - STEPS_SHOWN:,} more")
    return lines


def remaining_lines(pair: RemainingTies, queries: Mapping[str, str]) -> list[str]:
    """A cut without effect, and the chain that still ties the two queries, a line each."""
    first, second = (queries.get(name, name) for name in pair[:2])
    return [
        f"“{first}” and “{second}” stay together all the same, by a chain of {len(pair.chain)}:",
        *chain_lines(pair.chain, queries),
    ]


def refuse_large(
    groups: Sequence[LeakageGroup], inputs: SplitInputs, queries: int, most: float | None
) -> None:
    """Refuse large groups that spoil the split, or have a larger share than `most` where that is given; with
    the chains that made them and what could be cut. `queries`: how many queries there are."""
    allowed = None if most is None else max(SMALL, most * queries)
    large = [group for group in groups if (group.spoils if allowed is None else len(group.queries) > allowed)]
    if not large:
        return
    shown = without_sealed(large[:GROUPS_SHOWN], inputs.sealed)
    lines = [line for group in shown for line in _large_lines(group, inputs.queries, most)]
    if len(large) > GROUPS_SHOWN:
        lines.append(f"… and {len(large) - GROUPS_SHOWN:,} more groups as large")
    lines.append(
        "Cut what is not really a leak (it is then reported as residual leakage), loosen what ties them (a "
        "higher relevant grade or threshold), or allow a larger group."
    )
    command = _cut_lines(group.chain for group in shown)
    if any(next(iter(group.ties)) == SHARED_DOCUMENT for group in large):
        command.append(
            "--no-shared-documents lets queries of one document be in several parts: usual for few long ones."
        )
    allowing = min(1.0, (int(large[0].share * 100) + 1) / 100)
    command.append(
        "`goldgrade leakage groups` shows the groups at other thresholds, and --relevant-grade sets the "
        "grade. "
        f"--largest-group {allowing:g} allows the group."
    )
    raise RefusedError("\n".join(lines), command="\n".join(command))


def _large_lines(group: LeakageGroup, queries: Mapping[str, str], most: float | None) -> list[str]:
    holds = (
        f"One leakage group holds {len(group.queries):,} of {amount(len(queries), 'query', 'queries')} "
        f"({percent(group.share)}"
    )
    return [
        f"{holds}), and {group.spoils}." if most is None else f"{holds}; allowed are {percent(most)}).",
        group.most_ties,
        f"Its far ends are tied by a chain of {len(group.chain)}:",
        *chain_lines(group.chain, queries),
    ]


def _cut_lines(chains: Iterable[Sequence[Edge]]) -> list[str]:
    """The weakest tie of each chain, as the option that cuts it."""
    weakest = [min(steps, key=lambda edge: (edge.similarity, edge)) for steps in chains]
    cuts = [f'  --cut "{edge.query_a}~{edge.query_b}"' for edge in weakest]
    return ["", "The weakest tie of each chain, to be cut:", *cuts]


def refuse_joined(chains: Sequence[Sequence[Edge]], carried: Mapping[str, str], inputs: SplitInputs) -> None:
    """Refuse chains that join queries of different parts; `carried`: query id → part in a release."""
    if not chains:
        return
    queries = inputs.queries
    groups = f"{len(chains):,} leakage group{'' if len(chains) == 1 else 's'}"
    lines = [
        f"A released query never changes its part, and those of different parts are tied now in {groups}:"
    ]
    shown = without_sealed(chains[:GROUPS_SHOWN], inputs.sealed)
    for steps in shown:
        ends = sorted({name for edge in steps for name in (edge.query_a, edge.query_b) if name in carried})
        lines += [
            ", ".join(f"“{queries[name]}” in {carried[name]}" for name in ends) + ", by:",
            *chain_lines(steps, queries),
        ]
    if len(chains) > GROUPS_SHOWN:
        lines.append(f"… and {len(chains) - GROUPS_SHOWN:,} more groups")
    lines.append(
        "Cut what is not really a leak (it is then reported as residual leakage), loosen what ties them (a "
        "higher relevant grade or threshold), or give up the released parts."
    )
    command = [*_cut_lines(shown), "--fresh gives up the released parts."]
    raise RefusedError("\n".join(lines), command="\n".join(command))


def refuse_empty(
    shares: Sequence[PartShare], groups: Mapping[str, str], edges: Sequence[Edge], inputs: SplitInputs
) -> None:
    """Refuse a part without a query."""
    empty = [share.part for share in shares if share.dimension == ALL and not share.reached]
    if not empty:
        return
    queries, members = inputs.queries, members_of(groups)
    largest = max(members.values(), key=len)
    lines = [
        f"No query is left for {', '.join(empty)}: {len(queries):,} graded queries form {len(members):,} "
        f"leakage groups that must stay whole, the largest of {len(largest):,}."
    ]
    if len(largest) > 1:
        lines += [
            "The chain that made it:",
            *chain_lines(without_sealed(chain(largest, edges), inputs.sealed), queries),
        ]
    lines.append(
        "Judge more queries, or loosen what ties them: a higher relevant grade or a higher threshold of "
        "query texts or documents."
    )
    options = "--relevant-grade, --query-threshold and --document-threshold set these."
    raise RefusedError("\n".join(lines), command=options)
