"""Climbing the Ladder of a sealed part: figures of improvements alone; looks are logged as any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from curation.looks.ladder_looks import LadderLooks, ladder_looks

from curation.errors import InputError, RefusedError
from curation.evaluation.evaluate_runs import EvaluationOptions, evaluate_runs
from curation.releases.overview import show
from curation.scoring.inputs.system_runs import RunSource
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import Ranked, evaluated_project, ranked, write_run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = evaluated_project(tmp_path)
    yield found
    found.close()


def best() -> Ranked:
    return {name: sorted(found) for name, found in ranked("a").items()}


def worst() -> Ranked:
    return {name: sorted(found, reverse=True) for name, found in ranked("a").items()}


def climbed(store: Store, folder: Path, name: str, lists: Ranked, part: str = "test") -> LadderLooks:
    run = RunSource(name, write_run(folder / f"{name}.trec", lists))
    return ladder_looks(store, "v1", [run], part, reason="nightly", actor="vera")


def test_a_figure_is_shown_for_an_improvement_beyond_noise_and_for_nothing_else(
    store: Store, tmp_path: Path
) -> None:
    first = climbed(store, tmp_path, "worst", worst()).answers[0]
    better = climbed(store, tmp_path, "best", best()).answers[0]
    again = climbed(store, tmp_path, "random", ranked("b")).answers[0]
    assert (first.improved, better.improved, again.improved) == (True, True, False)
    assert first.best < better.best == again.best == 1.0
    log = show(store, "v1").looks
    assert [one.figures["ndcg_exp@10"]["value"] for one in log] == [first.best, better.best, None]
    assert [one.number for one in log] == [1, 2, 3]


def test_looks_that_had_all_their_figures_count_as_rungs(store: Store, tmp_path: Path) -> None:
    run = RunSource("best", write_run(tmp_path / "best.trec", best()))
    evaluate_runs(store, "v1", [run], EvaluationOptions("test"), "May", "lee")
    assert not climbed(store, tmp_path, "random", ranked("b")).answers[0].improved


def test_the_ladder_is_for_sealed_parts_and_needs_a_reason(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="The Ladder is for one sealed part, and of dev not all are"):
        climbed(store, tmp_path, "best", best(), "dev")
    run = RunSource("best", write_run(tmp_path / "best.trec", best()))
    with pytest.raises(RefusedError, match="--reason"):
        ladder_looks(store, "v1", [run], "test", actor="vera")


def test_the_command_shows_the_answer_and_nothing_else(store: Store, tmp_path: Path) -> None:
    run = write_run(tmp_path / "best.trec", best())
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(run), "--part", "test"]
    command += ["--reason", "nightly", "--ladder"]
    answer = json.loads(invoke([*command, "--json"], catch_exceptions=False).stdout)
    assert answer["answers"] == [{"system": "best", "source": "best.trec", "improved": True, "best": 1.0}]
    assert "runs" not in answer
    write_run(run, worst())
    told = invoke(command, catch_exceptions=False).stdout
    assert "no improvement beyond noise; the best shown is still 1.000" in told


def test_the_ladder_refuses_what_it_would_not_show_and_spends_no_look(store: Store, tmp_path: Path) -> None:
    run = write_run(tmp_path / "best.trec", best())
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(run), "--part", "test"]
    command += ["--reason", "nightly", "--ladder", "--to-pool", "5", "--turning", "--label-draws", "5"]
    refused = invoke([*command, "--pool-sample", "0", "--correction", "bh"])
    assert refused.exit_code != 0
    asked = "--correction, --pool-sample, --to-pool, --turning, --label-draws"
    assert f"{asked} cannot go with it" in str(refused.exception)
    ignored = invoke([*command[:-5], "--breakdown", "tag", "--difference", "0.1", "--significance-test", "t"])
    expected = "--breakdown, --difference, --significance-test would change nothing: the Ladder"
    assert expected in str(ignored.exception)
    assert show(store, "v1").looks == ()


def test_who_cannot_pool_spends_no_look(store: Store, tmp_path: Path) -> None:
    run = write_run(tmp_path / "best.trec", best())
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(run), "--part", "test"]
    refused = invoke([*command, "--reason", "nightly", "--to-pool", "0"])
    assert refused.exit_code != 0
    assert "--to-pool: 0 is out of range; expected 1 or more" in str(refused.exception)
    assert show(store, "v1").looks == ()


def test_the_report_says_how_far_the_best_of_so_many_looks_may_flatter(store: Store, tmp_path: Path) -> None:
    for name in "abc":
        run = RunSource(name, write_run(tmp_path / f"{name}.trec", ranked(name)))
        found = evaluate_runs(store, "v1", [run], EvaluationOptions("test"), "May", "lee")
    bound = found.looks[0].flattery
    assert bound is not None
    assert (bound.looks, bound.queries) == (3, 30)
    assert 0 < bound.expected < bound.at_most < bound.adaptive
