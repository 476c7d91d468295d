"""The search for ties of all kinds, and the rules as stored splits have them.

Groups need no more than a spanning forest of the strongest edges: `find_edges` keeps that, with the number of
all ties. `all_ties` lists every single tie, which a cut needs. `with_tie_data` reads keys and times, and
computes embeddings, as far as the rules ask for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.similarity.minhash import minhash_parameters
from curation.core.similarity.pairs import Search, exact_links, minhash_links
from curation.splits.inputs import SplitInputs, read_times, within
from curation.splits.request import GROUP, Rules
from curation.splits.ties import (
    NEAR_DUPLICATE_TIE,
    PARAPHRASE_TIE,
    QUERY_TEXT_TIE,
    SAME_KEY_TIE,
    SHARED_DOCUMENT_TIE,
    Edge,
    QueryPair,
    TieKind,
    TieSearch,
    ordered_pair,
    query_vectors,
    read_keys,
    strongest_edges,
)
from curation.store import Store
from curation.store.documents import group_keys

KINDS: dict[str, TieKind] = {
    kind.label: kind
    for kind in (QUERY_TEXT_TIE, PARAPHRASE_TIE, SHARED_DOCUMENT_TIE, NEAR_DUPLICATE_TIE, SAME_KEY_TIE)
}
"""Label → kind, in the order of tables and of stored counts."""


class Ties(NamedTuple):
    """What ties queries together.

    Attributes
    ----------
    edges: ordered; a spanning forest of the strongest.
    counts: label → number of all ties: pairs of similar query texts; pairs of queries for each document that
        is relevant to both, and for each key; pairs of nearly identical relevant documents.
    cut: ties that the rules cut by name; none of them is in `edges` or `counts` (of nearly identical
        documents only the edge is left out, the pair of documents is counted).
    methods: label → how the kind was searched.
    left_out: reason, written to be read after its number → number of queries.
    further: more parameters of a stored split, see `FoundTies`.
    """

    edges: list[Edge]
    counts: dict[str, int]
    cut: list[Edge]
    methods: dict[str, str]
    left_out: dict[str, int]
    further: dict[str, Any]


def find_edges(
    inputs: SplitInputs, rules: Rules, progress: Progress = silent, compare: Search = minhash_links
) -> Ties:
    """The strongest edges that hold the leakage groups together, and the number of all.

    Parameters
    ----------
    compare: how similar texts are searched; MinHash may miss some, which the exhaustive check finds.

    Raises
    ------
    InputError: a cut names a query that the inputs do not have.
    """
    _check_cut(inputs, rules)
    cut = _cut_pairs(rules)
    named = frozenset(name for pair in cut for name in pair)
    search = TieSearch(inputs, rules, sorted(inputs.queries), named, cut, progress, compare)
    by_kind = {kind.label: kind.search(search) for kind in KINDS.values()}
    edges = [edge for ties in by_kind.values() for edge in ties.edges]
    uncut = replace(rules, cut=())
    left_out = {reason: count for ties in by_kind.values() for reason, count in ties.left_out.items()}
    return Ties(
        edges=strongest_edges(search.ids, edges),
        counts={label: ties.ties for label, ties in by_kind.items()},
        cut=[edge for pair in sorted(cut) for edge in all_ties(within(inputs, pair), uncut)],
        methods={label: ties.method for label, ties in by_kind.items()},
        left_out={reason: count for reason, count in left_out.items() if count},
        further={name: value for ties in by_kind.values() for name, value in ties.further.items()},
    )


def all_ties(inputs: SplitInputs, rules: Rules, progress: Progress = silent) -> list[Edge]:
    """Every tie, of each kind and pair of queries the strongest; meant for a group, not for a gold set: their
    number grows with the square of the queries."""
    named = frozenset(inputs.queries)
    search = TieSearch(inputs, rules, sorted(named), named, _cut_pairs(rules), progress, exact_links)
    best: dict[tuple[str, str, str], Edge] = {}
    for kind in KINDS.values():
        for edge in kind.search(search).edges:
            known = best.get(edge[:3])
            if known is None or (-edge.similarity, edge) < (-known.similarity, known):
                best[edge[:3]] = edge
    return sorted(best.values())


def ties_by_kind(inputs: SplitInputs, members: Iterable[str], rules: Rules) -> dict[str, int]:
    """Kind → number of ties between these queries, most first."""
    inside = set(members)
    rules_within = replace(rules, cut=tuple(pair for pair in rules.cut if inside.issuperset(pair)))
    counts = Counter(find_edges(within(inputs, inside), rules_within).counts)
    return {kind: count for kind, count in counts.most_common() if count}


def _cut_pairs(rules: Rules) -> frozenset[QueryPair]:
    return frozenset(ordered_pair(*pair) for pair in rules.cut)


def _check_cut(inputs: SplitInputs, rules: Rules) -> None:
    unknown = [
        f"Cut {'~'.join(pair)}: there is no graded query {name!r}; expected the ids of two graded queries"
        for pair in rules.cut
        for name in pair
        if name not in inputs.queries
    ]
    if unknown:
        raise InputError(unknown)


def with_tie_data(
    store: Store, inputs: SplitInputs, rules: Rules, progress: Progress = silent, dated: bool = False
) -> SplitInputs:
    """The inputs with the keys and embeddings that the rules ask for, and with times where `dated`.

    Raises
    ------
    InputError: no query or relevant document has a key that is asked for.
    RefusedError: embeddings are missing and the model is not available.
    """
    if rules.keys or dated:
        with store.reading() as cursor:
            keys = read_keys(cursor, inputs, rules.keys)
            times = read_times(cursor, list(inputs.queries)) if dated else {}
            grouped = group_keys(cursor, list(inputs.documents)) if GROUP in rules.keys else {}
        inputs = replace(
            inputs,
            keys={name: frozenset(values) for name, values in sorted(keys.items())},
            times=times,
            grouped=frozenset(grouped),
        )
    if rules.paraphrase is None or inputs.grouped_queries == set(inputs.queries):
        return inputs
    vectors = query_vectors(store, inputs.queries, rules.model, progress)
    return replace(inputs, vectors=vectors)


def described(rules: Rules, methods: Mapping[str, str]) -> dict[str, Any]:
    """The rules by the names that a stored split gives them, and how similarity was computed.

    Parameters
    ----------
    methods: label of a kind of tie → how it was searched.
    """
    parameters: dict[str, Any] = {}
    for kind in sorted(KINDS.values(), key=lambda kind: not kind.is_threshold):
        value = kind.value(rules)
        parameters[kind.parameter] = list(value) if isinstance(value, tuple) else value
        parameters |= kind.fixed
    parameters |= {
        "numbers": "text",  # older goldgrades had other rules, too
        "cut": [list(pair) for pair in rules.cut],
        "methods": dict(methods),
    }
    for kind in KINDS.values():
        if kind.is_on(rules):
            parameters |= kind.when_on(rules)
    minhash = {
        kind.label: minhash_parameters(kind.value(rules))
        for kind in KINDS.values()
        if kind.is_on(rules) and kind.minhashed
    }
    return parameters | ({"minhash": minhash} if minhash else {})


def rules_of(parameters: Mapping[str, Any]) -> Rules:
    """The rules of a stored split, also of one that is older than some of the kinds."""
    settings = {kind.setting: parameters.get(kind.parameter, kind.if_absent) for kind in KINDS.values()}
    return Rules(
        **settings | {"keys": tuple(settings["keys"])},
        model=parameters.get("model", Rules.model),
        cut=tuple((first, second) for first, second in parameters.get("cut", ())),
    )
