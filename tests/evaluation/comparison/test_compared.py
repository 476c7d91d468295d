"""The comparison of scored runs: which strata it shows, also of sealed parts, and the traffic beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from curation.core.errors import InputError
from curation.evaluation.comparison.compared import ComparisonOptions, compare_scores
from curation.evaluation.comparison.leaderboard import LeaderboardRow
from curation.evaluation.comparison.pairs import Comparison, StratumName
from curation.evaluation.figures.traffic import traffic_figures
from curation.evaluation.scoring.inputs.facets import Facet
from curation.evaluation.scoring.inputs.release import DrawnQueries
from curation.evaluation.scoring.metrics.measures import measures_named
from curation.evaluation.scoring.metrics.qrels import qrels_from
from curation.evaluation.scoring.metrics.run_scores import RunScores, score_run
from curation.evaluation.sealed.protected import protected_comparison
from tests.support.command_line import invoke
from tests.support.gold_project import TOPICS, frozen_project

QUERIES = [f"q{number:02}" for number in range(40)]
QRELS = qrels_from({query: {"x": 1, "y": 0} for query in QUERIES})
MEASURES = measures_named(["mrr@10", "success@1", "judged@10"])
ASKED_OFTEN = np.arange(40) < 12
BANDS = Facet("band", {"head": ASKED_OFTEN, "tail": ~ASKED_OFTEN})
TAGS = Facet("tag", {"question": np.arange(40) < 8, "no tag": np.arange(40) >= 8})
NOT_DRAWN = DrawnQueries(("",) * 40, np.full(40, np.nan), np.full(40, np.nan), {}, {}, None)
OPEN, EVERY = np.zeros(40, bool), np.ones(40, bool)


def run(first: float) -> RunScores:
    """The relevant document is first for a share of the queries, from the first on, else second."""
    documents = [
        {"x": 2.0, "y": 1.0} if number < first * 40 else {"x": 1.0, "y": 2.0} for number in range(40)
    ]
    return score_run(dict(zip(QUERIES, documents, strict=True)), QRELS, MEASURES)


RUNS = {"low": run(0.1), "high": run(0.9)}


def compared(
    options: ComparisonOptions = ComparisonOptions(), sealed: np.ndarray = OPEN
) -> tuple[tuple[Comparison, ...], dict[str, tuple[LeaderboardRow, ...]]]:
    return compare_scores(RUNS, [BANDS, TAGS], NOT_DRAWN, sealed, options, seed=1)


def test_pairs_are_compared_by_every_measure_of_quality_overall_and_in_all_strata() -> None:
    found, _ = compared()
    keys = [(one.measure, one.stratum) for one in found]
    strata = [
        None,
        *(StratumName("band", v) for v in ("head", "tail")),
        *(StratumName("tag", v) for v in ("question", "no tag")),
    ]
    assert keys == [(measure, stratum) for measure in ("mrr@10", "success@1") for stratum in strata]
    overall = found[0]
    assert (overall.system, overall.other, overall.difference) == ("high", "low", pytest.approx(0.4))
    assert (overall.wins, overall.ties, overall.losses) == (32, 8, 0)
    assert overall.traffic is None
    assert found[3].no_verdict == "fewer than 10 queries: counts only"


def test_the_leaderboard_follows_from_all_pairs() -> None:
    _, boards = compared()
    assert set(boards) == {"mrr@10", "success@1"}
    assert [(row.system, row.letters) for row in boards["mrr@10"]] == [
        ("high", "a"),
        ("low", "b"),
    ]


def test_with_a_baseline_there_is_no_leaderboard_and_an_unknown_one_is_refused() -> None:
    found, boards = compared(ComparisonOptions(baseline="high"))
    assert [(one.system, one.other) for one in found[:1]] == [("low", "high")]
    assert boards == {}
    with pytest.raises(InputError, match="'bm25' is none of the systems; expected one of low, high"):
        compared(ComparisonOptions(baseline="bm25"))


def test_a_stratum_that_holds_all_queries_is_not_tested_again() -> None:
    alone = Facet("band", {"all": np.ones(40, bool)})
    found, _ = compare_scores(RUNS, [alone, TAGS], NOT_DRAWN, OPEN, ComparisonOptions(), seed=1)
    assert {one.stratum for one in found} == {None, ("tag", "question"), ("tag", "no tag")}


def test_a_stratum_with_few_sealed_queries_is_not_compared() -> None:
    found, _ = protected_comparison(*compared(sealed=EVERY), few=())
    assert ("tag", "question") not in {one.stratum for one in found}
    few_head = np.arange(40) >= 5
    found, _ = protected_comparison(*compared(sealed=few_head), few=())
    strata = {one.stratum for one in found}
    assert ("band", "head") not in strata
    assert ("band", "tail") in strata


def test_a_measure_with_few_values_has_no_leaderboard_on_a_sealed_part() -> None:
    _, boards = protected_comparison(*compared(sealed=EVERY), few=["mrr@10"])
    assert list(boards) == ["success@1"]


def test_traffic_weighs_the_differences_as_it_weighs_the_systems() -> None:
    """All 12 head queries were drawn, asked 50 times each, and one in ten tail queries, asked once."""
    traffic, probability = np.where(ASKED_OFTEN, 50.0, 1.0), np.where(ASKED_OFTEN, 1.0, 0.1)
    names = tuple("head" if often else "tail" for often in ASKED_OFTEN)
    counts, population = {"head": 12, "tail": 28}, {"head": 12, "tail": 280}
    drawn = DrawnQueries(names, traffic, probability, counts, population, "stratified")
    found, _ = compare_scores(RUNS, [BANDS], drawn, OPEN, ComparisonOptions(), seed=1)
    one = found[0]
    alone = {name: traffic_figures(scores, drawn)["mrr@10"].value or 0 for name, scores in RUNS.items()}
    assert one.traffic is not None
    assert one.traffic.value == pytest.approx(alone["high"] - alone["low"])
    assert one.traffic.low is not None
    assert one.traffic.high is not None
    assert one.traffic.low < one.traffic.value < one.traffic.high
    assert one.traffic.n == 40
    assert found[1].traffic is None
    mirrored, _ = compare_scores(
        dict(reversed(RUNS.items())), [BANDS], drawn, OPEN, ComparisonOptions(), seed=1
    )
    assert mirrored[0].traffic == replace_ends(one.traffic)


def replace_ends(figure):  # type: ignore[no-untyped-def]
    return figure._replace(
        value=pytest.approx(-figure.value), low=pytest.approx(-figure.high), high=pytest.approx(-figure.low)
    )


def test_one_system_or_no_measure_of_quality_has_nothing_to_compare() -> None:
    asked = ComparisonOptions()
    assert compare_scores({"a": RUNS["low"]}, [BANDS], NOT_DRAWN, OPEN, asked, 1) == ((), {})
    judged = {
        name: replace(scores, measures=MEASURES[2:], values=scores.values[:, 2:])
        for name, scores in RUNS.items()
    }
    assert compare_scores(judged, [BANDS], NOT_DRAWN, OPEN, asked, 1) == ((), {})


def test_the_command_compares_two_runs(tmp_path: Path) -> None:
    """Four queries of an open part: counts, and no verdict."""
    store = frozen_project(tmp_path)
    for name, order in (("one", (1, 2)), ("two", (2, 1))):
        lines = [
            f"q-{topic} Q0 {topic}-{n} {rank} {9 - rank} t\n"
            for topic in TOPICS
            for rank, n in enumerate(order, 1)
        ]
        (tmp_path / f"{name}.trec").write_text("".join(lines), encoding="utf-8")
    runs = [part for name in ("one", "two") for part in ("--run", str(tmp_path / f"{name}.trec"))]
    command = ["--project", str(store.path), "evaluate", "v1", *runs, "--baseline", "one"]
    done = invoke([*command, "--json"])
    assert done.exit_code == 0, done.output
    first = json.loads(done.stdout)["comparisons"][0]
    assert {name: first[name] for name in ("system", "other", "measure", "stratum", "n", "p_holm")} == {
        **{"system": "two", "other": "one", "measure": "ndcg_exp@10", "stratum": None, "n": 4, "p_holm": None}
    }
    assert first["wins"] + first["ties"] + first["losses"] == 4
    text = invoke(command)
    assert text.exit_code == 0, text.output
    assert "two − one" in text.stdout
    assert "by kind of query" not in text.stdout  # the only stratum is all queries
    shown = " ".join(text.stdout.replace("│", " ").split())
    assert "ndcg_exp@10: differences; p Holm below 0.05, of Fisher's randomisation test, decides" in shown
    assert first["no_verdict"] == "fewer than 10 queries: counts only"
    assert "4 fewer than 10 queries: counts only" in shown
