"""Named cuts: two queries whose direct ties do not count, and the chains that still tie such queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from curation.core.errors import refuse_problems
from curation.core.text import normalise_query
from curation.splits.groups import shortest_chain
from curation.splits.ties.edges import Edge


class RemainingTies(NamedTuple):
    """Two queries whose direct ties were cut and that are in one group all the same.

    Attributes
    ----------
    chain: a shortest way along other ties from the one to the other.
    """

    query_a: str
    query_b: str
    chain: tuple[Edge, ...]


def cuts_by_id(cuts: Iterable[tuple[str, str]], queries: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The cuts by query id, ordered; a query may be named by its text where one query alone has it.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    InputError: a name is no query's, or several queries'; or a cut names one query twice; all at once.
    """
    by_text: dict[str, list[str]] = {}
    for name, text in queries.items():
        by_text.setdefault(normalise_query(text), []).append(name)
    found, wrong = set(), []
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
                has = f"several queries have that text: {', '.join(texts)}" if texts else "no query has that"
                wrong.append(f"Cut {'~'.join(cut)}: {name!r} is no graded query's id or text; {has}")
        if len(set(ids)) == 2:
            found.add((min(ids), max(ids)))
        elif len(ids) == 2:
            wrong.append(f"Cut {'~'.join(cut)}: both name the query {ids[0]}; expected two queries")
    refuse_problems(wrong)
    return tuple(sorted(found))


def remaining_ties(
    cuts: Iterable[tuple[str, str]], groups: Mapping[str, str], edges: Sequence[Edge]
) -> tuple[RemainingTies, ...]:
    """The pairs that were cut and are in one group all the same, with the chain that ties them.

    Parameters
    ----------
    groups: query id → group, of the edges, none of which was cut.
    """
    return tuple(
        RemainingTies(first, second, tuple(shortest_chain([first], [second], edges)))
        for first, second in sorted({(min(pair), max(pair)) for pair in cuts})
        if groups[first] == groups[second]
    )
