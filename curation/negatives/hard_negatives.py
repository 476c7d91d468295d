"""Hard negatives: documents that systems rank high but people judged not relevant.

A mined negative is only a candidate until a person has judged the negative: about 70 % of the top-ranked
passages that a well-known collection had left unlabelled were relevant (Qu and others, NAACL 2021: RocketQA).
So a hard negative always has a person's grade for the current text of the document, and a near-duplicate of a
relevant document is never a hard negative. Suspects are unjudged documents that several systems rank above a
relevant document; people should judge suspects first.

A document outside its query's filter does not need a grade: such a document is a negative of the kind
`OUTSIDE`, or of the kind `OUTDATED` if its text nearly repeats a relevant document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.request import refuse_invalid
from curation.core.similarity.shingles import NearDuplicate, Shingles, find_near_duplicate, word_shingles
from curation.core.text import pluralize
from curation.ingest.filters import OUTDATED, OUTSIDE
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.consensus.consensus import prepare_relevance
from curation.labeling.consensus.votes import read_votes
from curation.negatives.requests import HardNegativesRequest
from curation.people.seal_access import SealAccess, describe_withheld_pairs, resolve_access
from curation.pooling.contributions import RankedPair
from curation.pooling.relevance import Relevance
from curation.store import Cursor, Document, Query, Store, fetch
from curation.store.documents import current_snapshot, snapshot_texts

JUDGED = "judged not relevant"
NO_DOCUMENT = "list entries are left out: their document is no longer in the corpus"
NO_GRADE = "pairs are not negatives yet: they were judged without a grade (disputed, or cannot tell)"
OLDER_TEXT = (
    "pairs are not negatives until people judge them again: their grades are for an older text of "
    "the document"
)
_Ranks = Mapping[str, Mapping[str, RankedPair]]
"""Map from document id to the document's rank in each system."""
_Texts = dict[str, tuple[str, Shingles]]
"""Map from document id to title and shingles of the text."""
MIN_WITNESSES = 2
"""An unjudged document is a suspect if this many systems rank it above a relevant document."""
# If a system was pooled several times, deeper or over a newer corpus, its last pool counts.
_RANKED = """
SELECT c.query_id, c.document_id, c.system, c.rank, c.score
FROM candidate_sources c JOIN pools p USING (pool_id)
WHERE c.rank IS NOT NULL {query}
QUALIFY row_number() OVER (
    PARTITION BY c.query_id, c.document_id, c.system ORDER BY p.rowid DESC) = 1
ORDER BY ALL
"""


class _PooledQuery(NamedTuple):
    """A query with the ranks of its documents in all pools, and the ids of its relevant documents."""

    query: Query
    ranks: _Ranks
    positives: frozenset[str]


class HardNegative(NamedTuple):
    """A top-ranked document that people judged not relevant, or that is outside its query's filter.

    Attributes
    ----------
    rank, system, score: best rank of the document, with its system and score; of equal ranks, the first
        system by name.
    systems: system → rank, for all systems that found the document.
    margin: rank minus the rank of the system's best relevant document, below zero if the hard negative ranks
        higher; None if the system found no relevant document.
    kind: `JUDGED`, or `OUTSIDE` or `OUTDATED` for a document outside the filter.
    """

    document_id: str
    title: str
    rank: int
    system: str
    score: float | None
    systems: dict[str, int]
    margin: int | None
    kind: str = JUDGED


class Suspect(NamedTuple):
    """An unjudged document that several systems rank above a relevant document.

    Attributes
    ----------
    above: system → (rank of the document, rank of the lowest-ranked relevant document).
    """

    document_id: str
    title: str
    above: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class QueryNegatives:
    """A query's hard negatives, best rank first, with near-duplicates and suspects.

    Attributes
    ----------
    positives: number of documents graded above the scale's lowest grade.
    missing: number of further hard negatives that the request wants.
    """

    query_id: str
    text: str
    positives: int
    negatives: list[HardNegative]
    near_duplicates: list[NearDuplicate]
    suspects: list[Suspect]
    missing: int


