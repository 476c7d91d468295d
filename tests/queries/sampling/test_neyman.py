"""Neyman's allocation from a release: the figures, their variances, and what the allocation is good for."""

from __future__ import annotations

import hashlib
from math import sqrt
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.queries.sampling.designs import draw_stratified
from curation.queries.sampling.request import SamplingPlan
from curation.queries.sampling.sample import draw_sample
from curation.queries.sampling.strata import Labels
from curation.queries.sampling.top_up import top_up
from curation.queries.sampling.variances import FigureSpread, Moments, variances_of
from curation.releases.release_rows import FORMAT, release_id_of, signed_row
from curation.releases.spread import ndcg, read_spread, spread_if_asked
from curation.store import Store, append, append_rows, utc_now
from tests.support.stored_parts import add_texts, alter_part, part_text, text_of

# ── The figure ──────────────────────────────────────────────────────────────────────────────────


@given(
    st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.integers(-1, 3), min_size=1),
    st.permutations("abcdefghijklmnop"),
    st.integers(0, 16),
)
def test_ndcg_is_that_of_trec_eval(grades: dict[str, int], order: list[str], length: int) -> None:
    ranking = order[:length]
    run = {"q": {document: float(-place) for place, document in enumerate(ranking)} or {"nothing": 1.0}}
    expected = pytrec_eval.RelevanceEvaluator({"q": grades}, {"ndcg_cut_10"}).evaluate(run)
    assert ndcg(grades, ranking) == pytest.approx(expected["q"]["ndcg_cut_10"], abs=1e-12)


# ── A release, as rows ──────────────────────────────────────────────────────────────────────────


def freeze_rows(store: Store, name: str, queries: list[dict[str, Any]], grades: dict[str, list[int]]) -> str:
    """A release with the parts that variances need; documents are d0, d1, … of each query."""
    rows: dict[str, list[dict[str, Any]]] = {
        "release": [{"format": FORMAT, "name": name, "queries": {"dev": len(queries)}, "sealed": ["test"]}],
        "queries": queries,
        "qrels": [
            {"query_id": query, "document_id": f"d{place}", "grade": grade}
            for query, given in grades.items()
            for place, grade in enumerate(given)
        ],
        "split": [{"parameters": {"relevant_grade": 2}}],
        "candidates": [
            {"query_id": query, "document_id": f"d{place}", "system": "random" if place == 3 else "bm25"}
            for query, given in grades.items()
            for place in range(len(given))
        ],
    }
    texts = {part: part_text(table) for part, table in rows.items()}
    sums = {part: text_of(text).sums for part, text in texts.items()}
    release_id = release_id_of({part: found.sha256 for part, found in sums.items()})
    manifest = {"parts": {part: found._asdict() for part, found in sums.items()}}
    with store.transaction() as cursor:
        append_rows(cursor, "releases", [signed_row(name, release_id, manifest, utc_now(), "ada")])
        add_texts(cursor, release_id, texts)
    return release_id


def query(query_id: str, stratum: str, probability: float | None, part: str = "dev") -> dict[str, Any]:
    drawn = {"stratum": stratum, "inclusion_probability": probability}
    return {"query_id": query_id, **drawn, "part": part}


QUERIES = [
    query("h1", "head", 1.0),
    query("h2", "head", 1.0),
    query("t1", "tail", 0.1),
    query("t2", "tail", 0.1),
    query("t3", "tail", 0.3),
    query("o1", "torso", 0.5),
    query("w1", "written", None),
    query("r1", "tail", 0.1),
]
GRADES = {
    "h1": [2, 3, 0, 2],  # the fourth was proposed at random: share 2/3
    "h2": [0, 0],
    "t1": [2],
    "t2": [1, 0],
    "t3": [3, 0],
    "o1": [2, 0],
    "w1": [2],
    "r1": [0, 0, 0],
}


