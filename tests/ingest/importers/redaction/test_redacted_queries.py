"""Personal data in queries that come from files: none of it is stored, and such queries are still found."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.queries import make_query_id
from curation.ingest.importers.query_import import import_queries
from curation.labeling.imported import import_judgments
from tests.support.projects import all_rows, rows_of

MAIL = "ann.lee@example.org"
TEXTS = "SELECT text FROM queries ORDER BY text"


def test_personal_data_in_queries_needs_and_other_fields_is_replaced_and_counted(store, write):
    row = {
        "_id": "7",
        "text": f"orders of {MAIL}",
        "narrative": "call +49 30 901820",
        "more": {"from": [MAIL, 3]},
    }
    result = import_queries(store, write("q.jsonl", [row, {"_id": "8", "text": "red shoes"}]))
    assert result.personal == {"email": 1, "phone": 1}
    assert rows_of(store, TEXTS) == [("orders of [email]",), ("red shoes",)]
    assert MAIL not in repr(all_rows(store))
    assert "901820" not in repr(all_rows(store))


def test_personal_data_in_ids_names_and_numbers_of_fields_is_replaced_and_counted(store, write):
    rows = [
        {"_id": MAIL, "text": "red hats", "clicks": {MAIL: 2, "bob@example.org": 1}},
        {"_id": "4111111111111111", "text": "blue hats", "card": 4111111111111111, "seen": 12, "new": True},
    ]
    path = write("q.jsonl", rows)
    result = import_queries(store, path)
    assert result.personal == {"card": 1, "email": 1}
    assert rows_of(store, "SELECT query_id, metadata::TEXT FROM queries ORDER BY text") == [
        ("4111111111111111", '{"card":"[card]","new":true,"seen":12}'),
        (make_query_id("red hats"), r'{"clicks":"{\"[email]\":2,\"[email]\":1}"}'),
    ]
    assert "example.org" not in repr(all_rows(store))
    assert import_queries(store, path).unchanged == 2


def test_a_query_of_nothing_but_personal_data_is_left_out_and_counted(store, write):
    result = import_queries(store, write("q.csv", f"query\n{MAIL}\nhat\n"))
    assert result.left_out == {"only personal data": 1}
    with pytest.raises(InputError, match="only personal data"):
        import_queries(store, write("all.csv", f"query\n{MAIL}\n"))


def test_judgments_find_a_query_by_the_text_that_held_personal_data(corpus, write):
    import_queries(corpus, write("q.jsonl", [{"_id": "7", "text": f"orders of {MAIL}"}]))
    lines = ["query,document,annotator,grade", f"orders of {MAIL},d1,bob,2", f"bill for {MAIL},d2,bob,0"]
    graded = "\n".join([*lines, f"{MAIL},d3,bob,1", ""])
    result = import_judgments(corpus, write("j.csv", graded))
    assert result.judgments == 2
    assert result.left_out == {"query is only personal data": 1}
    assert rows_of(corpus, TEXTS) == [("bill for [email]",), ("orders of [email]",)]
    assert MAIL not in repr(all_rows(corpus))
