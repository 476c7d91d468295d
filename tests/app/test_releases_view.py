"""The page Releases: rule, gate, split, freeze and export, by the same functions as the commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.views.releases.freezing import LINKS
from curation.agreement.gate import Demand, read_demand, set_demand
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.rule import MEDIAN, read_rule
from curation.operations.jobs import jobs_of
from curation.people.seal_access import read_openings
from curation.releases.card import write_card
from curation.releases.freeze.checklist import checklist
from curation.releases.freeze.freeze import prepare_draft
from curation.releases.frozen_release import load_release
from curation.releases.requests import FreezeRequest
from curation.releases.sealed_log import read_monthly_limit
from curation.splits.certificate import read_certificate
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from tests.support.freezing import freeze
from tests.support.gold_project import DISPUTE, LEXICAL, PARTS, frozen_project, labelled
from tests.support.page import LEE, button, field, html, page_at, run
from tests.support.projects import add_names, count_rows, newest_job, rows_of
from tests.support.stored_parts import alter_part

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Queries with two people's grades and one open dispute; nothing is split."""
    store = labelled(tmp_path / "p", decided=False)
    add_names(store, "lee", "max", role="lead")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    jobs_of(store).wait()


def open_stage(stage: str) -> AppTest:
    return run(page_at("releases", LEE, stage=stage))


def press(project: Store, page: AppTest, label: str, stage: str) -> AppTest:
    """Press a button that starts a job, and open the page again once the job is done."""
    page = button(page, label).click().run()
    assert not page.exception, page.exception
    assert not page.error, page.error[0].value
    jobs_of(project).wait()
    return open_stage(stage)


def test_another_rule_is_previewed_and_then_the_projects(project: Store) -> None:
    page = open_stage("Rule")
    assert "Current rule: Majority" in html(page)
    assert button(page, "Use this rule").disabled
    page = field(page, "Rule by which votes become a grade").set_value(MEDIAN).run()
    assert "0 pairs would get a grade, 0 pairs would no longer have one" in html(page)
    button(page, "Use this rule").click().run()
    with project.reading() as cursor:
        assert read_rule(cursor).name == MEDIAN
    assert rows_of(project, "SELECT actor FROM events WHERE action = 'consensus rule'") == [("lee",)]
    assert "Current rule: Median" in html(open_stage("Rule"))


@pytest.mark.costly("two splits")
def test_the_gate_shows_each_figure_and_takes_other_thresholds(project: Store) -> None:
    page = open_stage("Gate")
    assert "Not required" in html(page)
    field(page, "Lower end of alpha's 95 % interval, at least").set_value(0.99)
    button(page, "Set the gate").click().run()
    with project.reading() as cursor:
        assert read_demand(cursor) == Demand(0.99, 0.8)
    page = open_stage("Gate")
    assert "The gate is shut: ordinal alpha is too low." in html(page)
    assert "Not met" in html(page)


def test_a_split_is_previewed_without_being_stored_and_then_stored_as_it_was(project: Store) -> None:
    page = open_stage("Split")
    assert "8 graded queries can be divided into parts" in page.info[0].value
    field(page, "Paraphrases stay together").uncheck()
    field(page, "Part 1, % of queries").set_value(40.0)
    page = page.run()
    assert button(page, "Preview the split").disabled
    assert "Sum to 0.7" in html(page) or "sum to 0.7" in html(page)
    field(page, "Part 1, % of queries").set_value(50.0)
    field(page, "Part 2, % of queries").set_value(50.0)
    page = press(project, page.run(), "Preview the split", "Split")
    shown = html(page)
    assert "dev 4 (50\u00a0%), test 4 (50\u00a0%)" in shown
    assert "8 queries have no tie" in shown
    assert count_rows(project, "splits") == 0
    page = press(project, page, "Use this split", "Split")
    with project.reading() as cursor:
        found = read_certificate(cursor)
    assert [share.reached for share in found.shares if share.dimension == "all"] == [4, 4]
    assert "This is the current split now: 8 queries" in html(page)
    assert "The seed is 0." in html(page)
    assert button(page, "Use this split").disabled


