"""A corpus that stays in its files: its snapshot, its texts, and what is no longer what was imported."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.external_corpus import (
    OTHER_FILES,
    find_changed_files,
    link_corpus,
    store_linked_texts,
)
from curation.ingest.importers.query_import import import_queries
from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.queue import read_queue
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.documents import StoredDocuments, current_snapshot, documents_by_hash, snapshot_versions
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, PARTS
from tests.support.pool_project import judge
from tests.support.projects import add_people, new_project, rows_of

pytestmark = pytest.mark.slow

DOCUMENTS = [
    {
        "id": f"d{number:03}",
        "title": f"Shoe {number}",
        "text": f"body {number}" if number % 7 else "",
        "n": number,
    }
    for number in range(300)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of three files, one of several row groups; one document is in two of them."""
    folder = tmp_path / "pages"
    folder.mkdir()
    pq.write_table(pa.Table.from_pylist(DOCUMENTS[:200]), folder / "a.parquet", row_group_size=30)
    lines = "\n".join(map(json.dumps, DOCUMENTS[199:250]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "c.json").write_text(json.dumps(DOCUMENTS[250:]))
    (folder / "README.txt").write_text("pages")
    return folder


@pytest.fixture
def linked(store: Store, folder: Path) -> Store:
    """A project whose corpus stays in those files."""
    link_corpus(store, folder)
    return store


@pytest.fixture
def copied(tmp_path: Path) -> Store:
    store = new_project(tmp_path / "copied.duckdb")
    path = tmp_path / "all.jsonl"
    path.write_text("\n".join(map(json.dumps, DOCUMENTS)))
    import_corpus(store, path)
    return store


def versions(store: Store) -> dict[str, str]:
    with store.reading() as cursor:
        return snapshot_versions(cursor, current_snapshot(cursor))


def held(store: Store) -> int:
    return rows_of(store, "SELECT count(*) FROM documents")[0][0]


def test_a_left_corpus_has_the_snapshot_and_the_documents_of_a_copied_one(store, folder, copied):
    found = link_corpus(store, folder)
    assert (found.documents, found.added, found.without_text) == (300, 300, 43)
    assert found.left_out == {"repeated document": 1, OTHER_FILES: 1}
    assert versions(store) == versions(copied)
    assert held(store) == 100
    hashes = list(versions(store).values())
    with copied.reading() as cursor:
        texts = documents_by_hash(cursor, hashes)
    read = StoredDocuments(store, pa.array(hashes))
    assert {document.content_hash: document for document in read} == texts
    assert held(store) == 100
    store_linked_texts(store, ["d150", "d199", "d249", "d299", "d001"])
    assert held(store) == 104
    again = link_corpus(store, folder)
    assert (again.is_new, again.unchanged) == (False, 300)
    assert rows_of(store, "SELECT count(*) FROM left_files") == [(3,)]


KILLED = """
import os, signal, sys
from pathlib import Path
from curation.ingest.importers import external_corpus as module
from curation.store import open_store

module.record_import = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # the last step before the commit
module.link_corpus(open_store(Path(sys.argv[1])), sys.argv[2])
"""


def test_an_import_that_was_killed_leaves_nothing_and_starts_again(store, folder):
    store.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, store.path, folder], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    tables = ("documents", "left_files", "left_documents", "left_snapshots", "snapshot_documents")
    assert [rows_of(store, f"SELECT count(*) FROM {name}") for name in tables] == [[(0,)]] * len(tables)
    assert link_corpus(store, folder).added == 300


QUERIES = {"q1": "188", "q2": "211", "q3": "3", "q4": "260"}
CANDIDATES = "SELECT query_id, document_id FROM candidates ORDER BY ALL"


def frozen(store: Store, folder: Path) -> tuple[str, str]:
    """The ids of a pool, and of a release of all its pairs."""
    folder.mkdir()
    lines = [json.dumps({"id": name, "text": text}) for name, text in QUERIES.items()]
    (folder / "queries.jsonl").write_text("\n".join(lines))
    import_queries(store, folder / "queries.jsonl")
    pool = build_pool(store, PoolRequest(["bm25"], 5, 2, 7))
    for annotator in ("ada", "ben"):
        judge(store, folder, {pair: int(pair[1][-1]) % 4 for pair in rows_of(store, CANDIDATES)}, annotator)
    make_split(store, SplitRequest(tuple(PARTS.items()), 7, LEXICAL))
    return pool.pool_id, freeze(store, "v1", override="two files of the same grades").release_id


