"""Ties: why two queries must stay in one part. Each kind of tie is one record (`TieKind`) with its search.

An edge says that two queries must stay on one side of a split, and what ties them. Groups need no more than a
spanning forest of the strongest edges (`strongest_edges`). Queries that are cut by name have no direct ties,
but all their other ties still count. So every tie of such a query is listed: what a spanning forest leaves
out may be what keeps two of them together.

Query text: the Jaccard similarity of character 3-grams of the texts as they are written, and then with their
words in the order of the alphabet (`core.similarity.shingles`).
Paraphrase: the cosine of embeddings, all queries with all, by an exact matrix product in blocks; lexical
similarity finds about a fifth of them. Cosines are rounded to four decimals, because the last digits differ
between machines. Queries that the model cannot read (`retrieval.unread_texts`) have vectors of zeros and no
ties.
Shared and near-duplicate documents: one document that is relevant to both, or two of nearly the same word
3-shingles. A document that holds another one nearly whole is its near-duplicate, too, unless the smaller one
is very short.
Same key: the same session, relevant document's group, or field of the query. A query is found in the traffic
by its normalised text. Where groups are a tie, the group decides: two queries or documents that both have one
are not tied by similarity, or the words that all policies of a company share would join their groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curation.core.digests import json_pointer
from curation.core.errors import RefusedError, refuse_problems
from curation.core.operation import DEFAULT_MODEL
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
    strongest,
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
from curation.retrieval.embeddings import embed
from curation.retrieval.unread_texts import MULTILINGUAL, unread_texts
from curation.splits.inputs import SplitInputs
from curation.splits.request import CONTAINED, DECIMALS, GROUP, MIN_SHINGLES, SESSION, SESSIONS, Rules
from curation.store import Cursor, Store
from curation.store.documents import group_keys

OFF = "not looked for"
QueryPair = tuple[str, str]

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
NO_VECTORS = "not looked for: the queries have no embeddings"
ALL_GROUPED = "not looked for: every query has a group"
_BLOCK = 256

NEAR_DUPLICATE = "near-duplicate document"
SHARED_DOCUMENT = "shared document"

SAME_KEY = "same key"
IN_MANY_SESSIONS = f"queries were asked in more than {SESSIONS} sessions, so that their sessions tie nothing"

Keys = dict[str, set[tuple[str, str]]]


_ANY = {
    SESSION: "SELECT 1 FROM traffic WHERE session IS NOT NULL LIMIT 1",
    GROUP: "SELECT 1 FROM documents WHERE group_key IS NOT NULL LIMIT 1",
}
_SESSIONS = """
    SELECT DISTINCT q.query_id, t.session
    FROM queries q JOIN traffic t USING (normalised)
    WHERE list_contains($queries, q.query_id) AND t.session IS NOT NULL
    ORDER BY ALL
"""
_FIELD = """
    SELECT query_id, metadata->>$pointer AS value FROM queries
    WHERE list_contains($queries, query_id) AND nullif(metadata->>$pointer, '') IS NOT NULL
    ORDER BY query_id