def test_moments_weigh_by_the_inverse_probability_and_leave_out_what_says_nothing(store: Store) -> None:
    freeze_rows(store, "v1", QUERIES, GRADES)
    spread = read_spread(store, "v1")
    # head: 2/3 and 0. tail: 1, 0, 1/2, 0 with weights 10, 10, 10/3, 10.
    assert spread.strata["head"] == Moments(2, pytest.approx(1 / 3, abs=1e-6), pytest.approx(2 / 9, abs=1e-6))
    mean = (10 + 5 / 3) / (30 + 10 / 3)
    spreads = 10 * (1 - mean) ** 2 + 20 * mean**2 + 10 / 3 * (0.5 - mean) ** 2
    variance = spreads / (30 + 10 / 3) * 4 / 3
    assert spread.strata["tail"] == Moments(
        4, pytest.approx(mean, rel=1e-5), pytest.approx(variance, rel=1e-5)
    )
    assert set(spread.strata) == {"head", "tail"}
    assert spread.pooled.queries == 7
    assert spread.pooled.variance == pytest.approx((2 / 9 + 3 * variance) / 4, rel=1e-5)
    assert spread.left_out == {"they are not of the sample that was in force when it was frozen": 1}
    assert spread.figure == "share of judged candidates that are relevant (grade 2 or more)"


def test_sealed_grades_tell_nothing_about_variances(store: Store) -> None:
    sealed = [query("h3", "head", 1.0, "test"), query("h4", "head", 1.0, "test")]
    freeze_rows(store, "open", QUERIES, GRADES)
    freeze_rows(store, "sealed", [*QUERIES, *sealed], {**GRADES, "h3": [3, 3], "h4": [0, 3]})
    without, beside = read_spread(store, "open"), read_spread(store, "sealed")
    assert (beside.strata, beside.pooled) == (without.strata, without.pooled)
    assert beside.left_out["they are in a sealed part"] == 2
    freeze_rows(store, "all sealed", sealed, {"h3": [3, 3], "h4": [0, 3]})
    with pytest.raises(RefusedError, match="in no sealed part"):
        read_spread(store, "all sealed")


def test_an_altered_release_tells_no_variances(store: Store) -> None:
    freeze_rows(store, "v1", QUERIES, GRADES)
    with store.transaction() as cursor:
        alter_part(cursor, "qrels", lambda text: text.replace("3", "2"))
    with pytest.raises(RefusedError, match="not as it was frozen"):
        read_spread(store, "v1")


def test_with_a_run_the_figure_is_its_ndcg_and_queries_that_it_lacks_count_as_0(store: Store) -> None:
    freeze_rows(store, "v1", QUERIES, GRADES)
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO runs VALUES ('id', 'bm25', 'file', '{}', ?)", [utc_now()])
        for query_id, documents in {"h1": "d1 d0", "t1": "d9 d0", "t2": "d0"}.items():
            for rank, document in enumerate(documents.split(), 1):
                cursor.execute(
                    "INSERT INTO run_entries VALUES ('id', ?, ?, ?, NULL)", [query_id, document, rank]
                )
    spread = read_spread(store, "v1", "bm25")
    first = ndcg({"d0": 2, "d1": 3, "d2": 0, "d3": 2}, ["d1", "d0"])
    assert spread.strata["head"].mean == pytest.approx(first / 2, rel=1e-5)
    assert spread.strata["head"].variance == pytest.approx(first**2 / 2, rel=1e-5)
    assert (spread.unranked, spread.run_id, spread.figure) == (4, "id", "nDCG@10, linear gain")
    with pytest.raises(NotFoundError, match="no run 'bm52'"):
        read_spread(store, "v1", "bm52")
    with pytest.raises(NotFoundError, match="no release 'v2'"):
        read_spread(store, "v2")


def spread_of(**strata: Moments) -> FigureSpread:
    return FigureSpread("v1", "id", None, "a figure", strata, Moments(9, 0.5, 0.25), 0, {})


