"""What a pool asks of the texts of a corpus, read once and some thousands at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from curation.retrieval.word_counts import CHUNK
from curation.similarity.identical import Identical
from curation.store import Store
from curation.store.documents import Corpus, documents_by_hash, texts_at, version_places
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
    with store.reading() as cursor:
        places = version_places(cursor, pa.table({"content_hash": corpus.hashes}))
    sums, blank, cut = np.empty(len(places), np.int64), np.zeros(len(places), bool), False
    for start in range(0, len(places), CHUNK):
        with store.reading() as cursor:
            texts = texts_at(cursor, places.slice(start, CHUNK))["text"].to_pylist()
        for place, text in enumerate(texts, start):
            sums[place], blank[place] = hash(text), not text.strip()
            cut = cut or is_cut_otherwise(text, whole=True)
    _, group, sizes = np.unique(sums, return_inverse=True, return_counts=True)
    looked_at = places["content_hash"].filter(pa.array(blank | (sizes[group] > 1))).to_pylist()
    with store.reading() as cursor:
        documents = documents_by_hash(cursor, looked_at).values()
    without = frozenset(document.document_id for document in documents if not document.text)
    return CorpusTexts(Identical(documents), without, cut)
