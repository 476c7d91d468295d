"""What the beginning of a file shows, and which column is proposed for which field."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.errors import InputError
from curation.ingest.picking.file_preview import FIRST, preview_file, recognised, seems_to_be
from curation.ingest.picking.kinds import FILE_KINDS
from curation.ingest.picking.request import ImportRequest
from curation.operations.importing.importing import dry_run
from curation.store import Store

LINES = [{"_id": f"d{number}", "title": f"Tea {number}", "text": "x" * 200} for number in range(30)]
TABLE = "".join(f"{line['_id']}\t{line['title']}\t{line['text']}\n" for line in LINES)


def written(folder: Path, name: str, content: bytes) -> ImportRequest:
    path = folder / name
    path.write_bytes(content)
    return ImportRequest("corpus", str(path), name)


def parquet(folder: Path) -> bytes:
    pq.write_table(pa.Table.from_pylist(LINES), folder / "x")
    return (folder / "x").read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.jsonl", "\n".join(map(json.dumps, LINES)).encode(), "jsonl"),
        ("a", "\n".join(map(json.dumps, LINES)).encode(), "jsonl"),
        ("a.csv", f"_id\ttitle\ttext\n{TABLE}".replace("\t", ",").encode(), "csv"),
        ("a.tsv.gz", gzip.compress(f"_id\ttitle\ttext\n{TABLE}".encode()), "tsv"),
        ("a.tsv", f"_id\ttitle\ttext\n{TABLE}".encode("utf-16"), "tsv"),
        ("a.parquet", None, "parquet"),
    ],
)
def test_the_first_rows_are_the_same_in_every_format(
    tmp_path: Path, name: str, content: bytes | None, format: str
) -> None:
    found = preview_file(written(tmp_path, name, content or parquet(tmp_path)))
    assert found.format == format
    assert found.columns == ("_id", "title", "text")
    assert len(found.rows) == FIRST
    assert found.rows[0][:2] == ("d0", "Tea 0")
    assert found.rows[0][2].endswith("x…")
    assert found.fields == {"id": "_id", "title": "title", "body": ["text"]}


@pytest.mark.parametrize(
    ("what", "columns", "fields"),
    [
        ("corpus", "docno,headline,contents", {"id": "docno", "title": "headline", "body": ["contents"]}),
        ("corpus", "ID,Name,short_description", {"id": "ID", "title": "Name", "body": ["short_description"]}),
        ("traffic", "user_query,timestamp,client_id", {"query": 0, "time": 1, "session": 2}),
        ("traffic", "Keyword,Searches", {"query": 0, "count": 1}),
        ("queries", "qid,query,narrative", {"id": 0, "text": 1, "information_need": 2}),
        ("runs", "qid,docno,rank,score", {"query": 0, "document": 1, "rank": 2, "score": 3}),
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
        ("corpus", "a,b", {}),
    ],
)
def test_columns_are_recognised_by_the_names_of_the_field(
    what: str, columns: str, fields: dict[str, Any]
) -> None:
    names = columns.split(",")
    expected = {field: names[at] if isinstance(at, int) else at for field, at in fields.items()}
    assert recognised(names, FILE_KINDS[what].fields) == expected


def test_what_is_recognised_is_what_the_import_would_find_by_itself(
    project: Store, request_for: Callable[..., ImportRequest]
) -> None:
    """Where the file has usual names; a proposal must not change what an import does."""
    files = {
        "corpus": "_id,id,title,name,text,body\na,1,t,n,x,y\n",
        "traffic": "query,q,time,timestamp,count,session,user\ntea,x,2026-01-01,,2,s,u\n",
        "queries": "id,query_id,text,query,narrative\n1,2,oolong,tea,need\n",
    }
    for what, text in files.items():
        asked = request_for(what, f"{what}.csv", text)
        assert asked.fields
        assert dry_run(project, asked, "lee") == dry_run(project, asked._replace(fields={}), "lee")


def test_what_a_system_may_have_answered_is_not_proposed_as_the_reference(
    request_for: Callable[..., ImportRequest],
) -> None:
    rows = [{"question": "tea", "answer": "a bag", "contexts": ["x"]}]
    assert request_for("answers", "a.json", json.dumps(rows)).fields == {"query": "question"}
    rows[0]["ground_truth"] = "a leaf"
    assert request_for("answers", "b.json", json.dumps(rows)).fields["reference"] == "ground_truth"


def test_no_column_can_be_chosen_where_the_import_would_find_one(
    project: Store, request_for: Callable[..., ImportRequest]
) -> None:
    asked = request_for("traffic", "log.csv", "query,session\n" + "tea,s1\n" * 30)
    none = asked._replace(fields={**asked.fields, "session": ""})
    found = [dry_run(project, one, "lee").outcome for one in (asked, none)]
    assert [one.figures["sessions"] for one in found if one] == [1, 0]


def test_a_file_without_columns_is_known_by_its_lines(tmp_path: Path) -> None:
    run = written(tmp_path, "x.txt", b"q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 9.1 bm25\n")
    qrels = written(tmp_path, "y.txt", b"q1 0 d1 1\nq1 0 d2 0\n")
    table = written(tmp_path, "z.txt", b"id,text\n1,x\n")
    assert [seems_to_be(one) for one in (run, qrels, table)] == ["runs", "judgments", None]
    found = preview_file(run._replace(what="runs"))
    assert (found.format, found.columns, found.rows[1][2]) == ("trec", (), "d2")
    assert preview_file(qrels._replace(what="judgments")).format == "qrels"


def test_a_beginning_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is empty"):
        preview_file(written(tmp_path, "a.csv", b""))


def test_bytes_of_another_encoding_are_shown_as_such_and_a_column_is_refused_for_them(tmp_path: Path) -> None:
    """A page can draw no surrogates: it failed instead of saying which encoding to choose."""
    value = written(tmp_path, "a.csv", "id,title\n1,Gr\xfcner Tee\n".encode("latin-1"))
    assert preview_file(value).rows == [("1", "Gr\ufffdner Tee")]
    assert preview_file(value._replace(encoding="latin-1")).rows == [("1", "Gr\xfcner Tee")]
    header = written(tmp_path, "b.csv", ("id,gr\xf6sse\n" + "1,x\n" * 200).encode("latin-1"))
    with pytest.raises(InputError, match=r"the name of column 2, “gr\ufffdsse”, is not utf-8\n.*latin-1"):
        preview_file(header)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"\n <!DOCTYPE html>\n<html>", "is a web page; expected one record a line\nIt may be"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is a spreadsheet or a document of an office program; .*\nSave"),
        (b"\x89PNG\r\n\x1a\n\0", "is a picture; "),
        (b"%PDF-1.7\n", "is a PDF document; "),
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
    found = dry_run(project, asked, "lee").problems
    assert len(found) == 3
    assert all("\ufffd" in one.found and one.found.encode() for one in found)
    assert not any("udcfc" in one.found for one in found)


def test_the_icecat_files_are_recognised(shared: Path) -> None:
    icecat = shared / "chorus_icecat"
    products, ratings = icecat / "products.jsonl.gz", icecat / "Broad_Query_Set_individual_ratings.csv"
    found = preview_file(ImportRequest("corpus", str(products), products.name))
    assert {name: found.fields[name] for name in ("id", "title", "body")} == {
        "id": "id",
        "title": "title",
        "body": ["short_description"],
    }
    found = preview_file(ImportRequest("judgments", str(ratings), ratings.name))
    assert (found.fields["query"], found.fields["document"]) == ("query", "docid")
    assert "grade" not in found.fields
    found = preview_file(ImportRequest("decisions", str(ratings), ratings.name))
    assert found.fields["grade"] == "final_rating"


def test_a_column_of_long_texts_is_proposed_where_no_name_is_known(tmp_path: Path) -> None:
    rows = "".join(f"{number},Tea {number},green,{'A leaf and water. ' * 9}\n" for number in range(9))
    found = preview_file(written(tmp_path, "a.csv", f"id,title,kind,story\n{rows}".encode()))
    assert found.fields["body"] == ["story"]
    found = preview_file(written(tmp_path, "b.csv", b"id,title,kind\n1,Tea,green\n"))
    assert "body" not in found.fields


@pytest.mark.parametrize("name", ["body_html", "Body (HTML)", "html", "content", "abstract", "markdown"])
def test_usual_names_of_a_text_are_recognised(name: str) -> None:
    assert recognised(["id", "headline", name], FILE_KINDS["corpus"].fields)["body"] == [name]
