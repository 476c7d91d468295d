"""Kinds of ties between queries that must stay in one part: a record (`TieKind`) with a search for each kind.

The direct ties between two queries that are cut by name do not count, but all other ties of both do. So every
tie of a query in a cut is listed: a tie that a spanning forest leaves out may still join both queries.

Query text: the Jaccard similarity of character 3-grams of the texts as they are written, and then with their
words in alphabetical order (`core.similarity.shingles`).
Paraphrase: the cosine of embeddings, all queries with all, by an exact matrix product in blocks. Character
3-grams find only about a fifth of the paraphrases. Cosines are rounded to four decimals, because the last
digits differ between machines. A query in a language that the model cannot read (`retrieval.unread_texts`)
has no ties of this kind. Shared and near-duplicate documents: one document that is relevant to both queries,
or two documents with nearly the same word 3-shingles. A document that contains nearly all of a smaller
document is a near-duplicate, too, unless the smaller document is very short. Same key: the same session,
group of a relevant document, or field of the query (`tie_data`). If groups are a tie, similarity does not tie
two queries or documents that both have a group. Otherwise the standard words that all policies of a company
share would join different groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curation.core.progress import Progress, silent
from curation.core.similarity.pairs import (
    EXACTLY,
    VERIFIED,
    Links,
    PairCollector,
    Search,
    alike,
    contained_links,
    exact_links,
    joined,
)
from curation.core.similarity.shingles import (
    CHARACTERS,
    NAME,
    WORDS,
    character_shingles,
    distinct,
    essentials,
    reworded_shingles,
    word_shingles,
)
from curation.retrieval.embedding_model import Vectors
from curation.retrieval.unread_texts import MULTILINGUAL
from curation.splits.edges import Edge, QueryPair, ordered_pair
from curation.splits.inputs import SplitInputs
from curation.splits.request import CONTAINED, DECIMALS, GROUP, MIN_SHINGLES, SESSION, SESSIONS, Rules

OFF = "not looked for"
QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
NO_VECTORS = "not looked for: the queries have no embeddings"
ALL_GROUPED = "not looked for: every query has a group"
NEAR_DUPLICATE = "near-duplicate document"
SHARED_DOCUMENT = "shared document"
SAME_KEY = "same key"
IN_MANY_SESSIONS = f"queries were asked in more than {SESSIONS} sessions, so their sessions tie nothing"
_BLOCK = 256


class FoundTies(NamedTuple):
    """The ties between queries that the search for one kind of tie found.

    Attributes
    ----------
    edges: edges that hold together what all ties hold together, and every edge of a query that a cut names.
    ties: number of all ties.
    method: how the kind was searched.
    left_out: reason, written to be read after its number → number of queries.
    further: more parameters of a stored split, where the search found ties that older goldgrades missed.
    """

    edges: list[Edge]
    ties: int
    method: str
    left_out: Mapping[str, int] = {}
    further: Mapping[str, Any] = {}


@dataclass(frozen=True)
class TieKind:
    """A kind of tie between queries, such as similar texts or a shared relevant document.

    Attributes
    ----------
    label: its name in stored splits, in JSON and on screen.
    setting: the field of `Rules` that switches the kind; None, False or () there switch it off.
    parameter: the name under which a stored split has that field.
    find: the search, which is called only where the kind is switched on.
    is_threshold: whether the setting is the least similarity of a tie.
    if_absent: value of the setting in stored splits that are older than the kind.
    fixed: further parameters that every stored split has.
    when_on: further parameters that a stored split has where the kind is switched on.
    unsearchable: says why these inputs cannot be searched; None if they can.
    minhashed: whether the search compares texts by MinHash.
    """

    label: str
    setting: str
    parameter: str
    find: Callable[[TieSearch], FoundTies]
    is_threshold: bool = False
    if_absent: Any = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    when_on: Callable[[Rules], dict[str, Any]] = lambda rules: {}
    unsearchable: Callable[[SplitInputs], str | None] = lambda inputs: None
    minhashed: bool = False

    def value(self, rules: Rules) -> Any:
        """Return the threshold or switch of this kind of tie in the rules."""
        return getattr(rules, self.setting)

    def is_on(self, rules: Rules) -> bool:
        """Check whether the rules of a split ask for this kind of tie."""
        return bool(self.value(rules))

    def search(self, search: TieSearch) -> FoundTies:
        """Find the ties of this kind. There are no ties if the kind is switched off or cannot be searched."""
        if not self.is_on(search.rules):
            return FoundTies([], 0, OFF)
        reason = self.unsearchable(search.inputs)
        return FoundTies([], 0, reason) if reason else self.find(search)


@dataclass(frozen=True)
class TieSearch:
    """The queries and rules of a search for ties.

    Attributes
    ----------
    named: queries whose ties are all listed.
    compare: the search for similar texts.
    """

    inputs: SplitInputs
    rules: Rules
    named: frozenset[str]
    compare: Search
    progress: Progress

    @cached_property
    def ids(self) -> list[str]:
        """The ids of all queries in the search for ties, in order."""
        return sorted(self.inputs.queries)

    @cached_property
    def cut(self) -> frozenset[QueryPair]:
        """The pairs of queries whose direct ties do not count."""
        return frozenset(ordered_pair(*pair) for pair in self.rules.cut)

    @property
    def named_places(self) -> list[int]:
        """The positions in `ids` of the named queries."""
        return [index for index, name in enumerate(self.ids) if name in self.named]

    @property
    def grouped_places(self) -> list[int]:
        """The positions in `ids` of the queries that have a group.

        No two queries with groups are compared.
        """
        grouped = self.inputs.grouped_queries
        return [index for index, name in enumerate(self.ids) if name in grouped]

    @property
    def method(self) -> str:
        """The name of the method that searches for similar texts."""
        return EXACTLY if self.compare is exact_links else VERIFIED

    def of_similar_queries(self, similar: PairCollector, label: str, method: str) -> FoundTies:
        """Turn pairs of positions in `ids` into edges, without pairs of queries that are cut."""
        edges = [Edge(self.ids[a], self.ids[b], label, similarity) for a, b, similarity in each_link(similar)]
        kept = [edge for edge in edges if edge[:2] not in self.cut]
        return FoundTies(kept, similar.pairs - (len(edges) - len(kept)), method)

    def of_equal_keys(self, holders: Mapping[str, Sequence[str]], label: str) -> FoundTies:
        """Tie all queries that share a key; `holders`: key → query ids."""
        edges = [
            Edge(*pair, label, 1.0, (), key)
            for key, queries in sorted(holders.items())
            for pair in self.pairs_among(queries)
        ]
        return FoundTies(edges, sum(map(self.count_among, holders.values())), EXACTLY)

    def count_among(self, queries: Collection[str]) -> int:
        """Count the pairs of these queries that no cut separates."""
        inside = set(queries)
        return len(inside) * (len(inside) - 1) // 2 - sum(inside.issuperset(pair) for pair in self.cut)

    def pairs_among(self, queries: Sequence[str]) -> list[QueryPair]:
        """List in order enough pairs to connect these queries, and all pairs of a query that a cut names."""
        return sorted({ordered_pair(*pair) for pair in self.pairs_between(queries, queries)})

    def pairs_between(self, left: Sequence[str], right: Sequence[str]) -> list[QueryPair]:
        """List pairs of a left and a right query that connect all queries of both sides.

        On each side, the first query that no cut names is paired with all queries of the other side.
        Each query that a cut names is also paired with all queries of the other side.
        """
        pairs = {(query, other) for query in self._centers(left) for other in right if query != other}
        pairs |= {(query, other) for other in self._centers(right) for query in left if query != other}
        return sorted(pair for pair in pairs if ordered_pair(*pair) not in self.cut)

    def _centers(self, queries: Sequence[str]) -> list[str]:
        """List the first query that no cut names, and all queries that a cut names."""
        free = [name for name in queries if name not in self.named]
        return [*free[:1], *(name for name in queries if name in self.named)]


def each_link(*collected: PairCollector) -> Iterable[tuple[int, int, float]]:
    """Yield the links of these pairs as Python numbers."""
    links = joined([pairs.links() for pairs in collected])
    return zip(links.first.tolist(), links.second.tolist(), links.similarity.tolist(), strict=True)


def find_query_text_ties(search: TieSearch) -> FoundTies:
    """Find pairs of queries whose texts, as written or with sorted words, reach the similarity threshold."""
    threshold = search.rules.query
    assert threshold is not None
    texts = [search.inputs.queries[name] for name in search.ids]
    similar = alike(
        map(character_shingles, texts),
        threshold,
        search.compare,
        progress=search.progress,
        single=search.named_places,
        apart=search.grouped_places,
    )
    written = search.of_similar_queries(similar, QUERY_TEXT, search.method)
    reworded = search.of_similar_queries(_find_reworded(search, texts, threshold), QUERY_TEXT, search.method)
    further = {"query_rewording": NAME} if reworded.edges else {}
    return FoundTies(written.edges + reworded.edges, written.ties + reworded.ties, search.method, {}, further)


def _find_reworded(search: TieSearch, texts: Sequence[str], threshold: float) -> PairCollector:
    """Find pairs of queries whose texts reach the similarity threshold only with sorted words."""
    places = range(len(texts))
    sets, class_of = distinct(map(reworded_shingles, texts), single=places)
    place_of = np.flatnonzero(class_of >= 0)
    written = distinct((character_shingles(texts[index]) for index in place_of.tolist()), single=places)[0]
    label_of = np.unique(np.asarray([essentials(text) for text in texts], np.str_), return_inverse=True)[1]
    collected = PairCollector(len(texts), search.named_places, search.grouped_places)
    for links in search.compare(sets, threshold, search.progress):
        first, second = place_of[links.first], place_of[links.second]
        apart = written.similarity(links.first, links.second) < threshold
        new = links._replace(first=first, second=second).at(apart & (label_of[first] == label_of[second]))
        collected.add(new)
    return collected


QUERY_TEXT_TIE = TieKind(
    label=QUERY_TEXT,
    setting="query",
    parameter="query_threshold",
    find=find_query_text_ties,
    is_threshold=True,
    fixed={"query_shingles": f"{CHARACTERS} characters"},
    minhashed=True,
)


def find_paraphrases(search: TieSearch) -> FoundTies:
    """Find pairs of queries whose embeddings have a cosine at or above the threshold."""
    vectors, threshold = search.inputs.vectors, search.rules.paraphrase
    assert vectors is not None
    assert threshold is not None
    collected = PairCollector(len(vectors), search.named_places, search.grouped_places)
    for links in paraphrase_links(vectors, threshold, search.progress):
        collected.add(links)
    ties = search.of_similar_queries(collected, PARAPHRASE, EXACTLY)
    unread = int((~vectors.any(axis=1)).sum())
    if not unread:
        return ties
    reason = (
        f"query in a language that the model {Path(search.rules.model).name} cannot read, so not compared by "
        f"meaning: choose a multilingual model, such as {MULTILINGUAL}"
    )
    return ties._replace(left_out={reason: unread}, further={"not_read": unread})


def paraphrase_links(vectors: Vectors, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """Find all pairs with at least this cosine, by an exact comparison of all vectors in blocks."""
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK] @ vectors[start:].T
        cosines = np.round(block.astype(np.float64), DECIMALS)
        first, second = np.nonzero(np.triu(cosines >= threshold, k=1))
        similarity = np.minimum(cosines[first, second], 1.0)
        yield Links(first + start, second + start, similarity)
        progress("comparing meanings", min(start + _BLOCK, len(vectors)), len(vectors))


def _why_no_paraphrases(inputs: SplitInputs) -> str | None:
    if inputs.vectors is not None:
        return None
    return ALL_GROUPED if inputs.grouped else NO_VECTORS


PARAPHRASE_TIE = TieKind(
    label=PARAPHRASE,
    setting="paraphrase",
    parameter="paraphrase_threshold",
    find=find_paraphrases,
    is_threshold=True,
    when_on=lambda rules: {"model": rules.model, "cosine_decimals": DECIMALS},
    unsearchable=_why_no_paraphrases,
)


def find_near_duplicates(search: TieSearch) -> FoundTies:
    """Find pairs of similar documents. Each pair ties the queries of its first and its second document.

    If a shared document ties these queries already, only queries that a cut names get these ties, too.
    """
    threshold = search.rules.document
    assert threshold is not None
    inputs = search.inputs
    ids, queries_of = sorted(inputs.documents), inputs.queries_of
    named = {place for place, name in enumerate(ids) if not search.named.isdisjoint(queries_of[name])}
    grouped = [index for index, name in enumerate(ids) if name in inputs.grouped]
    similar = alike(
        (word_shingles(inputs.documents[name]) for name in ids),
        threshold,
        search.compare,
        progress=search.progress,
        single=named,
        apart=grouped,
    )
    contained = PairCollector(len(ids), named, grouped)
    for links in _contained_documents(search, ids, threshold):
        contained.add(links)
    edges = []
    for a, b, similarity in each_link(similar, contained):
        left, right = queries_of[ids[a]], queries_of[ids[b]]
        if search.rules.shared and not ({a, b} & named) and not set(left).isdisjoint(right):
            continue
        for pair in search.pairs_between(left, right):
            (query_a, document_a), (query_b, document_b) = sorted(zip(pair, (ids[a], ids[b]), strict=True))
            edges.append(Edge(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b)))
    further = (
        {"document_containment": CONTAINED, "contained_shingles": MIN_SHINGLES} if contained.pairs else {}
    )
    return FoundTies(edges, similar.pairs + contained.pairs, search.method, {}, further)


def _contained_documents(search: TieSearch, ids: Sequence[str], below: float) -> Iterator[Links]:
    """Find pairs of documents below the similarity threshold where one contains the other."""
    shingles = (word_shingles(search.inputs.documents[name]) for name in ids)
    sets, class_of = distinct(shingles, single=range(len(ids)))
    place_of = np.flatnonzero(class_of >= 0)
    for links in contained_links(sets, CONTAINED, MIN_SHINGLES, below, search.progress):
        yield links._replace(first=place_of[links.first], second=place_of[links.second])


NEAR_DUPLICATE_TIE = TieKind(
    label=NEAR_DUPLICATE,
    setting="document",
    parameter="document_threshold",
    find=find_near_duplicates,
    is_threshold=True,
    fixed={"document_shingles": f"{WORDS} words"},
    minhashed=True,
)


def find_shared_documents(search: TieSearch) -> FoundTies:
    """Find pairs of queries that share relevant documents. An edge names all shared documents."""
    shared: dict[QueryPair, list[str]] = defaultdict(list)
    ties = 0
    for document_id, queries in search.inputs.queries_of.items():
        ties += search.count_among(queries)
        for pair in search.pairs_among(queries):
            shared[pair].append(document_id)
    edges = [Edge(*pair, SHARED_DOCUMENT, 1.0, tuple(documents)) for pair, documents in shared.items()]
    return FoundTies(edges, ties, EXACTLY)


SHARED_DOCUMENT_TIE = TieKind(
    label=SHARED_DOCUMENT,
    setting="shared",
    parameter="shared_documents",
    find=find_shared_documents,
    if_absent=True,
)


def find_same_keys(search: TieSearch) -> FoundTies:
    """Find pairs of queries that share a key, for the kinds of key that the rules name."""
    keys, kinds = search.inputs.keys, search.rules.keys
    popular = {name for name in keys if sum(kind == SESSION for kind, _ in keys[name]) > SESSIONS}
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in search.ids:
        for kind, value in sorted(keys.get(name, ())):
            if kind in kinds and not (kind == SESSION and name in popular):
                holders[kind, value].append(name)
    named_holders = {f"{kind} {value}": queries for (kind, value), queries in holders.items()}
    found = search.of_equal_keys(named_holders, SAME_KEY)
    return found._replace(left_out={IN_MANY_SESSIONS: len(popular)}) if SESSION in kinds else found


SAME_KEY_TIE = TieKind(
    label=SAME_KEY,
    setting="keys",
    parameter="keys",
    find=find_same_keys,
    if_absent=(),
    when_on=lambda rules: {"told_apart_by": GROUP} if GROUP in rules.keys else {},
)
KINDS: dict[str, TieKind] = {
    kind.label: kind
    for kind in (QUERY_TEXT_TIE, PARAPHRASE_TIE, SHARED_DOCUMENT_TIE, NEAR_DUPLICATE_TIE, SAME_KEY_TIE)
}
"""Map from label to kind of tie, in the order of tables and of stored counts."""
