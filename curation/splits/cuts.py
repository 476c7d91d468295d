"""Cuts: pairs of queries, named by people, whose direct ties a split ignores.

A chain of other ties may still join two queries with a cut between them. goldgrade then shows this chain of
ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curation.core.characters import normalise_query
from curation.core.errors import refuse_problems
from curation.splits.edges import Edge, ordered_pair
from curation.splits.groups import chain_lines, edge_sentence, shortest_chain

RemainingTies = tuple[str, str, tuple[Edge, ...]]
"""Two queries in one leakage group despite a cut between the two queries, and the chain that ties them."""


def cuts_by_id(cuts: Iterable[tuple[str, str]], queries: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the cuts as pairs of query ids, in order.

    A query may also be named by its text if the text is unique.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    InputError: a name fits no query or several queries, or a cut names one query twice. The error lists all
        problems.
    """
    by_text: dict[str, list[str]] = {}
    for name, text in queries.items():
        by_text.setdefault(normalise_query(text), []).append(name)
    pairs, wrong = set(), []
    for cut in cuts:
        ids = []
        for name in cut:
            texts = by_text.get(normalise_query(name), [])
            if name in queries and any(other != name for other in texts):
                two = f"the id of {queries[name]!r} and the text of {texts[0]!r}"
                wrong.append(f"Cut {'~'.join(cut)}: {name!r} is {two}; name them by text and by id")
            elif name in queries or len(texts) == 1:
                ids.append(name if name in queries else texts[0])
            else:
                why = f"several queries have that text: {', '.join(texts)}" if texts else "no query has that"
                wrong.append(f"Cut {'~'.join(cut)}: {name!r} is no graded query's id or text; {why}")
        if len(set(ids)) == 2:
            pairs.add(ordered_pair(*ids))
        elif len(ids) == 2:
            wrong.append(f"Cut {'~'.join(cut)}: both name the query {ids[0]}; expected two queries")
    refuse_problems(wrong)
    return tuple(sorted(pairs))


def remaining_ties(
    cuts: Iterable[tuple[str, str]], groups: Mapping[str, str], edges: Sequence[Edge]
) -> tuple[RemainingTies, ...]:
    """Find the pairs of cut queries that are still in one group, with the chain of ties that joins each pair.

    Parameters
    ----------
    groups: query id → group, by edges that were not cut.
    """
    return tuple(
        (first, second, tuple(shortest_chain([first], [second], edges)))
        for first, second in sorted({ordered_pair(*pair) for pair in cuts})
        if groups[first] == groups[second]
    )


def cut_lines(
    cut: Sequence[Edge], remaining: Sequence[RemainingTies], queries: Mapping[str, str]
) -> list[str]:
    """List the ties that were cut by name.

    For a cut without effect, list the chain that still ties the queries.
    """
    lines = [f"Cut by name: {edge_sentence(edge, queries)}" for edge in cut]
    for first, second, steps in remaining:
        texts = f"“{queries.get(first, first)}” and “{queries.get(second, second)}”"
        lines.append(f"{texts} stay in one part despite the cut, by a chain of {len(steps)}:")
        lines += chain_lines(steps, queries)
    return lines
