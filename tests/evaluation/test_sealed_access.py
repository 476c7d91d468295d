"""Evaluating on a sealed part: who may, what is logged first, the limit of evaluators, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.evaluation import sealed_access
from curation.evaluation.evaluate_runs import evaluate_headline_of_runs, evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.prepare_evaluation import prepare_evaluation
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.rounded_figures import HeadlineEvaluation
from curation.evaluation.scoring.system_files import SystemFile
from curation.releases.overview import read_overview
from curation.releases.release_list import list_release_overviews
from curation.releases.sealed_log import read_monthly_limit, read_query_values, set_monthly_limit
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import Ranked, evaluated_project, ranked, sealed_queries, write_run
from tests.support.projects import add_names, per_test

TEST = EvaluateRequest("v1", "test", ["ndcg_exp@10", "mrr@10"])
Score = Callable[..., Evaluation]


store = per_test(evaluated_project)


@pytest.fixture
def score(store: Store, tmp_path: Path) -> Score:
    def scored(
        *runs: tuple[str, Ranked],
        by: str = "lee",
        reason: str | None = "May",
        options: EvaluateRequest = TEST,
    ) -> Evaluation:
        sources = [
            SystemFile(name, write_run(tmp_path / f"{name}-{number}.trec", lists))
            for number, (name, lists) in enumerate(runs)
        ]
        return evaluate_runs(store, "v1", sources, replace(options, reason=reason), by)

    return scored


def rounded(store: Store, folder: Path, *names: str, by: str = "vera") -> HeadlineEvaluation:
    runs = [SystemFile(name, write_run(folder / f"{name}.trec", ranked(name))) for name in names]
    return evaluate_headline(store, "v1", runs, "nightly", by)


def evaluate_headline(
    store: Store, release: str, runs: list[SystemFile], reason: str, by: str
) -> HeadlineEvaluation:
    files = tuple((run.name, str(run.path)) for run in runs)
    request = replace(TEST, release=release, measures=None, runs=files, reason=reason)
    return evaluate_headline_of_runs(prepare_evaluation(store, request, by))


def test_an_evaluation_is_counted_and_its_figures_are_logged(store: Store, score: Score) -> None:
    first = score(("dense@may", ranked("a")))
    second = score(("bm25", ranked("b")), ("dense@june", ranked("c")), reason="June")
    assert (first.sealed_count.evaluations, second.sealed_count.evaluations) == (1, 3)
    log = read_overview(store, "v1").sealed_evaluations
    assert [(one.system, one.evaluated_by, one.reason) for one in log] == [
        ("dense@may", "lee", "May"),
        ("bm25", "lee", "June"),
        ("dense@june", "lee", "June"),
    ]
    for one, system in zip(log, [*first.runs, *second.runs], strict=True):
        for measure, figure in system.overall.items():
            assert one.shown[measure] == {
                field: getattr(figure, field) for field in sealed_access.LOGGED_FIELDS
            }


def test_the_log_is_written_before_figures_are_handed_out(store: Store, tmp_path: Path) -> None:
    """A process that dies after the transaction has told nobody a figure, and is in the log all the same."""
    set_monthly_limit(store, 1, "lee")
    rounded(store, tmp_path, "a")
    with pytest.raises(RefusedError):
        rounded(store, tmp_path, "b")
    assert [one.refused is None for one in read_overview(store, "v1").sealed_evaluations] == [True, False]


def test_only_evaluators_and_leads_evaluate_and_say_why_and_each_refusal_is_logged(
    store: Store, score: Score, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="needs the role evaluator or lead; anna is annotator"):
        score(("dense", ranked("a")), by="anna")
    with pytest.raises(NotFoundError, match="nobody"):
        score(("dense", ranked("a")), by="nobody")
    with pytest.raises(RefusedError, match=r"test of the release 'v1' is sealed.*--reason"):
        score(("dense", ranked("a")), reason=" ")
    with pytest.raises(RefusedError, match="Only leads see full results on test"):
        score(("dense", ranked("a")), by="vera")
    bad = tmp_path / "bad.trec"
    bad.write_text("q0 Q0 d0.0 1 high run\n")
    with pytest.raises(InputError, match="line 1"):
        evaluate_runs(store, "v1", [SystemFile("bad", bad)], replace(TEST, reason="May"), "lee")
    log = read_overview(store, "v1").sealed_evaluations
    assert [one.evaluated_by for one in log] == ["anna", "nobody", "lee", "vera", "lee"]
    assert all(one.refused and not one.shown for one in log)
    count = score(("dense", ranked("a"))).sealed_count
    assert (count.evaluations, count.refused, count.people) == (1, 5, 4)
    assert "1 sealed evaluation and 5 refused requests, by 4 people" in count.sentence


def test_an_evaluator_has_ten_sealed_evaluations_a_month_and_a_refusal_counts(
    store: Store, tmp_path: Path
) -> None:
    headline = rounded(store, tmp_path, *"abcdefgh")
    assert headline.sealed_count.left == 2
    with pytest.raises(RefusedError, match="vera has 2 sealed evaluations of test left this month"):
        rounded(store, tmp_path, "i", "j", "k")
    with pytest.raises(RefusedError, match="vera has 0 sealed evaluations"):
        rounded(store, tmp_path, "i")
    assert rounded(store, tmp_path, "i", by="walt").sealed_count.left == 9, "each person has ten"
    set_monthly_limit(store, 30, "lee")
    assert rounded(store, tmp_path, "i").sealed_count.left == 30 - 8 - 3 - 1 - 1


def test_what_a_name_was_refused_before_it_had_an_account_does_not_count(
    store: Store, tmp_path: Path
) -> None:
    set_monthly_limit(store, 1, "lee")
    with pytest.raises(NotFoundError):
        rounded(store, tmp_path, "a", by="eva")
    add_names(store, "eva", role="evaluator")
    assert rounded(store, tmp_path, "a", by="eva").rows


def test_requests_at_the_same_moment_do_not_pass_the_limit(store: Store, tmp_path: Path) -> None:
    set_monthly_limit(store, 3, "lee")

    def asks(name: str) -> bool:
        try:
            return bool(rounded(store, tmp_path, name).rows)
        except RefusedError:
            return False

    with ThreadPoolExecutor(6) as pool:
        answered = list(pool.map(asks, "abcdef"))
    log = read_overview(store, "v1").sealed_evaluations
    assert sum(answered) == sum(row.refused is None for row in log) <= 3
    assert len(log) == 6, "each request is in the log"


def test_a_new_month_begins_anew(store: Store, tmp_path: Path) -> None:
    rounded(store, tmp_path, *"abcdefghij")
    with store.transaction() as cursor:
        cursor.execute(
            "UPDATE sealed_evaluations SET evaluated_at = date_trunc('month', evaluated_at) - ?",
            [timedelta(seconds=1)],
        )
    assert rounded(store, tmp_path, "k").sealed_count.left == 9


def test_leads_choose_the_limit_and_have_none(store: Store, score: Score) -> None:
    for who in ("vera", "anna"):
        with pytest.raises(RefusedError, match="needs the role lead"):
            set_monthly_limit(store, 99, who)
    with pytest.raises(InputError, match="expected 0 or more"):
        set_monthly_limit(store, -1, "lee")
    done = invoke(["--project", str(store.path), "releases", "--sealed-limit", "0", "--as", "lee"])
    assert "Each evaluator has 0 sealed evaluations a month" in done.stdout
    with store.reading() as cursor:
        assert read_monthly_limit(cursor) == 0
    assert score(("dense", ranked("a"))).runs


def test_a_part_is_counted_in_all_releases(store: Store, tmp_path: Path) -> None:
    from curation.ingest.importers.imported_judgment import ImportedJudgment
    from curation.labeling.imported import add_judgments
    from tests.support.freezing import freeze

    rounded(store, tmp_path, *"abcdefghij")
    add_judgments(store, [ImportedJudgment("q0", "d0.4", who, 1) for who in ("ada", "ben")], "more.csv")
    freeze(store, "v2")
    with pytest.raises(RefusedError, match="vera has 0 sealed evaluations"):
        evaluate_headline(store, "v2", [SystemFile("a", tmp_path / "a.trec")], "new", "vera")


def test_no_figure_of_a_sealed_part_is_of_a_single_query(score: Score) -> None:
    (system,) = score(("dense", ranked("a"))).runs
    assert system.per_query is None


def test_values_are_stored_of_sealed_queries_alone(store: Store, score: Score) -> None:
    score(("dense", ranked("a")), options=replace(TEST, part="all"))
    (row,) = read_overview(store, "v1").sealed_evaluations
    assert (row.parts, row.evaluated) == (["test"], ["dev", "test"])
    with store.reading() as cursor:
        stored = read_query_values(cursor, [row.evaluation_id])
    assert list(stored[row.evaluation_id]) == sealed_queries(store)


def test_the_log_is_beside_the_openings_of_the_seal(store: Store, score: Score, tmp_path: Path) -> None:
    score(("dense", ranked("a")))
    rounded(store, tmp_path, "b")
    with pytest.raises(CurationError):
        score(("c", ranked("c")), by="vera")
    (listed,) = list_release_overviews(store)
    assert (listed.openings, listed.sealed_evaluations) == (0, 3)
    done = invoke(["--project", str(store.path), "releases", "v1"], catch_exceptions=False)
    for words in ("Sealed evaluations", "all figures", "one rounded figure", "refused", "nightly"):
        assert words in done.stdout
    answer = json.loads(invoke(["--project", str(store.path), "releases", "v1", "--json"]).stdout)
    assert [one["rounded"] for one in answer["sealed_evaluations"]] == [False, True, True]


def test_the_command_tells_evaluators_one_rounded_figure(store: Store, tmp_path: Path) -> None:
    run = write_run(tmp_path / "dense.trec", ranked("a"))
    command = ["--project", str(store.path), "evaluate", "v1", "--run", str(run), "--part", "test"]
    done = invoke([*command, "--reason", "May", "--as", "vera"], catch_exceptions=False)
    assert "dense: ndcg_exp@10 0." in done.stdout
    assert "You have 9 sealed evaluations of test left this month." in done.stdout
    answer = json.loads(invoke([*command, "--reason", "May", "--as", "vera", "--json"]).stdout)
    assert answer["sealed_count"]["evaluations"] == 2
    refused = invoke([*command, "--reason", "May", "--as", "vera", "--measures", "map"])
    assert "Leave out --measures" in str(refused.exception)
