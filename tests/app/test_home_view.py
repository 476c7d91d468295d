"""Home, run by AppTest on real projects: the path, the one button, and pages that lead back to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.navigation import all_pages, pages_of
from app.views.queries import queries_page as queries
from app.views.relabel import relabel_page as relabel
from app.views.releases import releases_page as releases
from app.views.rounds import rounds_page as rounds
from curation.core.errors import RefusedError
from curation.ingest.picking.kinds import FILE_KINDS
from curation.labeling.rounds.create_round import open_round
from curation.operations.backups.backup import back_up
from curation.operations.doctor.drill import rehearse_restore
from curation.operations.jobs.stored import begin, end
from curation.operations.workflow import read_workflow
from curation.operations.workflow.judging import MANAGE, OPEN
from curation.store import Store
from curation.store.rows import Annotator
from tests.support.gold_project import labelled
from tests.support.projects import add_names, add_pairs, grade_next, grid, new_project

LEAD = Annotator("lena", "lead", False)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    found = new_project(tmp_path / "project.duckdb")
    add_names(found, "lena", role="lead")
    monkeypatch.setenv(context.PROJECT, str(found.path))
    return found


def run(title: str, annotator: Annotator = LEAD) -> AppTest:
    """The page as the annotator sees it."""

    def script(title, annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        from app.navigation import all_pages

        next(page for page in all_pages() if page.title == title).show(annotator)

    test = AppTest.from_function(script, args=(title, annotator), default_timeout=60).run()
    assert not test.exception
    return test


def rows(test: AppTest) -> list[str]:
    return [one.proto.body for one in test.get("html") if "gs-step" in one.proto.body]


def links(test: AppTest) -> list[tuple[str, str, str]]:
    """Label, address and query string of all links."""
    return [(one.proto.label, one.proto.page, one.proto.query_string) for one in test.get("page_link")]


def test_home_is_the_first_page_of_leads_alone() -> None:
    assert pages_of("lead")[0].title == "Home"
    assert {page.title: page.roles for page in all_pages()}["Home"] == ("lead",)
    assert pages_of("annotator")[0].title == "Label"


def test_an_empty_project_shows_the_whole_path_and_begins_with_the_import(store: Store) -> None:
    test = run("Home")
    found = rows(test)
    assert [("gs-next" in one) for one in found] == [True, *[False] * 9]
    assert "goldgrade needs documents" in found[0]
    assert links(test)[0][:2] == ("Import a corpus", "import")


def test_the_button_leads_to_the_part_of_the_page_where_it_is_done(store: Store) -> None:
    add_pairs(store, grid(2, 3))
    add_names(store, "ada", "ben")
    test = run("Home")
    (following,) = [one for one in rows(test) if "gs-next" in one]
    assert "6 pairs wait to be judged; 2 annotators can judge." in following
    assert ("Open a round", "rounds", "part=Open+a+round") in links(test)


def test_a_round_without_an_answer_has_no_bars(store: Store) -> None:
    add_pairs(store, grid(2, 3))
    add_names(store, "ada", "ben")
    open_round(store, "first", ["ada", "ben"])
    (following,) = [one for one in rows(run("Home")) if "gs-next" in one]
    assert "Nobody has answered yet; no forecast yet." in following
    assert "gs-days" not in following


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


def test_a_lead_sees_who_is_at_work_how_fast_and_with_which_grades(store: Store) -> None:
    add_pairs(store, grid(3, 8))
    add_names(store, "ada", "ben")
    open_round(store, "first", ["ada", "ben"], overlap=2, duplicates=0.0)
    grade_next(store, "ada", 12)
    (team,) = [one.proto.body for one in run("Home").get("html") if "gs-team" in one.proto.body]
    assert "Bars: the mix of grades, from 0 (pale) to " in team
    assert '<b dir="auto">ada</b>' in team
    assert 'aria-label="grade ' in team
    assert "ben" not in team, "who has answered nothing is not at work"


def test_a_job_without_a_process_was_interrupted(store: Store) -> None:
    begin(store, "sample", {}, "lena", None)
    (following,) = [one for one in rows(run("Home")) if "gs-next" in one]
    assert "The server was stopped while a sample was being drawn." in following


def test_a_refused_job_is_told_as_text(store: Store) -> None:
    job = begin(store, "pool", {}, "lena", None)[0]
    end(store, job.job_id, "refused", "There is no <b>corpus</b> yet.")
    (following,) = [one for one in rows(run("Home")) if "gs-next" in one]
    assert "There is no &lt;b&gt;corpus&lt;/b&gt; yet." in following


@pytest.mark.parametrize("title", ["Rounds", "Agreement", "Coverage", "Evaluate", "Re-label", "Label"])
def test_an_empty_page_leads_to_what_comes_first(store: Store, title: str) -> None:
    assert [one[:2] for one in links(run(title))] == [("Import a corpus", "import")]


@pytest.mark.parametrize("title", ["Agreement", "Re-label", "Label"])
def test_an_empty_page_leads_to_the_step_that_the_project_has_come_to(store: Store, title: str) -> None:
    add_pairs(store, grid(2, 3))
    add_names(store, "ada", "ben")
    assert links(run(title)) == [("Open a round", "rounds", "part=Open+a+round")]


def test_every_part_that_a_step_opens_is_on_its_page(store: Store) -> None:
    assert "Sample" in queries.PARTS
    assert {"Plan", "Report"} <= set(relabel.PARTS)
    assert {MANAGE, OPEN} <= {*rounds.PARTS, rounds.OPEN}
    assert {"corpus", "traffic"} <= set(FILE_KINDS)
    assert {"Split", "Gate", "Freeze"} <= set(releases.STAGES)
    assert {step.action.page for step in read_workflow(store).steps} <= {page.address for page in all_pages()}


def test_who_is_no_lead_is_led_nowhere(store: Store) -> None:
    assert links(run("Label", Annotator("ada", "annotator", False))) == []
    assert links(run("Agreement", Annotator("rob", "reviewer", False))) == []
    assert links(run("Evaluate", Annotator("eva", "evaluator", False))) == []


def test_a_link_to_a_page_that_the_navigation_has_not_is_left_out(store: Store) -> None:
    def script(annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        import streamlit as st

        from app.components.links import OFFERED
        from app.views import home

        st.session_state[OFFERED] = {"home", "queries"}
        home.show(annotator)

    test = AppTest.from_function(script, args=(LEAD,), default_timeout=60).run()
    assert {address for _, address, _ in links(test)} == {"queries"}


def test_home_says_when_the_last_backup_and_restore_drill_were(store: Store, tmp_path: Path) -> None:
    def quiet() -> str:
        return "".join(one.proto.body for one in run("Home").get("html") if "gs-quiet" in one.proto.body)

    assert "No restore drill was ever made." in quiet()
    taken = back_up(store, tmp_path / "b.duckdb")
    taken.path.write_bytes(b"")
    with pytest.raises(RefusedError):
        rehearse_restore(store, tmp_path)
    [problem] = [one.value for one in run("Home").error]
    assert "and failed" in problem
    assert "goldgrade" not in problem, "pages name no commands"
