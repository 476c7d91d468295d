"""`goldgrade import` as people and scripts use it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.ingest.importers.traffic.stored_logs import read_stored_logs
from curation.store import Store
from tests.support.projects import add_names, all_rows, rows_of

pytestmark = pytest.mark.slow


def test_options_say_how_logs_and_ratings_are_read(goldgrade: Any, write: Any) -> None:
    goldgrade("import", "corpus", write("c.jsonl", [{"id": "a", "text": "A"}]))
    log = write("t.log", "u1\t970916105432\tshoes\n")
    traffic = json.loads(
        goldgrade("import", "traffic", log, "--no-header", "--columns", "user,time,query", "--json")
    )
    assert (traffic["rows"], traffic["first"]) == (1, "1997-09-16T10:54:32")
    goldgrade("import", "queries", write("q.csv", "id,query\n1,shoes\n"))
    ratings = write("j.csv", "query,docid,r1,r2\nshoes,a,10,0\n")
    options = ("--annotator-columns", "r1=ada,r2=bo", "--grade-map", "10=3,0=0", "--json")
    judgments = json.loads(goldgrade("import", "judgments", ratings, *options))
    assert (judgments["judgments"], judgments["added_annotators"]) == (2, ["ada", "bo"])


def test_people_are_told_what_was_counted_left_out_and_used(goldgrade: Any, write: Any) -> None:
    documents = write("c.jsonl", [{"id": "a", "title": "A\0", "text": "x"}, {"title": "lost"}])
    told = goldgrade("import", "corpus", documents)
    assert "The corpus now has 1 document." in told
    assert "Fields used: id id, title title, body text; the other columns are kept as metadata." in told
    assert "Left out: 1 document: no id." in told
    assert "Replaced: 1 × NUL character, by U+FFFD." in told
    assert "Nothing changed: the project already has the same 1 document." in goldgrade(
        "import", "corpus", documents
    )
    log = write("t.csv", "query,time,n\nshoes,2024-01-01,2\n,,1\nhat,soon,1\n")
    told = goldgrade("import", "traffic", log)
    assert "1 row has no readable time, such as 'soon' on line 4." in told
    assert "Left out: 1 row: empty query." in told
    assert "1 earlier import of a file of this name counts as well." in goldgrade(
        "import", "traffic", log, "--map", "count=n"
    )
    assert "1 query: 1 added" in goldgrade("import", "queries", write("q.csv", "query\nshoes\n"))
    assert "Nothing changed" in goldgrade("import", "queries", write("q.csv", "query\nshoes\n"))
    ratings = write("j.csv", "query,document,annotator,grade\nshoes,a,ada,3\n")
    assert "1 new judgment in the round “imported: j.csv”" in goldgrade("import", "judgments", ratings)
    assert "Nothing changed" in goldgrade("import", "judgments", ratings)


def test_a_log_is_deleted_under_the_name_that_as_gives(goldgrade: Any, store: Store, write: Any) -> None:
    add_names(store, "lee", role="lead")
    goldgrade("import", "traffic", write("t.csv", "query\nshoes\n"))
    with store.reading() as cursor:
        [log] = read_stored_logs(cursor)
    goldgrade("import", "traffic", "--delete", log.import_id, "--as", "lee", "--reason", "exported twice")
    assert rows_of(store, "SELECT actor FROM events WHERE action = 'delete traffic'") == [("lee",)]


FILES = {
    "corpus": ("c.jsonl", '{"id": "b", "text": "B"}\n'),
    "traffic": ("t.csv", "query\nhats\n"),
    "queries": ("q.csv", "id,query\n9,hats\n"),
    "answers": ("a.csv", "query,answer\nshoes,a pair\n"),
    "run": ("r.trec", "1 Q0 a 1 9 x\n"),
    "judgments": ("j.csv", "query,document,annotator,grade\nshoes,a,ada,3\n"),
}


@pytest.fixture
def project(goldgrade: Any, write: Any, store: Store) -> Store:
    goldgrade("import", "corpus", write("first.jsonl", [{"id": "a", "text": "A"}]))
    goldgrade("import", "queries", write("first.csv", "id,query\n1,shoes\n"))
    return store


@pytest.mark.parametrize("kind", FILES)
def test_a_dry_run_prints_what_the_import_prints_and_changes_nothing(
    goldgrade: Any, write: Any, project: Store, kind: str
) -> None:
    named = ("--name", "bm25") if kind == "run" else ()
    command = ("import", kind, write(*FILES[kind]), *named)
    before = all_rows(project)
    told, as_json = goldgrade(*command, "--dry-run"), goldgrade(*command, "--dry-run", "--json")
    assert all_rows(project) == before
    first, _, rest = told.partition("\n")
    assert first.startswith("Dry run: nothing was changed.")
    rehearsed = json.loads(as_json)
    done = json.loads(goldgrade(*command, "--json"))
    assert rehearsed == done
    assert all_rows(project) != before
    assert rest
    assert "Nothing changed" not in rest
    assert "Nothing changed" in goldgrade(*command)


def test_decisions_of_a_file_are_rehearsed(goldgrade: Any, write: Any, project: Store) -> None:
    rows = "query,document,annotator,grade\nshoes,a,ada,3\nshoes,a,ben,0\n"
    goldgrade("import", "judgments", write("j.csv", rows))
    final = write("final.csv", "query,document,grade\nshoes,a,2\n")
    command = ("decide", "--file", final, "--reason", "final")
    before = all_rows(project)
    assert "1 pair decided." in goldgrade(*command, "--dry-run")
    assert all_rows(project) == before
    assert "1 pair decided." in goldgrade(*command)
