"""The page of one query, and the links that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.components.links import query_address
from app.views.query import NUGGET_FIELDS
from curation.core.reports.tables import QueryName, Table
from curation.labeling.rounds.status import read_round_status
from curation.store import Store
from curation.store.row_types import Annotator
from curation.store.rows import utc_now
from tests.support.freezing import freeze
from tests.support.gold_project import DISPUTE, pooled_project
from tests.support.page import LEE, field, html, page_at, press, run
from tests.support.projects import add_names, discard, rows_of

pytestmark = pytest.mark.slow

ROSA = Annotator("rosa", "reviewer", False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = pooled_project(tmp_path)
    add_names(store, "ann", "ben")
    add_names(store, "lee", role="lead")
    add_names(store, "rosa", role="reviewer")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    discard(store)


def opened(query_id: str, who: Annotator = LEE, **parameters: str) -> AppTest:
    page = page_at("query", who)
    for name, value in {"id": query_id, **parameters}.items():
        page.query_params[name] = value
    return run(page)


def test_a_cell_that_names_a_query_is_its_words_everywhere_but_in_the_app() -> None:
    table = Table("Queries", ("Query",), ((QueryName("red & blue", "q 1", "d/2"),),))
    assert table.rows == (("red & blue",),)
    assert query_address("q 1", "d/2") == "/query?id=q+1&document=d%2F2"


def test_without_a_query_the_page_says_what_to_do(project: Store) -> None:
    assert "The address names no query" in run(page_at("query", LEE)).info[0].value


def test_the_document_that_the_address_names_is_read_and_the_best_ranked_one_without(project: Store) -> None:
    first = html(opened(DISPUTE[0]))
    assert "<h1" in first
    assert "only the title fits" in first
    other = html(opened(DISPUTE[0], document="router-1"))
    assert "only the title fits" not in other
    assert "router-1" in other


def test_a_reviewer_reads_and_writes_nuggets_alone(project: Store) -> None:
    page = opened(DISPUTE[0], ROSA)
    assert "Somebody: " in html(page)
    assert "zoe.miller" not in html(page)
    assert [one.label for one in page.text_area] == list(NUGGET_FIELDS)
    page.text_area[0].set_value("It repairs kettles.")
    press(page, "Save nuggets")
    written = rows_of(project, "SELECT texts, vital, author FROM nuggets")
    assert written == [(["It repairs kettles."], [True], "rosa")]


def test_what_a_model_proposed_is_shown_to_be_changed_and_saved_with_who_did(project: Store) -> None:
    with project.transaction() as cursor:
        row = [DISPUTE[0], ["It <b>boils</b> water.", "It is red."], [True, False], utc_now()]
        cursor.execute("INSERT INTO nugget_proposals VALUES (?, 'call', 'model-1', ?, ?, ?)", row)
    page = opened(DISPUTE[0], ROSA)
    assert [one.value for one in page.text_area] == ["It <b>boils</b> water.", "It is red."]
    assert "have not reviewed the nuggets that" in html(page)
    assert "A model proposed these lines" in html(page)
    page.text_area[0].set_value("It boils water.")
    page.text_area[1].set_value("")
    page = press(page, "Save nuggets")
    assert "People have reviewed the nuggets that" in html(page)
    assert "A model proposed these lines" not in html(page)
    assert [one.value for one in page.text_area] == ["It boils water.", ""]
    assert rows_of(project, "SELECT texts, author, call_id FROM nuggets") == [
        (["It boils water."], "rosa", "call")
    ]


def test_unjudged_documents_go_to_a_round(project: Store) -> None:
    page = opened(DISPUTE[0])
    assert page.multiselect[0].value == ["router-1"]
    assert page.multiselect[1].value == ["ann", "ben"], "who leads or reviews is offered, not proposed"
    assert "lee" in page.multiselect[1].options
    name = page.text_input[0].value
    assert name.startswith("Check ")
    press(page, "Open the round")
    assert f"The round {name} is open, with 1 pair of 1 query" in html(page)
    assert page.text_input[0].value == f"{name} (2)"
    status = read_round_status(project, name)
    assert (status.candidates, [one.presentations for one in status.annotators]) == (1, [1, 1])


def test_sealed_grades_come_with_a_reason_that_is_logged(project: Store) -> None:
    freeze(project, "v1")
    [(query_id,)] = rows_of(project, "SELECT min(query_id) FROM split_assignments WHERE part = 'test'")
    assert "Open the grades" not in [one.label for one in opened(query_id, ROSA).button]
    page = opened(query_id)
    assert "gs-grade" not in html(press(page, "Open the grades")), "This command logs a reason"
    field(page, "Reason for opening the grades").set_value("A system fails here.")
    assert "gs-grade" in html(press(page, "Open the grades"))
    assert rows_of(project, "SELECT opened_by, reason FROM seal_openings") == [
        ("lee", "A system fails here.")
    ]
    assert "gs-grade" not in html(opened(query_id)), "another session asks again"


def test_an_annotator_is_refused_and_learns_nothing(project: Store) -> None:
    page = page_at("query", Annotator("ann", "annotator", False))
    page.query_params["id"] = DISPUTE[0]
    page.run()
    assert "This action needs the role reviewer or lead" in page.exception[0].value
    assert not html(page)
