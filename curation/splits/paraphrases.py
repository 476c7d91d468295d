"""Paraphrases: queries that ask the same in other words, by the cosine of their embeddings.

Lexical similarity finds about a fifth of them. Embeddings are those that dense retrieval stores
(`retrieval.embeddings`): computed once for a text. All queries are compared with all, by an exact matrix
product in blocks; cosines are rounded to four decimals before they are compared with the threshold, because
the last digits of a matrix product differ between machines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from curation.errors import RefusedError
from curation.progress import Progress, silent
from curation.retrieval.embeddings import DEFAULT_MODEL, Vectors, embed
from curation.splits.forest import Links
from curation.splits.numbers import compared_text
from curation.splits.rules import DECIMALS, Numbers
from curation.store import Store

_BLOCK = 256


def query_vectors(
    store: Store,
    queries: Mapping[str, str],
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    numbers: Numbers = "text",
) -> Vectors:
    """Unit vectors of the query texts, shape (queries, d), in the order of their ids; stored once.

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
        return embed(store, texts, "query", model, progress)
    except RefusedError as error:
        raise RefusedError(
            f"Paraphrases among the queries cannot be looked for: {error} Or leave them out with "
            "--no-paraphrase; lexical similarity alone finds about a fifth of them."
        ) from error


def paraphrase_links(vectors: Vectors, threshold: float, progress: Progress = silent) -> Iterator[Links]:
    """All pairs with at least this cosine, by comparing all with all; in blocks."""
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK] @ vectors[start:].T
        cosines = np.round(block.astype(np.float64), DECIMALS)
        first, second = np.nonzero(np.triu(cosines >= threshold, k=1))
        similarity = np.minimum(cosines[first, second], 1.0)
        yield Links(first + start, second + start, similarity)
        progress("comparing meanings", min(start + _BLOCK, len(vectors)), len(vectors))
