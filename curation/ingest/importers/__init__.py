"""What files bring in, one module a kind: a corpus, traffic, queries, runs, judgments and reference answers.

Each reads its records (`files`), takes them into the project in one transaction, and counts what is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from curation.store.documents import ELSEWHERE

if TYPE_CHECKING:
    import pyarrow as pa

    from curation.store import Store


def read_linked_texts(store: Store, hashes: pa.Array) -> Iterator[pa.Table]:
    """The texts of these hashes that stay in their files; pyarrow is imported when the first is asked for."""
    from curation.ingest.importers.external_corpus import read_left

    return read_left(store, hashes)


ELSEWHERE.append(read_linked_texts)
