"""The page Re-label, run by Streamlit's AppTest: what is due, the plan, opening it once, and the report."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from curation.people.accounts import add_annotator
from curation.relabeling.calendar import Quarter
from curation.relabeling.due_list import read_due
from curation.relabeling.plan import make_plan
from curation.relabeling.report import make_drift_report
from curation.relabeling.report_sections import make_drift_page
from curation.relabeling.request import PlanRequest
from curation.store import Store, utc_now
from tests.support.page import LEE, button, html, page_at, run
from tests.support.projects import built_once
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter, texts_of, write_corpus

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]

SCRIPT = "<script>window.hacked=1</script>"


@built_once
def project(store: Store) -> Store:
    judged_project(store, store.path.parent)
    add_annotator(store, "lee", "lead", "correct horse battery")
    return store


def opened(part: str = "Due") -> AppTest:
    return run(page_at("releases", LEE, stage="Re-label", quarter=part))


def this_quarter() -> str:
    return Quarter.of(utc_now().date())


def test_what_is_due_is_shown_with_the_text_difference_as_text(project: Store, tmp_path: Path) -> None:
    texts = texts_of(6, 5)
    texts["q0-d0"] = f"the text of document 0 about topic 0, {SCRIPT} version"
    del texts["q1-d1"]
    write_corpus(project, tmp_path, texts)
    page = opened()
    sentence = read_due(project).sentence
    assert sentence.startswith("4 of 30 pairs should be judged again this quarter: 1 whose document changed,")
    assert sentence in html(page)
    page = run(page_at("releases", LEE, stage="Re-label", quarter="Due", why="Document changed"))
    shown = html(page)
    assert SCRIPT not in shown
    assert "<ins>&lt;script&gt;window.hacked=1&lt;/script&gt;</ins>" in shown
    assert "<del>first</del>" in shown


@pytest.mark.slow
def test_opening_is_disabled_with_the_reason_while_nobody_or_too_few_are_chosen(project: Store) -> None:
    make_plan(project, PlanRequest(0.2, 7))
    page = opened()
    assert not button(page, "Open the round").disabled
    for people, why in (([], "The round needs annotators"), (["ada"], "An overlap of 2 does not fit 1")):
        page = page.multiselect[0].set_value(people).run()
        assert button(page, "Open the round").disabled
        assert why in html(page)


@pytest.mark.slow
def test_one_quarter_is_open_at_a_time_and_its_report_says_what_had_changed(project: Store) -> None:
    make_plan(project, PlanRequest(0.2, 7))
    quarter = open_quarter(project, PEOPLE).quarter
    assert f"0 of 6 pairs are judged again in the round {quarter}" in html(opened())
    page = opened("Report")
    assert "pairs are judged again: 0 comparable, 0 disputed" in page.markdown[0].value.replace("\\", "")
    answer_round(project, quarter, lambda *_: 3)
    page = opened("Report")
    assert "Old and new grades" in [one.label for one in page.expander]
    assert "What changed" in [one.label for one in page.expander]
    assert "6 of 6 pairs were judged again this quarter" in html(opened())
    assert make_drift_page(make_drift_report(project, quarter)).startswith("<!doctype html>")


@pytest.mark.slow
def test_a_lead_has_a_slice_judged_again_for_a_reason(project: Store) -> None:
    page = opened("Choose pairs")
    assert "Filter to choose pairs." in html(page)
    assert button(page, "Open the round").disabled
    page = next(one for one in page.multiselect if one.label == "Grades").set_value([3]).run()
    assert "6 pairs match." in html(page)
    assert button(page, "Open the round").disabled, "a reason is missing"
    next(one for one in page.text_input if one.label == "Reason").set_value("3 was unclear").run()
    page = button(page, "Open the round").click().run()
    assert f"Opened {this_quarter()}.1 as the round" in html(page)