@dataclass(frozen=True)
class HardNegatives:
    """Hard negatives of all queries for which a pool found documents, by query id.

    Attributes
    ----------
    want: number of hard negatives wanted for each query.
    enough: number of queries with that many hard negatives.
    sealed: number of queries that are not named, because a release seals their judgments.
    left_out: reason → number of pairs or queries; sentences put the number before the reason.
    """

    want: int
    threshold: float
    negatives: int
    near_duplicates: int
    suspects: int
    enough: int
    queries: list[QueryNegatives]
    sealed: int
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Count hard negatives, near-duplicates and suspects, and the pairs and queries left out."""
        return [
            f"goldgrade found {pluralize(self.negatives, 'hard negative')}.",
            f"{pluralize(self.near_duplicates, 'document is', 'documents are')} excluded as "
            "near-duplicates of a relevant document.",
            f"{pluralize(self.suspects, 'suspect')} to judge first: documents that systems rank above a "
            "relevant one.",
            f"{len(self.queries) - self.enough:,} of "
            f"{pluralize(len(self.queries), 'query has', 'queries have')} fewer than {self.want} hard "
            "negatives.",
            *(f"{count:,} {reason}" for reason, count in self.left_out.items()),
            *filter(None, [describe_withheld_pairs(self.sealed, "query", "queries")]),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show hard negatives, near-duplicates and suspects, and the queries with too few hard negatives."""
        negatives = (
            (query.text, *negative[:5], len(negative.systems), negative.margin, negative.kind)
            for query in self.queries
            for negative in query.negatives
        )
        duplicates = ((query.text, *pair) for query in self.queries for pair in query.near_duplicates)
        suspects = (
            (query.text, suspect.document_id, suspect.title, _describe_ranks(suspect))
            for query in self.queries
            for suspect in query.suspects
        )
        unfinished = (
            (query.text, query.positives, len(query.negatives), query.missing)
            for query in sorted(self.queries, key=lambda query: (-query.missing, query.query_id))
            if query.missing
        )
        columns = ("Query", "Document", "Title", "Rank", "System", "Score", "Systems", "Margin", "Kind")
        return (
            Table("Hard negatives", columns, tuple(negatives)),
            Table("Near-duplicates", ("Query", "Document", "Relevant", "Similarity"), tuple(duplicates)),
            Table("Suspects", ("Query", "Document", "Title", "Systems: rank < relevant"), tuple(suspects)),
            Table(
                f"Fewer than {self.want} hard negatives",
                ("Query", "Relevant", "Hard negatives", "Still wanted"),
                tuple(unfinished),
            ),
        )


