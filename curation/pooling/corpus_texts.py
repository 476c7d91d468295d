"""What a pool asks of the texts of a corpus, read once and some thousands at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.retrieval.index.counting import CHUNK
from curation.similarity.identical import Identical
from curation.store import Store
from curation.store.documents import Corpus, batches_of_texts, documents_of
from curation.words import is_cut_otherwise


class CorpusTexts(NamedTuple):
    """What is known of all texts.

    Attributes
    ----------
    blank: ids of documents without any text.
    cut_otherwise: whether an older goldset cut one of the texts into other words.
    """

    identical: Identical
    blank: frozenset[str]
    cut_otherwise: bool


def read_texts(store: Store, corpus: Corpus) -> CorpusTexts:
    """Read each text once; only those that another one, or none, may equal are compared."""
    hashes: list[pa.Array] = []
    sums, blank, cut = np.empty(len(corpus.ids), np.int64), np.zeros(len(corpus.ids), bool), False
    done = 0
    for batch in batches_of_texts(store, corpus.hashes, CHUNK):
        hashes += batch["content_hash"].chunks
        for place, text in enumerate(batch["text"].to_pylist(), done):
            sums[place], blank[place] = hash(text), not text.strip()
            cut = cut or is_cut_otherwise(text, whole=True)
        done += len(batch)
    _, group, sizes = np.unique(sums[:done], return_inverse=True, return_counts=True)
    compared = pa.array(blank[:done] | (sizes[group] > 1))
    looked_at = pa.chunked_array(hashes, pa.string()).filter(compared).to_pylist()
    documents = documents_of(store, looked_at).values()
    without = frozenset(document.document_id for document in documents if not document.text)
    return CorpusTexts(Identical(documents), without, cut)
