"""What a look at a sealed part can tell: evaluators climb one Ladder, and lists have to be plausible."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, permutations
from math import comb, log2
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from curation.looks.ladder import LadderState, bits_of_answers, climb, step_for
from curation.looks.ladder_looks import LadderLooks, ladder_looks

from curation.errors import InputError, RefusedError
from curation.evaluation import evaluate_runs as evaluating
from curation.evaluation.comparison.compared import ComparisonOptions
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.submitted import board, part_rungs
from curation.releases.overview import show
from curation.scoring.inputs.system_runs import RunSource
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import Ranked, evaluated_project, ranked, sealed_queries, write_run

TEST = EvaluationOptions("test", ["ndcg_exp@3"])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = evaluated_project(tmp_path)
    yield found
    found.close()


def scored(
    store: Store, folder: Path, options: EvaluationOptions = TEST, by: str = "lee", **runs: Ranked
) -> Evaluation:
    files = [RunSource(name, write_run(folder / f"{name}.trec", lists)) for name, lists in runs.items()]
    return evaluate_runs(store, "v1", files, options, "May", by)


def climbs(
    store: Store, folder: Path, lists: Ranked, measure: str | None = None, name: str = "new"
) -> LadderLooks:
    run = RunSource(name, write_run(folder / f"{name}.trec", lists))
    return ladder_looks(
        store, "v1", [run], "test", None if measure is None else [measure], reason="May", actor="vera"
    )


def best() -> Ranked:
    return {name: sorted(found) for name, found in ranked("a").items()}


def test_all_figures_of_a_sealed_part_are_for_leads_and_an_evaluator_climbs_the_ladder(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match=r"vera is evaluator: all figures of it are for leads.*--ladder"):
        scored(store, tmp_path, by="vera", dense=ranked("a"))
    run = write_run(tmp_path / "dense.trec", ranked("a"))
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(run), "--by", "vera"]
    found = json.loads(
        invoke([*command, "--part", "test", "--reason", "May", "--json"], catch_exceptions=False).stdout
    )
    assert found["answers"][0]["improved"] is True
    assert "runs" not in found
    assert found["looks"][0]["flattery"] is None, "its sd is a figure of the part"
    assert [one.ladder for one in show(store, "v1").looks] == [True]
    dev = json.loads(invoke([*command, "--part", "dev", "--json"], catch_exceptions=False).stdout)
    assert dev["runs"][0]["per_query"]


def test_the_ladder_of_a_part_is_one_whichever_measure_is_named(store: Store, tmp_path: Path) -> None:
    """A run that is far worse by another measure was once better than before, as the first by that."""
    with pytest.raises(InputError, match=r"judged@10 says nothing about how good a system is"):
        climbs(store, tmp_path, best(), "judged@10")
    climbs(store, tmp_path, best(), "ndcg_exp@10", "best")
    worst = {name: found[::-1] for name, found in best().items()}
    with pytest.raises(RefusedError, match=r"is by ndcg_exp@10, as its first look was \(best, by vera"):
        climbs(store, tmp_path, worst, "map")
    assert climbs(store, tmp_path, worst).answers[0].improved is False


def test_a_look_at_all_figures_is_a_rung_whatever_its_first_measure(store: Store, tmp_path: Path) -> None:
    climbs(store, tmp_path, ranked("a"), "ndcg_exp@10", "first")
    scored(store, tmp_path, EvaluationOptions("test", ["map"]), best=best())
    assert climbs(store, tmp_path, ranked("b")).answers[0].best == 1.0
    with store.reading() as cursor:
        release_id = cursor.execute("SELECT release_id FROM releases").fetchall()[0][0]
        assert [rung.look.system for rung in part_rungs(cursor, release_id, "test").rungs] == [
            "first",
            "best",
        ]
        assert [row.system for row in board(cursor, release_id, ["test"], True)] == ["best"]


def test_looks_at_the_same_moment_are_answered_one_after_the_other(store: Store, tmp_path: Path) -> None:
    """Six runs of one value once had six improvements, each on the same state of the Ladder."""
    climbs(store, tmp_path, {name: found[::-1] for name, found in best().items()}, name="worst")
    runs = {
        f"best{number}": {
            name: [*found[:3], *(found[place] for place in order)] for name, found in best().items()
        }
        for number, order in enumerate(permutations((3, 4, 5)))
    }
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda one: climbs(store, tmp_path, one[1], name=one[0]), runs.items()))
    assert sorted(one.answers[0].improved for one in found) == [False] * 5 + [True]
    assert sorted(one.looks_in_all for one in found) == list(range(2, 8))


def test_a_lead_s_look_is_checked_against_one_that_was_stored_meanwhile(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that differ in one query were both shown where each was checked before either was stored."""
    near = ranked("a") | {sealed_queries(store)[0]: best()[sealed_queries(store)[0]]}
    real, together = evaluating.assembled, Barrier(2, timeout=60)

    def waiting(*arguments: Any) -> Evaluation:
        if not together.broken and len(show(store, "v1").looks) == 0:
            together.wait()
        return real(*arguments)

    monkeypatch.setattr(evaluating, "assembled", waiting)
    with ThreadPoolExecutor(2) as pool:
        both = [
            pool.submit(scored, store, tmp_path, a=ranked("a")),
            pool.submit(scored, store, tmp_path, b=near),
        ]
    [refused] = [one.exception() for one in both if one.exception()]
    assert "in 1 of the queries" in str(refused)
    assert len(show(store, "v1").looks) == 1


def test_a_look_by_the_ladder_that_is_asked_again_is_answered_as_it_was(store: Store, tmp_path: Path) -> None:
    first = climbs(store, tmp_path, ranked("a"), name="first").answers[0]
    climbs(store, tmp_path, best(), name="best")
    again = climbs(store, tmp_path, ranked("a"), name="first")
    assert (again.answers[0], again.looks[0].repeated, again.looks_in_all) == (first, True, 2)


