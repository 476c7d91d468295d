"""Ties between queries by similarity of the query texts, of their embeddings, or of relevant documents.

- Query text: the Jaccard similarity of character 3-grams of the texts as they are written, and then with
  their words in alphabetical order (`core.similarity.shingles`).
- Paraphrase: the cosine of embeddings, all queries with all, by an exact matrix product in blocks. Character
  3-grams find only about a fifth of the paraphrases. Cosines are rounded to four decimals, because the last
  digits differ between machines. A query in a language that the model cannot read
  (`retrieval.unread_texts`) has no ties of this kind.
- Near-duplicate document: two relevant documents with nearly the same word 3-shingles. A document that
  contains nearly all of a smaller document is a near-duplicate, too, unless the smaller document is very
  short.

If groups are a tie, similarity does not tie two queries or documents that both have a group. Otherwise the
standard words that all policies of a company share would join different groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from curation.core.progress import Progress, silent
from curation.core.similarity import shingles
from curation.core.similarity.pairs import EXACTLY, Links, PairCollector, contained_links, find_similar_pairs
from curation.core.similarity.shingles import NAME, Shingles, ShingleSets, character_shingles, word_shingles
from curation.core.statistics.arrays import Ints
from curation.retrieval.embedding_model import Vectors
from curation.retrieval.unread_texts import MULTILINGUAL
from curation.splits.edges import Edge
from curation.splits.inputs import SplitInputs
from curation.splits.rules import DECIMALS, MIN_CONTAINMENT, MIN_SHINGLES
from curation.splits.tie_search import FoundTies, TieKind, TieSearch, list_links

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
NO_VECTORS = "not looked for: the queries have no embeddings"
ALL_GROUPED = "not looked for: every query has a group"
NEAR_DUPLICATE = "near-duplicate document"
_BLOCK = 256
"""Number of queries whose embeddings are compared at the same time."""


def find_query_text_ties(search: TieSearch) -> FoundTies:
    """Find pairs of queries whose texts, as written or with their words sorted, reach the similarity
    threshold."""
    threshold = search.rules.query
    assert threshold is not None
    texts = [search.inputs.queries[query_id] for query_id in search.ids]
    similar = find_similar_pairs(
        map(character_shingles, texts),
        threshold,
        search.compare,
        progress=search.progress,
        single=search.cut_indices,
        apart=search.grouped_indices,
    )
    reordered = _collect_query_pairs(search, _link_reordered_texts(search, texts, threshold))
    written_ties = search.tie_similar_queries(similar, QUERY_TEXT, search.method)
    reordered_ties = search.tie_similar_queries(reordered, QUERY_TEXT, search.method)
    return FoundTies(
        edges=written_ties.edges + reordered_ties.edges,
        n_ties=written_ties.n_ties + reordered_ties.n_ties,
        method=search.method,
        parameters={"query_rewording": NAME} if reordered_ties.edges else {},
    )


def _link_reordered_texts(search: TieSearch, texts: Sequence[str], threshold: float) -> Iterator[Links]:
    """Find pairs of queries whose texts reach the similarity threshold only with their words sorted.

    Both texts must have the same essentials, such as numbers.
    """
    sets, text_of_set = _separate_sets(map(shingles.reworded_shingles, texts), len(texts))
    text_shingles = (character_shingles(texts[index]) for index in text_of_set.tolist())
    written, _ = _separate_sets(text_shingles, len(text_of_set))
    essentials_of = np.asarray([shingles.list_essentials(text) for text in texts], np.str_)
    essential_class = np.unique(essentials_of, return_inverse=True)[1]
    for links in search.compare(sets, threshold, search.progress):
        first, second = text_of_set[links.first], text_of_set[links.second]
        is_new = written.similarity(links.first, links.second) < threshold
        is_comparable = essential_class[first] == essential_class[second]
        yield links._replace(first=first, second=second).at(is_new & is_comparable)


def _separate_sets(text_shingles: Iterable[Shingles], texts: int) -> tuple[ShingleSets, Ints]:
    """Collect the shingle set of each text that has shingles, and the index of each set's text.

    `texts` is the number of texts.
    """
    sets, set_of_text = shingles.collect_distinct_sets(text_shingles, single=range(texts))
    return sets, np.flatnonzero(set_of_text >= 0)


def _collect_query_pairs(search: TieSearch, links_by_block: Iterable[Links]) -> PairCollector:
    """Collect pairs of similar queries, as indexes in `search.ids`, from the blocks of a search."""
    collector = PairCollector(len(search.ids), search.cut_indices, search.grouped_indices)
    for links in links_by_block:
        collector.add(links)
    return collector


QUERY_TEXT_TIE = TieKind(
    label=QUERY_TEXT,
    setting="query",
    parameter="query_threshold",
    find=find_query_text_ties,
    is_threshold=True,
    fixed_parameters={"query_shingles": f"{shingles.CHARACTERS} characters"},
    uses_minhash=True,
)


def find_paraphrases(search: TieSearch) -> FoundTies:
    """Find pairs of queries whose embeddings have a cosine at or above the threshold."""
    vectors, threshold = search.inputs.vectors, search.rules.paraphrase
    assert vectors is not None
    assert threshold is not None
    paraphrases = _collect_query_pairs(search, link_paraphrases(vectors, threshold, search.progress))
    ties = search.tie_similar_queries(paraphrases, PARAPHRASE, EXACTLY)
    n_unread = int((~vectors.any(axis=1)).sum())
    if not n_unread:
        return ties
    reason = (
        f"query in a language that the model {Path(search.rules.model).name} cannot read, so not compared by "
        f"meaning: choose a multilingual model, such as {MULTILINGUAL}"
    )
    return ties._replace(left_out={reason: n_unread}, parameters={"not_read": n_unread})


def link_paraphrases(vectors: Vectors, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """Find all pairs of queries with at least a given cosine, comparing all vectors exactly in blocks."""
    for start in range(0, len(vectors), _BLOCK):
        products = vectors[start : start + _BLOCK] @ vectors[start:].T
        cosines = np.round(products.astype(np.float64), DECIMALS)
        first, second = np.nonzero(np.triu(cosines >= threshold, k=1))
        similarity = np.minimum(cosines[first, second], 1.0)
        yield Links(first + start, second + start, similarity)
        progress("comparing meanings", min(start + _BLOCK, len(vectors)), len(vectors))


def _explain_missing_vectors(inputs: SplitInputs) -> str | None:
    if inputs.vectors is not None:
        return None
    return ALL_GROUPED if inputs.grouped else NO_VECTORS


PARAPHRASE_TIE = TieKind(
    label=PARAPHRASE,
    setting="paraphrase",
    parameter="paraphrase_threshold",
    find=find_paraphrases,
    is_threshold=True,
    make_parameters=lambda rules: {"model": rules.model, "cosine_decimals": DECIMALS},
    explain_obstacle=_explain_missing_vectors,
)


def find_near_duplicates(search: TieSearch) -> FoundTies:
    """Find pairs of similar documents. Each pair ties the queries of one document to the queries of the other
    document.

    If a shared document ties these queries already, only queries in a cut get these ties, too.
    """
    threshold = search.rules.document
    assert threshold is not None
    inputs = search.inputs
    ids, queries_of = sorted(inputs.documents), inputs.queries_of
    has_cut = [not search.cut_queries.isdisjoint(queries_of[document_id]) for document_id in ids]
    cut_indices = {index for index, is_cut in enumerate(has_cut) if is_cut}
    grouped_indices = [index for index, document_id in enumerate(ids) if document_id in inputs.grouped]
    similar = find_similar_pairs(
        (word_shingles(inputs.documents[document_id]) for document_id in ids),
        threshold,
        search.compare,
        progress=search.progress,
        single=cut_indices,
        apart=grouped_indices,
    )
    contained = PairCollector(len(ids), cut_indices, grouped_indices)
    for links in _link_contained_documents(search, ids, threshold):
        contained.add(links)
    edges = []
    for a, b, similarity in list_links(similar, contained):
        left, right = queries_of[ids[a]], queries_of[ids[b]]
        has_shared_tie = search.rules.shared and not set(left).isdisjoint(right)
        if has_shared_tie and cut_indices.isdisjoint({a, b}):
            continue
        for pair in search.connect_sides(left, right):
            (query_a, document_a), (query_b, document_b) = sorted(zip(pair, (ids[a], ids[b]), strict=True))
            edges.append(Edge(query_a, query_b, NEAR_DUPLICATE, similarity, (document_a, document_b)))
    containment = {"document_containment": MIN_CONTAINMENT, "contained_shingles": MIN_SHINGLES}
    return FoundTies(
        edges=edges,
        n_ties=similar.pairs + contained.pairs,
        method=search.method,
        parameters=containment if contained.pairs else {},
    )


def _link_contained_documents(search: TieSearch, ids: Sequence[str], threshold: float) -> Iterator[Links]:
    """Find pairs of documents in which one document contains the other, although the two documents'
    similarity is low."""
    text_shingles = (word_shingles(search.inputs.documents[document_id]) for document_id in ids)
    sets, text_of_set = _separate_sets(text_shingles, len(ids))
    for links in contained_links(sets, MIN_CONTAINMENT, MIN_SHINGLES, threshold, search.progress):
        yield links._replace(first=text_of_set[links.first], second=text_of_set[links.second])


NEAR_DUPLICATE_TIE = TieKind(
    label=NEAR_DUPLICATE,
    setting="document",
    parameter="document_threshold",
    find=find_near_duplicates,
    is_threshold=True,
    fixed_parameters={"document_shingles": f"{shingles.WORDS} words"},
    uses_minhash=True,
)
