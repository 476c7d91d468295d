"""An import and its dry run: they say the same, and a dry run changes nothing."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from typing import Any

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.picking.kinds import FILE_KINDS
from curation.ingest.picking.request import ImportRequest
from curation.operations.importing.importing import WORK, carry_out, dry_run
from curation.store import Store
from tests.support.projects import all_rows, rows_of

Request = Callable[..., ImportRequest]

WIDE = {"annotator_columns": {"ann_rating": "ann", "ben_rating": "ben", "cid_rating": "cid"}}
FILES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "a corpus": ("corpus", "pages.csv", "id,title,text\nd9,Tea,Leaves\nd9,Tea,Leaves\n,no,id\n", {}),
    "an added corpus": ("corpus", "more.jsonl", '{"_id": "d9", "text": "x"}\n', {"add": True}),
    "a log": ("traffic", "log.tsv", "q\tcount\ntea\t3\ntea ana@example.org\t1\n \t2\n", {}),
    "queries": ("queries", "q.csv", "query_id,query,answers\n7,oolong,yes\n8,assam,no\n", {}),
    "a run": ("runs", "bm25.trec", "tea Q0 d2 1 9.5 x\ntea Q0 d1 2 9.1 x\n", {"name": "bm25"}),
    "grades": ("judgments", "long.csv", "query,document,rater,grade\ntea,d1,dora,3\ntea,d1,ann,2\n", {}),
    "a wide table": (
        "judgments",
        "wide.csv",
        "query,docid,ann_rating,ben_rating,cid_rating\ntea,d1,3,0,\n",
        WIDE,
    ),
    "qrels": ("judgments", "test.qrels", "tea 0 d1 1\ntea 0 d2 -1\n", {"annotator": "nist"}),
    "a judge": ("judgments", "llm.jsonl", '{"query": "tea", "doc_id": "d1", "grade": 1}', {"judge": "gpt"}),
    "decisions": ("decisions", "final.csv", "query,docid,final_rating\ntea,d1,1\n", {"reason": "final"}),
    "answers": ("answers", "a.csv", "query,answer\ntea,a drink\noolong,tea\n", {"skip_unknown": True}),
    "nuggets": (
        "nuggets",
        "n.csv",
        "query,nugget,importance\ntea,hot,vital\noolong,x,okay\n",
        {"skip_unknown": True},
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_dry_run_says_what_the_import_does_and_changes_nothing(
    project: Store, request_for: Request, name: str
) -> None:
    what, file, text, options = FILES[name]
    if name == "decisions":
        carry_out(project, request_for("judgments", *FILES["a wide table"][1:]), "lee")
    asked = request_for(what, file, text, options)
    before = all_rows(project)
    rehearsed = dry_run(project, asked, "lee")
    assert all_rows(project) == before
    done = carry_out(project, asked, "lee")
    assert rehearsed.outcome == done
    assert done.changes
    assert next(iter(done.figures)) not in ("new", "changed"), "a headline says of what"
    assert all_rows(project) != before
    assert rows_of(project, "SELECT actor FROM events ORDER BY rowid DESC LIMIT 1") == [("lee",)]
    again = dry_run(project, asked, "lee").outcome
    assert again is not None
    assert not again.changes
    assert again.sentence.startswith("Nothing changed")


def test_only_a_lead_imports(project: Store, request_for: Request) -> None:
    asked = request_for("traffic", "log.csv", "query\ntea\n")
    before = all_rows(project)
    for call in (carry_out, dry_run):
        with pytest.raises(RefusedError):
            call(project, asked, "ann")
        with pytest.raises(NotFoundError):
            call(project, asked, "nobody")
    assert all_rows(project) == before


def test_a_rehearsal_that_is_refused_changes_nothing(project: Store, request_for: Request) -> None:
    first = request_for("runs", "a.trec", "tea Q0 d1 1 9 x\n", {"name": "bm25"})
    carry_out(project, first, "lee")
    before = all_rows(project)
    other = request_for("runs", "b.trec", "tea Q0 d2 1 9 x\n", {"name": "bm25"})
    found = dry_run(project, other, "lee")
    assert found.outcome is None
    assert "another run 'bm25'" in found.problems[0].found
    assert all_rows(project) == before


BAD: dict[str, tuple[str, str, str | bytes, dict[str, Any], str]] = {
    "latin-1": (
        "corpus",
        "a.csv",
        "id,text\nd1,caf\xe9\n".encode("latin-1"),
        {},
        "Line 2, character 7: the byte 0xE9 .*latin-1",
    ),
    "cut gzip": ("corpus", "a.csv.gz", gzip.compress(b"id,text\n" + b"d1,tea\n" * 999)[:60], {}, "cut off"),
    "no gzip": ("corpus", "a.csv.gz", b"id,text\nd1,x\n", {}, "a.csv.gz is named .gz but"),
    "empty": ("corpus", "a.csv", b"", {}, "a.csv is empty"),
    "blank": ("traffic", "a.csv", b"\n\n \n", {}, "a.csv holds nothing but blank lines; exp.*Export or"),
    "header alone": ("queries", "a.csv", b"id,text\n", {}, "a.csv holds no records"),
    "zip": ("corpus", "a.csv", b"PK\x03\x04rest", {}, "a.csv is a zip archive; .*\nUnpack it first"),
    "xlsx": ("corpus", "a.xlsx", b"PK\x03\x04rest", {}, "a.xlsx cannot be read as a spreadsheet"),
    "missing column": ("corpus", "a.csv", b"sku_no,words\n1,x\n", {}, "“Id”"),
    "no text": ("corpus", "a.csv", b"id,colour\n1,red\n", {}, "“Title” or “Text”"),
    "two ids": (
        "corpus",
        "a.csv",
        b"id,text\nd1,x\nd1,y\n",
        {},
        "line 3 .*Document 'd1' has another content",
    ),
    "ragged": ("traffic", "a.csv", b"query,count\ntea\n", {}, "line 2 .*1 cell, expected 2"),
    "counts": ("traffic", "a.csv", b"query,count\ntea,many\n", {}, "line 2 .*'many'; expected a whole"),
    "broken json": ("corpus", "a.jsonl", b'{"id": "1", "text": "x"}\n{"id"\n', {}, "line 2 .*Broken JSON"),
    "one json": ("corpus", "a.jsonl", b"[\n1]", {}, "entry 1 .*Found 1; expected an object"),
    "parquet": ("corpus", "a.parquet", b"PAR1 and nothing", {}, "cannot be read as Parquet"),
    "markup": ("traffic", "a.csv", b"query,count\n<script>alert(1)</script>,x\n", {}, "line 2"),
    "unknown": ("runs", "a.trec", b"tea Q0 d7 1 9 x\n", {"name": "r"}, "line 1 .*no document 'd7'"),
    "no name": ("runs", "a.trec", b"tea Q0 d1 1 9 x\n", {"name": ""}, "'' cannot name a run"),
    "scale": ("judgments", "a.csv", b"query,document,rater,grade\ntea,d1,ann,9\n", {}, "line 2 .*9"),
    "nobody": ("judgments", "a.csv", b"query,document,grade\ntea,d1,2\n", {}, "“Who judged”"),
    "no reason": ("decisions", "a.csv", b"query,document,grade\ntea,d1,2\n", {}, "line 2 .*needs a reason"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_told_in_words_of_the_page(project: Store, request_for: Request, name: str) -> None:
    what, file, content, options, expected = BAD[name]
    asked = ImportRequest(what, "", file, options=options)
    try:
        asked = request_for(what, file, content, options)
    except InputError as error:  # there is nothing to look at: as the page tells it
        from curation.operations.importing.importing import refused

        found = refused(error, asked)
    else:
        found = dry_run(project, asked, "lee")
        with pytest.raises((InputError, RefusedError)) as caught:
            carry_out(project, asked, "lee")
        assert "secret-folder" not in caught.value.found
    assert found.outcome is None
    assert found.problems
    text = "\n".join([*(f"{one.place} {one.found}" for one in found.problems), found.way_out])
    assert re.search(expected, text, re.DOTALL), text
    assert not re.search(r"secret-folder|`|--\w|jq |goldgrade", text), text
    for one in found.problems:
        assert one.found[0] in f"'{file[0]}" or not one.found[0].islower(), one.found


def test_marks_of_the_encoding_are_read(project: Store, request_for: Request) -> None:
    found = dry_run(
        project, request_for("corpus", "bom.csv", b"\xef\xbb\xbfid,text\nd1,caf\xc3\xa9\n"), "lee"
    )
    assert found.outcome is not None
    assert found.outcome.figures["documents"] == 1


def test_every_kind_has_its_import() -> None:
    assert list(WORK) == list(FILE_KINDS)
    assert {what for what, *_ in FILES.values()} == set(FILE_KINDS)
