"""Scoring runs on a sealed part: who may, what is stored first, and that no figure is of a single query."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from curation.looks import looking
from curation.releases.looks import look_queries, looks

from curation.errors import NotFoundError, RefusedError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.releases.overview import show
from curation.releases.verify import opened
from curation.scoring.inputs.system_runs import RunSource
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import Ranked, evaluated_project, ranked, sealed_queries, write_run

TEST = EvaluationOptions("test", ["ndcg_exp@10", "mrr@10"])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = evaluated_project(tmp_path)
    yield found
    found.close()


Score = Callable[..., Evaluation]


@pytest.fixture
def score(store: Store, tmp_path: Path) -> Score:
    def scored(
        *runs: tuple[str, Ranked],
        by: str = "lee",
        reason: str | None = "May",
        options: EvaluationOptions = TEST,
    ) -> Evaluation:
        sources = [
            RunSource(name, write_run(tmp_path / f"{name}-{number}.trec", lists))
            for number, (name, lists) in enumerate(runs)
        ]
        return evaluate_runs(store, "v1", sources, options, reason, by)

    return scored


def changed(store: Store, lists: Ranked, count: int) -> Ranked:
    """The lists with the first two documents of so many sealed queries the other way round."""
    first = sealed_queries(store)[:count]
    return {
        name: [found[1], found[0], *found[2:]] if name in first else found for name, found in lists.items()
    }


def test_a_look_has_its_number_and_its_figures_are_stored(store: Store, score: Score) -> None:
    first = score(("dense@may", ranked("a")))
    second = score(("bm25", ranked("b")), ("dense@june", ranked("c")), by="lee", reason="June")
    assert [(look.system, look.number, look.of_family) for look in (*first.looks, *second.looks)] == [
        ("dense@may", 1, 1),
        ("bm25", 2, 1),
        ("dense@june", 3, 2),
    ]
    log = show(store, "v1").looks
    assert [(one.system, one.looked_by, one.reason) for one in log] == [
        ("dense@may", "lee", "May"),
        ("bm25", "lee", "June"),
        ("dense@june", "lee", "June"),
    ]
    for one, system in zip(log, [*first.runs, *second.runs], strict=True):
        for measure, figure in system.overall.items():
            assert one.figures[measure] == {
                field: getattr(figure, field) for field in ("value", "low", "high", "n", "judged")
            }


def test_the_look_is_stored_before_the_figures_are_handed_out(
    store: Store, score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError("the power went out")

    monkeypatch.setattr(looking, "_taken", fails)
    with pytest.raises(OSError, match="power"):
        score(("dense", ranked("a")))
    assert [one.system for one in show(store, "v1").looks] == ["dense"]


def test_only_evaluators_and_leads_look_and_say_why(store: Store, score: Score) -> None:
    with pytest.raises(RefusedError, match="for the evaluator or lead; anna is annotator"):
        score(("dense", ranked("a")), by="anna")
    with pytest.raises(NotFoundError, match="nobody"):
        score(("dense", ranked("a")), by="nobody")
    with pytest.raises(RefusedError, match=r"test of the release 'v1' is sealed.*--reason"):
        score(("dense", ranked("a")), reason=" ")
    assert show(store, "v1").looks == ()


def test_the_same_run_again_is_no_other_look_and_other_measures_are(score: Score) -> None:
    score(("dense", ranked("a")))
    (again,) = score(("dense", ranked("a")), by="command line").looks
    assert (again.number, again.repeated, again.looked_by) == (1, True, "lee")
    assert "as shown to lee" in again.sentence
    (other,) = score(("dense", ranked("a")), options=TEST._replace(measures=["map"])).looks
    assert (other.number, other.repeated) == (2, False)


def test_a_run_that_answers_a_few_sealed_queries_is_refused(store: Store, score: Score) -> None:
    some = sealed_queries(store)[:9]
    lists = {name: found for name, found in ranked("a").items() if name in some}
    with pytest.raises(RefusedError, match="dense answers 9 of the 30 queries of test: expected 10 or more"):
        score(("dense", lists))
    few = {name: found for name, found in ranked("a").items() if name in sealed_queries(store)[:10]}
    assert score(("dense", few)).runs[0].files[0].missing == 20


@pytest.mark.parametrize("count", [1, 9])
def test_a_run_that_differs_in_a_few_queries_from_an_earlier_one_is_refused(
    store: Store, score: Score, count: int
) -> None:
    score(("dense", ranked("a")))
    with pytest.raises(RefusedError, match=rf"new differs from dense, .* in {count} of the queries of test"):
        score(("new", changed(store, ranked("a"), count)))
    with pytest.raises(RefusedError, match=r"two differs from one"):
        score(("one", ranked("b")), ("two", changed(store, ranked("b"), count)))
    assert score(("new", changed(store, ranked("a"), 10))).looks[0].number == 2


def test_equal_scores_are_part_of_what_a_run_is_told_apart_by(
    store: Store, score: Score, tmp_path: Path
) -> None:
    """Otherwise ties in one query, in a run that counts as the same, would tell whether they matter."""
    score(("dense", ranked("a")))
    path = write_run(tmp_path / "tied.trec", ranked("a"))
    one = sealed_queries(store)[0]
    by_id = sorted(ranked("a")[one], reverse=True)
    kept = [line for line in path.read_text().splitlines() if not line.startswith(f"{one} ")]
    path.write_text("\n".join([*kept, *(f"{one} Q0 {name} 1 1 run" for name in by_id)]))
    with pytest.raises(RefusedError, match=r"tied differs from dense, .* in 1 of the queries"):
        evaluate_runs(store, "v1", [RunSource("tied", path)], TEST, "May", "lee")


def test_kinds_of_queries_of_which_few_differ_from_an_earlier_run_have_no_figures(
    store: Store, score: Score
) -> None:
    """Of 30 sealed queries the ten that differ are of both strata, so none of the two has ten."""
    assert all(one.figures for one in score(("dense", ranked("a"))).runs[0].strata["stratum"].values())
    (system,) = score(("new", changed(store, ranked("a"), 10))).runs
    assert system.overall["mrr@10"].value is not None
    assert {(bool(one.figures), one.left_out) for one in system.strata["stratum"].values()} == {
        (False, "fewer than 10 queries")
    }
    assert {(one.macro.value, one.worst) for one in system.others.values()} == {(None, None)}


def test_kinds_of_queries_of_which_a_run_answers_few_have_no_figures(store: Store, score: Score) -> None:
    kinds = {row["query_id"]: row["stratum"] for row in opened(store, "v1").rows("queries")}
    sealed = sealed_queries(store)
    asked = [name for name in sealed if kinds[name] == "imported"]
    others = [name for name in sealed if kinds[name] == "written"][:3]
    lists = {name: found for name, found in ranked("a").items() if name in {*asked, *others}}
    strata = score(("dense", lists)).runs[0].strata["stratum"]
    assert not strata["written"].figures
    assert not strata["imported"].figures, "with the mean of all it would tell of the other three"


def test_no_figure_of_a_sealed_part_is_of_a_single_query(score: Score) -> None:
    (system,) = score(("dense", ranked("a"))).runs
    assert system.per_query is None
    for figure in system.overall.values():
        assert (figure.best, figure.worst) == (None, None)
    assert {one.median.value for one in system.others.values()} == {None}
    assert not hasattr(system.files[0].ties, "mattering")


def test_what_looks_are_compared_by_is_stored_for_sealed_queries_only(store: Store, score: Score) -> None:
    found = score(("dense", ranked("a")), options=TEST._replace(split="all"))
    with store.reading() as cursor:
        (look,) = looks(cursor, found.release_id)
        stored = look_queries(cursor, [look.look_id])
    assert [row.query_id for row in stored] == sealed_queries(store)
    assert all(row.value is not None and row.scored_by == "ndcg_exp@10" for row in stored)


def test_the_command_says_which_look_it_is(store: Store, tmp_path: Path) -> None:
    run = write_run(tmp_path / "dense.trec", ranked("a"))
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(run), "--part", "test"]
    done = invoke([*command, "--reason", "May", "--by", "lee"], catch_exceptions=False)
    assert "dense: look 1 at test, 1 of dense." in done.stdout
    answer = json.loads(invoke([*command, "--reason", "May", "--json"]).stdout)
    assert (answer["looks"][0]["number"], answer["looks"][0]["repeated"]) == (1, True)
