"""The index as files: each version is counted once, whatever stops the work; no file is used in part."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree

import pyarrow as pa
import pytest

from curation.core.errors import StoreError
from curation.core.progress import Progress, silent
from curation.ingest.importers.corpus import import_corpus
from curation.retrieval import Bm25, stored_index, word_counts
from curation.retrieval.count_files import CountFiles
from curation.retrieval.stored_index import find_index_folder, load_index
from curation.retrieval.terms import PLAIN
from curation.retrieval.word_counts import hash_word_rules
from curation.store import Store
from curation.store.documents import Corpus, batches_of_texts, corpus_of, current_corpus
from curation.store.row_types import Query
from tests.support.projects import documents_in_force

SHOP = {"shoe": "red running shoes", "hat": "red, red hat", "none": "the of", "coat": "Coats AND hats"}
MORE = {f"d{n:02}": f"red {'shoes ' * (n % 4)} hat{n % 3} 茶{n % 7}壶 item{n}" for n in range(40)}

BUILD = """
import os, signal, sys
from pathlib import Path
from curation.retrieval import stored_index
from curation.store import open_store
from curation.store.documents import current_corpus

stored_index.BATCH_SIZE, stored_index.MAX_NOT_STORED, os.cpu_count = 2, 0, lambda: 1
last = int(sys.argv[2])

def progress(step, done, total):
    if done >= last:
        os.kill(os.getpid(), signal.SIGKILL)
    print(total)

store = open_store(Path(sys.argv[1]))
with store.reading() as cursor:
    corpus = current_corpus(cursor)
stored_index.load_index(store, corpus.hashes, progress)
"""


def put_corpus(store: Store, folder: Path, texts: dict[str, str]) -> Corpus:
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(json.dumps({"id": name, "text": text}) for name, text in texts.items()))
    import_corpus(store, path)
    with store.reading() as cursor:
        return current_corpus(cursor)


def build(store: Store, corpus: Corpus, progress: Progress = silent) -> bytes:
    """The bytes of the index file."""
    load_index(store, corpus.hashes, progress)
    [path] = files(store, "index")
    return path.read_bytes()


def files(store: Store, ending: str) -> list[Path]:
    return sorted(find_index_folder(store.path).glob(f"*.{ending}"))


def counted(store: Store) -> list[str]:
    hashes: list[str] = (
        CountFiles(find_index_folder(store.path), hash_word_rules(), PLAIN).read()[1].to_pylist()
    )
    return hashes


@pytest.fixture
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also an index of few documents is a file."""
    monkeypatch.setattr(stored_index, "MAX_NOT_STORED", 0)


def test_bm25_finds_the_same_in_files_as_in_texts(store: Store, tmp_path: Path) -> None:
    corpus = put_corpus(store, tmp_path, MORE)
    asked = [
        Query("q", text, text, "written") for text in ("shoes hat1", "茶3壶", "red", "item7 shoes shoes")
    ]
    documents = documents_in_force(store)
    assert Bm25.from_store(store, corpus).search(asked, 50) == Bm25(documents).search(asked, 50)
    assert Bm25.from_store(store, corpus_of(documents[:9])).search(asked, 50) == Bm25(documents[:9]).search(
        asked, 50
    )


