"""An import and its dry run: they say the same, and a dry run changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.requests import REQUESTS, ImportRequest, make_request
from curation.operations.import_file import IMPORTERS
from curation.operations.import_jobs import dry_run, import_for_page
from curation.store import Store
from tests.support.projects import all_rows, rows_of

Request = Callable[..., ImportRequest]

WIDE = {"annotator_columns": {"ann_rating": "ann", "ben_rating": "ben", "cid_rating": "cid"}}
FILES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "a corpus": ("corpus", "pages.csv", "id,title,text\nd9,Tea,Leaves\nd9,Tea,Leaves\n,no,id\n", {}),
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


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_dry_run_says_what_the_import_does_and_the_same_again_changes_nothing(
    project: Store, request_for: Request, name: str
) -> None:
    what, file, text, options = FILES[name]
    if name == "decisions":
        import_for_page(project, request_for("judgments", *FILES["a wide table"][1:]), "lee")
    asked = request_for(what, file, text, options)
    before = all_rows(project)
    rehearsed = dry_run(project, asked, "lee")
    assert all_rows(project) == before
    done = import_for_page(project, asked, "lee")
    assert rehearsed.outcome == done
    assert done.changes
    assert next(iter(done.figures)) not in ("new", "changed"), "a headline says of what"
    assert all_rows(project) != before
    assert rows_of(project, "SELECT actor FROM events ORDER BY rowid DESC LIMIT 1") == [("lee",)]
    imported = all_rows(project) | {"events": []}
    again = import_for_page(project, asked, "lee")
    assert not again.changes
    assert again.sentence.startswith("Nothing changed")
    assert all_rows(project) | {"events": []} == imported


def test_a_rehearsal_that_is_refused_changes_nothing(project: Store, request_for: Request) -> None:
    first = request_for("runs", "a.trec", "tea Q0 d1 1 9 x\n", {"name": "bm25"})
    import_for_page(project, first, "lee")
    before = all_rows(project)
    other = request_for("runs", "b.trec", "tea Q0 d2 1 9 x\n", {"name": "bm25"})
    dry = dry_run(project, other, "lee")
    assert dry.outcome is None
    assert "a different run 'bm25'" in dry.problems[0][1]
    assert all_rows(project) == before


BAD: dict[str, tuple[str, str, str | bytes, dict[str, Any], str]] = {
    "latin-1": (
        "corpus",
        "a.csv",
        "id,text\nd1,caf\xe9\n".encode("latin-1"),
        {},
        "Line 2, character 7: the byte 0xE9 .*latin-1",
    ),
    "blank": ("traffic", "a.csv", b"\n\n \n", {}, "a.csv has only blank lines; exp.*Export or"),
    "zip": ("corpus", "a.csv", b"PK\x03\x04rest", {}, "a.csv is a zip archive; .*\nUnpack it first"),
    "missing column": ("corpus", "a.csv", b"sku_no,words\n1,x\n", {}, "“Id”"),
    "no text": ("corpus", "a.csv", b"id,colour\n1,red\n", {}, "“Title” or “Text”"),
    "broken json": ("corpus", "a.jsonl", b'{"id": "1", "text": "x"}\n{"id"\n', {}, "line 2 .*Broken JSON"),
    "markup": ("traffic", "a.csv", b"query,count\n<script>alert(1)</script>,x\n", {}, "line 2"),
    "unknown": ("runs", "a.trec", b"tea Q0 d7 1 9 x\n", {"name": "r"}, "line 1 .*no document 'd7'"),
    "no name": ("runs", "a.trec", b"tea Q0 d1 1 9 x\n", {"name": ""}, "'' cannot name a run"),
    "nobody": ("judgments", "a.csv", b"query,document,grade\ntea,d1,2\n", {}, "“Who judged”"),
    "no reason": ("decisions", "a.csv", b"query,document,grade\ntea,d1,2\n", {}, "line 2 .*needs a reason"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_told_in_words_of_the_page(project: Store, request_for: Request, name: str) -> None:
    what, file, content, options, expected = BAD[name]
    asked = make_request(what, file, **options)
    try:
        asked = request_for(what, file, content, options)
    except InputError as error:  # there is nothing to look at: as the page tells it
        from curation.operations.import_wording import describe_refusal

        dry = describe_refusal(error, asked)
    else:
        dry = dry_run(project, asked, "lee")
        with pytest.raises((InputError, RefusedError)) as caught:
            import_for_page(project, asked, "lee")
        assert "secret-folder" not in caught.value.found
    assert dry.outcome is None
    assert dry.problems
    text = "\n".join([*map(" ".join, dry.problems), dry.way_out])
    assert re.search(expected, text, re.DOTALL), text
    assert not re.search(r"secret-folder|`|--\w|jq |goldgrade", text), text
    for _, sentence in dry.problems:
        assert sentence[0] in f"'{file[0]}" or not sentence[0].islower(), sentence


def test_every_kind_has_its_import() -> None:
    assert list(IMPORTERS) == list(REQUESTS)
    assert {what for what, *_ in FILES.values()} == set(REQUESTS)
