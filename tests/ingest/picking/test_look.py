"""What the beginning of a file shows, and which column is proposed for which field."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.ingest.preview import PREVIEWED_ROWS, guess_kind, preview_file, propose_columns
from curation.ingest.readers.fields import file_fields
from curation.ingest.requests import REQUESTS, ImportRequest, make_request
from curation.operations.import_jobs import dry_run
from curation.store import Store

LINES = [{"_id": f"d{number}", "title": f"Tea {number}", "text": "x" * 200} for number in range(30)]


def written(folder: Path, name: str, content: bytes) -> ImportRequest:
    path = folder / name
    path.write_bytes(content)
    return make_request("corpus", path)


def test_the_first_rows_are_shown_and_cut(tmp_path: Path) -> None:
    preview = preview_file(written(tmp_path, "a.jsonl", "\n".join(map(json.dumps, LINES)).encode()))
    assert (preview.format, preview.columns) == ("jsonl", ("_id", "title", "text"))
    assert len(preview.rows) == PREVIEWED_ROWS
    assert preview.rows[0][:2] == ("d0", "Tea 0")
    assert preview.rows[0][2].endswith("x…")
    assert preview.fields == {"id": "_id", "title": "title", "body": ["text"]}


@pytest.mark.parametrize(
    ("what", "columns", "fields"),
    [
        ("corpus", "docno,headline,contents", {"id": "docno", "title": "headline", "body": ["contents"]}),
        ("corpus", "ID,Name,short_description", {"id": "ID", "title": "Name", "body": ["short_description"]}),
        ("traffic", "user_query,timestamp,client_id", {"query": 0, "time": 1, "session": 2}),
        ("traffic", "Search term,Searches,Last searched", {"query": 0, "time": 2, "count": 1}),
        ("queries", "qid,query,narrative", {"id": 0, "text": 1, "information_need": 2}),
        # terrier-org/pyterrier: docid is the number of the document within the index
        ("runs", "qid,docid,docno,rank,score", {"query": 0, "document": 2, "rank": 3, "score": 4}),
        ("judgments", "query-id,corpus-id,score", {"query": 0, "document": 1, "grade": 2}),
        (
            "judgments",
            "query_id,query,doc_id,worker_id,label",
            {"query": 0, "query_text": 1, "document": 2, "annotator": 3, "grade": 4},
        ),
        (
            "judgments",
            "query,question,doc_id,rater,grade",
            {"query": 0, "document": 2, "annotator": 3, "grade": 4},
        ),
        ("decisions", "query,docid,final_rating", {"query": 0, "document": 1, "grade": 2}),
        ("answers", "question,answers", {"query": 0, "reference": 1}),
        ("corpus", "id,Body (HTML)", {"id": 0, "body": ["Body (HTML)"]}),
        ("corpus", "id,markdown", {"id": 0, "body": ["markdown"]}),
        ("corpus", "a,b", {}),
    ],
)
def test_columns_are_recognised_by_the_names_of_the_field(
    what: str, columns: str, fields: dict[str, Any]
) -> None:
    names = columns.split(",")
    expected = {field: names[at] if isinstance(at, int) else at for field, at in fields.items()}
    assert propose_columns(names, file_fields(REQUESTS[what].record)) == expected


def test_what_a_system_may_have_answered_is_not_proposed_as_the_reference(
    request_for: Callable[..., ImportRequest],
) -> None:
    rows = [{"question": "tea", "answer": "a bag", "contexts": ["x"]}]
    assert request_for("answers", "a.json", json.dumps(rows)).map == ("query=question",)
    rows[0]["ground_truth"] = "a leaf"
    assert request_for("answers", "b.json", json.dumps(rows)).map[1] == "reference=ground_truth"


def test_no_column_can_be_chosen_where_the_import_would_find_one(
    project: Store, request_for: Callable[..., ImportRequest]
) -> None:
    asked = request_for("traffic", "log.csv", "query,session\n" + "tea,s1\n" * 30)
    none = replace(asked, map=("query=query", "session="))
    outcomes = [dry_run(project, request, "lee").outcome for request in (asked, none)]
    assert [outcome.figures["sessions"] for outcome in outcomes if outcome] == [1, 0]


def test_a_file_without_columns_is_known_by_its_lines(tmp_path: Path) -> None:
    run = written(tmp_path, "x.txt", b"q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 9.1 bm25\n")
    qrels = written(tmp_path, "y.txt", b"q1 0 d1 1\nq1 0 d2 0\n")
    table = written(tmp_path, "z.txt", b"id,text\n1,x\n")
    assert [guess_kind(request) for request in (run, qrels, table)] == ["runs", "judgments", None]
    preview = preview_file(make_request("runs", run.path))
    assert (preview.format, preview.columns, preview.rows[1][2]) == ("trec", (), "d2")
    assert preview_file(make_request("judgments", qrels.path)).format == "qrels"


def test_bytes_of_another_encoding_are_shown_as_such_and_a_column_is_refused_for_them(tmp_path: Path) -> None:
    """A page can draw no surrogates: it failed instead of saying which encoding to choose."""
    value = written(tmp_path, "a.csv", "id,title\n1,Gr\xfcner Tee\n".encode("latin-1"))
    assert preview_file(value).rows == [("1", "Gr\ufffdner Tee")]
    assert preview_file(replace(value, encoding="latin-1")).rows == [("1", "Gr\xfcner Tee")]
    header = written(tmp_path, "b.csv", ("id,gr\xf6sse\n" + "1,x\n" * 200).encode("latin-1"))
    with pytest.raises(InputError, match=r"the name of column 2, “gr\ufffdsse”, is not utf-8\n.*latin-1"):
        preview_file(header)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"\n <!DOCTYPE html>\n<html>", "is a web page; expected one record on each line\nThe file may be"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is a spreadsheet or another office document; .*\nSave"),
        (b"\x89PNG\r\n\x1a\n\0", "is a picture; "),
        (b"%PDF-1.7\n", "is a PDF document; "),
        (b"", "is empty"),
    ],
)
def test_what_is_no_table_is_named(tmp_path: Path, start: bytes, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        preview_file(written(tmp_path, "a.csv", start * 9))


def test_a_problem_names_a_value_of_another_encoding_as_a_page_can_show_it(
    project: Store, request_for: Callable[..., ImportRequest]
) -> None:
    asked = request_for("queries", "q.jsonl", '{"_id":"q","text":"ok"}\n')
    asked.file.write_bytes(
        '{"_id":"\xfc","text":"gr\xfcn"}\n{"_id":"\xfc","text":"t"}\n{"\xfc"}\n'.encode("latin-1")
    )
    problems = dry_run(project, asked, "lee").problems
    assert len(problems) == 3
    assert all("\ufffd" in sentence and sentence.encode() for _, sentence in problems)
    assert not any("udcfc" in sentence for _, sentence in problems)


def test_a_column_of_long_texts_is_proposed_where_no_name_is_known(tmp_path: Path) -> None:
    rows = "".join(f"{number},Tea {number},green,{'A leaf and water. ' * 9}\n" for number in range(9))
    preview = preview_file(written(tmp_path, "a.csv", f"id,title,kind,story\n{rows}".encode()))
    assert preview.fields["body"] == ["story"]
    preview = preview_file(written(tmp_path, "b.csv", b"id,title,kind\n1,Tea,green\n"))
    assert "body" not in preview.fields