@pytest.mark.costly("counts in several processes")
@pytest.mark.usefixtures("_kept")
def test_the_index_has_the_same_bytes_in_whatever_parts_and_processes_words_are_counted(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, found = put_corpus(store, tmp_path, MORE), set()
    for parts, processes in ((1, 1), (2, 1), (16, 1), (20, 2)):
        monkeypatch.setattr(stored_index, "BATCH_SIZE", -(-len(MORE) // parts))
        monkeypatch.setattr("os.cpu_count", lambda processes=processes: processes)
        found.add(build(store, corpus))
        assert abs(len(files(store, "counts")) - parts) <= 2
        rmtree(find_index_folder(store.path))
    assert len(found) == 1


@pytest.mark.usefixtures("_kept")
def test_only_changed_documents_are_counted_again_and_the_index_is_as_if_all_were(
    store: Store, tmp_path: Path
) -> None:
    first = put_corpus(store, tmp_path, SHOP)
    build(store, first)
    second = put_corpus(store, tmp_path, SHOP | {"hat": "a blue hat"})
    steps: list[tuple[int, int]] = []
    changed = build(store, second, lambda _, done, total: steps.append((done, total)))
    assert steps == [(0, 1), (1, 1)]
    assert sorted(counted(store)) == sorted({*first.hashes.to_pylist(), *second.hashes.to_pylist()})
    steps.clear()
    build(store, first, lambda _, done, total: steps.append((done, total)))
    assert steps == []
    rmtree(find_index_folder(store.path))
    assert build(store, second) == changed


@pytest.mark.costly("kills and starts processes")
def test_counting_goes_on_where_kill_9_stopped_it_and_two_at_once_keep_nothing_twice(
    store: Store, tmp_path: Path
) -> None:
    corpus = put_corpus(store, tmp_path, {f"d{n}": f"word{n} red" for n in range(9)})
    store.close()
    command = [sys.executable, "-c", BUILD, str(store.path)]
    assert (
        subprocess.run([*command, "4"], check=False, stdout=subprocess.DEVNULL).returncode == -signal.SIGKILL
    )
    assert len(counted(store)) == 4
    (find_index_folder(store.path) / ".new-left").write_bytes(b"half")
    both = [subprocess.Popen([*command, "99"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert sorted(process.communicate()[0] for process in both) == ["", "5\n" * 4]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(counted(store)) == sorted(corpus.hashes.to_pylist())
    assert not [path for path in find_index_folder(store.path).iterdir() if path.name.startswith(".new")]


@pytest.mark.usefixtures("_kept")
@pytest.mark.parametrize("ending", ["index", "counts"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda held: held[:-1],
        lambda held: held[:100] + bytes([held[100] ^ 1]) + held[101:],
        lambda held: held[:-1] + bytes([held[-1] ^ 1]),
        lambda held: b"",
        lambda held: b"another file\n" * 90,
    ],
    ids=["cut short", "header", "last byte", "empty", "foreign"],
)
def test_a_file_that_is_not_whole_is_made_again(
    store: Store, tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]
) -> None:
    corpus = put_corpus(store, tmp_path, SHOP)
    before = build(store, corpus)
    for path in files(store, "index") if ending == "counts" else []:
        path.unlink()
    [path] = files(store, ending)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert build(store, corpus) == before
    assert path.read_bytes() == whole


@pytest.mark.usefixtures("_kept")
def test_the_index_of_another_corpus_is_not_taken_for_this_one(store: Store, tmp_path: Path) -> None:
    build(store, put_corpus(store, tmp_path, SHOP))
    [other] = files(store, "index")
    before = other.read_bytes()
    corpus = put_corpus(store, tmp_path, MORE)
    right = build(store, corpus)
    [path] = files(store, "index")
    path.write_bytes(before)
    assert build(store, corpus) == right


@pytest.mark.costly("another user's process imports what it needs")
def test_a_folder_that_cannot_be_written_is_named(store: Store, tmp_path: Path) -> None:
    corpus = put_corpus(store, tmp_path, SHOP)
    find_index_folder(store.path).write_text("no folder")
    with pytest.raises(StoreError, match=r"cannot be written to .*\.bm25: File exists"):
        load_index(store, corpus.hashes)
    gone = CountFiles(tmp_path / "gone", hash_word_rules(), PLAIN)
    with pytest.raises(StoreError, match=r"cannot be written to .*gone: No such file or directory"):
        list(gone.write_in_processes(batches_of_texts(store, corpus.hashes, 2), 2))


def test_another_way_of_cutting_words_counts_anew(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = put_corpus(store, tmp_path, SHOP)
    expected = load_index(store, corpus.hashes).words.to_pylist()
    monkeypatch.setattr(word_counts, "TOKENIZATION", "another")
    assert load_index(store, corpus.hashes).words.to_pylist() == expected
    assert sorted(counted(store)) == sorted(corpus.hashes.to_pylist())
    assert len(files(store, "counts")) == 2


def test_versions_that_are_not_stored_are_an_error_and_not_an_empty_text(store: Store) -> None:
    with pytest.raises(ValueError, match="1 of 1 documents are not stored"):
        Bm25.from_store(store, Corpus(["d"], pa.array(["unknown"]))).search(
            [Query("q", "hat", "hat", "written")], 3
        )
