"""Paraphrase: two queries that ask the same in other words, by the cosine of their embeddings.

Lexical similarity finds about a fifth of them. The embeddings are those that dense retrieval stores
(`retrieval.embeddings`), computed once for a text. All queries are compared with all, by an exact matrix
product in blocks. Cosines are rounded to four decimals before they are compared with the threshold, because
the last digits of a matrix product differ between machines.

Queries that the model cannot read (`retrieval.readable`) have vectors of zeros, and so no ties; they are
counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from curation.core.errors import RefusedError
from curation.core.operation import DEFAULT_MODEL
from curation.core.progress import Progress, silent
from curation.core.similarity.forest import Links
from curation.core.similarity.pairs import EXACTLY, PairCollector
from curation.retrieval.embeddings import Vectors, embed
from curation.retrieval.readable import MULTILINGUAL, unread_texts
from curation.splits.inputs import SplitInputs
from curation.splits.numbers import compared_text
from curation.splits.rules import DECIMALS, Numbers
from curation.splits.ties.kind import FoundTies, TieKind, TieSearch
from curation.store import Store

LABEL = "paraphrase"
NO_VECTORS = "not looked for: the queries have no embeddings"
ALL_GROUPED = "not looked for: every query has a group"
_BLOCK = 256


def find(search: TieSearch) -> FoundTies:
    """Pairs of queries at or above the threshold, of those that `TieSearch.labels` lets be compared."""
    vectors, threshold, labels = search.inputs.vectors, search.rules.paraphrase, search.labels
    assert vectors is not None
    assert threshold is not None
    label_of = np.unique(labels, return_inverse=True)[1] if labels else np.zeros(len(vectors), np.int64)
    collected = PairCollector(len(vectors), search.named_places, search.grouped_places)
    for links in paraphrase_links(vectors, threshold, search.progress):
        collected.add(links.at(label_of[links.first] == label_of[links.second]))
    ties = search.of_similar_queries(collected.links(), LABEL, collected.pairs, EXACTLY)
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
    store: Store,
    queries: Mapping[str, str],
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    numbers: Numbers = "text",
) -> Vectors:
    """Unit vectors of the query texts, shape (queries, d), in the order of their ids; stored once.

    Texts that the model cannot read have vectors of zeros.

    Parameters
    ----------
    queries: query id → text.
    numbers: as in `Rules.numbers`; with 'tie' the texts are embedded without numbers and model names.

    Raises
    ------
    RefusedError, NotFoundError: vectors are missing and the model cannot be used.
    """
    texts = [compared_text(queries[query_id], numbers) for query_id in sorted(queries)]
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


TIE = TieKind(
    label=LABEL,
    setting="paraphrase",
    parameter="paraphrase_threshold",
    find=find,
    is_threshold=True,
    when_on=lambda rules: {"model": rules.model, "cosine_decimals": DECIMALS},
    unsearchable=_unsearchable,
)
