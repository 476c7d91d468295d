"""Refusals of a split that would be unfit for evaluation, with the ties that could be cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from curation.core.errors import RefusedError
from curation.core.text import percent, pluralize
from curation.splits.assignment import ALL, Groups, Levels, Parts, PartShare, list_members
from curation.splits.chains import describe_chain, find_longest_chain
from curation.splits.edges import Edge
from curation.splits.groups import LeakageGroup
from curation.splits.inputs import SplitInputs
from curation.splits.sealed_ties import hide_sealed_documents
from curation.splits.shared_ties import SHARED_DOCUMENT

MAX_PART_SHARE = 0.5
"""Largest share of a part's queries that one leakage group may have, so that no single topic decides."""
TOLERANCE = {"all": (1.0, 0.1), "level": (3.0, 0.25)}
"""Largest distance of a part from its ideal size: a number of queries, or a share if that is more."""
MAX_SMALL_GROUP = 10
"""Number of queries up to which a leakage group is never too large."""
GROUPS_SHOWN = 5
CUT_FIRST = (
    "Cut ties that are not real leaks (the certificate then lists them as residual leakage), loosen the "
    "rules for ties (a higher relevant grade or similarity threshold), or"
)


def find_balance_problem(
    members: list[str], parts: dict[str, str], shares: Sequence[PartShare], levels: Levels, is_balanced: bool
) -> str:
    """Write the end of a sentence that says how a leakage group unbalances the split; '' if it does not
    unbalance the split.

    A group is a problem if the group fills most of its part, or keeps parts from their sizes. A group is no
    problem if other queries balance the parts: a group of 11 among 134 queries leaves both parts at their
    size.

    Parameters
    ----------
    members: the group's queries.
    parts: query id → part.
    is_balanced: whether the parts must be near their fractions, which does not hold for a split by time.
    """
    part = parts[members[0]]
    part_size = next(share.reached for share in shares if share.part == part and share.dimension == ALL)
    if len(members) > MAX_PART_SHARE * part_size:
        return f"it is {len(members):,} of the {pluralize(part_size, 'query', 'queries')} of {part}"
    group_counts = Counter(column for query_id in members for column in levels[query_id])
    group_counts[ALL, ALL] = len(members)
    for share in shares if is_balanced else ():
        max_queries, max_ratio = TOLERANCE["all" if share.dimension == ALL else "level"]
        deviation = abs(share.reached - share.ideal)
        tolerance = max(max_queries, max_ratio * share.ideal)
        if group_counts[share.dimension, share.level] >= deviation > tolerance:
            level = "" if share.dimension == ALL else f" of the {share.dimension} “{share.level}”"
            return (
                f"{share.part} has {pluralize(share.reached, 'query', 'queries')}{level} instead of the "
                f"requested {share.ideal:,.1f}"
            )
    return ""


def refuse_large_groups(
    groups: Sequence[LeakageGroup], inputs: SplitInputs, queries: int, max_share: float | None
) -> None:
    """Reject a split with a leakage group that unbalances the parts, or that has more than the share
    `max_share` of the queries.

    The refusal shows the chains of ties that made the groups, and ties that people could cut.

    Parameters
    ----------
    queries: the number of queries.
    """
    if max_share is None:
        refused = [group for group in groups if group.spoils]
    else:
        max_size = max(MAX_SMALL_GROUP, max_share * queries)
        refused = [group for group in groups if len(group.queries) > max_size]
    if not refused:
        return
    shown_groups = hide_sealed_documents(refused[:GROUPS_SHOWN], inputs.sealed)
    lines: list[str] = []
    for group in shown_groups:
        holds = (
            f"One leakage group contains {len(group.queries):,} of {pluralize(queries, 'query', 'queries')}"
        )
        reason = f"at most {percent(max_share)} is allowed" if max_share is not None else group.spoils
        lines += [f"{holds} ({percent(group.share)}), and {reason}.", *group.lines]
    if len(refused) > GROUPS_SHOWN:
        lines.append(f"… and {len(refused) - GROUPS_SHOWN:,} more leakage groups of a refused size")
    command = _suggest_cuts(group.chain for group in shown_groups)
    if any(next(iter(group.ties)) == SHARED_DOCUMENT for group in refused):
        command.append(
            "--no-shared-documents allows queries with the same relevant document in different parts, which "
            "is usual for a corpus of few long documents."
        )
    sufficient_share = min(1.0, (int(refused[0].share * 100) + 1) / 100)
    command.append(
        "--dry-run shows the leakage groups at other thresholds. --relevant-grade sets the lowest grade of a "
        f"relevant document. --largest-group {sufficient_share:g} allows the group."
    )
    raise RefusedError("\n".join([*lines, f"{CUT_FIRST} allow a larger group."]), command="\n".join(command))


def refuse_part_conflicts(chains: Sequence[Sequence[Edge]], carried: Parts, inputs: SplitInputs) -> None:
    """Reject a split in which a chain of ties joins released queries from different parts.

    `carried` maps query id to part.
    """
    if not chains:
        return
    queries = inputs.queries
    lines = [
        "A released query never changes its part, but ties now join released queries of different parts in "
        f"{pluralize(len(chains), 'leakage group')}:"
    ]
    shown_chains = hide_sealed_documents(chains[:GROUPS_SHOWN], inputs.sealed)
    for chain in shown_chains:
        tied_queries = {query_id for edge in chain for query_id in (edge.query_a, edge.query_b)}
        released = sorted(tied_queries & carried.keys())
        texts = ", ".join(f"“{queries[query_id]}” in {carried[query_id]}" for query_id in released)
        lines += [f"{texts}, by:", *describe_chain(chain, queries)]
    if len(chains) > GROUPS_SHOWN:
        lines.append(f"… and {len(chains) - GROUPS_SHOWN:,} more groups")
    lines.append(f"{CUT_FIRST} ignore the parts that queries have in releases.")
    command = [*_suggest_cuts(shown_chains), "--fresh ignores the parts that queries have in releases."]
    raise RefusedError("\n".join(lines), command="\n".join(command))


def refuse_empty_parts(
    shares: Sequence[PartShare], groups: Groups, edges: Sequence[Edge], inputs: SplitInputs
) -> None:
    """Reject a split in which a part has no queries."""
    empty_parts = [share.part for share in shares if share.dimension == ALL and not share.reached]
    if not empty_parts:
        return
    queries, members = inputs.queries, list_members(groups)
    largest = max(members.values(), key=len)
    lines = [
        f"No query is left for {', '.join(empty_parts)}: {len(queries):,} graded queries form "
        f"{len(members):,} leakage groups that must stay whole, the largest of {len(largest):,}."
    ]
    if len(largest) > 1:
        chain = hide_sealed_documents(find_longest_chain(largest, edges), inputs.sealed)
        lines += ["Ties that connect the largest group:", *describe_chain(chain, queries)]
    lines.append(
        "Judge more queries, or loosen the rules for ties: a higher relevant grade or a higher threshold of "
        "query texts or documents."
    )
    options = "--relevant-grade, --query-threshold and --document-threshold set the grade and thresholds."
    raise RefusedError("\n".join(lines), command=options)


def _suggest_cuts(chains: Iterable[Sequence[Edge]]) -> list[str]:
    """List the command's options that would cut the weakest tie in each chain of ties."""
    weakest_edges = [min(chain, key=lambda edge: (edge.similarity, edge)) for chain in chains]
    cuts = [f'  --cut "{edge.query_a}~{edge.query_b}"' for edge in weakest_edges]
    return ["", "These options cut the weakest tie in each group:", *cuts]