def test_pool_and_release_of_a_left_corpus_are_those_of_a_copied_one(linked, tmp_path, copied):
    assert frozen(linked, tmp_path / "1") == frozen(copied, tmp_path / "2")
    pairs = rows_of(linked, CANDIDATES)
    assert pairs == rows_of(copied, CANDIDATES)
    sql = "SELECT document_id FROM candidates EXCEPT SELECT document_id FROM documents"
    assert rows_of(linked, sql) == []
    assert held(linked) <= 100 + len(pairs)


def test_nothing_is_read_from_a_file_that_has_changed_or_is_gone(linked, folder):
    lines = "\n".join(map(json.dumps, [{**one, "title": "Hat"} for one in DOCUMENTS[200:250]]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "c.json").unlink()
    changed = "b.jsonl.gz: has changed since it was imported, so nothing is read from it"
    for document, found in (("d240", changed), ("d260", "c.json: there is no such path")):
        with pytest.raises(InputError, match=found):
            store_linked_texts(linked, ["d150", document])
    store_linked_texts(linked, ["d150"])
    again = link_corpus(linked, folder)
    assert (again.changed, again.removed, again.unchanged) == (50, 50, 200)


def test_an_id_of_two_texts_in_two_files_names_both_and_nothing_is_written(store, folder):
    (folder / "d.json").write_text(json.dumps([{**DOCUMENTS[210], "title": "Hat"}]))
    with pytest.raises(InputError, match=r"d\.json: entry 1: .* a different text on line 12 of b\.jsonl\.gz"):
        link_corpus(store, folder)
    assert rows_of(store, "SELECT count(*) FROM left_documents") == [(0,)]
    assert held(store) == 0


def test_the_new_text_of_a_candidate_comes_with_the_import(linked, folder, tmp_path):
    frozen(linked, tmp_path / "1")
    (name,) = rows_of(linked, "SELECT max(document_id) FROM candidates")[0]
    rows = [{**one, "title": "Hat"} if one["id"] == name else one for one in DOCUMENTS[250:]]
    (folder / "c.json").write_text(json.dumps(rows))
    assert link_corpus(linked, folder).changed == 1
    titles = rows_of(linked, "SELECT title FROM documents WHERE document_id = ? ORDER BY ALL", name)
    assert titles == [("Hat",), (f"Shoe {int(name[1:])}",)]


def test_a_rehearsed_import_leaves_nothing(store, folder):
    command = ["--project", str(store.path), "import", "corpus", str(folder), "--in-place", "--json"]
    assert json.loads(invoke([*command, "--dry-run"], catch_exceptions=False).stdout)["added"] == 300
    assert rows_of(store, "SELECT count(*) FROM left_files") == [(0,)]


def test_a_project_whose_corpus_is_in_object_storage_opens_and_says_what_to_do(linked, folder):
    with linked.transaction() as cursor:
        cursor.execute("UPDATE left_files SET location = 's3://shop/pages'")
        for table in ("left_files", "left_documents", "left_snapshots"):
            cursor.execute(f"UPDATE {table} SET file_id = 'of s3 ' || file_id")
    sentence = "s3://shop/pages: is in object storage; download it first with your cloud's own tool"
    assert held(linked) == 100
    store_linked_texts(linked, ["d001"])
    with pytest.raises(InputError, match=sentence):
        store_linked_texts(linked, ["d150"])
    [(location, error)] = find_changed_files(linked)
    assert (location, str(error).startswith(sentence)) == ("s3://shop/pages", True)
    assert link_corpus(linked, folder).unchanged == 300
    store_linked_texts(linked, ["d150"])


def test_what_is_judged_in_a_file_a_round_or_practice_comes_into_the_project(linked, tmp_path):
    (tmp_path / "queries.jsonl").write_text('{"id": "q1", "text": "shoe"}')
    import_queries(linked, tmp_path / "queries.jsonl")
    add_people(linked, "zoe")
    (tmp_path / "known.csv").write_text("query,document,grade,explanation\nq1,d150,2,It is a shoe.\n")
    judge(linked, tmp_path, {("q1", "d160"): 1})
    open_round(
        linked, RoundRequest("first", ["zoe"], overlap=1, duplicates=0), pairs={("q1", "d170"): "shop"}
    )
    open_practice(linked, PracticeRequest("welcome", ["zoe"], file=tmp_path / "known.csv"))
    shown = read_queue(linked, "zoe", 5).showings
    assert {"".join(part.text for part in one.title) for one in shown} == {"Shoe 150"}
    names = ["d150", "d160", "d170"]
    assert rows_of(linked, "SELECT count(*) FROM documents WHERE document_id IN ?", names) == [(3,)]
