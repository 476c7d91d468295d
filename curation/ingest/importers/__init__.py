"""File imports, with one module for each kind of file, such as corpus, traffic and queries.

Each import reads the records of a file, stores them in one transaction, and counts the records that it leaves
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from curation.store.documents import ELSEWHERE

if TYPE_CHECKING:
    import pyarrow as pa

    from curation.store import Store


def read_linked_texts(store: Store, hashes: pa.Array) -> Iterator[pa.Table]:
    """Return the documents with these content hashes whose texts stay in files."""
    from curation.ingest.importers.external_corpus import read_linked_documents

    return read_linked_documents(store, hashes)


ELSEWHERE.append(read_linked_texts)
