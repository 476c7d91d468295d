"""Refusals of a split, in sentences with the chains of edges that explain them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from curation.errors import RefusedError
from curation.splits.assignment.assignment import ALL, PartShare
from curation.splits.certificate.certificate import without_sealed
from curation.splits.certificate.findings import Crossing
from curation.splits.groups.cuts import StillTied, WeakLink, ties_by_kind, ties_within, weakest_links
from curation.splits.groups.groups import chain, members_of
from curation.splits.inputs import SplitInputs
from curation.splits.request import LARGEST_GROUP
from curation.splits.rules import Rules
from curation.splits.ties.edges import Edge
from curation.splits.ties.shared_document import LABEL as SHARED_DOCUMENT
from curation.text import amount, percent

SMALL = 10
"""A group of no more queries than this is never too large."""
STEPS_SHOWN = 12
LINKS_SHOWN = 8
GROUPS_SHOWN = 5


@dataclass(frozen=True)
class LargeGroup:
    """A leakage group so large that it shapes the split, and the chain of edges that made it.

    Attributes
    ----------
    queries, share: how many queries it has, and of all queries which share.
    spoils: what it spoils of the split; '' where the parts are as asked for all the same.
    ties: kind → number of ties in it, most first.
    """

    group_id: str
    queries: int
    share: float
    spoils: str
    ties: dict[str, int]
    chain: tuple[Edge, ...]

    @property
    def most_ties(self) -> str:
        """Of which kind most of its ties are, as a sentence."""
        kind, count = next(iter(self.ties.items()))
        return f"{count:,} of its {sum(self.ties.values()):,} ties are of one kind: {kind}."


def large_groups(
    inputs: SplitInputs,
    groups: Mapping[str, str],
    edges: Sequence[Edge],
    rules: Rules,
    spoils: Callable[[Sequence[str]], str],
) -> tuple[LargeGroup, ...]:
    """The groups (query id → group) with more than 5 % of the queries and more than a few, largest first.

    Parameters
    ----------
    spoils: of the queries of a group, what it spoils of the split (`assignment.spoiling`).
    """
    found = []
    total = len(groups)
    for name, queries in members_of(groups).items():
        if len(queries) > max(SMALL, LARGEST_GROUP * total):
            every = ties_within(inputs, queries, rules)
            ties = ties_by_kind(inputs, queries, rules, every)
            links = tuple(chain(queries, edges))
            found.append(LargeGroup(name, len(queries), len(queries) / total, spoils(queries), ties, links))
    return tuple(sorted(found, key=lambda group: (-group.queries, group.group_id)))


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


def link_line(link: WeakLink, queries: Mapping[str, str]) -> str:
    """A weak link as the option that cuts it, and what that would leave."""
    return (
        f'  --cut "{link.edge.query_a}~{link.edge.query_b}"  leaves {link.left:,} and {link.right:,}: '
        f"{edge_sentence(link.edge, queries)}"
    )


def still_tied_lines(pair: StillTied, queries: Mapping[str, str]) -> list[str]:
    """A cut without effect, and the ties that still join the two queries, a line each."""
    first, second = (queries.get(name, name) for name in pair[:2])
    if not pair.further:
        return [f"“{first}” and “{second}” stay together by more ties than can be listed."]
    lines = [f"“{first}” and “{second}” stay together all the same; these ties hold them:"]
    return lines + [f"  {edge_sentence(edge, queries)}" for edge in pair.further]


def refuse_large(
    found: Sequence[LargeGroup],
    groups: Mapping[str, str],
    inputs: SplitInputs,
    rules: Rules,
    most: float | None,
) -> None:
    """Refuse large groups that spoil the split, or have a larger share than `most` where that is given; with
    what made them and what could be cut. `groups`: query id → group."""
    allowed = None if most is None else max(SMALL, most * len(groups))
    large = [group for group in found if (group.spoils if allowed is None else group.queries > allowed)]
    if not large:
        return
    lines, links = [], []
    for group in without_sealed(large[:GROUPS_SHOWN], inputs.sealed):
        members = [name for name in groups if groups[name] == group.group_id]
        ties = ties_within(inputs, members, rules)
        weakest = None if ties is None else weakest_links(members, ties, LINKS_SHOWN)
        lines += _large_lines(group, inputs.queries, most)
        links += _weakest_lines(without_sealed(weakest, inputs.sealed), inputs.queries, members[0])
    if len(large) > GROUPS_SHOWN:
        lines.append(f"… and {len(large) - GROUPS_SHOWN:,} more groups as large")
    lines.append(
        "Cut what is not really a leak (it is then reported as residual leakage), loosen what ties them (a "
        "higher relevant grade or threshold), or allow a larger group."
    )
    allowing = min(1.0, (int(large[0].share * 100) + 1) / 100)
    if any(next(iter(group.ties)) == SHARED_DOCUMENT for group in large):
        links.append(
            "--no-shared-documents lets queries of one document be in several parts: usual for few long ones."
        )
    links.append(
        "`goldset leakage sweep` shows at which threshold groups grow, and --relevant-grade sets the grade. "
        f"--largest-group {allowing:g} allows the group."
    )
    raise RefusedError("\n".join(lines), command="\n".join(["", *links]))


def _large_lines(group: LargeGroup, queries: Mapping[str, str], most: float | None) -> list[str]:
    holds = (
        f"One leakage group holds {group.queries:,} of {amount(len(queries), 'query', 'queries')} "
        f"({percent(group.share)}"
    )
    return [
        f"{holds}), and {group.spoils}." if most is None else f"{holds}; allowed are {percent(most)}).",
        group.most_ties,
        f"Its far ends are tied by a chain of {len(group.chain)}:",
        *chain_lines(group.chain, queries),
    ]


def _weakest_lines(links: Sequence[WeakLink] | None, queries: Mapping[str, str], member: str) -> list[str]:
    group = f"The group of “{queries.get(member, member)}”"
    if links is None:
        return [f"{group} has too many ties to look for the weakest among them."]
    if not links:
        return [f"{group} falls apart by no {LINKS_SHOWN} cuts or fewer."]
    heading = f"{group}: its weakest links; cut together they split it:"
    return [heading, *(link_line(link, queries) for link in links)]


def refuse_joined(chains: Sequence[Sequence[Edge]], carried: Mapping[str, str], inputs: SplitInputs) -> None:
    """Refuse chains that join queries of different parts; `carried`: query id → part in a release."""
    if not chains:
        return
    queries = inputs.queries
    groups = f"{len(chains):,} leakage group{'' if len(chains) == 1 else 's'}"
    lines = [
        f"A released query never changes its part, and those of different parts are tied now in {groups}:"
    ]
    cuts = []
    for steps in without_sealed(chains[:GROUPS_SHOWN], inputs.sealed):
        ends = sorted({name for edge in steps for name in (edge.query_a, edge.query_b) if name in carried})
        weakest = min(steps, key=lambda edge: (edge.similarity, edge))
        lines += [
            ", ".join(f"“{queries[name]}” in {carried[name]}" for name in ends) + ", by:",
            *chain_lines(steps, queries),
        ]
        cuts.append(f'  --cut "{weakest.query_a}~{weakest.query_b}"')
    if len(chains) > GROUPS_SHOWN:
        lines.append(f"… and {len(chains) - GROUPS_SHOWN:,} more groups")
    lines.append(
        "Cut what is not really a leak (it is then reported as residual leakage), loosen what ties them (a "
        "higher relevant grade or threshold), or give up the released parts."
    )
    command = ["", "The weakest tie of each chain, to be cut:", *cuts, "--fresh gives up the released parts."]
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
