"""Published values: trec_eval's own expected output to every printed digit, and systems on Touché 2020."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from curation.evaluation.scoring.measure_names import parse_measures
from curation.evaluation.scoring.qrels import Qrels, make_qrels
from curation.evaluation.scoring.run_scores import RunScores, score_run
from curation.ingest.readers.run_files import RunFile

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
OURS = {
    **{"map": "map", "Rprec": "rprec", "bpref": "bpref", "recip_rank": "mrr", "rbp": "rbp(0.9)"},
    **{"ndcg": "ndcg", "set_P": "set_precision", "set_recall": "set_recall", "set_F": "set_f1"},
    **{f"P_{k}": f"precision@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"recall@{k}" for k in CUTOFFS},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in CUTOFFS},
    **{f"map_cut_{k}": f"map@{k}" for k in CUTOFFS},
    **{f"success_{k}": f"success@{k}" for k in (1, 5, 10)},
}
"""trec_eval's name → ours."""
SPLADE = {
    **{"ndcg@1": 0.32653, "ndcg@5": 0.28018, "ndcg@10": 0.27152, "ndcg@100": 0.37963, "ndcg@1000": 0.49566},
    **{"map@10": 0.1029, "map@100": 0.16656, "map@1000": 0.18392, "mrr@10": 0.50438},
    **{"recall@10": 0.18122, "recall@100": 0.47132, "recall@1000": 0.8337},
    **{"precision@10": 0.25714, "precision@100": 0.07878},
}
PUBLISHED = {
    "SPLADEv2": SPLADE,
    "RetroMAE_BEIR": {"ndcg@10": 0.23727, "ndcg@100": 0.34846, "map@10": 0.09182, "mrr@10": 0.46049},
    "citadel-plus": {"ndcg@10": 0.3386, "map@10": 0.1339, "recall@100": 0.5148, "precision@10": 0.3184},
    "bm25-webis-touche2020-multifield": {"ndcg@10": 0.3673, "recall@100": 0.5376, "recall@1000": 0.8668},
}
"""System → measure → value on Touché 2020, from the metric files beside the runs."""


@cache
def qrels(path: Path, relevant: int = 1, highest: int = 4) -> Qrels:
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return make_qrels(
        [(query, document, int(grade)) for query, _, document, grade in rows],
        scale=range(highest + 1),
        relevant=relevant,
    )


def run(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in RunFile(path):
        found.setdefault(row.query, {})[row.document] = float(row.score)
    return found


def printed(path: Path) -> Iterator[tuple[str, str, str]]:
    """Measure, query, value as trec_eval prints them."""
    for line in path.read_text(encoding="utf-8").splitlines():
        measure, query, value = line.split("\t")
        yield measure.strip(), query, value


def values_of(found: RunScores) -> Mapping[tuple[str, str], float]:
    names = {measure.name: place for place, measure in enumerate(found.measures)}
    values = {}
    for theirs, ours in OURS.items():
        column = np.nan_to_num(found.values[:, names[ours]])
        values |= {(theirs, query): value for query, value in zip(found.query_ids, column, strict=True)}
        values[theirs, "all"] = float(column.mean())
    return values


def _digits(printed: str) -> int:
    return len(printed.partition(".")[2])


@pytest.mark.parametrize(
    ("expected", "graded", "results", "relevant"),
    [
        ("out.test.aq", "qrels.test", "results.test", 1),
        ("out.test.aqc", "qrels.test", "results.trunc", 1),
        ("out.test.aql", "qrels.rel_level", "results.test", 2),
    ],
    ids=["every query", "missing queries count", "relevance level 2"],
)
def test_the_expected_output_of_trec_eval(
    shared: Path, expected: str, graded: str, results: str, relevant: int
) -> None:
    folder = shared / "trec_eval_test"
    scores = score_run(run(folder / results), qrels(folder / graded, relevant), parse_measures(OURS.values()))
    found = values_of(scores)
    lines = {(measure, query): value for measure, query, value in printed(folder / expected)}
    compared = {place: value for place, value in lines.items() if place in found}
    assert len(compared) == 48 * (len(scores.query_ids) + 1)
    wrong = [place for place, value in compared.items() if f"{found[place]:.{_digits(value)}f}" != value]
    assert [place for place in wrong if place[0] != "rbp"] == []
    assert bool(wrong) == (relevant > 1), "its rbp has gains by grade, at any relevance level"


def test_graded_rbp_is_that_of_trec_eval_but_for_the_highest_grade(shared: Path) -> None:
    """trec_eval divides by the highest grade of the query: 4, 3 and 2 here, where the scale has 4."""
    folder = shared / "trec_eval_test"
    scores = score_run(
        run(folder / "results.test"), qrels(folder / "qrels.rel_level"), parse_measures(["rbp_graded(0.9)"])
    )
    lines = {(measure, query): value for measure, query, value in printed(folder / "out.test.aql")}
    found = [f"{value:.4f}" for value in scores.values[:, 0] * 4 / np.array([4, 3, 2])]
    assert found == [lines["rbp", query] for query in scores.query_ids]


def touche(shared: Path, system: str, *names: str) -> RunScores:
    folder = shared / "touche2020"
    graded = qrels(folder / "qrels.beir-v1.0.0-webis-touche2020.test.txt", highest=2)
    path = folder / "runs" / "webis-touche2020" / f"run-{system}.trec.gz"
    return score_run(run(path), graded, parse_measures(names))


@pytest.mark.parametrize("system", PUBLISHED)
def test_the_published_values_of_touche(shared: Path, system: str) -> None:
    published = PUBLISHED[system]
    scores = touche(shared, system, *published)
    digits = max(len(str(value)) for value in published.values()) - 2
    found = {name: round(float(scores.of(name).mean()), digits) for name in published}
    assert found == published


def test_in_touche_most_of_what_citadel_returns_is_unjudged_and_in_ties(shared: Path) -> None:
    found = touche(shared, "citadel-plus", "ndcg@10", "judged@10")
    assert found.ties == (40_418, 45)
    ends = [float(values[:, 0].mean()) for values in (found.values, found.if_all)]
    assert [round(end, 3) for end in ends] == [0.339, 0.976]
