"""The documents of a corpus some at a time, and parts of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.pooling.corpus_texts import read_texts
from curation.store import Store, documents
from curation.store.documents import StoredDocuments, current_corpus
from tests.support.pool_project import put_texts

TEXTS = {"e": "red hat", "a": "red hat", "d": "blue hat", "c": "café", "b": "coat"}


@pytest.fixture
def project(store: Store, tmp_path: Path) -> Store:
    put_texts(store, tmp_path, TEXTS, {"q": "hat"})
    return store


def test_each_document_is_read_once_however_many_at_a_time(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "BATCH_SIZE", 2)
    with project.reading() as cursor:
        corpus = current_corpus(cursor)
    found = list(StoredDocuments(project, corpus.hashes))
    assert {one.document_id: one.body for one in found} == TEXTS
    assert list(StoredDocuments(project, corpus.hashes)) == found
    part = corpus.part(["c", "nothing", "a", "z", "a"])
    assert part.ids == ["a", "c"]
    assert {one.document_id for one in StoredDocuments(project, part.hashes)} == {"a", "c"}
    assert corpus.part([]).ids == list(StoredDocuments(project, corpus.part([]).hashes)) == []


def test_what_is_asked_of_all_texts_is_known_without_reading_them_all(project: Store) -> None:
    with project.transaction() as cursor:
        cursor.execute("UPDATE documents SET title = '', body = chr(160) || ' ' WHERE document_id = 'b'")
    with project.reading() as cursor:
        corpus = current_corpus(cursor)
    texts = read_texts(project, corpus)
    assert (texts.identical.all_ids("e"), texts.blank) == ({"a", "e"}, {"b"})
    assert {one.document_id for one in StoredDocuments(project, texts.beyond_ascii)} == {"b", "c"}
