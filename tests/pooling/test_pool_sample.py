"""A random sample of a pool: what is drawn, with which probability, and what becomes of the rest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, RefusedError
from curation.labeling.rounds.create_round import open_round
from curation.negatives.audit import open_audit
from curation.pooling.candidates import CandidateSource
from curation.pooling.pool import build_pool
from curation.pooling.pool_sample import Band, PooledPair, SampleDesign, draw_sample, read_design
from curation.store import Store, fetch
from tests.support import examples
from tests.support.pool_project import put_run, put_texts
from tests.support.projects import add_names, built_once

DEPTH = 20
RATES = "4:1,12:0.5,20:0.25"


def proposals(queries: int, depth: int) -> list[CandidateSource]:
    return [
        CandidateSource(f"q{query}", f"d{rank}", "bm25", rank, 1.0)
        for query in range(queries)
        for rank in range(1, depth + 1)
    ]


@built_once
def project(store: Store) -> Store:
    """Three queries, 30 documents, and two runs that rank all of them in opposite orders."""
    texts = {f"d{number:02}": f"thing number {number}" for number in range(30)}
    put_texts(store, store.path.parent, texts, {f"q{number}": f"question {number}" for number in range(3)})
    put_run(store, store.path.parent, "up", {f"q{number}": sorted(texts) for number in range(3)})
    put_run(store, store.path.parent, "down", {f"q{number}": sorted(texts)[::-1] for number in range(3)})
    add_names(store, "ann", "bob")
    return store


def stored(store: Store, pool_id: str) -> list[PooledPair]:
    with store.reading() as cursor:
        return fetch(
            cursor,
            PooledPair,
            f"SELECT {', '.join(PooledPair._fields)} FROM pool_sample_pairs WHERE pool_id = ? ORDER BY ALL",
            [pool_id],
        )


def candidates(store: Store) -> set[tuple[str, str]]:
    with store.reading() as cursor:
        return set(cursor.execute("SELECT query_id, document_id FROM candidates").fetchall())


def test_the_drawn_pairs_are_for_judging_and_the_rest_remains_known_as_pooled(project: Store) -> None:
    report = build_pool(project, ["run:up", "run:down"], DEPTH, 0, seed=7, sample_bands=RATES)
    pairs = stored(project, report.pool_id)
    assert [band._asdict() for band in report.sample] == [
        {"first": 1, "last": 4, "pairs": 24, "drawn": 24},
        {"first": 5, "last": 12, "pairs": 48, "drawn": 24},
        {"first": 13, "last": 20, "pairs": 18, "drawn": 6},
    ]
    assert {(pair.band, round(pair.inclusion_probability, 3)) for pair in pairs} == {
        (1, 1.0),
        (2, 0.5),
        (3, 0.333),  # a quarter of 6 is 1.5, so 2
    }
    drawn = {(pair.query_id, pair.document_id) for pair in pairs if pair.sampled}
    assert candidates(project) == drawn
    assert (len(drawn), report.candidates, sum(report.left_out.values())) == (54, 54, 90 - 54)
    opened = open_round(project, "first", ["ann", "bob"], overlap=1, duplicates=0)
    assert opened.presentations == len(drawn)


def test_same_inputs_give_the_same_sample_and_another_seed_another(project: Store, tmp_path: Path) -> None:
    first = build_pool(project, ["run:up"], DEPTH, 0, seed=7, sample_bands=RATES)
    again = build_pool(project, ["run:up"], DEPTH, 0, seed=7, sample_bands=RATES)
    assert (again.pool_id, again.built_before, again.sample) == (first.pool_id, True, first.sample)
    other = build_pool(project, ["run:up"], DEPTH, 0, seed=8, sample_bands=RATES)
    assert stored(project, other.pool_id) != stored(project, first.pool_id)


def test_a_deeper_sample_of_the_same_seed_keeps_what_was_drawn(project: Store) -> None:
    few = build_pool(project, ["run:up"], DEPTH, 0, seed=7, sample_bands="4:1,20:0.25")
    more = build_pool(project, ["run:up"], DEPTH, 0, seed=7, sample_bands="4:1,20:0.5")
    drawn = [{row[:2] for row in stored(project, one.pool_id) if row.sampled} for one in (few, more)]
    assert drawn[0] < drawn[1]
    assert more.added == len(drawn[1] - drawn[0])


@settings(max_examples=examples(60))
@given(st.integers(1, 5), st.integers(4, 40), st.integers(0, 200), st.integers(0, 9))
def test_a_budget_is_met_to_the_pair(queries: int, depth: int, budget: int, seed: int) -> None:
    design = SampleDesign((Band(2, None), Band(depth - 1, None), Band(depth, None)), budget)
    least, whole = queries * 4, queries * depth
    if budget < least:
        with pytest.raises(RefusedError, match="too small"):
            draw_sample(proposals(queries, depth), design, seed)
        return
    pairs = draw_sample(proposals(queries, depth), design, seed).pairs
    assert sum(pair.sampled for pair in pairs) == min(budget, whole)
    assert sum(pair.inclusion_probability for pair in pairs) == pytest.approx(min(budget, whole))
    assert all(pair.sampled for pair in pairs if pair.rank <= 2)
    assert len({pair[:1] + pair[3:4] for pair in pairs if pair.sampled}) == 3 * queries, "no band is empty"


def test_each_pair_of_a_band_is_drawn_as_often_as_its_probability_says() -> None:
    design = SampleDesign((Band(2, 1.0), Band(12, 0.3)), None)
    runs = 600
    drawn = Counter(
        pair.document_id
        for seed in range(runs)
        for pair in draw_sample(proposals(1, 12), design, seed).pairs
        if pair.sampled
    )
    assert drawn["d1"] == drawn["d2"] == runs
    deeper = [drawn[f"d{rank}"] / runs for rank in range(3, 13)]
    assert sum(deeper) == pytest.approx(3)
    assert all(abs(share - 0.3) < 0.08 for share in deeper), deeper  # 4 standard errors


@pytest.mark.parametrize(
    ("bands", "budget", "depth", "told"),
    [
        ("10:1,x:0.5", None, 20, "'x:0.5' cannot be read"),
        ("10:1,20:1.5", None, 20, "1.5 is no rate"),
        ("10:1,20:0", None, 20, "0 is no rate"),
        ("10:1,10:0.5,20:0.1", None, 20, "expected last ranks that ascend"),
        ("10:1,15:0.5", None, 20, "end at rank 15, and the pool's depth is 20"),
        ("10,20", None, 20, "have no rate each"),
        ("10:1,20:0.5", 50, 20, "have rates, and there is a budget"),
        (None, 50, 10, "makes one band"),
        (None, 0, 50, "expected 1 or more"),
    ],
)
def test_a_design_that_means_nothing_is_refused(
    bands: str | None, budget: int | None, depth: int, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        read_design(bands, budget, depth)


def test_a_budget_alone_has_the_usual_bands_and_is_no_second_one(project: Store) -> None:
    design = read_design(None, 500, 50)
    assert design is not None
    assert [band.last for band in design.bands] == [10, 30, 50]
    with pytest.raises(InputError, match="either a budget or a sample"):
        build_pool(project, ["run:up"], DEPTH, 0, 0, budget=10, sample_budget=20)


def test_an_audit_takes_what_was_not_drawn_for_assumed_negatives(project: Store) -> None:
    report = build_pool(project, ["run:up"], DEPTH, 0, seed=7, sample_bands=RATES)
    open_round(project, "first", ["ann", "bob"], overlap=1, duplicates=0)
    found = open_audit(project, ["ann"], size=9)
    undrawn = sum(not pair.sampled for pair in stored(project, report.pool_id))
    assert {one.name: one.population for one in found.strata}["top"] == undrawn == 30
