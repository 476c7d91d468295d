"""Fixtures for imports: files of given bytes, and the whole database to compare."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from curation.sources.corpus import import_corpus
from curation.store import Store

Contents = Callable[[], dict[str, list[tuple[Any, ...]]]]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write('a.jsonl', [{...}, ...]) or write('a.csv', 'text' or bytes); a name in .gz is packed."""

    def write_file(name: str, content: str | bytes | Iterable[Mapping[str, Any]]) -> Path:
        if not isinstance(content, str | bytes):
            content = "".join(json.dumps(record) + "\n" for record in content)
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


@pytest.fixture
def contents(store: Store) -> Contents:
    """All rows of all tables, to compare before and after."""

    def read() -> dict[str, list[tuple[Any, ...]]]:
        with store.reading() as cursor:
            sql = "SELECT table_name FROM duckdb_tables() ORDER BY table_name"
            names = [row[0] for row in cursor.execute(sql).fetchall()]
            return {name: cursor.execute(f"SELECT * FROM {name} ORDER BY ALL").fetchall() for name in names}

    return read


@pytest.fixture
def corpus(store: Store, write: Write) -> Store:
    """The project with the documents d1 to d4."""
    documents = [{"id": f"d{number}", "title": f"title {number}"} for number in range(1, 5)]
    import_corpus(store, write("given-corpus.jsonl", documents))
    return store