"""


class FoundTies(NamedTuple):
    """What the search for one kind found.

    Attributes
    ----------
    edges: those that hold together what all ties do, and every one of a query that a cut names.
    ties: number of all ties.
    method: how they were searched.
    left_out: reason, written to be read after its number → number of queries.
    further: more parameters of a stored split, where the search found what older goldgrades did not.
    """

    edges: list[Edge]
    ties: int
    method: str
    left_out: Mapping[str, int] = {}
    further: Mapping[str, Any] = {}


def _nothing(rules: Rules) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class TieKind:
    """One kind of tie.

    Attributes
    ----------
    label: its name in stored splits, in JSON and on screen.
    setting: the field of `Rules` that switches it; None, False or () there switch it off.
    parameter: the name under which a stored split has that field.
    find: the search; it is called only where the kind is switched on.
    is_threshold: whether the setting is a number from which on there is a tie.
    if_absent: value of the setting in stored splits that are older than the kind.
    fixed: further parameters that a stored split has in any case.
    when_on: further parameters that a stored split has where the kind is switched on.
    unsearchable: why these inputs cannot be searched; None if they can.
    minhashed: whether the search compares texts by MinHash.
    """

    label: str
    setting: str
    parameter: str
    find: Callable[[TieSearch], FoundTies]
    is_threshold: bool = False
    if_absent: Any = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    when_on: Callable[[Rules], dict[str, Any]] = _nothing
    unsearchable: Callable[[SplitInputs], str | None] = lambda inputs: None
    minhashed: bool = False

    def value(self, rules: Rules) -> Any:
        """The value of its setting."""
        return getattr(rules, self.setting)

    def is_on(self, rules: Rules) -> bool:
        """Whether the rules ask for it."""
        return bool(self.value(rules))

    def search(self, search: TieSearch) -> FoundTies:
        """The ties of this kind; none where it is switched off or cannot be searched."""
        if not self.is_on(search.rules):
            return FoundTies([], 0, OFF)
        reason = self.unsearchable(search.inputs)
        return FoundTies([], 0, reason) if reason else self.find(search)


@dataclass(frozen=True)
class TieSearch:
    """What a search is given.

    Attributes
    ----------
    ids: the queries, ordered.
    named: queries whose ties are all listed.
    cut: pairs (smaller id first) whose direct ties do not count.
    compare: how similar texts are searched.
    """

    inputs: SplitInputs
    rules: Rules
    ids: list[str]
    named: frozenset[str]
    cut: frozenset[QueryPair]
    progress: Progress
    compare: Search

    @property
    def named_places(self) -> list[int]:
        """The positions in `ids` of the named queries."""
        return [index for index, name in enumerate(self.ids) if name in self.named]

    @property
    def grouped_places(self) -> list[int]:
        """The positions in `ids` of the queries that have a group: no two of them are compared."""
        grouped = self.inputs.grouped_queries
        return [index for index, name in enumerate(self.ids) if name in grouped]

    @property
    def method(self) -> str:
        """How similar texts are searched, in words."""
        return EXACTLY if self.compare is exact_links else VERIFIED

    def of_similar_queries(self, similar: PairCollector, label: str, method: str) -> FoundTies:
        """Pairs of positions in `ids` as edges, without what is cut."""
        links = each_link(similar.links())
        edges = [Edge(self.ids[a], self.ids[b], label, similarity) for a, b, similarity in links]
        kept = [edge for edge in edges if edge[:2] not in self.cut]
        return FoundTies(kept, similar.pairs - (len(edges) - len(kept)), method)

    def of_equal_keys(
        self, holders: Mapping[str, Sequence[str]], label: str, left_out: Mapping[str, int]
    ) -> FoundTies:
        """All queries with one key tied with each other; `holders`: key → query ids."""
        edges = [
            Edge(*pair, label, 1.0, (), key)
            for key, queries in sorted(holders.items())
            for pair in self.pairs_among(queries)
        ]
        ties = sum(self.count_among(queries) for queries in holders.values())
        return FoundTies(edges, ties, EXACTLY, left_out)

    def count_among(self, queries: Collection[str]) -> int:
        """How many pairs these queries have that are not cut."""
        inside = set(queries)
        return len(inside) * (len(inside) - 1) // 2 - sum(inside.issuperset(pair) for pair in self.cut)

    def pairs_among(self, queries: Sequence[str]) -> Iterator[QueryPair]:
        """Pairs that hold together what all pairs of these queries do, and each pair of a named query.

        The first query that no cut names is the centre of a star: it is paired with all others.
        """
        centre = next((name for name in queries if name not in self.named), None)
        named = [name for name in queries if name in self.named]
        pairs = {pair for pair in combinations(named, 2) if pair not in self.cut}
        if centre is not None:
            pairs |= {ordered_pair(centre, other) for other in queries if other != centre}
        pairs |= {ordered_pair(name, other) for name in named for other in queries if other not in self.named}
        yield from sorted(pairs)

    def pairs_between(self, left: Sequence[str], right: Sequence[str]) -> Iterator[QueryPair]:
        """As `pairs_among`, of the pairs of a query on the left and another on the right; left first."""
        pairs = {(query, other) for query in self._centres(left) for other in right if query != other}
        pairs |= {(query, other) for other in self._centres(right) for query in left if query != other}
        yield from sorted(pair for pair in pairs if ordered_pair(*pair) not in self.cut)

    def _centres(self, queries: Sequence[str]) -> Iterable[str]:
        """The first query that no cut names, and all that a cut names."""
        free = [name for name in queries if name not in self.named]
        return [*free[:1], *(name for name in queries if name in self.named)]


def each_link(links: Links) -> Iterable[tuple[int, int, float]]:
    """The links one by one, as Python numbers."""
    return zip(links.first.tolist(), links.second.tolist(), links.similarity.tolist(), strict=True)


class Edge(NamedTuple):
    """Two queries (query_a < query_b) that give each other away.

    Attributes
    ----------
    kind: label of the kind of tie.
    similarity: exact Jaccard of the query texts or documents, or cosine of the embeddings; else 1.
    documents: shared documents; or the two similar ones, query_a's document first; or none.
    key: what both have: 'session 4f1c…' or 'project apollo'; or ''.
    """

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()
    key: str = ""


def ordered_pair(first: str, second: str) -> QueryPair:
    """The two ids, the smaller first."""
    return (first, second) if first < second else (second, first)


def strongest_edges(query_ids: Sequence[str], edges: Sequence[Edge]) -> list[Edge]:
    """A spanning forest of the strongest edges, ordered; `query_ids` ordered."""
    ordered = sorted(edges)
    number = {query_id: index for index, query_id in enumerate(query_ids)}
    links = Links(
        np.array([number[edge.query_a] for edge in ordered], dtype=np.int64),
        np.array([number[edge.query_b] for edge in ordered], dtype=np.int64),
        np.array([edge.similarity for edge in ordered], dtype=np.float64),
    )
    return [ordered[place] for place in strongest(links, len(query_ids)).tolist()]


def find_query_text_ties(search: TieSearch) -> FoundTies:
    """Pairs of queries at or above the threshold."""
    assert search.rules.query is not None
    texts = [search.inputs.queries[name] for name in search.ids]
    similar = alike(
        map(character_shingles, texts),
        search.rules.query,
        search.compare,
        progress=search.progress,
        single=search.named_places,
        apart=search.grouped_places,
    )
    written = search.of_similar_queries(similar, QUERY_TEXT, search.method)
    reworded = _reworded(search, texts)
    further = {"query_rewording": NAME} if reworded.edges else {}
    return FoundTies(written.edges + reworded.edges, written.ties + reworded.ties, search.method, {}, further)


QUERY_TEXT_TIE = TieKind(
    label=QUERY_TEXT,
    setting="query",
    parameter="query_threshold",
    find=find_query_text_ties,
    is_threshold=True,
    fixed={"query_shingles": f"{CHARACTERS} characters"},
    minhashed=True,
)


def _reworded(search: TieSearch, texts: Sequence[str]) -> FoundTies:
    """Pairs that are below the threshold as they are written, and not once reworded."""
    threshold = search.rules.query
    assert threshold is not None
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
    return search.of_similar_queries(collected, QUERY_TEXT, search.method)


def find_paraphrases(search: TieSearch) -> FoundTies:
    """Pairs of queries at or above the threshold."""
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
    further = {"not_read": unread}
    return ties._replace(left_out={unread_reason(search.rules.model): unread}, further=further)


def unread_reason(model: str) -> str:
    """Why queries have no paraphrases, and what to do about it."""
    return (
        f"query in a language that the model {Path(model).name} cannot read, so not compared by meaning: "
        f"choose a multilingual model, such as {MULTILINGUAL}"
    )


def query_vectors(
    store: Store, queries: Mapping[str, str], model: str = DEFAULT_MODEL, progress: Progress = silent
) -> Vectors:
    """Unit vectors of the query texts, shape (queries, d), in the order of their ids; stored once.

    Texts that the model cannot read have vectors of zeros.

    Parameters
    ----------
    queries: query id → text.

    Raises
    ------
    RefusedError, NotFoundError: vectors are missing and the model cannot be used.
    """
    texts = [queries[query_id] for query_id in sorted(queries)]
    try:
        vectors = embed(store, texts, "query", model, progress)
    except RefusedError as error:
        raise RefusedError(
            f"Paraphrases among the queries cannot be looked for: {getattr(error, 'found', error)} Or leave "
            "them out; lexical similarity alone finds about a fifth of them.",
            command="--no-paraphrase leaves them out.",
        ) from error
    vectors[unread_texts(texts, vectors, model)] = 0
    return vectors


def paraphrase_links(vectors: Vectors, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """All pairs with at least this cosine, by comparing all with all; in blocks."""
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK] @ vectors[start:].T
        cosines = np.round(block.astype(np.float64), DECIMALS)
        first, second = np.nonzero(np.triu(cosines >= threshold, k=1))
        similarity = np.minimum(cosines[first, second], 1.0)
        yield Links(first + start, second + start, similarity)
        progress("comparing meanings", min(start + _BLOCK, len(vectors)), len(vectors))


def _unsearchable(inputs: SplitInputs) -> str | None:
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
    unsearchable=_unsearchable,
)


def find_near_duplicates(search: TieSearch) -> FoundTies:
    """Each two similar documents tie the queries of the first with the queries of the second. Where a shared
    document ties them anyway, only queries that a cut names get such ties."""
    assert search.rules.document is not None
    inputs = search.inputs
    ids, queries_of = sorted(inputs.documents), inputs.queries_of
    named = {place for place, name in enumerate(ids) if not search.named.isdisjoint(queries_of[name])}
    shingles = (word_shingles(inputs.documents[name]) for name in ids)
    similar = alike(
        shingles,
        search.rules.document,
        search.compare,
        progress=search.progress,
        single=named,
        apart=_grouped(search, ids),
    )
    contained = _contained(search, ids, named)
    edges = []
    for a, b, similarity in each_link(joined([similar.links(), contained.links()])):
        left, right = queries_of[ids[a]], queries_of[ids[b]]
        if search.rules.shared and not ({a, b} & named) and not set(left).isdisjoint(right):
            continue
        for first, second in search.pairs_between(left, right):
            edges.append(edge_between((first, ids[a]), (second, ids[b]), similarity))
    further = (
        {"document_containment": CONTAINED, "contained_shingles": MIN_SHINGLES} if contained.pairs else {}
    )
    return FoundTies(edges, similar.pairs + contained.pairs, search.method, {}, further)


NEAR_DUPLICATE_TIE = TieKind(
    label=NEAR_DUPLICATE,
    setting="document",
    parameter="document_threshold",
    find=find_near_duplicates,
    is_threshold=True,
    fixed={"document_shingles": f"{WORDS} words"},
    minhashed=True,
)


def _contained(search: TieSearch, ids: Sequence[str], named: Collection[int]) -> PairCollector:
    """Pairs of documents where one holds the other, and that are less similar than the threshold."""
    assert search.rules.document is not None
    shingles = (word_shingles(search.inputs.documents[name]) for name in ids)
    sets, class_of = distinct(shingles, single=range(len(ids)))
    place_of = np.flatnonzero(class_of >= 0)
    collected = PairCollector(len(ids), named, _grouped(search, ids))
    for links in contained_links(sets, CONTAINED, MIN_SHINGLES, search.rules.document, search.progress):
        collected.add(links._replace(first=place_of[links.first], second=place_of[links.second]))
    return collected


def _grouped(search: TieSearch, ids: Sequence[str]) -> list[int]:
    return [index for index, name in enumerate(ids) if name in search.inputs.grouped]


def edge_between(first: QueryPair, second: QueryPair, similarity: float) -> Edge:
    """The edge that two similar documents make; `first`, `second`: query id, document id relevant to it."""
    (query_a, document_a), (query_b, document_b) = sorted([first, second])
    return Edge(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b))


def find_shared_documents(search: TieSearch) -> FoundTies:
    """Pairs of queries for each document that is relevant to both; an edge names all such documents."""
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
    """Pairs of queries for each key that both have, of the kinds of key that the rules name."""
    popular = set(_in_many_sessions(search.inputs))
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in search.ids:
        for kind, value in sorted(search.inputs.keys.get(name, ())):
            if kind in search.rules.keys and not (kind == SESSION and name in popular):
                holders[kind, value].append(name)
    return search.of_equal_keys(
        {f"{kind} {value}": queries for (kind, value), queries in holders.items()},
        SAME_KEY,
        {IN_MANY_SESSIONS: len(popular)} if SESSION in search.rules.keys else {},
    )


def read_keys(cursor: Cursor, inputs: SplitInputs, kinds: Sequence[str]) -> Keys:
    """Query id → (kind of key, value) of these kinds.

    Raises
    ------
    InputError: no query, or no relevant document, has a key of one of the kinds.
    """
    keys: Keys = defaultdict(set)
    problems = []
    for kind in dict.fromkeys(kinds):
        if kind == SESSION:
            rows = _numbered(cursor.execute(_SESSIONS, {"queries": list(inputs.queries)}).fetchall())
            missing = "the traffic has no sessions of these queries; import a log that has them"
        elif kind == GROUP:
            rows = _groups(cursor, inputs)
            missing = "no relevant document has a group; import the corpus with them"
        else:
            values = {"queries": list(inputs.queries), "pointer": json_pointer(kind)}
            rows = cursor.execute(_FIELD, values).fetchall()
            names = ", ".join(_field_names(cursor)) or "(none)"
            missing = f"no query has a field {kind!r}; expected session, group or one of {names}"
        if not rows:
            problems.append(f"The same {kind}: {missing}.")
        for query_id, value in rows:
            keys[query_id].add((kind, value))
    refuse_problems(problems)
    return keys


def _numbered(sessions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Query id and session, the sessions numbered by the queries asked in them.

    What is stored of a session differs from project to project, and no release may have it.
    """
    asked: dict[str, list[str]] = defaultdict(list)
    for query_id, session in sessions:
        asked[session].append(query_id)
    numbers = enumerate(sorted(sorted(queries) for queries in asked.values()), 1)
    return sorted((query_id, str(number)) for number, queries in numbers for query_id in queries)