def test_the_variance_of_figure_times_traffic_is_that_of_all_their_products() -> None:
    """Every figure with every traffic: then they are independent, and the products' variance is exact."""
    figures, traffic = np.array([0.0, 0.25, 1.0]), np.array([1, 4, 4, 10], np.int64)
    products = np.outer(figures, traffic).ravel()
    spread = spread_of(only=Moments(3, float(figures.mean()), float(figures.var())))
    found = variances_of(spread, traffic, Labels(np.zeros(4, np.intp), ("only",)))
    divisor = 3 / 4  # the traffic's variance has divisor N - 1
    by_hand = figures.var() * (traffic**2).mean() + figures.mean() ** 2 * traffic.var() / divisor
    assert found[0] == [pytest.approx(by_hand, rel=1e-5)]
    assert products.var() == pytest.approx(by_hand - figures.mean() ** 2 * traffic.var() / 3)


def test_strata_that_the_release_lacks_borrow_the_pooled_variance_at_their_own_traffic() -> None:
    strata = Labels(np.array([0, 0, 1, 1], np.intp), ("head", "tail", "nobody"))
    found = variances_of(spread_of(head=Moments(5, 1.0, 0.0)), np.array([3, 5, 1, 1], np.int64), strata)
    assert found[0] == [2.0, 0.25, 0.0]
    assert found[1] == ["tail"]
    with pytest.raises(RefusedError, match=r"None of the strata of this draw \(head, tail\)"):
        variances_of(spread_of(shop=Moments(5, 1.0, 0.0)), np.array([3, 5, 1, 1], np.int64), strata)


# ── What it is good for ─────────────────────────────────────────────────────────────────────────

DRAWS = 2_000
SIZE = 30
TRAFFIC = np.repeat([20, 4, 1], [10, 40, 110]).astype(np.int64)
STRATA = Labels(np.repeat([0, 1, 2], [10, 40, 110]), ("head", "torso", "tail"))
# Navigation at the head always succeeds; in the tail it is anybody's guess.
FIGURES = np.concatenate(
    [np.full(10, 0.95), np.tile([0.8, 0.9], 20), np.random.default_rng(3).integers(0, 2, 110).astype(float)]
)


