"""The checklist of a freeze: what was planned and is not there yet, before it becomes a release for good."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curation.agreement.fast_answers import AnswerPace
from curation.agreement.report import make_agreement_report
from curation.agreement.report_findings import list_unchecked
from curation.agreement.verdict import judge_alpha
from curation.labeling.consensus.disputes import find_disputes
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.submit import submit_judgments
from curation.operations.workflow.project_workflow import build_release_stages, read_figures, read_state
from curation.releases.card import write_card
from curation.releases.freeze.checklist import checklist
from curation.releases.freeze.freeze import prepare_draft
from curation.releases.freeze.pair_selection import INCOMPLETE
from curation.releases.frozen_release import load_release
from curation.releases.requests import FreezeRequest
from curation.store import Store, utc_now
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import TOPICS, gold_project
from tests.support.projects import add_names, per_test, rows_of
from tests.support.stages import read_stages

pytestmark = pytest.mark.slow

OVERRIDE = "a draft"


@per_test
def half(folder: Path) -> Store:
    """Eight new pairs for two people: both answer two alike and one apart, ada alone answers four more."""
    store = gold_project(folder)
    add_names(store, "ada", "ben")
    with store.transaction() as cursor:
        for topic, other in zip(TOPICS, [*TOPICS[1:], TOPICS[0]], strict=True):
            cursor.execute("INSERT INTO candidates VALUES (?, ?)", [f"q-{topic}", f"{other}-1"])
    open_round(store, RoundRequest("first", ["ada", "ben"], overlap=2, duplicates=0, seed=1))
    shown = rows_of(
        store,
        "SELECT annotator, presentation_id FROM presentations p JOIN rounds r USING (round_id) "
        "WHERE r.name = 'first' ORDER BY query_id, document_id, annotator",
    )
    seen: dict[str, Any] = {"shown_at": utc_now(), "active_ms": 900}
    for place, (who, item) in enumerate(shown):
        if place < 6 or (place < 14 and who == "ada"):
            grade = 3 if (place, who) == (5, "ben") else 0
            submit_judgments(store, who, [Submission(item, 0, "grade", f"key {item}", grade=grade, **seen)])
    return store


def checks(store: Store, request: FreezeRequest = FreezeRequest()) -> dict[str, tuple[str, str]]:
    return {check.name: (check.state, check.sentence) for check in checklist(prepare_draft(store, request))}


def test_grades_that_rest_on_fewer_opinions_than_planned_are_counted_before_a_freeze(half: Store) -> None:
    lines = checks(half)
    assert lines["opinions"] == ("warn", "4 of 22 grades have 1 opinion of 2 planned.")
    assert lines["open rounds"] == ("warn", "Open rounds: first is 62\u00a0% answered.")
    assert lines["disputes"][0] == "block"
    assert lines["seal"][0] == "ok"
    assert lines["unanswerable"][0] == "warn"
    assert " (0\u00a0%) are tagged unanswerable; 5\u00a0% to 20\u00a0%" in lines["unanswerable"][1]
    assert lines["consistency"] == (
        "unknown",
        "Undefined: the rounds had no blind duplicates; the threshold is 0.8.",
    )


def test_a_release_can_hold_only_pairs_with_all_their_votes_and_says_so(half: Store) -> None:
    whole = freeze(half, "all", allow_disputed=True, override=OVERRIDE)
    step = {stage.name: stage for stage in read_stages(half)}["freeze"]
    assert step.state == "needs attention"
    said = "4 of these grades have fewer opinions than were planned."
    shown = invoke(["--project", str(half.path), "releases", "all"]).stdout
    for text in (step.line, shown, write_card(load_release(half, "all"))):
        assert said in text
    some = freeze(half, "some", allow_disputed=True, override=OVERRIDE, only_complete=True)
    assert sum(whole.grades.values()) - sum(some.grades.values()) == some.left_out[INCOMPLETE] == 4
    assert [load_release(half, name).header.get("only_complete") for name in ("all", "some")] == [None, True]
    assert {stage.name: stage for stage in read_stages(half)}["freeze"].state == "done"
    assert checks(half, FreezeRequest(only_complete=True))["opinions"][0] == "ok"


def test_a_person_who_is_asked_in_two_rounds_has_one_opinion_planned(half: Store) -> None:
    open_round(half, RoundRequest("second", ["ada", "ben"], overlap=2, duplicates=0, seed=2, again=True))
    others = "15 of 22 grades have 2 opinions of 4 planned"  # of two who were imported, and asked of two more
    assert checks(half)["opinions"] == ("warn", f"{others}; 4 of 22 grades have 1 opinion of 2 planned.")
    some = prepare_draft(half, FreezeRequest(only_complete=True))
    assert some.left_out[INCOMPLETE] == 15 + 4


def test_a_dry_run_shows_the_checklist_and_freezes_nothing(half: Store) -> None:
    command = ["--project", str(half.path), "freeze", "v1", "--dry-run"]
    found = {one["name"]: one["state"] for one in json.loads(invoke([*command, "--json"]).stdout)["checks"]}
    assert (found["opinions"], found["disputes"]) == ("warn", "block")
    assert "1 opinion of 2 planned" in invoke(command).stdout
    refused = invoke([*command, "--override", "why"])
    assert "--override has no effect here: a dry run freezes nothing" in str(refused.exception)
    assert not rows_of(half, "SELECT 1 FROM releases")


def test_a_pace_at_which_nobody_reads_is_a_line_of_the_checklist(half: Store) -> None:
    assert checks(half)["pace"] == ("unknown", "Nobody has 20 timed answers.")
    for paces, state in (([AnswerPace("ada", 40, 30, 0.5)], "warn"), ([AnswerPace("ada", 40, 3, 2.0)], "ok")):
        draft = replace(prepare_draft(half, FreezeRequest()), paces=paces)
        (pace,) = [check for check in checklist(draft) if check.name == "pace"]
        assert pace.state == state
        assert ("Nobody reads a query and a document at this pace." in pace.sentence) is (state == "warn")


def test_home_agreement_gate_and_freeze_state_the_same_figures(half: Store) -> None:
    figures = read_figures(half)
    steps = {stage.name: stage for stage in read_stages(half, figures)}
    report, found = make_agreement_report(half), checks(half)
    waiting = len(find_disputes(half))
    assert waiting == report.disputed == 1
    assert steps["adjudicate"].line.startswith("1 pair waits for a decision")
    assert found["disputes"][1].startswith("1 pair is disputed")
    within = figures.gate.checks[1]
    assert within.why in found["consistency"][1]
    assert f"Not checked: annotators' consistency with themselves: {within.why}." in list_unchecked(report)
    assert figures.gate.checks[0].value == report.between.ordinal.value
    assert judge_alpha(report.between).sentence.endswith(f" {figures.gate.advice}")
    assert found["ordinal alpha"][1].endswith(f" {figures.gate.advice}")
    stages = {one.name: one for one in build_release_stages(half, read_state(half), figures.gate)}
    assert (
        stages["gate"].line
        == steps["freeze"].line
        == f"The gate is shut: ordinal alpha is too low and consistency is unknown. {figures.gate.advice}"
    )
    assert stages["split"] == steps["split"]
