"""Refusals of a split: a group that is too large, an empty part, released queries that would move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from curation.core.errors import RefusedError
from curation.core.text import percent, pluralize
from curation.splits.assignment import ALL, Levels, PartShare, members_of
from curation.splits.certificate import without_sealed
from curation.splits.edges import Edge
from curation.splits.groups import LeakageGroup, chain_lines, longest_chain
from curation.splits.inputs import SplitInputs
from curation.splits.tie_kinds import SHARED_DOCUMENT

MAX_PART_SHARE = 0.5
"""Largest share of a part's queries in one leakage group, so that no single topic decides its figures."""
TOLERANCE = {"all": (1.0, 0.1), "level": (3.0, 0.25)}
"""Largest distance of a part from its ideal size: a number of queries, or a share if that is more."""
MAX_SMALL_GROUP = 10
"""Number of queries up to which a leakage group is never too large."""
GROUPS_SHOWN = 5
CUT_FIRST = (
    "Cut the ties that are no real leak (the certificate then reports these ties as residual leakage), "
    "loosen the rules of ties (a higher relevant grade or similarity threshold), or"
)


def balance_problem(
    members: Sequence[str],
    parts: Mapping[str, str],
    shares: Sequence[PartShare],
    levels: Levels,
    balanced: bool,
) -> str:
    """Return the end of a sentence on how a leakage group spoils a split; '' if the group does no harm.

    A group spoils the split if the group fills most of its part, or keeps parts from their sizes. A group
    does no harm if other queries balance the parts: a group of 11 among 134 queries leaves both parts at
    their size.

    Parameters
    ----------
    members: the group's queries.
    parts: query id → part.
    balanced: whether the parts must be near their fractions, which does not hold for a split by time.
    """
    part = parts[members[0]]
    filled = next(share.reached for share in shares if share.part == part and share.dimension == ALL)
    if len(members) > MAX_PART_SHARE * filled:
        return f"it is {len(members):,} of the {pluralize(filled, 'query', 'queries')} of {part}"
    group_counts = Counter(column for name in members for column in levels[name])
    group_counts[ALL, ALL] = len(members)
    for share in shares if balanced else ():
        least, ratio = TOLERANCE["all" if share.dimension == ALL else "level"]
        off = abs(share.reached - share.ideal)
        if group_counts[share.dimension, share.level] >= off > max(least, ratio * share.ideal):
            of = "" if share.dimension == ALL else f" of the {share.dimension} “{share.level}”"
            return (
                f"{share.part} has {pluralize(share.reached, 'query', 'queries')}{of} instead of the "
                f"requested {share.ideal:,.1f}"
            )
    return ""


def refuse_large(
    groups: Sequence[LeakageGroup], inputs: SplitInputs, queries: int, most: float | None
) -> None:
    """Refuse large leakage groups that spoil the split, or whose share of the queries is larger than `most`.

    The refusal shows the chains of ties that made the groups, and ties that people could cut.

    Parameters
    ----------
    queries: the number of queries.
    """
    allowed = None if most is None else max(MAX_SMALL_GROUP, most * queries)
    large = [group for group in groups if (group.spoils if allowed is None else len(group.queries) > allowed)]
    if not large:
        return
    shown = without_sealed(large[:GROUPS_SHOWN], inputs.sealed)
    lines: list[str] = []
    for group in shown:
        holds = f"One leakage group holds {len(group.queries):,} of {pluralize(queries, 'query', 'queries')}"
        limit = f"at most {percent(most)} is allowed" if most is not None else group.spoils
        lines += [f"{holds} ({percent(group.share)}), and {limit}.", *group.lines]
    if len(large) > GROUPS_SHOWN:
        lines.append(f"… and {len(large) - GROUPS_SHOWN:,} more leakage groups of a refused size")
    command = _weakest_ties(group.chain for group in shown)
    if any(next(iter(group.ties)) == SHARED_DOCUMENT for group in large):
        command.append(
            "--no-shared-documents lets queries with the same relevant document be in different parts, as is "
            "usual for a corpus of few long documents."
        )
    allowing = min(1.0, (int(large[0].share * 100) + 1) / 100)
    command.append(
        "--dry-run shows the leakage groups at other thresholds. --relevant-grade sets the lowest grade of a "
        "relevant document. "
        f"--largest-group {allowing:g} allows the group."
    )
    raise RefusedError("\n".join([*lines, f"{CUT_FIRST} allow a larger group."]), command="\n".join(command))


def _weakest_ties(chains: Iterable[Sequence[Edge]]) -> list[str]:
    """Return the options that cut the weakest tie of each chain."""
    weakest = [min(steps, key=lambda edge: (edge.similarity, edge)) for steps in chains]
    cuts = [f'  --cut "{edge.query_a}~{edge.query_b}"' for edge in weakest]
    return ["", "These options cut the weakest tie of each chain:", *cuts]


def refuse_joined(chains: Sequence[Sequence[Edge]], carried: Mapping[str, str], inputs: SplitInputs) -> None:
    """Refuse chains of ties that join released queries of different parts.

    `carried` maps query id to part.
    """
    if not chains:
        return
    queries = inputs.queries
    groups = pluralize(len(chains), "leakage group")
    lines = [
        "A released query never changes its part, but ties now join released queries of different parts in "
        f"{groups}:"
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
    command = [*_weakest_ties(shown), "--fresh ignores the parts that queries have in releases."]
    found = "\n".join([*lines, f"{CUT_FIRST} ignore the parts that queries have in releases."])
    raise RefusedError(found, command="\n".join(command))


def refuse_empty(
    shares: Sequence[PartShare], groups: Mapping[str, str], edges: Sequence[Edge], inputs: SplitInputs
) -> None:
    """Refuse a split that has a part without queries."""
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
        steps = without_sealed(longest_chain(largest, edges), inputs.sealed)
        lines += ["Chain of ties in the largest group:", *chain_lines(steps, queries)]
    lines.append(
        "Judge more queries, or loosen the rules of ties: a higher relevant grade or a higher threshold of "
        "query texts or documents."
    )
    options = "--relevant-grade, --query-threshold and --document-threshold set the grade and thresholds."
    raise RefusedError("\n".join(lines), command=options)
