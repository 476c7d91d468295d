"""Round quality: what could not be checked is counted, and who grades without reading is found."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest

from curation.agreement.fast_answers import MIN_AT_FLOOR, AnswerPace
from curation.agreement.grades import make_grades
from curation.agreement.inter_annotator import compute_agreement
from curation.agreement.report import make_agreement_report
from curation.agreement.report_findings import list_findings
from curation.agreement.round_findings import check_round
from curation.agreement.verdict import judge_alpha, near_chance
from curation.core.digests import digest
from curation.core.statistics.estimate import Estimate
from curation.labeling.judging import Submission
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.icecat import RATERS, given_grades
from tests.support.projects import built_once, grid, open_for

pytestmark = pytest.mark.slow

TRUTH = [0, 0, 1, 2, 3]


def answer_all(store: Store, who: str, grade, seconds) -> None:
    """Everything of the round, graded by `grade(place of the document)` in `seconds()`."""
    while items := read_queue(store, who, 50).showings:
        places = [int("".join(part.text for part in item.title).rpartition(".")[2]) for item in items]
        answers = [
            Submission(
                item.presentation_id,
                item.revision,
                "grade",
                digest(item.presentation_id, item.revision),
                grade(place),
                active_ms=int(1000 * seconds()),
            )
            for item, place in zip(items, places, strict=True)
        ]
        submit_judgments(store, who, answers)


def opened(store: Store, queries: int) -> Store:
    open_for(store, grid(queries, 5), "anna", "ben", seed=1)
    return store


@built_once
def scripted(store: Store) -> Store:
    """Two scripts that press a random key every 0.4 s."""
    random = Random(3)
    opened(store, 12)
    for who in ("anna", "ben"):
        answer_all(store, who, lambda _: random.randrange(4), lambda: 0.4)
    return store


@built_once
def quick(store: Store) -> Store:
    """Two readers who need about 1.1 s for two pairs of five, where a title decides, and 3 s for others."""
    random = Random(4)
    opened(store, 12)

    def grade(place: int) -> int:
        return TRUTH[place] if random.random() < 0.9 else (TRUTH[place] + 1) % 4

    def seconds() -> float:
        return random.lognormvariate(0.1, 0.25) if random.random() < 0.4 else 3.0

    for who in ("anna", "ben"):
        answer_all(store, who, grade, seconds)
    return store


def abouts(store: Store) -> set[tuple[str | None, str]]:
    return {(name, finding.about) for name, finding in check_round(store, "first").findings}


def test_two_scripts_that_answer_at_random_every_fraction_of_a_second_are_found_out(scripted: Store) -> None:
    quality = check_round(scripted, "first")
    assert abouts(scripted) == {(None, "near chance"), ("anna", "pace"), ("ben", "pace")}
    assert {one.about for one in quality.not_checked} == {"agreement"}
    assert quality.conclusion == "3 findings in 7 checks; 2 of 9 need more data."
    sentences = list_findings(make_agreement_report(scripted, "first"))
    assert sentences[0].startswith("Not checked: annotators' consistency")
    assert "near chance, random grades would agree about as well" in sentences[1]
    assert [one.partition(":")[0] for one in sentences[2:4]] == ["anna", "ben"]
    assert "half of 60 answers came in 0.4 seconds or less" in sentences[2]


def test_quick_readers_of_easy_pairs_are_not_accused(quick: Store) -> None:
    quality = check_round(quick, "first")
    assert quality.findings == ()
    assert "need more data" in quality.conclusion


def test_the_commands_say_the_same_with_what_could_not_be_checked_first(scripted: Store) -> None:
    command = ["--project", str(scripted.path)]
    found = json.loads(invoke([*command, "agreement", "--round", "first", "--json"]).stdout)["quality"]
    assert [finding["about"] for finding in found["findings"]] == ["near chance", "pace", "pace"]
    assert found["findings"][0]["evidence"]["units"] == 60
    printed = invoke([*command, "agreement", "--round", "first"]).stdout
    assert printed.index("Could not be checked") < printed.index("Nobody reads a query and a document")
    report = json.loads(invoke([*command, "agreement", "--json"]).stdout)
    assert report["pace"][0] == {"annotator": "anna", "answers": 60, "below_second": 60, "median": 0.4}


def test_nothing_answered_is_nothing_checked(store: Store) -> None:
    quality = check_round(opened(store, 2), "first")
    assert (quality.findings, quality.conclusion) == ((), "There is not yet enough data for any check.")
    assert quality.not_checked[0].why == "undefined: no pair has grades of two annotators"


@pytest.mark.parametrize(
    ("alpha", "low", "high", "near"),
    [
        (0.023, -0.3, 0.35, True),
        (0.1, 0.05, 0.15, True),  # surely above chance, and hardly
        (0.4, -0.1, 0.8, False),  # too wide to say
        (0.5, 0.3, 0.6, False),
        (0.0, None, None, False),  # two queries say nothing about others
    ],
)
def test_near_chance_is_below_slight_agreement_or_a_narrow_interval_around_none(
    alpha: float, low: float | None, high: float | None, near: bool
) -> None:
    assert near_chance(Estimate(alpha, low, high, 60)) is near
    assert not near_chance(Estimate(alpha, low, high, 9))


def test_an_alpha_below_0_is_called_worse_than_chance() -> None:
    result = compute_agreement(make_grades([]), (0, 1, 2), 0)
    states = []
    for alpha, low, high in ((-0.18, -0.9, 0.7), (-0.3, -0.5, -0.1), (-0.02, -0.3, 0.35), (0.1, -0.5, 0.7)):
        figures = {**result.figures, "ordinal": Estimate(alpha, low, high, 60)}
        states.append(judge_alpha(replace(result, figures=figures)).state)
    assert states == ["worse than chance", "worse than chance", "near chance", "undecided"]


@pytest.mark.parametrize(
    ("answers", "median", "unread"), [(19, 0.4, False), (20, 0.99, True), (99, 1.0, False)]
)
def test_the_floor_is_a_median_of_a_second_over_twenty_answers(
    answers: int, median: float, unread: bool
) -> None:
    assert MIN_AT_FLOOR == 20
    assert AnswerPace("anna", answers, answers, median).unread is unread


def test_no_two_professional_raters_are_near_chance_even_on_a_dozen_queries(shared: Path) -> None:
    rows = given_grades(shared)
    random = np.random.default_rng(5)
    queries = sorted({query for query, *_ in rows})
    for two in combinations(RATERS, 2):
        for _ in range(2):
            drawn = set(random.choice(queries, 12, replace=False).tolist())
            said = [row for row in rows if row[0] in drawn and row[2] in two]
            assert judge_alpha(compute_agreement(make_grades(said), (0, 1, 2, 3), 0)).state != "near chance"
