"""The identical, blank and non-ASCII texts of a corpus, found mostly from stored checksums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.similarity.identical_texts import IdenticalTexts
from curation.store import Store
from curation.store.documents import Corpus, StoredDocuments, read_facts

_FEATURES = pa.schema({"content_hash": "string", "sum": "uint64", "blank": "bool", "ascii": "bool"})


class CorpusTexts(NamedTuple):
    """The identical, blank and non-ASCII texts of a corpus.

    Attributes
    ----------
    blank: ids of documents without text.
    beyond_ascii: content hashes of texts that are not ASCII.
    """

    identical: IdenticalTexts
    blank: frozenset[str]
    beyond_ascii: pa.StringArray


def read_texts(store: Store, corpus: Corpus) -> CorpusTexts:
    """Find identical, blank and non-ASCII texts. Only blank texts and texts with equal checksums are read."""
    features = pa.concat_tables([_FEATURES.empty_table(), *read_facts(store, corpus.hashes)])
    features = features.combine_chunks()
    checksums = features["sum"].to_numpy()
    _, groups, sizes = np.unique(checksums, return_inverse=True, return_counts=True)
    is_compared = pc.or_(features["blank"], pa.array(sizes[groups] > 1))
    compared = StoredDocuments(store, features.filter(is_compared)["content_hash"])
    blank = frozenset(document.document_id for document in compared if not document.text)
    beyond_ascii = features.filter(pc.invert(features["ascii"]))["content_hash"]
    texts = ((document.document_id, document.title, document.body) for document in compared)
    return CorpusTexts(IdenticalTexts(texts), blank, beyond_ascii)