def estimates(allocation: str, variances: list[float] | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimated totals of 2,000 draws, and how often each query was drawn, and should have been."""
    totals, times, chances = np.zeros(DRAWS), np.zeros(160, np.int64), np.zeros(160)
    for seed in range(DRAWS):
        keys = hashlib.shake_128(f"{seed}".encode()).digest(160 * 8)
        order = np.argsort(np.frombuffer(keys, np.uint64))
        labels = Labels(STRATA.codes[order], STRATA.names)
        drawing = draw_stratified(TRAFFIC[order], labels, SIZE, allocation, variances=variances)
        rows = order[drawing.rows]
        totals[seed] = (TRAFFIC[rows] * FIGURES[rows] / drawing.probability).sum()
        times[rows] += 1
        chances[rows] = drawing.probability
    return totals, times, chances


def test_with_unequal_variances_neyman_beats_proportional_and_is_drawn_as_it_says() -> None:
    spread = spread_of(
        head=Moments(10, 0.95, 0.0),
        torso=Moments(40, 0.85, float(FIGURES[10:50].var(ddof=1))),
        tail=Moments(110, float(FIGURES[50:].mean()), float(FIGURES[50:].var(ddof=1))),
    )
    variances = variances_of(spread, TRAFFIC, STRATA)[0]
    neyman, times, chances = estimates("neyman", variances)
    proportional, _, _ = estimates("proportional", None)
    truth = (TRAFFIC * FIGURES).sum()
    assert chances[0] == 2 / 10  # no variance in the release, but never without queries
    assert abs(neyman.mean() - truth) < 4 * neyman.std(ddof=1) / sqrt(DRAWS)
    assert abs(proportional.mean() - truth) < 4 * proportional.std(ddof=1) / sqrt(DRAWS)
    assert neyman.var(ddof=1) < 0.6 * proportional.var(ddof=1)
    tails = 2 * np.minimum(binom.cdf(times, DRAWS, chances), binom.sf(times - 1, DRAWS, chances))
    assert tails.min() > 1e-3 / 160
    assert chances.sum() == pytest.approx(SIZE)


# ── In a project ────────────────────────────────────────────────────────────────────────────────


def log(store: Store) -> None:
    rows = [(f"best {name}", 50) for name in ("kettle", "violin")]
    rows += [(f"rare thing number {number}", 1) for number in range(60)]
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO traffic_imports VALUES ('i', 'log', 62, '{}', now()::TIMESTAMP)")
        columns = {
            "import_id": ["i"] * len(rows),
            "line": list(range(len(rows))),
            "text": [text for text, _ in rows],
            "normalised": [text for text, _ in rows],
            "count": [count for _, count in rows],
        }
        append(cursor, "traffic", columns)


PLAN = SamplingPlan(allocation="neyman")


def test_the_sample_keeps_what_its_allocation_rested_on_and_says_so(store: Store) -> None:
    log(store)
    release_id = freeze_rows(store, "v1", [row for row in QUERIES if row["stratum"] != "head"], GRADES)
    spread = read_spread(store, "v1")
    report = draw_sample(store, 20, seed=1, plan=PLAN, spread=spread)
    told = report.parameters
    assert (told["allocation"], told["from_release"], told["run"]) == ("neyman", release_id, None)
    assert told["pooled_variance"] == ["head"]
    assert set(told["variances"]) == {"head", "torso", "tail"}
    assert "head: their variance is the one within all other strata, pooled" in " ".join(report.warnings)
    assert "share of judged candidates that are relevant" in report.warnings[0]
    assert draw_sample(store, 20, seed=1, plan=PLAN, spread=spread).sample_id == report.sample_id
    again = draw_stratified(
        np.array([50] * 2 + [1] * 60, np.int64),
        Labels(np.repeat([0, 2], [2, 60]), ("head", "torso", "tail")),
        20,
        "neyman",
        variances=list(told["variances"].values()),
    )
    assert [row.drawn for row in again.strata] == [row.drawn for row in report.strata]
    assert top_up(store, size=25).size == 25


def test_neyman_without_a_release_and_a_release_without_neyman_are_refused(store: Store) -> None:
    log(store)
    with pytest.raises(InputError, match="Name a release to learn from"):
        draw_sample(store, 5, seed=0, plan=SamplingPlan(allocation="neyman"))
    with pytest.raises(InputError, match="goes with the allocation neyman alone"):
        spread_if_asked(store, None, "bm25")
    freeze_rows(store, "v1", QUERIES, {})
    with pytest.raises(RefusedError, match="no stratum with 2 queries"):
        read_spread(store, "v1")
    freeze_rows(store, "v2", QUERIES, GRADES)
    spread = read_spread(store, "v2")
    with pytest.raises(InputError, match="goes with the allocation neyman alone"):
        draw_sample(store, 5, seed=0, spread=spread)
    with pytest.raises(RefusedError, match="None of the strata of this draw"):
        draw_sample(store, 5, seed=0, plan=SamplingPlan(("length",), allocation="neyman"), spread=spread)


def test_every_stratum_gets_two_queries_if_there_is_room_and_quotas_stand() -> None:
    def numbers(size: int, quotas: dict[str, int] | None = None) -> list[int]:
        drawing = draw_stratified(TRAFFIC, STRATA, size, "neyman", quotas, [0.0, 0.0, 1.0])
        return [row.drawn for row in drawing.strata]

    assert numbers(30) == [2, 2, 26]
    assert numbers(5) == [2, 2, 1]
    assert numbers(3) == [0, 0, 3]
    assert numbers(6) == [2, 2, 2]
    assert numbers(30, {"head": 0}) == [0, 2, 28]
    assert numbers(115) == [2, 3, 110]
