"""What is asked of all texts of a corpus: read once, and only those compared that may be equal or blank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.similarity.identical import Identical
from curation.store import Store
from curation.store.documents import Corpus, StoredDocuments, batches_of_signs

_SIGNS = pa.schema(
    {"content_hash": pa.string(), "sum": pa.uint64(), "blank": pa.bool_(), "ascii": pa.bool_()}
)


class CorpusTexts(NamedTuple):
    """What is known of all texts.

    Attributes
    ----------
    blank: ids of documents without any text.
    beyond_ascii: the content hashes of those whose text is not in ASCII.
    """

    identical: Identical
    blank: frozenset[str]
    beyond_ascii: pa.StringArray


def read_texts(store: Store, corpus: Corpus) -> CorpusTexts:
    """Go over the texts in the database; only those that another one, or none, may equal are read."""
    signs = pa.concat_tables([_SIGNS.empty_table(), *batches_of_signs(store, corpus.hashes)]).combine_chunks()
    _, group, sizes = np.unique(signs["sum"].to_numpy(), return_inverse=True, return_counts=True)
    compared = signs.filter(pc.or_(signs["blank"], pa.array(sizes[group] > 1)))
    looked_at = StoredDocuments(store, compared["content_hash"])
    without = frozenset(document.document_id for document in looked_at if not document.text)
    beyond_ascii = signs.filter(pc.invert(signs["ascii"]))["content_hash"]
    texts = ((document.document_id, document.title, document.body) for document in looked_at)
    return CorpusTexts(Identical(texts), without, beyond_ascii)
