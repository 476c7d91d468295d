"""The pages' own logic, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from app import ui
from app.grading import CONSISTENCY
from curation.core.characters import normalise_query
from curation.core.errors import NotFoundError
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.imported import add_judgments
from curation.labeling.judging import Submission
from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds import round_states
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store, utc_now
from curation.store.row_types import Annotator, Query
from tests.support.page import LEE, button, field, html, page_at, press
from tests.support.projects import add_names, add_pairs, built_once, grid, import_rows, rows_of
from tests.support.second_click import twice

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("served")]

HOSTILE = "<img src=x onerror=alert(1)> **bold** [a](javascript:alert(1))"


def run(page: str, annotator: Annotator) -> AppTest:
    """The page as the annotator sees it."""
    return page_at(page, annotator).run()


def dispute(store: Store) -> Store:
    """One pair with the grades 0 and 3, and one on which both agree; every text is hostile."""
    documents = [{"_id": name, "title": HOSTILE, "text": f"{HOSTILE} {name}"} for name in ("d1", "d2")]
    import_rows(store, documents)
    add_names(store, "rosa", role="reviewer")
    votes = [("d1", "carl", 0), ("d1", "dana", 3), ("d2", "carl", 1), ("d2", "dana", 1)]
    judgments = [ImportedJudgment("q", doc, who, grade, note=f"{HOSTILE} {doc}") for doc, who, grade in votes]
    query = Query("q", HOSTILE, normalise_query(HOSTILE), "imported", HOSTILE)
    add_judgments(store, judgments, "votes.csv", [query])
    return store


def open_and_judge(store: Store) -> Store:
    """A round of two people over the two documents, which anna has judged and ben has not; cleo is free."""
    add_names(dispute(store), "anna", "ben", "cleo")
    add_names(store, "lee", role="lead")
    open_round(store, RoundRequest("first", ["anna", "ben"], overlap=2, duplicates=0, seed=1, again=True))
    for showing in read_queue(store, "anna", 9).showings:
        key = f"key {showing.presentation_id}"
        doing = Submission(showing.presentation_id, 0, "cannot_tell", key, reason="query", note=HOSTILE)
        assert submit_judgments(store, "anna", [doing])[0].status == "saved"
    return store


def open_long_round(store: Store) -> Store:
    """A round in which anna has 60 items, one for each pair; cleo is free."""
    add_pairs(store, grid(10, 6))
    add_names(store, "anna", "cleo")
    add_names(store, "lee", role="lead")
    open_round(store, RoundRequest("long", ["anna"], overlap=1, duplicates=0, seed=1))
    return store


disputed, running, long = map(built_once, (dispute, open_and_judge, open_long_round))


@pytest.mark.parametrize(
    ("page", "part"), [("agreement", ""), *(("rounds", part) for part in ("Progress", "Questions", "Manage"))]
)
def test_no_page_makes_html_of_what_people_wrote(running: Store, page: str, part: str) -> None:
    shown = page_at(page, LEE, part=part).run()
    assert not [*shown.exception, *shown.error]
    assert "<img" not in html(shown)
    assert not [element for element in shown.markdown if "**bold**" in element.value]


def managed(annotator: Annotator = LEE) -> AppTest:
    """The part of the page in which rounds are managed."""
    return page_at("rounds", annotator, part="Manage").run()


def test_a_round_is_paused_only_when_the_lead_is_sure(running: Store) -> None:
    page = managed()
    press(page, "Pause")
    assert not read_round_status(running, "first").paused
    press(page, "Leave it as it is")
    assert not read_round_status(running, "first").paused
    press(page, "Pause")
    press(page, "Pause “first”")
    assert read_round_status(running, "first").paused
    assert "first is paused" in page.success[0].value
    assert "Delete" not in [button.label for button in page.button], "people have answered in it"


def test_a_round_that_nobody_answered_in_is_deleted_when_the_lead_is_sure(running: Store) -> None:
    open_round(running, RoundRequest("mistake", ["anna"], overlap=1, duplicates=0, again=True))
    page = managed()
    press(page, "Delete")
    press(page, "Delete “mistake”")
    assert not page.exception
    assert "mistake is deleted" in page.success[0].value
    with pytest.raises(NotFoundError):
        read_round_status(running, "mistake")


def test_a_second_click_while_the_first_pauses_the_round_shows_that_it_is_paused(
    running: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = managed()
    press(page, "Pause")
    button(page, "Pause “first”").click()
    shown = twice(page, round_states, "append_event", monkeypatch)
    assert not [*shown.error, *shown.warning, *shown.exception]
    assert "first is paused" in shown.success[0].value


def test_untouched_work_is_handed_over_when_the_box_is_ticked(running: Store) -> None:
    page = managed()
    assert page.selectbox[1].options == ["ben"]
    page.selectbox[1].set_value("ben").run()
    page.multiselect[0].set_value(["cleo"])
    press(page, "Reassign")
    assert "tick the box" in page.error[0].value
    page.checkbox[0].set_value(True)
    press(page, "Reassign")
    assert "2 pairs of first moved to cleo" in page.success[0].value
    assert [one.annotator for one in read_round_status(running, "first").annotators] == ["anna", "cleo"]


def test_who_joins_a_round_shares_its_work(long: Store) -> None:
    page = managed()
    press(page, "Extend")
    assert "Choose new annotators" in page.error[0].value
    field(page, "New members").set_value(["cleo"])
    press(page, "Extend")
    assert "pairs of long moved to cleo" in page.success[0].value
    assert not field(page, "New members").options
    field(page, "Add the candidates").set_value(True)
    press(page, "Extend")
    assert "No candidates can be added to long" in page.error[0].value


@pytest.mark.parametrize(("apart", "told"), [(0.01, True), (12.0, False)], ids=["script", "person"])
def test_a_pace_that_is_no_persons_is_told_and_not_shown_as_one(
    long: Store, apart: float, told: bool
) -> None:
    items = read_queue(long, "anna", 15).showings
    doing = [
        Submission(
            item.presentation_id,
            0,
            "grade",
            f"key {item.presentation_id}",
            2,
            submitted_at=utc_now() + timedelta(seconds=apart * number),
        )
        for number, item in enumerate(items)
    ]
    assert {done.status for done in submit_judgments(long, "anna", doing)} == {"saved"}
    shown = html(run("rounds", LEE))
    assert ("Too fast to have read the documents: anna" in shown) is told
    assert (">300<" in shown) is not told


def test_a_closed_round_has_no_forecast(running: Store) -> None:
    assert [metric.label for metric in run("rounds", LEE).metric][-1] == "Forecast"
    set_round_state(running, "first", "closed")
    page = run("rounds", LEE)
    assert [metric.label for metric in page.metric][-1] == "Closed"
    assert "Hours left" not in html(page)


def consistency() -> AppTest:
    page = page_at("label", Annotator("anna", "annotator", False))
    page.query_params["show"] = CONSISTENCY
    return page.run()


def test_my_consistency_shows_what_was_settled_otherwise_and_nobody_else(running: Store) -> None:
    mine = "SELECT document_id FROM presentations WHERE annotator = 'anna'"
    for (document,) in rows_of(running, mine):
        decide_pair(running, "q", document, 2, "It answers a part", "rosa")
    set_round_state(running, "first", "closed")
    open_round(running, RoundRequest("again", ["anna"], overlap=1, duplicates=0, again=True))
    waiting = consistency()
    assert "once you have no items left" in waiting.info[0].value
    assert "It answers a part" not in html(waiting)
    set_round_state(running, "again", "closed")
    page = consistency()
    shown = html(page)
    assert not page.exception
    assert "Cannot tell" in shown
    assert "2 Useful" in shown
    assert "It answers a part" in shown
    for name in ("ben", "carl", "dana", "rosa"):
        assert f">{name}<" not in shown
    assert "<img" not in shown


def test_a_practice_round_tells_who_may_begin_and_forecasts_nothing(disputed: Store) -> None:
    add_names(disputed, "anna")
    decide_pair(disputed, "q", "d1", 3, "All of it", "rosa")
    open_practice(disputed, PracticeRequest("warm-up", ["anna"]))
    page = run("rounds", LEE)
    assert [(one.label, one.value) for one in page.metric] == [("Ready to label", "0 of 1")]
    assert "under way" in html(page)
    assert "forecast" not in html(page)


def test_text_in_markdown_stands_as_it_was_written() -> None:
    assert ui.literal("a_b *c* <d> [e](f) $g$\n:h:") == (r"a\_b \*c\* \<d\> \[e\]\(f\) \$g\$ \:h\:")


def test_a_table_draws_figures_bars_and_intervals_and_escapes_the_rest() -> None:
    def script() -> None:
        from app import ui

        rows = [
            ("<b>x</b>", 1_234, None, 0.5, ui.BarCell(1, 4), ui.Estimate(0.5, -0.2, 1.4)),
            ("y", 2, 3, None, "", ""),
        ]
        ui.table("Caption", ["a", "b", "c", "d", "e", "f"], rows)

    shown = html(AppTest.from_function(script).run())
    for expected in (
        "&lt;b&gt;x&lt;/b&gt;",
        ">1,234<",
        ">–<",
        ">0.500<",
        "width:25.0%",
        "left:0.0%;width:100.0%",
    ):
        assert expected in shown
