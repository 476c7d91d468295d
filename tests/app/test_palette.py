"""The palette: what it finds, and for whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.front import palette
from curation.core.errors import RefusedError
from curation.operations.palette_search import MAX_HITS, find_items
from curation.store import Store
from curation.store.row_types import Annotator
from tests.support.projects import add_names, add_pairs, grid, new_project

LEE, ROSA, ANN = (
    Annotator(*who, False) for who in (("lee", "lead"), ("rosa", "reviewer"), ("ann", "annotator"))
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    found = new_project(tmp_path / "project.duckdb")
    add_pairs(found, grid(8, 2))
    add_names(found, "quincy")
    return found


def test_queries_documents_and_people_are_found_by_all_words_so_many_of_each(store: Store) -> None:
    with store.reading() as cursor:
        found = find_items(cursor, "Q", LEE)
        assert [one.kind for one in found] == ["person", *["query"] * MAX_HITS]
        assert [one.title for one in find_items(cursor, "3 QUERY", LEE)] == ["query 3"]
        (document,) = find_items(cursor, "3.1", LEE)
        assert find_items(cursor, "  ", LEE) == find_items(cursor, "% _", LEE) == []
    assert palette._make_address(document) == "/query?id=query+3&document=document+3.1"
    assert palette._make_address(found[0]) == "/team?person=quincy"


def test_reviewers_find_no_people_and_annotators_nothing(store: Store) -> None:
    with store.reading() as cursor:
        assert {one.kind for one in find_items(cursor, "q", ROSA)} == {"query"}
        with pytest.raises(RefusedError, match="reviewer"):
            find_items(cursor, "q", ANN)


def test_exact_titles_come_first_then_titles_that_begin_with_the_text(store: Store) -> None:
    add_pairs(store, {"a": ["x"], "a query": ["x"], "query": ["x"], "query 1 long": ["x"], "x rays": ["x"]})
    with store.reading() as cursor:
        assert [hit.title for hit in find_items(cursor, "query", ROSA)][:2] == ["query", "query 0"]
        titles = [hit.title for hit in find_items(cursor, "query 1", ROSA)]
        kinds = [hit.kind for hit in find_items(cursor, "x", ROSA)]
    assert titles[:2] == ["query 1", "query 1 long"]
    assert kinds == ["document", "query"], "the document is called x, the query begins with it"
