"""The shortest way: one operation from documents and queries to an open round."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curation.core.errors import RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.operations.start import StartRequest, start
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store

PAGES = [
    {"id": f"page-{number}", "title": f"{word} {number}", "text": f"How to {word} a parcel, part {number}."}
    for number in range(30)
    for word in [("send", "return", "track")[number % 3]]
]


@pytest.fixture
def shop(store: Store, write: Callable[..., Path]) -> Store:
    import_corpus(store, write("pages.jsonl", PAGES))
    return store


def log(store: Store, write: Callable[..., Path]) -> None:
    import_traffic(store, write("log.csv", "query,count\nsend a parcel,9\nreturn it,4\ntrack parcel,2\n"))


def test_one_start_draws_pools_and_opens_a_round_for_who_starts(
    shop: Store, write: Callable[..., Path]
) -> None:
    log(shop, write)
    for name, role in (("lee", "lead"), ("ann", "annotator")):
        add_annotator(shop, name, role, "correct horse battery")
    report = start(shop, StartRequest(depth=4), author="lee")
    assert report.round is not None
    assert list(report.round.per_annotator) == ["lee"]
    assert report.pool.queries == 3, "all that there are, where fewer than fifty"
    assert report.pool.candidates == report.round.candidates == 12
    assert (
        report.sentences[0]
        == f"The round first is open for lee: {report.round.presentations} grades to give."
    )
    with pytest.raises(RefusedError, match="already has a round"):
        start(shop, StartRequest(), author="lee")


def test_queries_that_were_imported_are_not_drawn_again(shop: Store, write: Callable[..., Path]) -> None:
    import_queries(shop, write("queries.csv", "id,query\n1,send a parcel\n"))
    add_annotator(shop, "ann", "annotator", "correct horse battery")
    report = start(shop, StartRequest(depth=4, round="autumn"))
    assert report.round is not None
    assert (report.round.round, report.pool.queries) == ("autumn", 1)


def test_a_start_before_anybody_can_grade_ends_with_the_pool_and_goes_on_later(
    shop: Store, write: Callable[..., Path]
) -> None:
    log(shop, write)
    report = start(shop, StartRequest(depth=4))
    assert report.round is None
    assert report.sentences[-1].startswith("No one can grade yet.")
    add_annotator(shop, "lee", "lead", "correct horse battery")
    later = start(shop, StartRequest(depth=4), author="lee")
    assert later.round is not None
    assert later.round.candidates == report.pool.candidates


def test_a_start_keeps_the_pool_of_a_project_and_says_where_bm25_finds_nothing(
    shop: Store, write: Callable[..., Path]
) -> None:
    import_queries(shop, write("queries.csv", "id,query\n1,zebra\n"))
    add_annotator(shop, "lee", "lead", "correct horse battery")
    with pytest.raises(RefusedError, match=r"BM25 found no document to grade\. .*zebra"):
        start(shop, StartRequest())
    import_queries(shop, write("queries.csv", "id,query\n2,send a parcel\n"))
    build_pool(shop, PoolRequest(("bm25",), depth=3, random_negatives=0))
    assert start(shop, StartRequest(depth=9), author="lee").pool.candidates == 3


def test_a_start_without_documents_or_queries_says_what_is_missing(
    store: Store, write: Callable[..., Path]
) -> None:
    with pytest.raises(RefusedError, match="corpus"):
        start(store, StartRequest())
    import_corpus(store, write("pages.jsonl", PAGES))
    with pytest.raises(RefusedError, match="The project has no queries"):
        start(store, StartRequest())
