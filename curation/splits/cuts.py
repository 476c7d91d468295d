"""Cuts: pairs of queries, named by people, whose direct ties a split ignores.

A chain of other ties may still join two queries with a cut between them. goldgrade then shows this chain of
ties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from curation.core.characters import normalise_query
from curation.core.errors import refuse_problems
from curation.splits.chains import describe_chain, describe_edge, find_shortest_chain
from curation.splits.edges import Edge, QueryPair, ordered_pair

RemainingTies = tuple[str, str, tuple[Edge, ...]]
"""Two queries that share a leakage group despite a cut, and the chain of ties that joins them.

JSON results have a list of these three values, so the type is not a record.
"""


def resolve_cuts(cuts: Iterable[QueryPair], queries: Mapping[str, str]) -> tuple[QueryPair, ...]:
    """Convert the queries that people named in cuts (by id or text) to query ids, and return the pairs of ids
    in order.

    A query may also be named by its text if the text is unique.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    InputError: a name fits no query or several queries, or a cut names one query twice. The error lists all
        problems.
    """
    ids_by_text: dict[str, list[str]] = {}
    for query_id, text in queries.items():
        ids_by_text.setdefault(normalise_query(text), []).append(query_id)
    pairs = set()
    problems = []
    for cut in cuts:
        resolved_ids = []
        for name in cut:
            ids_with_text = ids_by_text.get(normalise_query(name), [])
            problem = _find_name_problem(name, ids_with_text, queries)
            if problem:
                problems.append(f"Cut {'~'.join(cut)}: {problem}")
            else:
                resolved_ids.append(name if name in queries else ids_with_text[0])
        if len(set(resolved_ids)) == 2:
            pairs.add(ordered_pair(*resolved_ids))
        elif len(resolved_ids) == 2:
            same = f"both are the query {resolved_ids[0]}; expected two different queries"
            problems.append(f"Cut {'~'.join(cut)}: {same}")
    refuse_problems(problems)
    return tuple(sorted(pairs))


def _find_name_problem(name: str, ids_with_text: Sequence[str], queries: Mapping[str, str]) -> str:
    """Explain why a name in a cut does not identify exactly one query; '' if it does."""
    if name in queries:
        if all(query_id == name for query_id in ids_with_text):
            return ""
        meanings = f"the id of {queries[name]!r} and the text of {ids_with_text[0]!r}"
        return f"{name!r} is {meanings}; name the two queries by text and by id"
    if len(ids_with_text) == 1:
        return ""
    several = f"several queries have that text: {', '.join(ids_with_text)}"
    return f"{name!r} is not a graded query's id or text; {several if ids_with_text else 'no query has that'}"


def find_remaining_ties(
    cuts: Iterable[QueryPair], groups: Mapping[str, str], edges: Sequence[Edge]
) -> tuple[RemainingTies, ...]:
    """Find pairs of cut queries that still share a leakage group, with the chain of ties that joins each
    pair.

    Parameters
    ----------
    groups: query id → group, by edges that were not cut.
    """
    return tuple(
        (first, second, tuple(find_shortest_chain([first], [second], edges)))
        for first, second in sorted({ordered_pair(*pair) for pair in cuts})
        if groups[first] == groups[second]
    )


def describe_cuts(
    cut_edges: Sequence[Edge], remaining: Sequence[RemainingTies], queries: Mapping[str, str]
) -> list[str]:
    """List the ties that people cut by name, and the cut queries that other ties still keep together.

    For a cut without effect, list the chain that still ties the queries.
    """
    lines = [f"Cut by name: {describe_edge(edge, queries)}" for edge in cut_edges]
    for query_a, query_b, chain in remaining:
        texts = f"“{queries.get(query_a, query_a)}” and “{queries.get(query_b, query_b)}”"
        lines.append(f"{texts} stay together despite the cut, because other ties connect them:")
        lines += describe_chain(chain, queries)
    return lines
