"""The order of systems under other labels, from a release whose annotators differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.errors import InputError, RefusedError
from curation.evaluation.comparison.order import grade_noise, order_with_other_labels, released_noise
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import EvaluationOptions
from curation.scoring.inputs.release import read_release
from curation.scoring.inputs.run_sources import RunSource
from curation.scoring.metrics.measures import measures_named
from curation.scoring.metrics.qrels import qrels_from, run_rows
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import evaluated_project, ranked, write_run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    found = evaluated_project(tmp_path_factory.mktemp("project"))
    yield found
    found.close()


def sources(folder: Path) -> list[RunSource]:
    return [RunSource(name, write_run(folder / f"{name}.trec", ranked(name))) for name in "ab"]


def test_the_noise_is_that_of_the_open_parts_annotators(store: Store) -> None:
    """ada and ben give each of four documents of 30 open queries the same grade."""
    noise = released_noise(store, read_release(store, "v1"))
    assert (noise.judged, noise.grades, noise.unmeasured) == (120, 240, ())
    assert noise.shares.tolist() == [[float(row == column) for column in range(4)] for row in range(4)]


def test_annotators_who_agree_keep_every_order(store: Store, tmp_path: Path) -> None:
    found = evaluate_runs(store, "v1", sources(tmp_path), EvaluationOptions(measures=["map"], label_draws=3))
    assert found.order is not None
    labels = found.order.views[-1]
    assert (labels.name, labels.draws, labels.pairs[0].kept, labels.mean_tau) == ("labels", 3, 1.0, 1.0)
    assert labels.values == pytest.approx(found.order.views[0].values)


def test_labels_at_chance_lose_the_order_of_systems_that_differ_in_one_query_of_ten() -> None:
    grades = {f"q{number:02}": {"x": 1, "y": 0} for number in range(30)}
    good = {query: {"x": 2.0, "y": 1.0} for query in grades}
    worse = good | {query: {"x": 1.0, "y": 2.0} for query in list(grades)[:3]}
    qrels = qrels_from(grades)
    systems = {"good": [run_rows(good, qrels)], "worse": [run_rows(worse, qrels)]}
    (measure,) = measures_named(["mrr@10"])
    chance = grade_noise([(0, 1)] * 2 + [(0, 0), (1, 1)], (0, 1))
    view = order_with_other_labels(systems, qrels, measure, chance, seed=1, draws=60)
    assert view.values == {"good": 1.0, "worse": pytest.approx(0.95)}
    assert view.pairs[0].kept is not None
    assert 0.2 < view.pairs[0].kept < 0.8


def test_sealed_parts_and_fewer_than_no_draws_are_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="“Draws of labels”: -1 is out of range; expected 0 or more"):
        evaluate_runs(store, "v1", sources(tmp_path), EvaluationOptions(label_draws=-1))
    with pytest.raises(RefusedError, match="Grades of test are not drawn again"):
        evaluate_runs(store, "v1", sources(tmp_path), EvaluationOptions("test", label_draws=5), "why", "lee")


def test_the_command_says_what_the_labels_were_drawn_by(store: Store, tmp_path: Path) -> None:
    runs = [part for one in sources(tmp_path) for part in ("--run", f"{one.name}={one.path}")]
    command = [
        "--project",
        str(store.path),
        "evaluate",
        "v1",
        *runs,
        "--measures",
        "map",
        "--label-draws",
        "2",
    ]
    text = invoke(command)
    assert text.exit_code == 0, text.output
    assert "Labels are drawn as annotators differ on 120 pairs that two or more judged." in text.stdout
    noise = json.loads(invoke([*command, "--json"]).stdout)["order"]["noise"]
    assert noise == {"judged": 120, "grades": 240, "unmeasured": []}
