"""Pools of engines: their lists are stored first; what needs the whole corpus is refused on a part of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from curation.core.errors import CurationError, InputError, RefusedError
from curation.pooling.engine_negatives import list_notices
from curation.pooling.operations import OPERATIONS
from curation.pooling.pool import build_pool
from curation.pooling.pool_report import PoolReport
from curation.pooling.request import PoolRequest
from curation.queries.coverage.report import find_coverage
from curation.queries.requests import CoverageRequest
from curation.retrieval.engines.stored_engines import add_engine
from curation.store import COMMAND_LINE, Store
from curation.store.documents import current_corpus, is_held
from tests.support.http_server import HttpAnswer
from tests.support.pool_project import put_queries
from tests.support.projects import rows_of
from tests.support.search_server import TEMPLATE, SearchServer, engine, template_file

__all__ = ["engine"]
WITHOUT_RANDOM = TEMPLATE.partition("random:")[0]


@pytest.fixture
def project(store: Store, engine: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Two queries; the engine has four shoes and thirty other things."""
    monkeypatch.setattr("curation.retrieval.engines.client.RequestPace.wait", lambda self: None)
    engine.documents = {f"shoe {n}": {"title": f"shoes number {n}"} for n in range(4)}
    engine.documents |= {f"thing {n}": {"title": f"thing number {n}"} for n in range(30)}
    add_engine(store, "shop", "http", template_file(tmp_path))
    put_queries(store, {"q1": "red shoes", "q2": "shoes"})
    return store


def pool(
    store: Store, system: str = "engine:shop", negatives: int = 3, author: str = COMMAND_LINE, **more: str
) -> PoolReport:
    return build_pool(store, PoolRequest([system], 10, negatives, 7, **more), author=author)


def test_an_engine_is_pooled_by_its_stored_run_and_the_same_pool_again_asks_nothing(
    project: Store, engine: SearchServer
) -> None:
    first = pool(project)
    assert first.systems[0].system.startswith("run:shop@")
    assert (first.candidates, first.random_negatives) == (8 + 6, 6)
    sent = len(engine.requests)
    again = pool(project)
    assert (again.pool_id, again.built_before, len(engine.requests)) == (first.pool_id, True, sent)


def test_what_is_asked_where_is_said_before_and_only_what_is_missing(project: Store) -> None:
    request = PoolRequest(systems=("engine:shop",), random_negatives=3, seed=7, rate=4)
    with project.reading() as cursor:
        assert list_notices(cursor, request) == [
            "goldgrade asks 127.0.0.1 for 2 lists, with at most 4 requests per second. Query texts are sent "
            "redacted.",
            "goldgrade asks 127.0.0.1 for random documents for 2 queries, with at most 4 requests per "
            "second.",
        ]
    pool(project)
    with project.reading() as cursor:
        assert list_notices(cursor, request) == []
        assert list_notices(cursor, replace(request, seed=8))[0].startswith(
            "goldgrade asks 127.0.0.1 for random"
        )


def test_queries_without_a_list_are_counted_by_the_pool(project: Store, engine: SearchServer) -> None:
    engine.faults = [HttpAnswer(400)]
    assert pool(project).left_out["queries that the engine rejected (engine:shop)"] == 1
    assert pool(project, negatives=0).left_out["queries that the engine rejected (engine:shop)"] == 1


def test_random_negatives_are_the_engines_and_not_of_what_it_ranked(project: Store) -> None:
    pool(project)
    drawn = rows_of(project, "SELECT query_id, document_id FROM candidate_sources WHERE system = 'random'")
    assert all(document_id.startswith("thing") for _, document_id in drawn)
    with project.reading() as cursor:
        assert is_held(cursor)
        assert {*current_corpus(cursor).ids} >= {document_id for _, document_id in drawn}
    other = build_pool(project, PoolRequest(["engine:shop"], 10, 3, 8))
    sql = "SELECT document_id FROM candidate_sources WHERE system = 'random' AND pool_id = ?"
    assert set(rows_of(project, sql, other.pool_id)) != {(document_id,) for _, document_id in drawn}


def test_they_are_drawn_from_a_file_of_all_ids_by_seed(
    project: Store, engine: SearchServer, tmp_path: Path
) -> None:
    file = tmp_path / "ids.txt"
    file.write_text("\n".join(engine.documents))
    found = pool(project, ids=str(file))
    assert found.random_negatives == 6
    assert not any("random" in request for request in engine.requests)
    assert pool(project, ids=str(file)).built_before


def test_they_are_refused_where_nothing_can_give_them(
    project: Store, engine: SearchServer, tmp_path: Path
) -> None:
    add_engine(project, "shop", "http", template_file(tmp_path, WITHOUT_RANDOM))
    with pytest.raises(RefusedError, match="has no template for random"):
        pool(project)
    assert pool(project, negatives=0).candidates == 8
    with pytest.raises(InputError, match="A file of ids has no effect"):
        pool(project, negatives=0, ids="all.txt")


def test_what_needs_the_whole_corpus_is_refused_on_a_held_one(project: Store) -> None:
    pool(project, negatives=0)
    for system in ("bm25", "dense", "hybrid"):
        with pytest.raises(RefusedError, match=f"{system} would treat these documents as the whole corpus"):
            build_pool(project, PoolRequest([system], 10, 0, 1))
    with project.reading() as cursor, pytest.raises(RefusedError, match="whole corpus"):
        OPERATIONS["pool"].check(cursor, PoolRequest())
    with pytest.raises(RefusedError, match="coverage would treat these documents"):
        find_coverage(project, CoverageRequest())


def test_an_unknown_engine_is_refused_before_anything_is_done(project: Store) -> None:
    with project.reading() as cursor, pytest.raises(Exception, match="no engine 'store'"):
        OPERATIONS["pool"].check(cursor, PoolRequest(systems=("engine:store",)))


def test_who_is_no_lead_changes_neither_the_stemmer_nor_the_corpus(
    project: Store, engine: SearchServer
) -> None:
    settings = rows_of(project, "SELECT * FROM settings ORDER BY ALL")
    with pytest.raises(CurationError, match="nobody"):
        pool(project, stemmer="german", author="nobody")
    assert rows_of(project, "SELECT * FROM settings ORDER BY ALL") == settings
    assert engine.requests == []
