"""Fixtures for imports: files of given bytes, and the whole database to compare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from curation.ingest.importers.corpus import import_corpus
from curation.store import Store
from tests.support.projects import all_rows

Contents = Callable[[], dict[str, list[tuple[Any, ...]]]]


@pytest.fixture
def contents(store: Store) -> Contents:
    """All rows of all tables, to compare before and after."""

    return lambda: all_rows(store)


@pytest.fixture
def corpus(store: Store, write: Callable[..., Path]) -> Store:
    """The project with the documents d1 to d4."""
    documents = [{"id": f"d{number}", "text": f"title {number}"} for number in range(1, 5)]
    import_corpus(store, write("given-corpus.jsonl", documents))
    return store
