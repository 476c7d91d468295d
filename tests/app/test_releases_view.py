"""The page Releases: rule, gate, split, freeze and export, by the same functions as the commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from curation.agreement.gate import Demand, read_demand
from curation.consensus.rule import MEDIAN, read_rule
from curation.jobs import jobs_of
from curation.people.annotators import add_annotator
from curation.splits.certificate.certificate import read_certificate
from curation.store import Annotator, Store
from tests.support.gold_project import labelled

LEE = Annotator("lee", "lead", False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Queries with two people's grades and one open dispute; nothing is split."""
    store = labelled(tmp_path / "p", decided=False)
    add_annotator(store, "lee", "lead", "correct horse battery")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    jobs_of(store).wait()


def opened(stage: str) -> AppTest:
    def script(annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        from app.navigation import all_pages

        next(found for found in all_pages() if found.address == "releases").show(annotator)

    page = AppTest.from_function(script, kwargs={"annotator": LEE}, default_timeout=30)
    page.session_state["stage"] = stage
    page = page.run()
    assert not page.exception, page.exception
    return page


def html(page: AppTest) -> str:
    return " ".join(str(element.proto.body) for element in page.get("html"))


def button(page: AppTest, label: str) -> Any:
    return next(one for one in page.button if one.label == label)


def field(elements: Any, label: str) -> Any:
    return next(one for one in elements if one.label == label)


def press(project: Store, page: AppTest, label: str, stage: str) -> AppTest:
    """Press a button that starts a job, and open the page again once the job is done."""
    page = button(page, label).click().run()
    assert not page.exception, page.exception
    assert not page.error, page.error[0].value
    jobs_of(project).wait()
    return opened(stage)


def test_another_rule_is_previewed_and_then_the_projects(project: Store) -> None:
    page = opened("Rule")
    assert "In force: Majority" in html(page)
    assert button(page, "Use this rule").disabled
    page = field(page.selectbox, "Rule by which votes become a grade").set_value(MEDIAN).run()
    assert "0 pairs would get a grade, 0 pairs would lose it" in html(page)
    button(page, "Use this rule").click().run()
    with project.reading() as cursor:
        assert read_rule(cursor).name == MEDIAN
        said = cursor.execute("SELECT actor FROM events WHERE action = 'consensus rule'").fetchall()
    assert said == [("lee",)]
    assert "In force: Median" in html(opened("Rule"))


def test_the_gate_shows_each_figure_and_takes_other_thresholds(project: Store) -> None:
    page = opened("Gate")
    assert "Not asked for" in html(page)
    field(page.number_input, "Lower end of alpha's interval must reach").set_value(0.99)
    button(page, "Set the gate").click().run()
    with project.reading() as cursor:
        assert read_demand(cursor) == Demand(0.99, 0.8)
    page = opened("Gate")
    assert "The gate is shut by agreement between annotators" in page.warning[0].value
    assert "Not met" in html(page)


def test_a_split_is_previewed_without_being_stored_and_then_stored_as_it_was(project: Store) -> None:
    page = opened("Split")
    assert "8 graded queries can get a part" in page.info[0].value
    field(page.checkbox, "Paraphrases stay together").uncheck()
    field(page.number_input, "Part 1, % of queries").set_value(40.0)
    page = page.run()
    assert button(page, "Preview the split").disabled
    assert "Sum to 0.7" in html(page) or "sum to 0.7" in html(page)
    field(page.number_input, "Part 1, % of queries").set_value(50.0)
    field(page.number_input, "Part 2, % of queries").set_value(50.0)
    page = press(project, page.run(), "Preview the split", "Split")
    shown = html(page)
    assert "dev 4 (50%), test 4 (50%)" in shown
    assert "8 queries are tied to no other" in shown
    with project.reading() as cursor:
        assert not cursor.execute("SELECT 1 FROM splits").fetchall()
    page = press(project, page, "Store this split", "Split")
    with project.reading() as cursor:
        found = read_certificate(cursor)
    assert [share.reached for share in found.shares if share.dimension == "all"] == [4, 4]
    assert "Stored the split: 8 queries" in html(page)
    assert button(page, "Store this split").disabled
