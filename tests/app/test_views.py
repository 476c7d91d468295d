"""The pages' own logic, run by Streamlit's AppTest on a real project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from app import context, ui
from curation.core.errors import NotFoundError
from curation.core.text import normalise_query
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.judgments.judging import Submission
from curation.labeling.practice.create_practice import open_practice
from curation.labeling.rounds import lifecycle
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.lifecycle import close_round
from curation.labeling.rounds.status import round_status
from curation.labeling.session.queue import next_showings
from curation.labeling.session.submit import submit
from curation.people.annotators import add_annotator
from curation.releases.freeze.freeze import freeze
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store, utc_now
from curation.store.rows import Annotator, Query
from tests.support.page import button, html, page_at
from tests.support.projects import add_names, add_pairs, grid, new_project
from tests.support.second_click import twice
from tests.support.stored_parts import alter_part

HOSTILE = "<img src=x onerror=alert(1)> **bold** [a](javascript:alert(1))"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = new_project(tmp_path / "project.duckdb")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    store.close()


def run(page: str, annotator: Annotator) -> AppTest:
    """The page as the annotator sees it."""

    return page_at(page, annotator).run()


ROSA, LEE = Annotator("rosa", "reviewer", False), Annotator("lee", "lead", False)
EMPTY = [
    ("rounds", LEE),
    ("agreement", ROSA),
    ("releases", LEE),
    ("my-consistency", ROSA),
]


@pytest.mark.parametrize(("page", "who"), EMPTY, ids=[page for page, _ in EMPTY])
def test_every_page_says_something_useful_of_an_empty_project(
    project: Store, page: str, who: Annotator
) -> None:
    add_annotator(project, who.name, who.role, "correct horse battery")
    shown = run(page, who)
    assert not shown.exception
    assert not shown.error
    assert shown.info or shown.markdown


@pytest.fixture
def disputed(project: Store, tmp_path: Path) -> Store:
    """One pair with the grades 0 and 3, and one on which both agree; every text is hostile."""
    documents = [{"_id": name, "title": HOSTILE, "text": f"{HOSTILE} {name}"} for name in ("d1", "d2")]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    import_corpus(project, tmp_path / "corpus.jsonl")
    add_annotator(project, "rosa", "reviewer", "correct horse battery")
    said = [("d1", "carl", 0), ("d1", "dana", 3), ("d2", "carl", 1), ("d2", "dana", 1)]
    judgments = [ImportedJudgment("q", doc, who, grade, note=f"{HOSTILE} {doc}") for doc, who, grade in said]
    query = Query("q", HOSTILE, normalise_query(HOSTILE), "imported", HOSTILE)
    add_judgments(project, judgments, "votes.csv", [query])
    return project


@pytest.mark.parametrize("page", ["agreement", "rounds"])
def test_no_page_makes_html_of_what_people_wrote(disputed: Store, page: str) -> None:
    shown = run(page, LEE)
    assert not shown.exception
    assert "<img" not in html(shown)
    assert not [element for element in shown.markdown if "**bold**" in element.value]


def press(page: AppTest, label: str) -> AppTest:
    """Click the first button whose label begins with these words."""
    return named(page, label).click().run()


def named(page: AppTest, label: str) -> Button:
    """The first button whose label begins with these words."""
    return next(button for button in page.button if button.label.startswith(label))


def write(page: AppTest, label: str, words: str) -> None:
    next(area for area in page.text_area if area.label == label).set_value(words)


@pytest.fixture
def running(disputed: Store) -> Store:
    """A round of two people over the two documents, which anna has judged and ben has not; cleo is free."""
    with disputed.transaction() as cursor:
        for name in ("anna", "ben", "cleo", "lee"):
            role = "lead" if name == "lee" else "annotator"
            cursor.execute(
                "INSERT INTO annotators VALUES (?, ?, false, TIMESTAMP '2026-01-01', NULL)", [name, role]
            )
    open_round(disputed, "first", ["anna", "ben"], overlap=2, duplicates=0, seed=1, again=True)
    for showing in next_showings(disputed, "anna", 9).showings:
        key = f"key {showing.presentation_id}"
        doing = Submission(showing.presentation_id, 0, "cannot_tell", key, reason="query", note=HOSTILE)
        assert submit(disputed, "anna", [doing])[0].status == "saved"
    return disputed


@pytest.mark.parametrize("part", ["Progress", "Questions", "Manage", "Open a round"])
def test_every_part_of_the_rounds_page_shows_what_is_there(running: Store, part: str) -> None:
    page = run("rounds", LEE)
    page.session_state["part"] = part
    shown = page.run()
    assert not shown.exception
    assert not shown.error
    assert "<img" not in html(shown)


def test_a_round_is_paused_only_when_the_lead_is_sure(running: Store) -> None:
    page = run("rounds", LEE)
    page.session_state["part"] = "Manage"
    page.run()
    press(page, "Pause")
    assert not round_status(running, "first").paused
    press(page, "Leave it as it is")
    assert not round_status(running, "first").paused
    press(page, "Pause")
    press(page, "Pause “first”")
    assert round_status(running, "first").paused
    assert "“first” is paused" in page.success[0].value
    press(page, "Resume")
    press(page, "Resume “first”")
    assert not round_status(running, "first").paused


def test_a_round_that_nobody_answered_in_is_deleted_when_the_lead_is_sure(running: Store) -> None:
    open_round(running, "mistake", ["anna"], overlap=1, duplicates=0, again=True)
    page = run("rounds", LEE)
    page.session_state["part"] = "Manage"
    page.run()
    press(page, "Delete")
    press(page, "Delete “mistake”")
    assert not page.exception
    assert "“mistake” is deleted" in page.success[0].value
    with pytest.raises(NotFoundError):
        round_status(running, "mistake")
    assert "Delete" not in [button.label for button in page.button]


def test_a_second_click_while_the_first_pauses_the_round_shows_that_it_is_paused(
    running: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = run("rounds", LEE)
    page.session_state["part"] = "Manage"
    press(page.run(), "Pause")
    named(page, "Pause “first”").click()
    shown = twice(page, lifecycle, "append_round_event", monkeypatch)
    assert not [*shown.error, *shown.warning, *shown.exception]
    assert "“first” is paused" in shown.success[0].value


def test_managing_a_round_is_the_leads_whatever_page_asks(running: Store) -> None:
    page = run("rounds", Annotator("rosa", "lead", False))  # a forged role
    page.session_state["part"] = "Manage"
    press(page.run(), "Close")
    press(page, "Close “first”")
    assert page.error[0].value.startswith("This is for the lead")
    assert not round_status(running, "first").closed


def test_untouched_work_is_handed_over_when_the_box_is_ticked(running: Store) -> None:
    page = run("rounds", LEE)
    page.session_state["part"] = "Manage"
    page.run()
    assert page.selectbox[1].options == ["ben"]
    page.selectbox[1].set_value("ben").run()
    page.multiselect[0].set_value(["cleo"])
    press(page, "Reassign")
    assert "tick the box" in page.error[0].value
    page.checkbox[0].set_value(True)
    press(page, "Reassign")
    assert "2 pairs of ben are with others now" in page.success[0].value
    assert [one.annotator for one in round_status(running, "first").annotators] == ["anna", "cleo"]


@pytest.fixture
def long(project: Store) -> Store:
    """A round in which anna has 60 items, one for each pair; cleo is free."""
    add_pairs(project, grid(10, 6))
    add_names(project, "anna", "cleo")
    add_names(project, "lee", role="lead")
    open_round(project, "long", ["anna"], overlap=1, duplicates=0, seed=1)
    return project


def test_who_joins_a_round_shares_its_work(long: Store) -> None:
    page = run("rounds", LEE)
    page.session_state["part"] = "Manage"
    press(page.run(), "Extend")
    assert "Choose new members" in page.error[0].value
    next(box for box in page.multiselect if box.label == "New members").set_value(["cleo"])
    press(page, "Extend")
    assert "pairs are with those who joined" in page.success[0].value
    found = {one.annotator: one.presentations for one in round_status(long, "long").annotators}
    assert sum(found.values()) == 60
    assert found["cleo"] > 0
    assert not next(box for box in page.multiselect if box.label == "New members").options


def test_the_candidates_that_no_round_has_shown_are_added_when_the_box_is_ticked(long: Store) -> None:
    page = run("rounds", LEE)
    page.session_state["part"] = "Manage"
    page.run()
    next(box for box in page.checkbox if box.label.startswith("Add the candidates")).set_value(True)
    press(page, "Extend")
    assert "There is nothing to add to long" in page.error[0].value
    assert round_status(long, "long").candidates == 60


@pytest.mark.parametrize(("apart", "told"), [(0.01, True), (12.0, False)], ids=["script", "person"])
def test_a_pace_that_is_no_persons_is_told_and_not_shown_as_one(
    long: Store, apart: float, told: bool
) -> None:
    items = next_showings(long, "anna", 15).showings
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
    assert {done.status for done in submit(long, "anna", doing)} == {"saved"}
    shown = html(run("rounds", LEE))
    assert ("More answers an hour than a person can read: anna" in shown) is told
    assert (">300<" in shown) is not told


def test_a_closed_round_has_no_forecast(running: Store) -> None:
    assert [metric.label for metric in run("rounds", LEE).metric][-1] == "Forecast"
    close_round(running, "first")
    page = run("rounds", LEE)
    assert [metric.label for metric in page.metric][-1] == "Closed"
    assert "Hours left" not in html(page)


def test_my_consistency_shows_what_was_settled_otherwise_and_nobody_else(running: Store) -> None:
    with running.reading() as cursor:
        mine = cursor.execute("SELECT document_id FROM presentations WHERE annotator = 'anna'").fetchall()
    for (document,) in mine:
        decide(running, "q", document, 2, "It answers a part", "rosa")
    close_round(running, "first")
    open_round(running, "again", ["anna"], overlap=1, duplicates=0, again=True)
    waiting = run("my-consistency", Annotator("anna", "annotator", False))
    assert "once no item can come to you" in waiting.info[0].value
    assert "It answers a part" not in html(waiting)
    close_round(running, "again")
    page = run("my-consistency", Annotator("anna", "annotator", False))
    shown = html(page)
    assert not page.exception
    assert "Cannot tell" in shown
    assert "2 Useful" in shown
    assert "It answers a part" in shown
    for name in ("ben", "carl", "dana", "rosa"):
        assert f">{name}<" not in shown
    assert "<img" not in shown


def test_the_lead_sees_releases_and_whether_they_were_altered(project: Store, tmp_path: Path) -> None:
    documents = [
        {"_id": name, "text": f"All about {name} and nothing else"} for name in ("zebras", "volcanoes")
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    import_corpus(project, tmp_path / "corpus.jsonl")
    judgments = [ImportedJudgment(name, name, "carl", 2) for name in ("zebras", "volcanoes")]
    queries = [Query(name, name, name, "imported") for name in ("zebras", "volcanoes")]
    add_judgments(project, judgments, "votes.csv", queries)
    make_split(project, {"dev": 0.5, "test": 0.5}, 1, Rules(paraphrase=None))
    frozen = freeze(project, "v1", override="one judgment a pair is enough for this page")
    page = run("releases", LEE)
    assert "v1 (frozen against the gate)" in html(page)
    figures = "".join(f'<td class="gs-figure">{count}</td>' for count in (2, 0, 0))
    assert f"{figures}<td>{frozen.release_id}</td>" in html(page)
    assert "one judgment a pair is enough for this page" in page.warning[0].value
    assert "Certificate of the split" in html(page)
    assert any("Nothing crosses the parts" in told.value for told in page.markdown)
    assert "is what was frozen" in button(page, "Verify").click().run().success[0].value
    with project.transaction() as cursor:
        alter_part(cursor, "qrels", lambda text: text.replace("2", "3"))
    assert "was altered in" in button(page, "Verify").click().run().error[-1].value


def test_a_practice_round_tells_who_may_begin_and_forecasts_nothing(disputed: Store) -> None:
    add_names(disputed, "anna")
    decide(disputed, "q", "d1", 3, "All of it", "rosa")
    open_practice(disputed, "warm-up", ["anna"])
    page = run("rounds", LEE)
    assert [(one.label, one.value) for one in page.metric] == [("Ready to label", "0 of 1")]
    assert "under way" in html(page)
    assert "forecast" not in html(page)


def test_text_in_markdown_stands_as_it_was_written() -> None:
    assert ui.plain("a_b *c* <d> [e](f) $g$\n:h:") == (r"a\_b \*c\* \<d\> \[e\]\(f\) \$g\$ \:h\:")


def test_a_table_draws_figures_bars_and_intervals_and_escapes_the_rest(project: Store) -> None:
    def script() -> None:
        from app import ui

        rows = [
            ("<b>x</b>", 1_234, None, 0.5, ui.BarCell(1, 4), ui.IntervalCell(0.5, -0.2, 1.4)),
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
