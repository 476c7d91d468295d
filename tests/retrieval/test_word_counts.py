"""Kept word counts: each version counted once, whatever stops the work; the index is as without them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.errors import RefusedError
from curation.retrieval import Bm25, word_counts
from curation.retrieval.terms import indexed_terms
from curation.retrieval.word_counts import (
    WordCounts,
    count_words,
    counter,
    stored_word_counts,
    vocabulary,
)
from curation.sources.corpus import import_corpus
from curation.store import Store
from curation.store.documents import Corpus, batches_of_texts, corpus_of, current_corpus
from curation.store.rows import Document, Query

SHOP = {"shoe": "red running shoes", "hat": "red, red hat", "none": "the of", "coat": "Coats AND hats"}

KILLED = """
import os, signal, sys
from pathlib import Path
from curation.retrieval import word_counts
from curation.store import open_store

word_counts.CHUNK = 2

def progress(step, done, total):
    if done >= 4:
        os.kill(os.getpid(), signal.SIGKILL)

word_counts.vocabulary(open_store(Path(sys.argv[1])), progress)
"""


def put_corpus(store: Store, folder: Path, texts: dict[str, str]) -> list[Document]:
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(json.dumps({"id": name, "text": text}) for name, text in texts.items()))
    import_corpus(store, path)
    with store.reading() as cursor:
        return current_corpus(cursor)


def hashes(documents: Sequence[Document]) -> list[str]:
    return [document.content_hash for document in documents]


def by_row(found: WordCounts) -> dict[int, dict[str, int]]:
    words = list(found.word_number)
    return {
        int(row): {words[found.numbers[at]]: int(found.counts[at]) for at in range(start, end)}
        for row, start, end in zip(found.rows, found.starts[:-1], found.starts[1:], strict=True)
    }


def kept(store: Store) -> list[str]:
    with store.reading() as cursor:
        return [row[0] for row in cursor.execute("SELECT content_hash FROM document_terms").fetchall()]


def test_stored_counts_are_those_of_the_texts_in_the_order_asked_for(store: Store, tmp_path: Path) -> None:
    documents = put_corpus(store, tmp_path, SHOP)[::-1]
    found = by_row(stored_word_counts(store, hashes(documents)))
    assert found == by_row(count_words(document.text for document in documents))
    names = [document.document_id for document in documents]
    assert found[names.index("hat")] == {"red": 2, "hat": 1}
    assert found[names.index("none")] == {}


def test_only_changed_documents_are_counted_again(store: Store, tmp_path: Path) -> None:
    first = put_corpus(store, tmp_path, SHOP)
    stored_word_counts(store, hashes(first))
    second = put_corpus(store, tmp_path, SHOP | {"hat": "a blue hat"})
    steps: list[tuple[int, int]] = []
    found = stored_word_counts(store, hashes(second), lambda _, done, total: steps.append((done, total)))
    assert steps == [(0, 1), (1, 1)]
    assert {"blue": 1, "hat": 1} in by_row(found).values()
    steps.clear()
    stored_word_counts(store, hashes(first), lambda _, done, total: steps.append((done, total)))
    assert steps == []
    assert sorted(kept(store)) == sorted({*hashes(first), *hashes(second)})


def test_counting_goes_on_where_kill_9_stopped_it_and_keeps_nothing_twice(
    store: Store, tmp_path: Path
) -> None:
    documents = put_corpus(store, tmp_path, {f"d{n}": f"word{n} red" for n in range(9)})
    store.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(store.path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(kept(store)) == 4
    steps: list[tuple[int, int]] = []
    assert vocabulary(store, lambda _, done, total: steps.append((done, total)))["red"] == 9
    assert steps[-1] == (5, 5)
    assert sorted(kept(store)) == sorted(hashes(documents))


def test_another_way_of_cutting_words_counts_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = put_corpus(store, tmp_path, SHOP)
    expected = by_row(stored_word_counts(store, hashes(documents)))
    monkeypatch.setattr(word_counts, "CUT", "another")
    assert by_row(stored_word_counts(store, hashes(documents))) == expected
    assert len(kept(store)) == 2 * len(documents)


def test_the_vocabulary_holds_words_not_grams(store: Store, tmp_path: Path) -> None:
    put_corpus(store, tmp_path, {"kettle": "家用电热水壶 kettle"})
    assert vocabulary(store) == {"家用电热水壶": 1, "kettle": 1}


def test_the_vocabulary_counts_documents_of_the_corpus_in_force(store: Store, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="no corpus yet"):
        vocabulary(store)
    put_corpus(store, tmp_path, SHOP | {"old": "gone soon"})
    vocabulary(store)
    put_corpus(store, tmp_path, SHOP)
    assert vocabulary(store) == {
        "red": 2,
        "running": 1,
        "shoes": 1,
        "hat": 1,
        "coats": 1,
        "hats": 1,
    }


def test_versions_that_are_not_stored_are_an_error_and_not_an_empty_text(store: Store) -> None:
    with pytest.raises(ValueError, match="1 documents were asked for, 0 are stored"):
        Bm25.stored(store, Corpus(["d"], pa.array(["unknown"]))).search(
            [Query("q", "hat", "hat", "written")], 3
        )


def test_bm25_finds_the_same_from_kept_counts_as_from_texts(store: Store, tmp_path: Path) -> None:
    texts = {f"d{n:02}": f"red {'shoes ' * (n % 4)} hat{n % 3} coat{n % 7} item{n}" for n in range(40)}
    documents = put_corpus(store, tmp_path, texts)
    asked = [
        Query("q", text, text, "written") for text in ("shoes hat1", "coat3", "red", "item7 shoes shoes")
    ]
    assert Bm25.stored(store, corpus_of(documents)).search(asked, 50) == Bm25(documents).search(asked, 50)


@given(
    st.lists(st.text(alphabet="abAé茶กا_9 the.\n\0", max_size=30), max_size=12),
    st.sampled_from([None, "german"]),
)
def test_counts_are_those_of_the_terms_of_each_text(texts: list[str], stemmer: str | None) -> None:
    found = by_row(count_words(texts, stemmer=stemmer))
    assert found == {row: dict(Counter(indexed_terms(text, stemmer))) for row, text in enumerate(texts)}


def test_words_that_another_process_has_numbered_meanwhile_keep_its_numbers(
    store: Store, tmp_path: Path
) -> None:
    documents = put_corpus(store, tmp_path, SHOP)
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO counted_words VALUES (?, 0, 'hat'), (?, 1, 'red')", [counter()] * 2)
    [texts] = batches_of_texts(store, pa.array(hashes(documents)), len(documents))
    assert not word_counts._store(store, counter(), texts, {}, None)
    assert kept(store) == []
    found = stored_word_counts(store, hashes(documents))
    assert [found.word_number[word] for word in ("hat", "red")] == [0, 1]
    assert by_row(found) == by_row(count_words(document.text for document in documents))