def test_a_freeze_that_must_fail_is_off_with_its_reason(project: Store) -> None:
    page = open_stage("Freeze")
    assert "There is no split yet" in page.info[0].value
    assert "Split the queries" in [link.proto.label for link in page.get("page_link")]
    assert button(page, "Freeze the release").disabled
    make_split(project, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    set_demand(project, Demand(alpha=0.99))
    page = open_stage("Freeze")
    assert "1 judged pair is disputed and open" in html(page)
    assert 'href="/adjudicate">Decide the disputed pairs' in html(page)
    assert 'href="/queries?part=All+queries">Tag the queries' in html(page)
    assert {check.name for check in checklist(prepare_draft(project, FreezeRequest()))} == LINKS.keys()
    assert button(page, "Freeze the release").disabled
    page = field(page, "Leave out disputed pairs").check().run()
    field(page, "Release name").input("v1")
    page = button(page, "Freeze the release").click().run()
    assert "To freeze anyway, give a reason" in page.error[0].value
    assert count_rows(project, "jobs") == 0


@pytest.mark.costly("freezes and exports through pages and jobs")
def test_a_lead_freezes_and_exports_with_a_reason_that_is_logged(project: Store, tmp_path: Path) -> None:
    decide_pair(project, *DISPUTE, grade=1, reason="only the title fits")
    make_split(project, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    page = open_stage("Freeze")
    field(page, "Release name").input("v1")
    page = press(project, page, "Freeze the release", "Freeze")
    assert "Froze v1: 8 queries, 16 grades" in html(page)
    page = button(page, "Open v1").click().run()
    assert page.session_state["stage"] == "Releases"
    (release_id,) = [code.value for code in page.code]
    page = shown("Export")
    assert field(page, "Parts to include").value == ["dev"], "sealed grades are exported only on purpose"
    page = field(page, "Parts to include").set_value(["dev", "test"]).run()
    refused = button(page, "Prepare the export").click().run()
    assert "would contain sealed grades" in refused.error[0].value
    field(refused, "Reason for opening the test grades").input("evaluation of May")
    press(project, refused, "Prepare the export", "Releases")
    page = shown("Export")
    assert "The export contains the sealed grades of test. The export is logged" in html(page)
    assert "Download v1-beir.zip" in html(page)
    with project.reading() as cursor:
        taken = read_openings(cursor, release_id)
    assert [(one.opened_by, one.reason) for one in taken] == [("lee", "evaluation of May")]
    job = newest_job(project)
    packed = Path(job.parameters["folder"]) / "v1-beir.zip"
    jobs_of(project).start("export", {**job.parameters, "folder": str(tmp_path / "max")}, "max", job.job_id)
    jobs_of(project).wait()
    assert "Download v1-beir.zip" in html(shown("Export")), "another's export does not hide one's own"
    assert packed.stat().st_mode & 0o077 == 0
    assert "evaluation of May" in html(shown("Access log"))


def test_a_lead_sets_how_many_sealed_evaluations_an_evaluator_has(project: Store) -> None:
    decide_pair(project, *DISPUTE, grade=1, reason="only the title fits")
    make_split(project, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(project, "v1")
    page = shown("Access log")
    (number,) = page.number_input
    assert (number.value, "per month" in number.label) == (10, True)
    number.set_value(25)
    page = button(page, "Save the number").click().run()
    assert not page.exception
    assert page.number_input[0].value == 25
    with project.reading() as cursor:
        assert read_monthly_limit(cursor) == 25


def test_a_release_shows_its_card_and_difference_from_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = frozen_project(tmp_path)
    add_names(store, "lee", role="lead")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    assert "This is the only release" in html(shown("Difference"))
    decide_pair(store, *DISPUTE, grade=2, reason="read again")
    freeze(store, "v2")
    page = shown("Difference")
    assert "From release v1 to v2" in html(page)
    field(page, "Release").set_value("v1").run()
    assert "From release v1 to v2" in html(page), "whichever is chosen, the older comes first"
    page = shown("Card")
    assert "Known limits" in html(page)
    assert write_card(load_release(store, "v2")).splitlines()[0] == "# v2"
    with store.transaction() as cursor:
        alter_part(cursor, "qrels", lambda text: text.replace("2", "3"))
    for view in ("Card", "Export"):
        assert "has changed since it was frozen" in shown(view).error[0].value
    assert "was ALTERED" in button(shown("Summary"), "Verify").click().run().error[-1].value


def shown(view: str) -> AppTest:
    return run(page_at("releases", LEE, stage="Releases", view=view))
