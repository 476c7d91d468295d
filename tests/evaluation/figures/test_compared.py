"""Comparisons and leaderboards: which strata they show, also of sealed parts, and who shares a letter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from curation.core.errors import InputError
from curation.evaluation.figures.compare_scores import compare_scores
from curation.evaluation.figures.comparison import Comparison
from curation.evaluation.figures.ranks import LeaderboardRow, find_groups, rank_systems
from curation.evaluation.protected_figures import protect_comparisons
from curation.evaluation.scoring.facets import Facet
from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.qrels import qrels_from
from curation.evaluation.scoring.run_scores import RunScores, score_run

QUERIES = [f"q{number:02}" for number in range(40)]
QRELS = qrels_from({query: {"x": 1, "y": 0} for query in QUERIES})
MEASURES = parse_measures(["mrr@10", "success@1", "judged@10"])
ASKED_OFTEN = np.arange(40) < 12
BANDS = Facet("band", {"head": ASKED_OFTEN, "tail": ~ASKED_OFTEN})
TAGS = Facet("tag", {"question": np.arange(40) < 8, "no tag": np.arange(40) >= 8})
OPEN, EVERY = np.zeros(40, bool), np.ones(40, bool)


def run(first: float) -> RunScores:
    """The relevant document is first for a share of the queries, from the first on, else second."""
    documents = [
        {"x": 2.0, "y": 1.0} if number < first * 40 else {"x": 1.0, "y": 2.0} for number in range(40)
    ]
    return score_run(dict(zip(QUERIES, documents, strict=True)), QRELS, MEASURES)


RUNS = {"low": run(0.1), "high": run(0.9)}


def compared(
    baseline: str | None = None, sealed: np.ndarray = OPEN
) -> tuple[tuple[Comparison, ...], dict[str, tuple[LeaderboardRow, ...]]]:
    return compare_scores(RUNS, [BANDS, TAGS], sealed, 1, baseline)


def test_pairs_are_compared_by_every_measure_of_quality_overall_and_in_all_strata() -> None:
    comparisons, _ = compared()
    keys = [(one.measure, one.stratum) for one in comparisons]
    strata = [None, ("band", "head"), ("band", "tail"), ("tag", "question"), ("tag", "no tag")]
    assert keys == [(measure, stratum) for measure in ("mrr@10", "success@1") for stratum in strata]
    overall = comparisons[0]
    assert (overall.system, overall.other, overall.difference) == ("high", "low", pytest.approx(0.4))
    assert (overall.wins, overall.ties, overall.losses) == (32, 8, 0)
    assert comparisons[3].no_verdict == "fewer than 10 queries: counts only"


def test_with_a_baseline_there_is_no_leaderboard_and_an_unknown_one_is_refused() -> None:
    comparisons, boards = compared("high")
    assert [(one.system, one.other) for one in comparisons[:1]] == [("low", "high")]
    assert boards == {}
    with pytest.raises(InputError, match="'bm25' is not one of the systems; expected one of low, high"):
        compared("bm25")


def test_a_stratum_that_holds_all_queries_is_not_tested_again() -> None:
    alone = Facet("band", {"all": np.ones(40, bool)})
    comparisons, _ = compare_scores(RUNS, [alone, TAGS], OPEN, seed=1)
    assert {one.stratum for one in comparisons} == {None, ("tag", "question"), ("tag", "no tag")}


def test_a_stratum_with_few_sealed_queries_is_not_compared() -> None:
    found, _ = protect_comparisons(*compared(sealed=EVERY), few=set())
    assert ("tag", "question") not in {one.stratum for one in found}
    few_head = np.arange(40) >= 5
    found, _ = protect_comparisons(*compared(sealed=few_head), few=set())
    strata = {one.stratum for one in found}
    assert ("band", "head") not in strata
    assert ("band", "tail") in strata


def test_a_measure_with_few_values_has_no_leaderboard_on_a_sealed_part() -> None:
    _, boards = protect_comparisons(*compared(sealed=EVERY), few={"mrr@10"})
    assert list(boards) == ["success@1"]


def test_one_system_or_no_measure_of_quality_has_nothing_to_compare() -> None:
    assert compare_scores({"a": RUNS["low"]}, [BANDS], OPEN, 1) == ((), {})
    judged = {
        name: replace(scores, measures=MEASURES[2:], values=scores.values[:, 2:])
        for name, scores in RUNS.items()
    }
    assert compare_scores(judged, [BANDS], OPEN, 1) == ((), {})


def pair(system: str, other: str, difference: float, p: float) -> Comparison:
    return Comparison(system, other, "map", None, 50, 0, 30, 0, 20, None, difference, p_corrected=p)


def test_the_groups_of_a_published_example() -> None:
    """J. Gramm et al. (2007), Computational Statistics & Data Analysis 52, Figure 2: five treatments."""
    apart = [("1", "5"), ("2", "3"), ("2", "5"), ("3", "5")]
    groups = ["".join(sorted(group)) for group in find_groups("12345", apart)]
    assert groups == ["124", "134", "45"]


def test_systems_share_a_letter_exactly_where_no_test_tells_them_apart() -> None:
    values = {"a": 0.3, "b": 0.4, "c": 0.5, "d": 0.51}
    compared = [
        pair("c", "a", 0.2, 0.001),
        pair("d", "a", 0.21, 0.001),
        pair("d", "b", 0.11, 0.04),
        pair("b", "a", 0.1, 0.06),
        pair("c", "b", 0.1, 0.05),
        pair("d", "c", 0.01, 1.0),
    ]
    rows = rank_systems(values, compared)
    assert [(row.system, row.letters) for row in rows] == [("d", "a"), ("c", "ab"), ("b", "bc"), ("a", "c")]
    assert [(row.best_rank, row.worst_rank) for row in rows] == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_the_direction_of_the_difference_does_not_matter() -> None:
    up = rank_systems({"a": 1, "b": 0}, [pair("a", "b", 0.1, 0.01)])
    down = rank_systems({"a": 1, "b": 0}, [pair("b", "a", -0.1, 0.01)])
    assert up == down


def test_letters_beyond_z_are_numbers() -> None:
    """Thirty systems, each distinguished from all others."""
    names = [f"s{number:02}" for number in range(30)]
    values = {name: 1 - number / 100 for number, name in enumerate(names)}
    compared = [pair(names[i], names[j], 0.1, 0.001) for i in range(30) for j in range(i + 1, 30)]
    rows = rank_systems(values, compared)
    assert [rows[place].letters for place in (0, 1, -1)] == ["a", "b", "(30)"]
