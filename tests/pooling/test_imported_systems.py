"""Imported runs as systems of a pool, and a budget of pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError, NotFoundError
from curation.ingest.importers.run_import import import_run
from curation.pooling.candidates import CandidateSource, select_within_budget
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store
from tests.support.pool_project import put_run, put_texts
from tests.support.projects import built_once, rows_of

TEXTS = {f"d{number}": f"thing number{number}" for number in range(1, 9)}


@built_once
def project(store: Store) -> Store:
    put_texts(store, store.path.parent, TEXTS, {"q1": "number1", "q2": "number2", "q3": "zebra"})
    return store


def sources(store: Store, pool_id: str) -> dict[tuple[str, str], list[tuple[str, int]]]:
    """(query, system) → its documents with their ranks, best first."""
    found = defaultdict(list)
    rows = rows_of(
        store, "SELECT query_id, system, document_id, rank FROM candidate_sources WHERE pool_id = ?", pool_id
    )
    for query_id, system, document_id, rank in rows:
        found[query_id, system].append((document_id, rank))
    return {key: sorted(places, key=lambda place: place[1]) for key, places in found.items()}


def test_an_imported_run_is_pooled_beside_our_own_systems(project: Store, tmp_path: Path) -> None:
    put_run(project, tmp_path, "shop", {"q1": ["d5", "d1", "d6"], "q3": ["d7"]})
    report = build_pool(project, PoolRequest(["run:shop", "bm25"], depth=2, random_negatives=0, seed=1))
    assert sources(project, report.pool_id) == {
        ("q1", "bm25"): [("d1", 1)],
        ("q1", "run:shop"): [("d5", 1), ("d1", 2)],
        ("q2", "bm25"): [("d2", 1)],
        ("q3", "run:shop"): [("d7", 1)],
    }
    assert [(line.system, line.candidates, line.alone, line.top) for line in report.systems] == [
        ("bm25", 2, 1, 2),
        ("run:shop", 3, 2, 3),
    ]
    assert report.systems[1].no_hit == {"the run has no result for the query": 1}
    assert (
        report.left_out["results are missing: an imported run is shorter than the depth for some queries"]
        == 1
    )


def test_a_run_that_gives_no_scores_or_zeros_is_pooled_by_its_ranks(project: Store, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("query\tdocument\trank\nq1\td4\t2\nq1\td5\t1\n")
    (tmp_path / "b.tsv").write_text("query\tdocument\trank\tscore\nq1\td4\t1\t0\nq1\td5\t2\t-1\n")
    for name in "ab":
        import_run(project, tmp_path / f"{name}.tsv", name)
    report = build_pool(project, PoolRequest(["run:a", "run:b"], depth=5, random_negatives=0, seed=1))
    assert sources(project, report.pool_id) == {
        ("q1", "run:a"): [("d5", 1), ("d4", 2)],
        ("q1", "run:b"): [("d4", 1), ("d5", 2)],
    }
    scores = rows_of(project, "SELECT system, score FROM candidate_sources ORDER BY system, rank")
    assert scores == [("run:a", None), ("run:a", None), ("run:b", 0.0), ("run:b", -1.0)]


def test_documents_that_left_the_corpus_are_counted_and_the_places_below_move_up(
    project: Store, tmp_path: Path
) -> None:
    put_run(project, tmp_path, "shop", {"q1": ["d5", "d1"]})
    put_texts(
        project, tmp_path, {name: text for name, text in TEXTS.items() if name != "d5"}, {"q1": "number1"}
    )
    report = build_pool(project, PoolRequest(["run:shop"], depth=2, random_negatives=0, seed=1))
    assert sources(project, report.pool_id) == {("q1", "run:shop"): [("d1", 1)]}
    assert (
        report.left_out["results are left out: imported runs name documents that are not in the corpus"] == 1
    )


def test_a_pool_with_another_run_is_another_pool(project: Store, tmp_path: Path) -> None:
    put_run(project, tmp_path, "a", {"q1": ["d5"]})
    put_run(project, tmp_path, "b", {"q1": ["d5"]})
    first, again, other = (
        build_pool(project, PoolRequest([f"run:{name}"], depth=2, random_negatives=0, seed=1))
        for name in "aab"
    )
    assert again.built_before
    assert first.pool_id == again.pool_id != other.pool_id


def test_a_run_that_is_not_there_is_a_sentence(project: Store) -> None:
    with pytest.raises(
        NotFoundError, match=r"no run 'x'. The project has no " r"runs yet. .*goldgrade import run"
    ):
        build_pool(project, PoolRequest(["bm25", "run:x"], depth=2, random_negatives=0, seed=1))


def test_what_is_over_the_budget_is_counted(project: Store, tmp_path: Path) -> None:
    put_run(project, tmp_path, "a", {"q1": ["d1", "d2", "d3", "d4"], "q2": ["d1", "d2", "d3"], "q3": ["d8"]})
    put_run(project, tmp_path, "b", {"q1": ["d5", "d2"]})
    report = build_pool(
        project, PoolRequest(["run:a", "run:b"], depth=4, random_negatives=1, seed=1, budget=6)
    )
    assert report.candidates == 6 + 3
    assert report.left_out["candidates are left out, because they are over the budget"] == 3
    assert report.systems[0].top == 8  # places, pooled or not


def test_a_budget_of_nothing_is_refused(project: Store) -> None:
    with pytest.raises(InputError, match="“Budget in pairs”: 0 is out of range"):
        build_pool(project, PoolRequest(["bm25"], depth=2, random_negatives=0, seed=1, budget=0))


PROPOSALS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 7), st.sampled_from("ab")), st.integers(1, 9), min_size=1
).map(
    lambda found: [
        CandidateSource(f"q{q}", f"d{d}", system, rank, 1.0) for (q, d, system), rank in found.items()
    ]
)


@given(proposals=PROPOSALS, budget=st.integers(1, 45), seed=st.integers(0, 3))
def test_a_budget_is_used_up_evenly_by_rank_and_whatever_the_order(
    proposals: list[CandidateSource], budget: int, seed: int
) -> None:
    within, over = select_within_budget(proposals, budget, seed)
    every = {proposal[:2] for proposal in proposals}
    kept = {proposal[:2] for proposal in within}
    assert len(kept) == min(budget, len(every))
    assert over == len(every) - len(kept)
    assert within == [proposal for proposal in proposals if proposal[:2] in kept]
    best: dict[tuple[str, str], int] = {}
    for proposal in proposals:
        best[proposal[:2]] = min(best.get(proposal[:2], 99), proposal.rank or 0)
    counts = Counter(query_id for query_id, _ in kept)
    for query_id in {pair[0] for pair in every}:
        own = {pair for pair in every if pair[0] == query_id}
        if own - kept:  # a query that was cut has as many as any other, but for the last round
            assert counts[query_id] >= max(counts.values()) - 1
            assert max((best[pair] for pair in own & kept), default=0) <= min(
                best[pair] for pair in own - kept
            )
    assert {p[:2] for p in select_within_budget(proposals[::-1], budget, seed)[0]} == kept
