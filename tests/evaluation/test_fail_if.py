"""Conditions under which an evaluation fails: their grammar, and what meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.evaluation.condition_checks import CheckedCondition, CheckedFigure, check_conditions
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.fail_conditions import FailCondition, read_conditions
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.qrels import qrels_from
from tests.support.command_line import invoke
from tests.support.evaluated_runs import evaluate_lists
from tests.support.gold_project import TOPICS, frozen_project

QUERIES = [f"q{number:03}" for number in range(60)]


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    """`new` loses 10 of 20 queries of the tail, and wins 10 of 40 queries of the head."""
    grades = {query: {"good": 1, "bad": 0} for query in QUERIES}
    bands = ["head"] * 40 + ["tail"] * 20
    rows = [
        {"stratum": band, "source": "sampled", "part": "dev", "inclusion_probability": 0.5, "segment": "s"}
        for band in bands
    ]
    hits = {"old": range(10, 60), "new": range(50)}
    systems = {
        name: {query: {"good" if place in found else "bad": 1.0} for place, query in enumerate(QUERIES)}
        for name, found in hits.items()
    }
    options = EvaluateRequest(measures=["success@1", "map"], by=["stratum", "band"])
    return evaluate_lists(qrels_from(grades), rows, ["band"], systems, options)


def checked(evaluation: Evaluation, *texts: str, baseline: str | None = None) -> tuple[CheckedCondition, ...]:
    return check_conditions(evaluation, read_conditions(texts), baseline)


def failed(evaluation: Evaluation, *texts: str, baseline: str | None = None) -> list[CheckedFigure]:
    return [row for one in checked(evaluation, *texts, baseline=baseline) for row in one.failed]


def test_a_condition_is_a_measure_a_number_and_where() -> None:
    conditions = read_conditions(
        [
            *(
                "ndcg_exp@10 drops 0.02 in any stratum with n>=30",
                "MRR@10 below .5",
                "map drops 0.1 in band tail",
            ),
            *("map drops", "map DROPS significantly overall", "map drops by 0.02 in tag multi hop with n>=9"),
            "map drops by 0.5",
        ]
    )
    assert [one[1:] for one in conditions] == [
        FailCondition("", "ndcg_exp@10", "drops", 0.02, "stratum", None, 30)[1:],
        FailCondition("", "mrr@10", "below", 0.5, None, None, 1)[1:],
        FailCondition("", "map", "drops", 0.1, "band", "tail", 1)[1:],
        FailCondition("", "map", "drops", 0, None, None, 1, any_drop=True)[1:],
        FailCondition("", "map", "drops", 0, None, None, 1, any_drop=True, significant=True)[1:],
        FailCondition("", "map", "drops", 0.02, "tag", "multi hop", 9)[1:],
        FailCondition("", "map", "drops", 0.5, None, None, 1)[1:],
    ]


def test_texts_that_say_no_condition_are_refused_together() -> None:
    with pytest.raises(InputError) as caught:
        read_conditions(["mrr@10 rises 0.1", "recall drops 0.1", "map drops 2", "map drops 0.1 in any"])
    assert caught.value.problems == [
        "--fail-if 'mrr@10 rises 0.1': 'mrr@10' is clear, but 'rises 0.1' is not part of a condition",
        "--fail-if 'recall drops 0.1': 'recall' needs a depth, such as recall@10",
        "--fail-if 'map drops 2': 2 is outside the range of measures; expected a number above 0 and at "
        "most 1",
        "--fail-if 'map drops 0.1 in any': 'map drops 0.1' is clear, but 'in any' is not part of a condition",
    ]
    assert "drops by X" in caught.value.way_out


def test_a_drop_in_one_stratum_fails_where_the_whole_does_not(evaluation: Evaluation) -> None:
    assert failed(evaluation, "success@1 drops 0.02") == []
    [row] = failed(evaluation, "success@1 drops 0.02 in any stratum")
    assert row[1:8] == ("new", "stratum tail", 20, 0.5, 1.0, -0.5, "old")
    [row] = failed(evaluation, "success@1 drops 0.02 in any band", baseline="new")
    assert (row.system, row.where, row.change) == ("old", "band head", -0.25)


def test_a_drop_of_exactly_the_limit_fails(evaluation: Evaluation) -> None:
    assert len(failed(evaluation, "success@1 drops 0.5 in band tail")) == 1
    assert failed(evaluation, "success@1 drops 0.51 in band tail") == []


def test_a_drop_is_paired_and_significant_only_where_the_test_that_decides_finds_it(
    evaluation: Evaluation,
) -> None:
    [whole, tail] = checked(evaluation, "map drops significantly", "map drops significantly in stratum tail")
    assert (whole.outcome, tail.outcome) == ("passed", "failed")
    [paired] = [
        one for one in evaluation.comparisons if one.measure == "map" and one.stratum == ("stratum", "tail")
    ]
    [row] = tail.failed
    assert (row.change, row.low, row.high, row.p) == (
        *(paired.difference, paired.low, paired.high),
        paired.p_corrected,
    )
    assert row.sentence.replace("\u00a0", " ") == (
        "new, stratum tail: 0.500, −0.500 against old (95 %: −0.750 to −0.250), 20 queries, "
        "corrected p 0.00781."
    )
    [turned] = failed(evaluation, "map drops significantly in any band", baseline="new")
    assert (turned.system, turned.where) == ("old", "band head")
    assert turned.low < turned.change < turned.high < 0
    assert [one.outcome for one in checked(evaluation, "map drops")] == ["passed"]
    few = checked(evaluation, "map drops significantly in any stratum with n>=61")
    assert few[0].outcome == "not checked"


def test_a_figure_below_the_limit_fails_in_every_system(evaluation: Evaluation) -> None:
    assert [row.system for row in failed(evaluation, "map below 0.84")] == ["old", "new"]
    assert failed(evaluation, "map below 0.8") == []


def test_what_was_not_checked_has_not_passed(evaluation: Evaluation) -> None:
    assert [row.where for row in failed(evaluation, "map drops 0.02 in any stratum with n>=20")] == [
        "stratum tail"
    ]
    text = "map drops 0.02 in any stratum with n>=41"
    why = "new, stratum head: 40 queries, but the condition has n>=41; new, stratum tail: 20 queries"
    [row] = failed(evaluation, text)
    assert (row.condition, row.value) == (text, None)
    assert row.why.replace("\u00a0", " ").startswith(why)
    assert row.sentence == f"Nothing could be checked, so the check did not pass: {row.why}."
    assert [one.outcome for one in checked(evaluation, text)] == ["not checked"]


def test_what_means_nothing_here_is_refused(evaluation: Evaluation) -> None:
    with pytest.raises(InputError) as caught:
        failed(evaluation, "mrr@10 drops 0.1", "map drops 0.1 in band torso")
    assert caught.value.problems == [
        "--fail-if 'mrr@10 drops 0.1': mrr@10 is not computed in this evaluation; add the measure to "
        "--measures",
        "--fail-if 'map drops 0.1 in band torso': band has no value 'torso'; it has head, tail",
    ]
    with pytest.raises(
        InputError, match="The baseline 'base' is not a system of this evaluation; expected one of old, new"
    ):
        failed(evaluation, "map drops 0.1", baseline="base")


@pytest.mark.parametrize(
    ("run", "condition", "said"),
    [
        ("old.trec", "success@1 sinks 0.1", "'sinks 0.1' is not"),
        ("old.trec", "success@1 below 0.5 with n>=99", ""),
        ("old.trec", "success@1 below 0.5 in colour red", "'colour' is not a facet"),
        ("absent.trec", "success@1 below 0.5", "absent.trec"),
    ],
)
def test_a_gate_that_could_not_be_checked_has_another_status_than_one_that_fails(
    tmp_path: Path, run: str, condition: str, said: str
) -> None:
    store = frozen_project(tmp_path)
    lines = [f"q-{topic} Q0 {topic}-1 1 1.0 x\n" for topic in TOPICS]
    (tmp_path / "old.trec").write_text("".join(lines), encoding="utf-8")
    command = ["--project", str(store.path), "evaluate", "v1", "--measures", "success@1"]
    done = invoke([*command, "--run", str(tmp_path / run), "--fail-if", condition])
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Failed" not in done.stdout
