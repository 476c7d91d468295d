"""A project with a corpus, for imports that name documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.ingest.importers.corpus import import_corpus
from curation.store import Store


@pytest.fixture
def corpus(store: Store, write: Callable[..., Path]) -> Store:
    """The project with the documents d1 to d4."""
    documents = [{"id": f"d{number}", "text": f"title {number}"} for number in range(1, 5)]
    import_corpus(store, write("given-corpus.jsonl", documents))
    return store
