"""Home, run by AppTest on real projects: the workflow, the one button, and pages that lead back to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.navigation import all_pages
from app.views import queries, releases, rounds
from app.views.releases import relabel
from curation.guides.questions import ask_about_item
from curation.ingest.requests import REQUESTS
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.operations.jobs import jobs_of
from curation.operations.jobs.stored import store_ending, store_job
from curation.operations.start import POOL_DEPTH
from curation.operations.workflow.judging import MANAGE, OPEN, QUESTIONS
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store
from curation.store.row_types import Annotator
from tests.support import page
from tests.support.gold_project import labelled
from tests.support.page import LEE
from tests.support.projects import add_names, add_pairs, grade_next, grid, import_rows
from tests.support.stages import read_stages

START_LABEL = "Open the first round"
NO_BACKUP = "There is no backup of this project yet."


@pytest.fixture(autouse=True)
def add_the_lead(served: Store) -> None:
    add_names(served, "lee", role="lead")


def run(title: str, annotator: Annotator = LEE) -> AppTest:
    """The page as the annotator sees it."""
    return page.run(page.page_at(title.lower(), annotator))


def bring_in(store: Store) -> None:
    """Three documents and a query that finds one of them."""
    documents = [{"_id": word, "title": word, "text": f"How to {word}."} for word in ("send", "track", "pay")]
    import_rows(store, documents, [{"_id": "q", "text": "send"}])


def rows(test: AppTest) -> list[str]:
    return [one.proto.body for one in test.get("html") if "gs-step" in one.proto.body]


def links(test: AppTest) -> list[tuple[str, str, str]]:
    """Label, address and query string of all links."""
    return [(one.proto.label, one.proto.page, one.proto.query_string) for one in test.get("page_link")]


def test_disputes_that_wait_are_next_and_alpha_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(context.PROJECT, str(labelled(tmp_path / "l", decided=False).path))
    test = run("Home")
    (following,) = [one for one in rows(test) if "gs-next" in one]
    assert "1 pair waits for a decision." in following
    (figures,) = [one.proto.body for one in test.get("html") if "gs-figures" in one.proto.body]
    assert "<b>1</b> <strong>disputed pairs</strong>" in figures
    assert "Ordinal alpha" in figures


@pytest.mark.slow
def test_a_lead_sees_who_is_at_work_how_fast_and_with_which_grades(store: Store) -> None:
    add_pairs(store, grid(3, 8))
    add_names(store, "ada", "ben")
    open_round(store, RoundRequest("first", ["ada", "ben"], overlap=2, duplicates=0.0))
    grade_next(store, "ada", 12)
    (team,) = [one.proto.body for one in run("Home").get("html") if "gs-team" in one.proto.body]
    assert "Bars show how often each grade was given, from grade 0 (pale) to " in team
    assert '<b dir="auto">ada</b>' in team
    assert 'aria-label="grade ' in team
    assert "ben" not in team, "who has answered nothing is not at work"


def test_an_open_question_comes_first_and_leads_to_its_answer(store: Store) -> None:
    add_pairs(store, grid(2, 3))
    open_round(store, RoundRequest("first", ["lee"], overlap=1, duplicates=0.0))
    ask_about_item(store, "lee", "Is a page of links an answer?")
    test = run("Home")
    assert "1 question waits for an answer about the guide." in rows(test)[0]
    assert links(test)[0] == ("Answer", "settings", "part=Guide&show=Questions")


def test_a_refused_job_is_told_as_text(store: Store) -> None:
    job = store_job(store, "pool", {}, "lee", None)[0]
    store_ending(store, job.job_id, "refused", "There is no <b>corpus</b> yet.")
    (following,) = [one for one in rows(run("Home")) if "gs-next" in one]
    assert "There is no &lt;b&gt;corpus&lt;/b&gt; yet." in following


@pytest.mark.parametrize("title", ["Rounds", "Evaluate"])
def test_an_empty_page_leads_to_what_comes_first(store: Store, title: str) -> None:
    assert [one[:2] for one in links(run(title))] == [("Import a corpus", "import")]


def test_an_empty_page_leads_to_the_stage_that_the_project_has_come_to(store: Store) -> None:
    add_pairs(store, grid(2, 3))
    add_names(store, "ada", "ben")
    assert links(run("Agreement")) == [("Open a round", "rounds", "part=Open+a+round")]


def test_every_part_that_a_stage_opens_is_on_its_page(store: Store) -> None:
    assert "Sample" in queries.PARTS
    assert "Report" in relabel.PARTS
    assert {MANAGE, OPEN, QUESTIONS} <= {*rounds.PARTS, rounds.OPEN}
    assert {"corpus", "traffic"} <= set(REQUESTS)
    assert {"Split", "Gate", "Freeze"} <= set(releases.STAGES)
    opened = {stage.action.page for stage in read_stages(store)}
    assert opened <= {listed.address for listed in all_pages()}


def test_an_empty_project_asks_for_documents_queries_and_people(store: Store) -> None:
    test = run("Home")
    tiles = [one.proto.body for one in test.get("html") if "gs-tile" in one.proto.body]
    assert [re.findall("<h2>(\\w+)<", tile) for tile in tiles] == [["Documents"], ["Queries"], ["People"]]
    assert [label for label, _, _ in links(test)][:6] == [
        *("Import documents", "Import a log", "Paste or import queries", "Write queries"),
        *("Let a model propose questions", "Add people"),
    ]
    assert not [one for one in test.button if one.label == START_LABEL]


def test_what_waits_for_a_lead_is_in_sight_before_the_first_round(store: Store) -> None:
    with store.transaction() as cursor:
        cursor.execute("UPDATE annotators SET imported = TRUE")  # nobody has an unused invitation
    assert not run("Home").expander[0].proto.expanded
    ask_about_item(store, "lee", "Is a page of links an answer?")
    test = run("Home")
    assert test.expander[0].proto.expanded
    assert "1 question waits for an answer about the guide." in page.html(test)


def test_one_button_opens_the_first_round_and_leads_to_its_first_document(store: Store) -> None:
    bring_in(store)
    test = run("Home")
    assert [one.label for one in test.number_input] == ["Documents for each query"], "no query is drawn"
    assert page.field(test, "Documents for each query").value == POOL_DEPTH
    assert "BM25 finds up to 10 documents" in page.html(test)
    page.field(test, "Round name").set_value("autumn")
    page.press(test.run(), START_LABEL)
    jobs_of(store).wait(30)
    test = run("Home")
    assert links(test)[0][:2] == ("Grade the first document", "label")
    assert NO_BACKUP not in page.html(test), "nothing is graded yet"
    assert "The round autumn is open for lee: 1 grade to give." in page.html(test)
    grade_next(store, "lee", 1)
    test = run("Home")
    assert "Grade the first document" not in [label for label, _, _ in links(test)]
    assert NO_BACKUP in page.html(test)


def test_a_first_round_takes_the_pool_that_is_there_and_says_why_it_did_not_open(store: Store) -> None:
    bring_in(store)
    build_pool(store, PoolRequest(("bm25",), random_negatives=1))
    test = run("Home")
    assert not test.number_input, "the pool is there: nothing of it is chosen again"
    assert "BM25 finds up to 2 documents" in page.html(test)
    job = store_job(store, "start", {}, "lee", None)[0]
    store_ending(store, job.job_id, "refused", "BM25 found no document to grade.")
    assert "BM25 found no document to grade." in page.words(run("Home").error)


def test_who_is_no_lead_is_led_nowhere(store: Store) -> None:
    assert links(run("Label", Annotator("ada", "annotator", False))) == []


def test_a_link_to_a_page_that_the_navigation_has_not_is_left_out(store: Store) -> None:
    def script(annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        import streamlit as st

        from app.components.links import OFFERED_PAGES
        from app.views import home

        st.session_state[OFFERED_PAGES] = {"home", "queries"}
        home.show(annotator)

    test = AppTest.from_function(script, args=(LEE,), default_timeout=60).run()
    assert {address for _, address, _ in links(test)} == {"queries"}
