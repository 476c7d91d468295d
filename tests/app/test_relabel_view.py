"""The page Re-label, run by Streamlit's AppTest: what is due, the plan, opening it once, and the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context, page_context
from app.navigation import pages_of
from app.views.relabel import kept
from app.views.relabel.relabel_page import PARTS
from curation.core.progress import silent
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.rounds.lifecycle import close_round
from curation.labeling.rounds.rounds import list_rounds
from curation.operations.jobs import jobs_of, last_job
from curation.operations.registry import OPERATIONS
from curation.people.annotators import add_annotator
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.plan.stored import list_plans
from curation.relabeling.staleness.quarter import Quarter
from curation.releases.freeze.freeze import freeze
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Annotator, Store, utc_now
from tests.support.page import button, html, page_at, run
from tests.support.projects import built_once, decide_pairs
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter, texts_of, write_corpus
from tests.support.second_click import twice

pytestmark = pytest.mark.slow  # not for the quick check

LEE = Annotator("lee", "lead", False)
SCRIPT = "<script>window.hacked=1</script>"


@built_once
def judged(store: Store) -> Store:
    judged_project(store, store.path.parent)
    add_annotator(store, "lee", "lead", "correct horse battery")
    return store


@pytest.fixture
def project(judged: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv(context.PROJECT, str(judged.path))
    yield judged
    jobs_of(judged).wait()


def opened(part: str = "Due") -> AppTest:
    page = page_at("relabel", LEE)
    page.session_state["of"] = part
    return run(page)


def releases_page() -> AppTest:
    page = page_at("releases", LEE)
    page.session_state["stage"] = "Freeze"
    return page.run()


def metrics(page: AppTest) -> dict[str, str]:
    return {one.label: one.value for one in page.metric}


def this_quarter() -> str:
    return Quarter.of(utc_now().date()).name


def test_only_a_lead_has_the_page_with_old_grades(project: Store) -> None:
    has = {role for role in ("annotator", "reviewer", "evaluator", "lead") if "Re-label" in titles(role)}
    assert has == {"lead"}


def titles(role: str) -> list[str]:
    return [page.title for page in pages_of(role)]


def test_what_is_due_is_shown_with_the_text_difference_as_text(project: Store, tmp_path: Path) -> None:
    texts = texts_of(6, 5)
    texts["q0-d0"] = f"the text of document 0 about topic 0, {SCRIPT} version"
    del texts["q1-d1"]
    write_corpus(project, tmp_path, texts)
    page = opened()
    assert metrics(page)["Quarter"] == this_quarter()
    shown = html(page)
    assert "1 pair whose document changed" in shown
    assert "1 judged document is no longer in the corpus" in shown
    assert SCRIPT not in shown
    assert "<ins>&lt;script&gt;window.hacked=1&lt;/script&gt;</ins>" in shown
    assert "<del>first</del>" in shown
    assert "traffic now is unknown" in shown


def test_a_plan_is_made_once_as_a_job_and_shows_its_pairs(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened("Plan")
    assert "There is no plan yet" in page.info[0].value
    assert "What the random part of a plan can find" in html(page), "before there is one"
    page.slider[0].set_value(20)
    button(page, "Plan").click()
    page = twice(page, page_context, "written", monkeypatch)
    assert not page.error
    jobs_of(project).wait()
    page = opened("Plan")
    assert metrics(page)["Pairs"] == "6 of 30"
    assert metrics(page)["Judgments"] == "12"
    with project.reading() as cursor:
        (plan,) = list_plans(cursor)
        done = last_job(cursor)
    assert done is not None
    assert (done.kind, done.outcome, done.started_by) == ("plan re-labeling", "done", "lee")
    assert (plan.parameters["fraction"], plan.round) == (0.2, None)
    assert plan.plan_id[:8] in html(page)


def test_opening_is_disabled_with_the_reason_while_nobody_or_too_few_are_chosen(project: Store) -> None:
    make_plan(project, 0.2, 7)
    page = opened("Plan")
    assert not button(page, "Open").disabled
    for people, why in (([], "Nobody is chosen to judge"), (["ada"], "An overlap of 2 does not fit 1")):
        page = page.multiselect[0].set_value(people).run()
        assert button(page, "Open").disabled
        assert why in html(page)


def test_two_quarters_are_never_open_at_once(project: Store) -> None:
    make_plan(project, 0.2, 7)
    quarter = open_quarter(project, PEOPLE).quarter
    page = opened("Plan")
    assert button(page, "Plan").disabled
    assert "Two quarters are never open at once" in html(page)
    assert f"is open as the round {quarter}" in html(page)


def test_the_quarter_is_opened_as_a_job_that_a_second_click_does_not_repeat(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(project, 0.2, 7)
    page = opened("Plan")
    button(page, "Open").click()
    page = twice(page, page_context, "written", monkeypatch)
    assert not page.error
    jobs_of(project).wait()
    with project.reading() as cursor:
        job = last_job(cursor)
        names = [one.name for one in list_rounds(cursor) if one.kind == "labeling"]
    assert job is not None
    assert (job.kind, job.outcome, job.started_by) == ("relabel", "done", "lee"), job.message
    assert job.parameters["plan"] == plan.plan_id
    assert names == [plan.quarter]
    assert f"Opened {plan.quarter} as the round" in html(opened("Plan"))


def test_the_report_of_a_quarter_says_what_had_changed_and_can_be_taken_along(
    project: Store,
) -> None:
    make_plan(project, 0.2, 7)
    quarter = open_quarter(project, PEOPLE).quarter
    page = opened("Report")
    assert "0 are judged again: 0 comparable, 0 disputed" in page.markdown[0].value.replace("\\", "")
    answer_round(project, quarter, lambda *_: 3)
    page = opened("Report")
    assert "Old and new grades" in [one.label for one in page.expander]
    assert "What had changed" in [one.label for one in page.expander]
    assert "done: 6 of 6 pairs" in html(page)
    assert f"was judged as the round {quarter}: everything is answered" in html(opened("Plan"))
    assert kept.shown_drift(project, quarter).html.startswith("<!doctype html>")


def test_runs_of_the_past_are_compared_on_two_releases_as_a_job(project: Store) -> None:
    make_split(project, {"dev": 1.0}, 1, Rules(query=None, paraphrase=None, document=None))
    freeze(project, "v1", override="for a test")
    quarter = make_plan(project, 0.2, 7).quarter
    open_quarter(project, PEOPLE)
    assert "This takes two releases" in html(opened("Report"))
    decide_pairs(project, {(f"q{n}", f"q{n}-d3"): 0 for n in range(6)})
    freeze(project, "v2", override="for a test")
    page = opened("Report")
    refused = button(page, "Compare").click().run()
    assert "upload at least one run" in refused.error[0].value
    lines = [f"q{n} Q0 q{n}-d{d} {d} {9 - d} dense" for n in range(6) for d in range(4)]
    sent = [("dense.trec", "\n".join(lines).encode(), "text/plain")]
    page = page.file_uploader[0].set_value(sent).run()
    assert not button(page, "Compare").click().run().error
    jobs_of(project).wait()
    shown = html(opened("Report"))
    assert "Compared 1 run on v1 and v2: 11 of 11 orders are kept." in shown
    assert "The same runs on v1 and on v2, queries of dev." in shown
    assert "Order of the systems" in kept.shown_drift(project, quarter).html


def test_what_refuses_is_told_without_commands(project: Store) -> None:
    make_plan(project, 0.2, 7)
    said = [html(opened(part)) for part in PARTS]
    add_judgments(project, [ImportedJudgment("q0", f"q0-d{n}", "cyd", 3) for n in range(5)], "more.csv", [])
    said.append(html(opened("Plan")))
    make_plan(project, 0.2, 7)
    open_quarter(project, PEOPLE)
    said += [html(opened(part)) for part in PARTS]
    assert "Two quarters are never open at once" in said[-2]
    page = releases_page()
    assert "There is no split yet" in page.info[0].value
    assert button(page, "Freeze").disabled
    said += [html(page), *(one.value for one in (*page.error, *page.info))]
    assert [text for text in said if "goldgrade " in text or "--" in text.replace("--gs", "")] == []


def test_a_round_left_half_done_says_so(project: Store) -> None:
    make_plan(project, 0.2, 7)
    quarter = open_quarter(project, PEOPLE).quarter
    answer_round(project, quarter, lambda *_: 3, most=8)
    close_round(project, quarter)
    assert "left half done" in html(opened("Report"))
    assert f"was closed as the round {quarter} before" in html(opened("Plan"))


def test_the_job_opens_with_new_documents_of_the_systems_that_were_named(project: Store) -> None:
    plan = make_plan(project, 0.2, 7)
    asked = {"annotators": list(PEOPLE), "plan": plan.plan_id, "name": "autumn", "systems": ["bm25"]}
    said = OPERATIONS["relabel"].work(project, {**asked, "depth": 8, "duplicates": 0.0}, silent, "lee")
    assert said.startswith(f"Opened {plan.quarter} as the round autumn: 6 pairs again, ")
    assert " 0 new ones" not in said
