"""The search for ties of every kind between all queries of a split.

A spanning forest of the strongest edges is enough to determine the leakage groups. `find_edges` keeps this
forest, and counts all ties. `list_ties` lists every single tie, which pairs that are cut by name need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from curation.core.progress import Progress, silent
from curation.core.similarity.pairs import Search, exact_links, minhash_links
from curation.splits.edges import Edge, keep_strongest_edges
from curation.splits.inputs import SplitInputs, restrict_inputs
from curation.splits.rules import Rules
from curation.splits.shared_ties import SAME_KEY_TIE, SHARED_DOCUMENT_TIE
from curation.splits.similarity_ties import NEAR_DUPLICATE_TIE, PARAPHRASE_TIE, QUERY_TEXT_TIE
from curation.splits.tie_search import TieKind, TieSearch

_KINDS = (QUERY_TEXT_TIE, PARAPHRASE_TIE, SHARED_DOCUMENT_TIE, NEAR_DUPLICATE_TIE, SAME_KEY_TIE)
KINDS: dict[str, TieKind] = {kind.label: kind for kind in _KINDS}
"""Map from label to kind of tie, in the order of tables and of stored counts."""


class Ties(NamedTuple):
    """The ties between the queries of a split, which are reasons to keep queries in the same part.

    Attributes
    ----------
    edges: a spanning forest of the strongest edges, in order.
    counts: label → number of all ties: pairs of similar query texts; pairs of queries for each document that
        is relevant to both, and for each key; pairs of nearly identical relevant documents.
    cut: ties that the rules cut by name. Neither `edges` nor `counts` has these ties; but `counts` has a pair
        of nearly identical documents whose edge was cut.
    methods: label → how the kind was searched.
    left_out: reason, written to be read after its number → number of queries.
    parameters: more parameters of a stored split, see `FoundTies`.
    """

    edges: list[Edge]
    counts: dict[str, int]
    cut: list[Edge]
    methods: dict[str, str]
    left_out: dict[str, int]
    parameters: dict[str, Any]


def find_edges(
    inputs: SplitInputs, rules: Rules, progress: Progress = silent, compare: Search = minhash_links
) -> Ties:
    """Find the strongest edges that hold the leakage groups together, and count all ties between queries.

    Parameters
    ----------
    rules: cuts name queries of the inputs.
    compare: the search for similar texts. MinHash may miss some similar texts, which the exhaustive check
        finds.
    """
    cut_queries = frozenset(query_id for pair in rules.cut for query_id in pair)
    search = TieSearch(inputs, rules, cut_queries, compare, progress)
    found_ties = {kind.label: kind.search(search) for kind in KINDS.values()}
    edges = [edge for ties in found_ties.values() for edge in ties.edges]
    reasons = [reason for ties in found_ties.values() for reason in ties.left_out.items()]
    uncut_rules = replace(rules, cut=())
    cut_inputs = [restrict_inputs(inputs, cut) for cut in sorted(search.cuts)]
    return Ties(
        edges=keep_strongest_edges(search.ids, edges),
        counts={label: ties.n_ties for label, ties in found_ties.items()},
        cut=[tie for pair_inputs in cut_inputs for tie in list_ties(pair_inputs, uncut_rules)],
        methods={label: ties.method for label, ties in found_ties.items()},
        left_out={reason: count for reason, count in reasons if count},
        parameters={name: value for ties in found_ties.values() for name, value in ties.parameters.items()},
    )


def list_ties(inputs: SplitInputs, rules: Rules, progress: Progress = silent) -> list[Edge]:
    """List the strongest tie of each kind between any two queries.

    Use this list for a leakage group, not for a gold set: its length grows with the square of the number of
    queries.
    """
    search = TieSearch(inputs, rules, frozenset(inputs.queries), exact_links, progress)
    strongest: dict[tuple[str, str, str], Edge] = {}
    for kind in KINDS.values():
        for edge in kind.search(search).edges:
            previous = strongest.get(edge[:3])
            if previous is None or (-edge.similarity, edge) < (-previous.similarity, previous):
                strongest[edge[:3]] = edge
    return sorted(strongest.values())


def count_ties_by_kind(inputs: SplitInputs, members: Iterable[str], rules: Rules) -> dict[str, int]:
    """Count the ties among these queries by kind, largest number first."""
    query_ids = set(members)
    cuts = tuple(pair for pair in rules.cut if query_ids.issuperset(pair))
    counts = Counter(find_edges(restrict_inputs(inputs, query_ids), replace(rules, cut=cuts)).counts)
    return {kind: count for kind, count in counts.most_common() if count}
