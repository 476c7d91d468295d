"""The pages Coverage and Write, run by Streamlit's AppTest: who has them, tasks once, warnings, and names."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import ui
from app.views.queries import writing_tasks
from curation.core.characters import isolate
from curation.queries.coverage.state import read_state
from curation.queries.coverage.writing.coverage_queries import list_queries
from curation.queries.coverage.writing.tasks import open_tasks
from curation.queries.coverage.writing.writing_queue import WritingQueue, read_writing_queue
from curation.store import Annotator, Store
from tests.support.coverage_project import TEXTS, gaps_of, measured
from tests.support.page import LEE, button, field, html, page_at, press, run
from tests.support.pool_project import put_texts
from tests.support.projects import add_names, built_once, rows_of

pytestmark = pytest.mark.usefixtures("served")

ANNA = Annotator("anna", "annotator", False)
SCRIPT = "<script>window.hacked=1</script>"


def fill(store: Store) -> Store:
    measured(store)
    add_names(store, "anna", "ben")
    add_names(store, "lee", role="lead")
    return store


project = built_once(fill)
PART = {"queries": {"part": "Coverage"}}


def opened(address: str, who: Annotator, part: str = "") -> AppTest:
    return run(page_at(address, who, **({"of": part} if part else {}), **PART.get(address, {})))


def queue(store: Store, writer: str = "anna") -> WritingQueue:
    with store.reading() as cursor:
        return read_writing_queue(cursor, writer)


def written(store: Store) -> list[str]:
    with store.reading() as cursor:
        return [query.text for query in list_queries(cursor)]


def test_without_a_map_the_page_says_what_measuring_does() -> None:
    page = opened("queries", LEE)
    assert "Coverage has not been measured yet" in page.info[0].value
    assert button(page, "Measure coverage")
    assert "the page shows the minutes left once it has begun" in html(page)
    assert "no queries to write" in opened("write", ANNA).info[0].value


@pytest.mark.slow
def test_gaps_are_listed_and_tasks_are_opened(project: Store) -> None:
    page = opened("queries", LEE)
    assert "2 of 3 regions, 67\u00a0% of the documents, have no query." in html(page)
    shown = " ".join(one.value for one in page.markdown)
    assert all(ui.literal(gap.label) in shown for gap in gaps_of(project))
    assert not page.metric, "the measures of the method have a part of their own"
    method = opened("queries", LEE, "Method")
    figures = {one.label: one.value for one in method.metric}
    assert figures["Regions without a query"] == "2 of 3"
    assert figures["Searches in regions with a query"] == "no log imported"
    assert "rules agree" in html(method)
    assert page.multiselect[0].value == ["anna", "ben"]
    page.multiselect[0].set_value([])
    page = press(page, "Open the tasks")
    assert "No writer is named" in page.error[0].value
    page.multiselect[0].set_value(["anna", "ben"])
    page = press(page, "Open the tasks")
    assert not page.error
    assert "Opened 2 query-writing tasks in 2 regions" in html(page)
    assert rows_of(project, "SELECT count(*), max(author) FROM writing_batches") == [(1, "lee")]


def test_new_queries_are_to_be_measured(project: Store, tmp_path: Path) -> None:
    put_texts(project, tmp_path, TEXTS, {"q4": "cargo ship"})
    page = opened("queries", LEE)
    assert "1 query was added since coverage was measured" in page.warning[0].value


def test_a_region_is_renamed_and_its_new_name_is_text(project: Store) -> None:
    page = opened("queries", LEE)
    field(page, "Name").set_value(SCRIPT).run()
    page = button(page, "Rename").click().run()
    assert gaps_of(project)[0].name == SCRIPT
    assert SCRIPT not in html(page)
    assert ui.literal(SCRIPT) in " ".join(one.value for one in page.markdown)


def test_a_region_is_dismissed_and_counted_again(project: Store) -> None:
    first, second = gaps_of(project)
    page = button(opened("queries", LEE), "Not a topic").click().run()
    assert "1 of 2 regions, 50\u00a0% of the documents, have no query." in html(page)
    assert gaps_of(project) == [second]
    page = button(page, "Count as a topic again").click().run()
    assert gaps_of(project) == [first, second]
    assert "2 of 3 regions" in html(page)


def test_a_lead_takes_a_task_for_one_region(project: Store) -> None:
    page = button(opened("queries", LEE), "Write a query").click().run()
    assert "Opened 1 query-writing task" in html(page)
    task = queue(project, "lee").task
    assert task is not None
    assert task.document.document_id in gaps_of(project)[0].documents


@pytest.mark.slow
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
    page = button(page, "Save the query unchanged").click().run()
    assert written(project) == ["green teas and more of it today"]
    assert "Saved: \u2068green teas" in html(page)
    assert "1 to write, 1 written" in html(page)


def test_regions_of_few_queries_are_filled_from_the_page(project: Store) -> None:
    page = opened("queries", LEE)
    page.selectbox[0].set_value(writing_tasks.FILL_FEW)
    page = button(page, "Open the tasks").click().run()
    assert "Opened 2 query-writing tasks in 1 region" in html(page)


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
        page = button(page, "Save the query unchanged").click().run()
    assert "personal data" in page.error[0].value
    assert page.text_area[0].value == "mail ann@example.com"


@pytest.mark.slow
def test_a_region_is_shown_with_its_topics_documents_and_queries(project: Store) -> None:
    page = opened("queries", LEE, "Regions")
    field(page, "Region").set_value(1).run()
    with project.reading() as cursor:
        name = read_state(cursor).map.clusters[1].name
    assert isolate(name.split(",")[0]) in html(page)