def _in_many_sessions(inputs: SplitInputs) -> list[str]:
    """Queries that were asked in so many sessions that the sessions show nothing."""
    return [name for name, keys in inputs.keys.items() if sum(kind == SESSION for kind, _ in keys) > SESSIONS]


def _groups(cursor: Cursor, inputs: SplitInputs) -> list[tuple[str, str]]:
    """Query id and group of each of its relevant documents that has one."""
    group_of = group_keys(cursor, list(inputs.documents))
    return [
        (query_id, group_of[document_id])
        for query_id, documents in inputs.relevant.items()
        for document_id in sorted(documents)
        if document_id in group_of
    ]


def known_keys(cursor: Cursor) -> list[str]:
    """By what queries could be tied: session and group, where the project has any, and fields of queries."""
    has = [kind for kind, sql in _ANY.items() if cursor.execute(sql).fetchall()]
    return [*has, *(name for name in _field_names(cursor) if name not in _ANY)]


def _field_names(cursor: Cursor) -> list[str]:
    sql = "SELECT DISTINCT unnest(json_keys(metadata)) AS name FROM queries ORDER BY name"
    return [name for (name,) in cursor.execute(sql).fetchall()]


SAME_KEY_TIE = TieKind(
    label=SAME_KEY,
    setting="keys",
    parameter="keys",
    find=find_same_keys,
    if_absent=(),
    when_on=lambda rules: {"told_apart_by": GROUP} if GROUP in rules.keys else {},
)
