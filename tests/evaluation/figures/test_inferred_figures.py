"""Figures from a random sample of the pool: bands of ranks, queries without an estimate, and when to ask."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curation.errors import InputError
from curation.evaluation.figures.inferred import declared_strata, inferred_figures
from curation.scoring.inputs.pooled import PooledPairs, pooled_pairs, sample_sentence, share_unjudged
from curation.scoring.metrics.inferred import SampledStratum, inferred_ap
from curation.scoring.metrics.qrels import qrels_from, run_rows

NAMES = [f"d{place}" for place in range(6)]
RANKS = {("q", name): rank for rank, name in enumerate(NAMES, 1)}
POOLED = PooledPairs({**RANKS, ("p", "d0"): 1}, frozenset(), frozenset(), ())
GRADES = {"q": {"d0": 1, "d1": 0, "d4": 1, "outside": 1}, "p": {"d0": 0}}


def test_bands_are_strata_and_what_is_not_in_the_pool_does_not_count() -> None:
    qrels = qrels_from(GRADES)
    run = run_rows({"q": {name: -float(place) for place, name in enumerate(NAMES)}}, qrels)
    found = inferred_figures({"ours": [run]}, qrels, declared_strata(qrels, POOLED, [2]), 0)
    strata = [
        SampledStratum(frozenset(NAMES[:2]), {"d0": 1, "d1": 0}),
        SampledStratum(frozenset(NAMES[2:]), {"d4": 1}),
    ]
    figure = found.systems["ours"]["inferred_ap"]
    assert figure.value == inferred_ap(NAMES, strata, lambda grade: grade > 0)
    assert (figure.n, figure.low) == (1, None)
    assert (found.pooled, found.judged, found.without_estimate) == (7, 4, 1)
    whole = inferred_figures({"ours": [run]}, qrels, declared_strata(qrels, POOLED, []), 0)
    assert whole.systems["ours"]["inferred_ap"] != figure
    assert [band.name for band in (*found.bands, *whole.bands)] == [
        "ranks 1 to 2",
        "below rank 2",
        "all ranks",
    ]


def test_bands_ascend_from_rank_1() -> None:
    qrels = qrels_from(GRADES)
    for bands in ([0], [5, 5], [10, 2]):
        with pytest.raises(InputError, match="expected ascending ranks"):
            declared_strata(qrels, POOLED, bands)


def test_a_sentence_says_why_nothing_is_inferred() -> None:
    every = set(POOLED.ranks)
    assert sample_sentence(PooledPairs({}, frozenset(), frozenset(), ()), every).startswith(
        "The release has no"
    )
    assert sample_sentence(POOLED, every).startswith("Every pair that the pools proposed has a grade")
    assert sample_sentence(POOLED, [("q", "d0")]).startswith("6 of 7 pooled pairs have no grade")
    own = "If people judged a random sample of the pool, say down to which ranks."
    assert sample_sentence(POOLED, [("q", "d0")]).endswith(own)
    assert (share_unjudged(POOLED, [("q", "d0")]), share_unjudged(POOLED, every)) == (6 / 7, 0)
    rows = [{"query_id": "q", "document_id": "d9", "system": "audit:below", "rank": None}]
    budget = pooled_pairs(rows, [{"parameters": {"budget": 40}}, {"parameters": {}}], ["q"])
    assert budget.budgets == (40,)
    told = sample_sentence(replace(budget, ranks=RANKS), every)
    assert told.startswith("A budget took the best ranked pairs")
    assert "An audit drew 1 pair" in told