def find_hard_negatives(
    store: Store, request: HardNegativesRequest | None = None, access: SealAccess | None = None
) -> HardNegatives:
    """Find the hard negatives, near-duplicates and suspects of every query, over all pools.

    Parameters
    ----------
    access: access to sealed results. Without access, sealed queries are counted and not listed.

    Raises
    ------
    InputError: a number is out of its bounds.
    RefusedError: there is no corpus or no pool.
    """
    request = request or HardNegativesRequest()
    refuse_invalid(request)
    with store.reading() as cursor:
        access = resolve_access(cursor, access)
        queries = read_active_queries(cursor)
        ranked = fetch(cursor, RankedPair, _RANKED.format(query=""))
        votes = read_votes(cursor)
        compute_relevance = prepare_relevance(cursor, votes)
        judged_ids = votes.rows["document_id"].unique().to_pylist()
        document_ids = sorted({*judged_ids, *(row.document_id for row in ranked)})
        documents = snapshot_texts(cursor, current_snapshot(cursor), document_ids)
    if not ranked:
        raise RefusedError(
            "No system has proposed documents yet. Build a pool.", command="`goldgrade pool` builds a pool."
        )
    relevance = compute_relevance()
    texts = _shingle_documents(zip(*documents.to_pydict().values(), strict=True))
    corpus_rows = [row for row in ranked if row.document_id in texts]
    all_queries = _pool_queries(queries, corpus_rows, relevance)
    visible_queries = [pooled for pooled in all_queries if access.can_show(pooled.query.query_id)]
    by_query = [_collect_negatives(pooled, relevance, texts, request) for pooled in visible_queries]
    pairs = {row[:2] for row in corpus_rows}
    left_out = {
        NO_DOCUMENT: len(ranked) - len(corpus_rows),
        NO_GRADE: len(relevance.open & pairs),
        OLDER_TEXT: sum(relevance.grades.get(pair) == relevance.lowest for pair in relevance.changed & pairs),
    }
    return HardNegatives(
        want=request.want,
        threshold=request.threshold,
        negatives=sum(len(query.negatives) for query in by_query),
        near_duplicates=sum(len(query.near_duplicates) for query in by_query),
        suspects=sum(len(query.suspects) for query in by_query),
        enough=sum(not query.missing for query in by_query),
        queries=by_query,
        sealed=len(all_queries) - len(visible_queries),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def _describe_ranks(suspect: Suspect) -> str:
    return ", ".join(f"{system}: {rank} < {relevant}" for system, (rank, relevant) in suspect.above.items())


def read_ranked(cursor: Cursor, query_id: str) -> list[RankedPair]:
    """Read the ranks of a query's documents by system, from the last pool of each system."""
    return fetch(cursor, RankedPair, _RANKED.format(query="AND c.query_id = ?"), [query_id])


def find_query_negatives(
    query: Query, ranked: Sequence[RankedPair], relevance: Relevance, documents: Iterable[Document]
) -> QueryNegatives:
    """Find the hard negatives of one query. `documents` has the corpus's documents."""
    rows = ((document.document_id, document.title, document.body) for document in documents)
    texts = _shingle_documents(rows)
    corpus_rows = [row for row in ranked if row.document_id in texts]
    [pooled] = _pool_queries([query], corpus_rows, relevance) or [_PooledQuery(query, {}, frozenset())]
    return _collect_negatives(pooled, relevance, texts, HardNegativesRequest())


def find_suspects(
    ranks: _Ranks, positives: Iterable[str], unjudged: Iterable[str]
) -> dict[str, dict[str, tuple[int, int]]]:
    """Find the unjudged documents that at least `MIN_WITNESSES` systems rank above a relevant document.

    A hybrid does not count besides bm25 or dense, whose ranks the hybrid repeats, and systems with the same
    list count once.

    Parameters
    ----------
    ranks: document → system → rank of the document.

    Returns
    -------
    Document → system → (rank of the document, rank of the lowest-ranked relevant document). The document with
    most systems comes first, then the document with the best rank.
    """
    representative = _map_to_first_system(ranks)
    lowest_relevant: dict[str, int] = {}
    for document_id in positives:
        for system, ranked in ranks.get(document_id, {}).items():
            lowest_relevant[system] = max(lowest_relevant.get(system, 0), ranked.rank)
    above = {}
    for document_id in unjudged:
        ranks_by_system = ranks[document_id]
        outranked = {
            system: (ranked.rank, lowest_relevant[system])
            for system, ranked in ranks_by_system.items()
            if ranked.rank < lowest_relevant.get(system, 0) and representative[system] == system
        }
        if outranked.keys() & {"bm25", "dense"}:
            outranked.pop("hybrid", None)
        if len(outranked) >= MIN_WITNESSES:
            above[document_id] = dict(sorted(outranked.items()))
    ordered = sorted(above.items(), key=lambda item: (-len(item[1]), min(item[1].values())[0], item[0]))
    return dict(ordered)


def _map_to_first_system(ranks: _Ranks) -> dict[str, str]:
    """Map each system to the first system, in order of names, that has the same list for the query."""
    lists: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for document_id, ranks_by_system in ranks.items():
        for system, ranked in ranks_by_system.items():
            lists[system].add((document_id, ranked.rank))
    first_system: dict[frozenset[tuple[str, int]], str] = {}
    return {system: first_system.setdefault(frozenset(lists[system]), system) for system in sorted(lists)}


def _shingle_documents(documents: Iterable[tuple[str, str, str]]) -> _Texts:
    """Map document ids to title and shingles of the text, from ids, titles and bodies."""
    return {document_id: (title, word_shingles(f"{title}\n{body}")) for document_id, title, body in documents}


def _pool_queries(queries: list[Query], ranked: list[RankedPair], relevance: Relevance) -> list[_PooledQuery]:
    ranks: defaultdict[str, defaultdict[str, dict[str, RankedPair]]] = defaultdict(lambda: defaultdict(dict))
    for row in ranked:
        ranks[row.query_id][row.document_id][row.system] = row
    positives = defaultdict(set)
    for query_id, document_id in filter(relevance.is_relevant, relevance.grades):
        positives[query_id].add(document_id)
    return [
        _PooledQuery(query, ranks[query.query_id], frozenset(positives[query.query_id]))
        for query in queries
        if query.query_id in ranks
    ]


def _collect_negatives(
    pooled: _PooledQuery, relevance: Relevance, texts: _Texts, request: HardNegativesRequest
) -> QueryNegatives:
    query, ranks, positives = pooled
    query_id = query.query_id
    irrelevant_ids = [document_id for document_id in ranks if relevance.is_refused((query_id, document_id))]
    compared_ids = {*irrelevant_ids, *positives} & texts.keys()
    shingles = {document_id: texts[document_id][1] for document_id in compared_ids}
    negatives: list[HardNegative] = []
    near_duplicates: list[NearDuplicate] = []
    for document_id in sorted(irrelevant_ids):
        duplicate = find_near_duplicate(document_id, positives, shingles, request.threshold)
        is_outside = (query_id, document_id) in relevance.outside
        if duplicate is not None and not is_outside:
            near_duplicates.append(duplicate)
            continue
        kind = JUDGED
        if is_outside:
            kind = OUTSIDE if duplicate is None else OUTDATED
        negatives.append(_make_negative(document_id, kind, ranks, positives, texts[document_id][0]))
    unjudged_ids = [document_id for document_id in ranks if not relevance.is_judged((query_id, document_id))]
    above = find_suspects(ranks, positives, unjudged_ids)
    suspects = [Suspect(document_id, texts[document_id][0], above[document_id]) for document_id in above]
    return QueryNegatives(
        query_id=query_id,
        text=query.text,
        positives=len(positives),
        negatives=sorted(negatives, key=lambda row: (row.rank, -len(row.systems), row.document_id)),
        near_duplicates=near_duplicates,
        suspects=suspects,
        missing=max(0, request.want - len(negatives)),
    )


def _make_negative(
    document_id: str, kind: str, ranks: _Ranks, positives: Iterable[str], title: str
) -> HardNegative:
    ranks_by_system = ranks[document_id]
    best = min(ranks_by_system.values(), key=lambda ranked: (ranked.rank, ranked.system))
    positive_ranks = [ranks.get(positive_id, {}).get(best.system) for positive_id in positives]
    relevant_ranks = [ranked.rank for ranked in positive_ranks if ranked is not None]
    systems = {system: ranks_by_system[system].rank for system in sorted(ranks_by_system)}
    margin = best.rank - min(relevant_ranks) if relevant_ranks else None
    return HardNegative(document_id, title, best.rank, best.system, best.score, systems, margin, kind)
