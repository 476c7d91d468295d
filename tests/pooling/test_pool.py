"""Pools: the union of the systems with its provenance, and random negatives outside their reach."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from curation.core.digests import digest
from curation.core.errors import CurationError, InputError, RefusedError
from curation.core.request import DEFAULT_MODEL
from curation.core.similarity.identical_texts import IdenticalTexts, Representatives
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.labeling.rounds.grading_cost import forecast_pool
from curation.pooling import pool as pool_module
from curation.pooling.candidates import CandidateSource
from curation.pooling.operations import forecast_embedding
from curation.pooling.pool import build_pool, check_request
from curation.pooling.pooled_queries import describe_left_out
from curation.pooling.random_negatives import REACH, draw_negatives, make_random_order
from curation.pooling.request import PoolRequest
from curation.pooling.stored_pool import describe_rebuild, find_last_pool, find_pool, restore_request
from curation.pooling.systems import MAX_DOCUMENTS, SystemLists
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.retrieval import Hit, bm25_check, passages
from curation.retrieval.analyzer import read_analyzer
from curation.retrieval.embeddings import minutes_to_embed
from curation.retrieval.passages import find_cutter
from curation.store import Store, all_settings, put_setting
from curation.store.row_types import Document, Query
from curation.store.settings import MEASURED
from tests.support.gold_project import write_corpus
from tests.support.pool_project import judge, put_queries, put_texts, put_vectors
from tests.support.projects import built_once, new_project, rows_of

Source = tuple[str, str, str, int | None, float | None]


def put_candidate(store: Store, query_id: str, document_id: str, system: str) -> None:
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO candidates VALUES (?, ?)", [query_id, document_id])
        cursor.execute(
            "INSERT INTO candidate_sources VALUES ('elsewhere', ?, ?, ?, NULL, NULL, NULL, NULL)",
            [query_id, document_id, system],
        )


def sources(store: Store, pool_id: str) -> list[Source]:
    sql = (
        "SELECT query_id, document_id, system, rank, score FROM candidate_sources "
        "WHERE pool_id = ? ORDER BY query_id, system, rank, document_id"
    )
    return rows_of(store, sql, pool_id)


def pairs(store: Store) -> set[tuple[str, str]]:
    rows = rows_of(store, "SELECT query_id, document_id FROM candidates")
    assert len(rows) == len(set(rows))
    return set(rows)


SHOP = {
    "shoe-1": "red running shoes",
    "shoe-2": "blue shoes",
    "hat-1": "red hat",
    **{f"thing-{number:02}": f"thing number {number}" for number in range(40)},
}


@built_once
def shop(store: Store) -> Store:
    """43 documents and two queries; stored vectors that place thing-00 and hat-1 beside the first query."""
    put_texts(store, store.path.parent, SHOP, {"q1": "red shoes", "q2": "zebra"})
    near = {"thing number 0": [0.8, 0.6], "red hat": [0.6, 0.8]}
    put_vectors(store, "document", {text: near.get(text, [-1.0, 0.0]) for text in SHOP.values()})
    put_vectors(store, "query", {"red shoes": [1.0, 0.0], "zebra": [0.0, -1.0]})
    return store


def test_candidates_are_the_union_and_keep_every_system_rank_and_score(shop: Store) -> None:
    report = build_pool(shop, PoolRequest(["hybrid", "bm25", "dense"], depth=3, random_negatives=0, seed=1))
    rows = sources(shop, report.pool_id)
    by_system = defaultdict(list)
    for query_id, document_id, system, rank, _ in rows:
        by_system[query_id, system].append((rank, document_id))
    assert by_system == {
        ("q1", "bm25"): [(1, "shoe-1"), (2, "hat-1"), (3, "shoe-2")],
        ("q1", "dense"): [(1, "thing-00"), (2, "hat-1")],
        ("q1", "hybrid"): [(1, "hat-1"), (2, "shoe-1"), (3, "thing-00")],
    }
    assert {score for *_, rank, score in rows if rank == 1 and score} >= {0.8, 1 / 62 + 1 / 62}
    assert pairs(shop) == {("q1", name) for name in ("shoe-1", "shoe-2", "hat-1", "thing-00")}
    assert (report.queries, report.candidates, report.added) == (2, 4, 4)
    assert [(system.system, system.candidates, system.alone) for system in report.systems] == [
        ("bm25", 3, 1),
        ("dense", 2, 0),
        ("hybrid", 3, 0),
    ]


def test_the_passage_that_dense_matched_goes_with_its_candidates_and_with_the_hybrids(
    store: Store, tmp_path: Path
) -> None:
    long = "first part " * 30 + "second part " * 30
    put_texts(store, tmp_path, {"long": long, "twin": long, "short": "red hat"}, {"q1": "red shoes"})
    document = Document("long", "", "", long)
    cutter, spans = find_cutter(DEFAULT_MODEL), [(0, 329), (330, len(document.text))]
    passages._keep(store, cutter, [digest("", long)], [spans])
    parts = [passages.passage_text(document, span) for span in spans]
    put_vectors(store, "document", {parts[0]: [0.0, 1.0], parts[1]: [0.8, 0.6], "red hat": [0.6, 0.8]})
    put_vectors(store, "query", {"red shoes": [1.0, 0.0]})
    report = build_pool(store, PoolRequest(["bm25", "dense", "hybrid"], depth=3, random_negatives=1, seed=1))
    sql = "SELECT system, document_id, passage_start, passage_end FROM candidate_sources WHERE pool_id = ?"
    rows = rows_of(store, sql, report.pool_id)
    assert sorted(rows, key=str) == [
        ("bm25", "short", None, None),
        ("dense", "long", 330, 689),
        ("dense", "short", None, None),
        ("hybrid", "long", 330, 689),
        ("hybrid", "short", None, None),
    ]


def test_a_changed_corpus_counts_only_the_documents_that_changed(shop: Store, tmp_path: Path) -> None:
    build_pool(shop, PoolRequest(["bm25"], depth=3, random_negatives=0, seed=1))
    put_texts(shop, tmp_path, SHOP | {"hat-1": "red shoes hat"}, {"q1": "red shoes"})
    steps: dict[str, int] = {}
    report = build_pool(
        shop, PoolRequest(["bm25"], 3, 0, 1), progress=lambda step, _, total: steps.update({step: total})
    )
    assert steps["counting words of documents"] == 1
    assert ("q1", "hat-1") in {row[:2] for row in sources(shop, report.pool_id)}


def test_nothing_without_a_score_enters_and_the_report_says_so(shop: Store) -> None:
    report = build_pool(shop, PoolRequest(["bm25", "dense"], depth=5, random_negatives=0, seed=1))
    assert all(score > 0 for *_, score in sources(shop, report.pool_id) if score is not None)
    assert [system.no_hit for system in report.systems] == [
        {"no word of the query occurs in the corpus": 1},
        {"no document has a cosine above zero": 1},
    ]
    assert [system.unfilled for system in report.systems] == [5 + 2, 5 + 3]
    assert any(one.startswith("bm25 found nothing for 1 query (“zebra”): no word") for one in report.gaps)
    assert report.left_out == {"results are missing: no further document scored above zero": 15}


def test_what_embeds_says_minutes_before_until_a_pool_has_embedded_the_corpus(shop: Store) -> None:
    with shop.reading() as cursor:
        assert forecast_embedding(cursor) == "about 1 minute, by the speed of other machines"
        assert minutes_to_embed(cursor, 9_600_000) == "about 3 to 20 minutes, by the speed of other machines"
    with shop.transaction() as cursor:
        put_setting(cursor, f"{MEASURED}{DEFAULT_MODEL}", "40000")
        assert minutes_to_embed(cursor, 24_000_000) == "about 8 to 15 minutes, by the last measured speed"
        assert (MEASURED + DEFAULT_MODEL) not in dict(all_settings(cursor)), "no result rests on it"
    build_pool(shop, PoolRequest(["dense"], depth=3, random_negatives=0, seed=1))
    with shop.reading() as cursor:
        assert forecast_embedding(cursor) is None


def test_the_same_call_adds_nothing_and_says_so(shop: Store) -> None:
    first = build_pool(shop, PoolRequest(["bm25"], depth=3, random_negatives=2, seed=1))
    again = build_pool(shop, PoolRequest(["bm25", "bm25"], depth=3, random_negatives=2, seed=1))
    assert (again.pool_id, again.built_before, again.added) == (first.pool_id, True, 0)
    assert (again.systems, again.left_out) == (first.systems, first.left_out)
    sql = "SELECT (SELECT count(*) FROM pools), (SELECT count(*) FROM events WHERE action = 'pool')"
    assert rows_of(shop, sql) == [(1, 1)]
    other = build_pool(shop, PoolRequest(["bm25"], depth=2, random_negatives=2, seed=1))
    assert not other.built_before


def test_a_second_pool_adds_only_what_is_new(shop: Store) -> None:
    shallow = build_pool(shop, PoolRequest(["bm25"], depth=1, random_negatives=3, seed=1))
    deep = build_pool(shop, PoolRequest(["bm25"], depth=3, random_negatives=3, seed=1))
    assert (shallow.added, deep.candidates, deep.added) == (7, 9, 2)


def test_random_negatives_are_exactly_as_many_and_outside_every_systems_reach(shop: Store) -> None:
    report = build_pool(shop, PoolRequest(["bm25", "dense"], depth=3, random_negatives=4, seed=1))
    random = [row for row in sources(shop, report.pool_id) if row[2] == "random"]
    assert Counter(row[0] for row in random) == {"q1": 4, "q2": 4}
    assert all((rank, score) == (None, None) for *_, rank, score in random)
    assert not {row[1] for row in random if row[0] == "q1"} & {"shoe-1", "shoe-2", "hat-1", "thing-00"}
    assert report.random_negatives == 8


@pytest.mark.slow
def test_another_seed_draws_other_negatives_and_the_same_seed_the_same(shop: Store, tmp_path: Path) -> None:
    other = new_project(tmp_path / "other.duckdb")
    put_texts(other, tmp_path, dict(reversed(SHOP.items())), {"q2": "zebra", "q1": "red shoes"})
    one, same = (
        build_pool(s, PoolRequest(["bm25"], depth=3, random_negatives=4, seed=1)) for s in (shop, other)
    )
    assert one == same
    assert sources(shop, one.pool_id) == sources(other, one.pool_id)
    second = build_pool(shop, PoolRequest(["bm25"], depth=3, random_negatives=4, seed=2))
    assert sources(shop, second.pool_id) != sources(shop, one.pool_id)


def test_identical_documents_are_pooled_once_and_counted(store: Store, tmp_path: Path) -> None:
    corpus = {"b": "red shoes", "a": "red shoes", "c": "red shoes", "d": "red hat"}
    corpus |= {f"x{number}": f"other {number}" for number in range(9)}
    put_texts(store, tmp_path, corpus, {"q1": "red shoes", "q2": "shoes"})
    put_candidate(store, "q2", "b", "imported")
    report = build_pool(store, PoolRequest(["bm25"], depth=4, random_negatives=9, seed=0))
    found = {row[:2]: row[3] for row in sources(store, report.pool_id) if row[2] == "bm25"}
    assert found == {("q1", "a"): 1, ("q1", "d"): 4, ("q2", "b"): 1}
    assert report.left_out["candidates are judged under the id of an identical document"] == 4
    assert pairs(store) & {("q1", "b"), ("q1", "c"), ("q2", "a"), ("q2", "c")} == set()


def twins(store: Store, tmp_path: Path) -> Store:
    corpus = {"a": "red shoes", "b": "red shoes"} | {f"x{number}": f"other {number}" for number in range(9)}
    put_texts(store, tmp_path, corpus, {"q1": "red shoes"})
    return store


def test_judgments_that_decide_which_twin_is_pooled_are_part_of_the_pool_id(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "after").mkdir()
    before, after = twins(store, tmp_path), twins(new_project(tmp_path / "after" / "p"), tmp_path)
    put_candidate(before, "q1", "b", "imported")
    first = build_pool(before, PoolRequest(["bm25"], depth=3, random_negatives=2, seed=0))
    second = build_pool(after, PoolRequest(["bm25"], depth=3, random_negatives=2, seed=0))
    put_candidate(after, "q1", "b", "imported")
    assert [row[1] for row in sources(before, first.pool_id) if row[2] == "bm25"] == ["b"]
    assert [row[1] for row in sources(after, second.pool_id) if row[2] == "bm25"] == ["a"]
    assert first.pool_id != second.pool_id
    for project, pool in ((before, first), (after, second)):
        again = build_pool(project, PoolRequest(["bm25"], depth=3, random_negatives=2, seed=0))
        assert (again.pool_id, again.built_before) == (pool.pool_id, True)


def test_what_is_held_without_a_twin_changes_neither_the_pool_nor_its_id(
    store: Store, tmp_path: Path
) -> None:
    (tmp_path / "after").mkdir()
    before, after = twins(store, tmp_path), twins(new_project(tmp_path / "after" / "p"), tmp_path)
    for number in range(5):
        put_candidate(before, "q1", f"x{number}", "imported")
    first, second = (
        build_pool(project, PoolRequest(["bm25"], depth=3, random_negatives=3, seed=0))
        for project in (before, after)
    )
    assert first.pool_id == second.pool_id
    assert sources(before, first.pool_id) == sources(after, second.pool_id)
    assert 1 <= first.added <= second.added == 4


def test_a_corpus_too_small_for_the_negatives_gives_a_counted_reason(store: Store, tmp_path: Path) -> None:
    corpus = {"a": "red shoes", "b": "blue hat", "c": "old coat", "d": "new bag"}
    put_texts(store, tmp_path, corpus, {"q1": "red shoes"})
    report = build_pool(store, PoolRequest(["bm25"], depth=2, random_negatives=5, seed=0))
    assert report.random_negatives == 3
    assert (
        report.left_out["random negatives are missing: no other documents are outside the systems' results"]
        == 2
    )


def test_a_rebuild_names_its_differences_from_the_current_pool(shop: Store) -> None:
    first = PoolRequest(["bm25", "dense"], depth=6, random_negatives=1, seed=3, budget=9)
    build_pool(shop, first)
    with shop.reading() as cursor:
        pool = find_pool(cursor, None)
    assert restore_request(pool) == replace(first, systems=("bm25", "dense"), keep_words=())
    assert describe_rebuild(pool, first, 2) == "The options are the same as for the current pool."
    other = PoolRequest(["bm25", "run:shop"], depth=10, random_negatives=1, seed=3)
    assert describe_rebuild(pool, other, 3) == (
        "Differences from the current pool: without dense; with shop; documents from each system: 10 instead "
        "of 6; budget in pairs: no limit instead of 9; 3 queries instead of 2."
    )


@pytest.mark.parametrize(("can_embed", "systems"), [(True, ["bm25", "dense", "hybrid"]), (False, ["bm25"])])
def test_a_request_without_systems_takes_those_that_the_installation_can_use(
    monkeypatch: pytest.MonkeyPatch, can_embed: bool, systems: list[str]
) -> None:
    monkeypatch.setattr(pool_module, "can_embed", lambda: can_embed)
    assert check_request(PoolRequest()).systems == systems


def test_what_is_missing_or_unknown_gives_a_sentence_and_no_pool(store: Store, tmp_path: Path) -> None:
    def refused(kind: type[CurationError], message: str, *systems: str, **numbers: int) -> None:
        with pytest.raises(kind, match=message):
            build_pool(
                store, PoolRequest(systems, **{"depth": 3, "random_negatives": 1, "seed": 0} | numbers)
            )

    refused(
        InputError, r"(?s)'bm52' is not a system.*'run' is not a system.*one or more of bm25", "bm52", "run"
    )
    refused(
        InputError,
        r"(?s)“Documents from each system”: 0 is out of range.*“Random negatives for each query”: -1 is out",
        "bm25",
        depth=0,
        random_negatives=-1,
    )
    refused(RefusedError, "goldgrade sample", "bm25")
    put_queries(store, {"q1": "red shoes"})
    refused(RefusedError, "import corpus", "bm25")
    assert pairs(store) == set()


# ── Random negatives ────────────────────────────────────────────────────────────────────────────────


def negatives(
    lists: SystemLists, queries: list[Query], documents: list[Document], number: int
) -> tuple[list[CandidateSource], dict[str, int]]:
    """Drawn by seed 5 outside the first 10, where nothing is held yet."""
    identical = IdenticalTexts(
        (document.document_id, document.title, document.body) for document in documents
    )
    order = make_random_order([document.document_id for document in documents], 5, identical)
    return draw_negatives(lists, queries, order, number, 10, identical, Representatives(identical, []))


def query(number: int) -> Query:
    return Query(f"q{number}", "text", "text", "written")


@given(
    corpus=st.integers(1, 60),
    lists=st.lists(st.lists(st.integers(0, 59), unique=True, max_size=30), min_size=1, max_size=3),
    held=st.sets(st.integers(0, 59), max_size=5),
    number=st.integers(1, 8),
    depth=st.integers(1, 10),
    seed=st.integers(0, 9),
)
@settings(deadline=None)
def test_negatives_are_never_near_never_judged_under_two_ids_and_never_fewer_than_possible(
    corpus: int, lists: list[list[int]], held: set[int], number: int, depth: int, seed: int
) -> None:
    documents = [Document(f"d{n:02}", "", "", f"text {n // 2}") for n in range(corpus)]  # in identical twos
    identical = IdenticalTexts((one.document_id, one.title, one.body) for one in documents)
    hits = {
        f"s{place}": [[Hit(f"d{n:02}", 1.0) for n in ranked if n < corpus]]
        for place, ranked in enumerate(lists)
    }
    judged = {f"d{n:02}" for n in held if n < corpus}
    stand_ins = Representatives(identical, [("q0", name) for name in judged])
    order = make_random_order([one.document_id for one in documents], seed, identical)
    proposals, left_out = draw_negatives(hits, [query(0)], order, number, depth, identical, stand_ins)
    ids = [proposal.document_id for proposal in proposals]
    near = {hit.document_id for [ranked] in hits.values() for hit in ranked[:depth]}
    excluded = identical.all_ids(near)
    assert all(name in judged or not identical.all_ids([name]) & judged for name in ids)
    assert not excluded & set(ids)
    assert len({identical.first(document_id) for document_id in ids}) == len(ids)
    possible = len({identical.first(d.document_id) for d in documents if d.document_id not in excluded})
    assert len(ids) == min(number, possible)
    missing = sum(count for reason, count in left_out.items() if "missing" in reason)
    assert missing == number - len(ids)


def test_beyond_one_machine_the_engine_is_named(shop: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MAX_DOCUMENTS, "bm25", 2)
    with pytest.raises(RefusedError, match=r"up to 2 with bm25\. .* engine:NAME"):
        build_pool(shop, PoolRequest(["bm25"], 3, 0, 1))


def test_the_reach_shrinks_only_as_far_as_it_must() -> None:
    documents = [Document(f"d{n:04}", "", "", f"text {n}") for n in range(1100)]
    hits = [Hit(document.document_id, 1.0) for document in documents[:REACH]]
    found = {"bm25": [hits, hits[:0]]}
    proposals, left_out = negatives(found, [query(0), query(1)], documents, 100)
    assert left_out == {}
    assert {p.document_id for p in proposals if p.query_id == "q0"} == {f"d{n}" for n in range(1000, 1100)}
    proposals, left_out = negatives(found, [query(0), query(1)], documents, 101)
    assert left_out == {
        "queries have random negatives from outside the first 500 results, instead of 1,000": 1
    }
    assert min(p.document_id for p in proposals if p.query_id == "q0") >= "d0500"


def test_each_document_is_drawn_equally_often() -> None:
    """3,000 queries, 4 of 30 documents each: every document within 5 standard errors of its share."""
    documents = [Document(f"d{n:02}", "", "", f"text {n}") for n in range(30)]
    queries = [query(number) for number in range(3000)]
    proposals, _ = negatives({"none": [[] for _ in queries]}, queries, documents, 4)
    times = Counter(proposal.document_id for proposal in proposals)
    share = 4 / 30
    error = np.sqrt(share * (1 - share) * len(queries))
    assert len(times) == 30
    assert all(abs(count - share * len(queries)) < 5 * error for count in times.values())


def test_a_grown_corpus_keeps_most_of_an_earlier_draw() -> None:
    documents = [Document(f"d{n:04}", "", "", f"text {n}") for n in range(1000)]
    lists: SystemLists = {"none": [[] for _ in range(50)]}
    queries = [query(number) for number in range(50)]
    before, after = (
        {p[:2] for p in negatives(lists, queries, part, 5)[0]} for part in (documents[:900], documents)
    )
    assert len(before & after) > 0.8 * len(before)


# ── Real data ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_chinese_project_is_pooled_again_and_one_that_nothing_changes_for_keeps_its_id(
    store: Store, tmp_path: Path
) -> None:
    """The pool names the way of cutting words only where an older goldgrade could have found others."""
    corpus = {"plain": "HP 高效能系列 disk", "coat": "a coat", "hat": "café hat", "x": "y"}
    put_texts(store, tmp_path, corpus, {"q1": "coat"})
    build_pool(store, PoolRequest(["bm25"], 3, 0, seed=1))
    put_queries(store, {"q2": "效能"})
    build_pool(store, PoolRequest(["bm25"], 3, 0, seed=1))
    pools = rows_of(store, "SELECT parameters FROM pools")
    assert sorted("words" in json.loads(parameters) for (parameters,) in pools) == [False, True]
    assert ("q2", "plain") in pairs(store)


@pytest.mark.slow
def test_the_stemmer_is_kept_for_the_project_and_told_in_the_pool(shop: Store) -> None:
    plain = build_pool(shop, PoolRequest(["bm25"], 3, 0, seed=1))
    stemmed = build_pool(shop, PoolRequest(["bm25"], 3, 0, seed=1, stemmer="english"))
    assert build_pool(shop, PoolRequest(["bm25"], 3, 0, seed=1)).pool_id == stemmed.pool_id != plain.pool_id
    assert build_pool(shop, PoolRequest(["bm25"], 3, 0, seed=1, stemmer="none")).pool_id == plain.pool_id
    with pytest.raises(InputError, match="There is no stemmer 'klingon'; expected none or one"):
        build_pool(shop, PoolRequest(["bm25"], 3, 0, seed=1, stemmer="klingon"))


@pytest.mark.slow
def test_a_query_that_loses_a_word_says_so_and_kept_words_stay_for_the_project(
    store: Store, tmp_path: Path
) -> None:
    corpus = {"a": "the where function", "b": "function of a sum", "c": "sum", "d": "sort", "e": "join"}
    put_texts(
        store, tmp_path, corpus, {"q1": "where function", "q2": "the sum", "q3": "sort", "q4": "of who"}
    )
    plain = build_pool(store, PoolRequest(["bm25"], 3, 0, seed=1))
    said = [
        "bm25 searches the query “the sum” as “sum”: “the” is a stop word.",
        "bm25 searches the query “where function” as “function”: “where” is a stop word.",
        "A pool can keep stop words that are names in the documents.",
    ]
    assert plain.gaps[-3:] == said
    with store.reading() as cursor:
        pool = find_last_pool(cursor)
    assert pool is not None
    keeping = PoolRequest(["bm25"], 3, 0, seed=1, keep_words=["Where", "the"])
    assert "stop words that bm25 keeps from now on: Where, the instead of none" in describe_rebuild(
        pool, replace(keeping, keep_words=("Where", "the")), 4
    )
    kept = build_pool(store, keeping)
    assert kept.lost_words == {}
    with store.reading() as cursor:
        assert read_analyzer(cursor) == (None, {"the", "where"}), "evaluations of bm25 keep the words, too"
    assert build_pool(store, PoolRequest(["bm25"], 3, 0, seed=1)).pool_id == kept.pool_id != plain.pool_id
    again = build_pool(store, PoolRequest(["bm25"], 3, 0, seed=1, keep_words=["none"]))
    assert (again.pool_id, again.gaps[-3:]) == (plain.pool_id, said)
    with pytest.raises(InputError, match="'function' is not a stop word: BM25 searches for it anyway"):
        build_pool(store, PoolRequest(["bm25"], 3, 0, seed=1, keep_words=["function"]))


def test_a_pool_compares_bm25_with_rank_bm25_and_none_is_stored_where_they_differ(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        f"d{number}": f"{word} {word} hat" for number, word in enumerate("red blue green black white".split())
    }
    put_texts(store, tmp_path, texts, {"q1": "red", "q2": "blue", "q3": "the of"})
    monkeypatch.setattr(bm25_check, "MAX_DOCUMENTS", 4)
    request = PoolRequest(systems=("bm25",), depth=2, random_negatives=0, seed=1)
    report = build_pool(store, request)
    assert report.rank_bm25 == {"queries": 2, "documents": 4, "corpus": 5}
    again = build_pool(store, request)
    assert (again.built_before, again.rank_bm25) == (True, report.rank_bm25)
    monkeypatch.setattr("rank_bm25.BM25Okapi", lambda *field, **more: BM25Okapi(*field, **more | {"k1": 1.4}))
    with pytest.raises(
        RefusedError, match=r"for the query '\w+' \(q\d\) the index has d\d .*, and rank-bm25 has d\d "
    ):
        build_pool(store, replace(request, depth=3))
    assert rows_of(store, "SELECT count(*) FROM pools") == [(1,)]


def test_a_pool_after_imported_judgments_has_the_sample_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    store = new_project(tmp_path / "project.duckdb")
    import_corpus(store, write_corpus(tmp_path / "d.jsonl", [{"id": key, "text": SHOP[key]} for key in SHOP]))
    (tmp_path / "log.csv").write_text("query\nred shoes\nzebra\n")
    import_traffic(store, tmp_path / "log.csv")
    draw_sample(store, DrawRequest(size=2))
    judge(store, tmp_path, {("red shoes", "shoe-1"): 3, ("hat", "hat-1"): 2})
    with store.reading() as cursor:
        said = describe_left_out(cursor, judged_queries=False)
        assert "2 queries × " in forecast_pool(cursor, PoolRequest(["bm25"]))[-1]
    assert said == ["The pool leaves out 1 query outside the sample that only imported judgments judge."]
    assert build_pool(store, PoolRequest(["bm25"])).queries == 2
    assert build_pool(store, PoolRequest(["bm25"], judged_queries=True)).queries == 3
