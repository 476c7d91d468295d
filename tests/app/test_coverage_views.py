"""The pages Coverage and Write, run by Streamlit's AppTest: who has them, tasks once, warnings, and names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.navigation import pages_of
from app.views.coverage import gaps
from curation.core.text import isolated
from curation.operations.jobs import jobs_of
from curation.queries.coverage.find_gaps import find_gaps
from curation.queries.coverage.state import read_state
from curation.queries.coverage.writing.coverage_queries import UNANSWERABLE, coverage_queries
from curation.queries.coverage.writing.queue import WritingQueue, WritingTask, writing_queue
from curation.queries.coverage.writing.tasks import open_tasks
from curation.store import Annotator, Store, utc_now
from tests.support.coverage_project import TEXTS, measured
from tests.support.page import button, html, page_at, run
from tests.support.pool_project import put_texts
from tests.support.projects import add_names, built_once, rows_of
from tests.support.second_click import twice

ANNA, LEE = Annotator("anna", "annotator", False), Annotator("lee", "lead", False)
SCRIPT = "<script>window.hacked=1</script>"


def fill(store: Store) -> Store:
    measured(store)
    add_names(store, "anna", "ben")
    add_names(store, "lee", role="lead")
    return store


filled = built_once(fill)


@pytest.fixture
def project(filled: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv(context.PROJECT, str(filled.path))
    yield filled
    jobs_of(filled).wait()


def opened(address: str, who: Annotator, part: str = "") -> AppTest:
    page = page_at(address, who)
    if part:
        page.session_state["of"] = part
    return run(page)


def queue(store: Store, writer: str = "anna") -> WritingQueue:
    with store.reading() as cursor:
        return writing_queue(cursor, writer)


def fitting(task: WritingTask) -> str:
    """A query of which nothing is warned."""
    length, wording = task.style.name.split()
    topic = "ship" if "ship" in task.document.body else "moon"
    named = {"short": "{} Ann", "medium": "a {} called Ann", "question": "who has seen the {} Ann"}
    plain = {"short": "{} trip", "medium": "{} trip in autumn", "question": "who has seen a {} trip"}
    return (named if wording == "names" else plain)[length].format(topic)


def written(store: Store) -> list[str]:
    with store.reading() as cursor:
        return [query.text for query in coverage_queries(cursor)]


def test_leads_have_coverage_and_everybody_who_judges_has_write() -> None:
    def who_has(title: str) -> set[str]:
        roles = ("annotator", "reviewer", "evaluator", "lead")
        return {role for role in roles if title in {page.title for page in pages_of(role)}}

    assert who_has("Coverage") == {"lead"}
    assert who_has("Write queries") == {"annotator", "reviewer", "lead"}


def test_without_a_map_the_page_says_what_measuring_does(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(context.PROJECT, str(store.path))
    page = opened("coverage", LEE)
    assert "There is no coverage map" in page.info[0].value
    assert button(page, "Measure coverage")
    assert "no queries to write" in opened("write", ANNA).info[0].value


def test_gaps_are_listed_and_tasks_are_opened_once_for_two_clicks(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened("coverage", LEE)
    assert {one.label: one.value for one in page.metric}["Regions without"] == "2 of 3"
    assert all(gap.name in html(page) for gap in find_gaps(project))
    assert page.multiselect[0].value == ["anna", "ben"]
    button(page, "Open the tasks").click()
    page = twice(page, gaps, "open_tasks", monkeypatch)
    assert not page.error
    assert "Opened 2 tasks in 2 regions" in html(page)
    assert rows_of(project, "SELECT count(*), max(author) FROM writing_batches") == [(1, "lee")]


def test_what_cannot_be_opened_is_said_and_new_queries_are_to_be_measured(
    project: Store, tmp_path: Path
) -> None:
    page = opened("coverage", LEE)
    page.multiselect[0].set_value([])
    page = button(page, "Open the tasks").click().run()
    assert "Nobody is named to write" in page.error[0].value
    put_texts(project, tmp_path, TEXTS, {"q4": "cargo ship"})
    page = opened("coverage", LEE)
    assert "1 query was added since coverage was measured" in page.warning[0].value


def test_a_region_is_renamed_and_its_new_name_is_text(project: Store) -> None:
    page = opened("coverage", LEE)
    name = next(one for one in page.text_input if one.label == "Name of the region")
    name.set_value(SCRIPT)
    page = button(page, "Rename").click().run()
    assert find_gaps(project)[0].name == SCRIPT
    assert SCRIPT not in html(page)
    assert SCRIPT.replace("<", "&lt;").replace(">", "&gt;") in html(page)


def test_a_lead_takes_a_task_for_one_region(project: Store) -> None:
    page = button(opened("coverage", LEE), "Write a query").click().run()
    assert "on the page [Write](/write)" in " ".join(one.value for one in page.markdown)
    task = queue(project, "lee").task
    assert task is not None
    assert task.document.document_id in find_gaps(project)[0].documents


def test_a_writer_is_warned_once_of_a_text_and_may_save_it_as_it_is(project: Store) -> None:
    open_tasks(project, 2, ["anna"], seed=5)
    page = opened("write", ANNA)
    task = queue(project).task
    assert task is not None
    assert task.document.body in html(page)
    assert any(task.style.length in one.value for one in page.markdown)
    page.text_area[0].set_value("green teas and more of it today")
    page = button(page, "Save the query").click().run()
    assert written(project) == []
    assert any(one.value for one in page.warning)
    assert page.text_area[0].value == "green teas and more of it today"
    page = button(page, "Save it as it is").click().run()
    assert written(project) == ["green teas and more of it today"]
    assert "Saved: \u2068green teas" in html(page)
    assert "1 to write, 1 written" in html(page)


def test_a_writer_is_warned_of_another_style_and_of_another_topic(project: Store) -> None:
    open_tasks(project, 1, ["anna"], seed=5)
    page = opened("write", ANNA)
    task = queue(project).task
    assert task is not None
    page.text_area[0].set_value("Is Sonnet 18 by Shakespeare" if task.style.most else "sonnets")
    page = button(page, "Save the query").click().run()
    assert task.style.length in page.warning[0].value
    assert "does not seem to be about the document" in page.warning[0].value
    page.text_area[0].set_value(fitting(task))
    page = button(page, "Save").click().run()
    assert written(project) == [fitting(task)]


def test_regions_of_few_queries_are_filled_from_the_page(project: Store) -> None:
    page = opened("coverage", LEE)
    page.selectbox[0].set_value(gaps.FILL)
    page = button(page, "Open the tasks").click().run()
    assert "Opened 2 tasks in 1 regions" in html(page)


def test_passing_on_shows_another_document_and_a_refusal_keeps_the_text(project: Store) -> None:
    open_tasks(project, 1, ["anna"], seed=5)
    page = opened("write", ANNA)
    before = queue(project).task
    page = button(page, "Skip this document").click().run()
    after = queue(project).task
    assert before is not None
    assert after is not None
    assert before.document != after.document
    assert after.document.body in html(page)
    page.text_area[0].set_value("mail ann@example.com")
    page = button(page, "Save the query").click().run()
    if page.warning:
        page = button(page, "Save it as it is").click().run()
    assert "personal data" in page.error[0].value
    assert page.text_area[0].value == "mail ann@example.com"


def test_what_was_written_is_listed_with_its_source_and_unanswerable_ones_with_what_is_known(
    project: Store,
) -> None:
    open_tasks(project, 1, ["anna"], seed=5, kind=UNANSWERABLE)
    page = opened("write", ANNA)
    assert "does not have" in html(page)
    page.text_area[0].set_value("sonnets of the sea")
    page = button(page, "Save").click().run()
    if page.warning:
        button(page, "Save it as it is").click().run()
    shown = html(opened("coverage", LEE, "Written"))
    assert "sonnets of the sea" in shown
    assert "anna (person)" in shown
    assert "not pooled yet" in shown


def put_evaluation(store: Store, values: list[float | None]) -> None:
    result = {
        "release": "v1",
        "parts": ["test"],
        "measures": ["ndcg_exp@10"],
        "query_ids": ["q1", "q2"],
        "runs": [{"name": name, "per_query": {"ndcg_exp@10": values}} for name in ("bm25", "dense")],
    }
    page = {"title": "Evaluation", "lead": "", "findings": [], "sections": [], "remark": ""}
    made = [json.dumps(result), json.dumps(page), "lee", utc_now()]
    row = ["e1", "r", "v1", ["test"], [], ["bm25", "dense"], *made]
    with store.transaction() as cursor:
        cursor.execute("INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def test_the_map_has_every_region_and_its_results_and_a_click_shows_the_region(project: Store) -> None:
    page = opened("coverage", LEE, "Map")
    assert "the map has no results" in html(page)
    put_evaluation(project, [0.25, 0.75])
    page = opened("coverage", LEE, "Map")
    assert "1 of 3 regions have a query" in html(page)
    assert "bm25 is higher in 0, dense in 0, and 1 are level" in html(page)
    page.query_params["region"] = "1"
    page = page.run()
    with project.reading() as cursor:
        name = read_state(cursor).map.clusters[1].name
    region = next(one for one in page.selectbox if one.label == "Region")
    assert region.value == 1
    assert isolated(name.split(",")[0]) in html(page)