def test_documents_that_the_corpus_lacks_are_a_fifth_at_most(store: Store, tmp_path: Path) -> None:
    """One document among made-up ones would tell its grade."""
    fakes = {name: [found[0], *(f"made-up-{n}" for n in range(5))] for name, found in best().items()}
    with pytest.raises(RefusedError, match=r"67.% of the documents that fakes returns for test are not in"):
        scored(store, tmp_path, fakes=fakes)
    with pytest.raises(RefusedError, match="expected 20"):
        climbs(store, tmp_path, fakes)
    some = {name: [*found[:5], "newer"] for name, found in ranked("a").items()}
    climbs(store, tmp_path, some)
    (look,) = show(store, "v1").looks
    assert (look.unknown, look.unseen, look.overlap) == (pytest.approx(1 / 6), None, 0)


def test_a_run_answers_a_third_of_the_queries_with_documents_of_the_corpus(
    store: Store, tmp_path: Path
) -> None:
    """An empty list is as worthless for certain as one of made-up documents."""
    few = {name: ranked("a")[name] for name in sealed_queries(store)[:9]}
    few |= {name: ["made-up"] for name in sealed_queries(store)[9:15]}
    with pytest.raises(RefusedError, match="few answers 9 of the 30 queries of test: expected 10 or more"):
        scored(store, tmp_path, few=few)


def test_what_no_measure_sees_is_no_difference(store: Store, tmp_path: Path) -> None:
    """Changes below the depth, of scores, or of which document is unknown once hid one query that differs."""
    old = ranked("a")
    scored(store, tmp_path, old=old)
    one = sealed_queries(store)[0]
    below = {name: [*found[:3], found[5], found[4], found[3]] for name, found in old.items()}
    below[one] = old[one][::-1]
    with pytest.raises(RefusedError, match=r"below differs from old, .* in 1 of the queries"):
        scored(store, tmp_path, below=below)
    padded = {name: [*found, "last"] for name, found in old.items()} | {one: old[one][::-1]}
    with pytest.raises(RefusedError, match=r"padded differs from old, .* in 1 of the queries"):
        scored(store, tmp_path, padded=padded)
    with_unknown = {name: [found[0], f"x{name}", *found[1:]] for name, found in old.items()}
    deeper = TEST._replace(measures=["ndcg_exp@5"])
    scored(store, tmp_path, deeper, unknown=with_unknown)
    other = {name: [found[0], f"y{name}", *found[2:]] for name, found in with_unknown.items()}
    other[one] = other[one][::-1]
    with pytest.raises(RefusedError, match=r"other differs from unknown, .* in 1 of the queries"):
        scored(store, tmp_path, deeper, other=other)
    twelve = sealed_queries(store)[:12]
    other = {name: found[::-1] if name in twelve else found for name, found in with_unknown.items()}
    scored(store, tmp_path, deeper, other=other)
    assert [row.overlap for row in show(store, "v1").looks] == [0, 0, 0.6]


def test_with_which_runs_and_for_which_difference_is_part_of_what_is_asked(
    store: Store, tmp_path: Path
) -> None:
    """The number of queries needed is the spread of the differences in other words: it has two digits."""
    runs = {"a": ranked("a"), "b": ranked("b")}
    for name, lists in runs.items():
        scored(store, tmp_path, **{name: lists})
    together = scored(store, tmp_path, **runs)
    assert [(one.number, one.repeated) for one in together.looks] == [(3, False), (4, False)]
    finer = scored(store, tmp_path, TEST._replace(comparison=ComparisonOptions(wanted=0.001)), **runs)
    assert not any(one.repeated for one in finer.looks)
    needed = finer.comparisons[0].queries_needed
    assert needed is not None
    assert needed > 1000
    assert needed == int(float(f"{needed:.1e}"))
    to_a = scored(store, tmp_path, TEST._replace(comparison=ComparisonOptions("a")), **runs)
    assert not any(one.repeated for one in to_a.looks)
    assert all(one.repeated for one in scored(store, tmp_path, **runs).looks)


@pytest.mark.parametrize(("queries", "step"), [(10, 0.16), (38, 0.09), (100, 0.05), (1000, 0.02)])
def test_a_step_is_the_most_that_a_standard_error_can_be(queries: int, step: float) -> None:
    assert step_for(queries) == step
    assert bits_of_answers(200, step) == pytest.approx(log2(comb(200 + round(1 / step), 200)))


def test_the_answers_of_any_looks_are_one_of_so_few_sequences() -> None:
    """200 looks that each know the last answers: fewer rises than figures, and each is a whole step."""
    random, step = np.random.default_rng(1), step_for(40)
    state, shown = LadderState(), []
    for number in range(200):
        state = climb(state, (random.random(40) < number / 150).astype(float), step)
        shown.append(state.shown or 0.0)
    rises = [after - before for before, after in pairwise(shown) if after != before]
    assert len(rises) >= 5, "the attack climbs"
    assert min(rises) > 0.99 * step
    assert len(set(shown)) <= round(1 / step) + 1
    assert bits_of_answers(200, step) < 64


def test_a_grade_beside_two_known_ones_among_worthless_documents_is_not_told() -> None:
    """24 looks after one at nothing: each has two relevant documents that are known, and one in question."""
    nothing = np.zeros(38)
    state = climb(LadderState(), nothing, step_for(38))
    for target in range(2, 26):
        asked = nothing.copy()
        asked[[0, 1, target]] = 1
        assert not climb(state, asked, step_for(38)).improved
        assert climb(climb(LadderState(), nothing), asked).improved, "without the least step it was told"
