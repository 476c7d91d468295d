"""Marking evidence in a real browser: keys, pointer, a reload, no network, undo, and what is then stored.

A release frozen beside the running app has what was marked and decided, and scores chunks of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.operations.project import init_project
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.releases.frozen_release import load_release
from tests.support.accessibility import passes
from tests.support.evidence_set import command
from tests.support.marking import GUIDE
from tests.support.projects import import_rows, rows_of
from tests.support.served import DRAWN, PASSWORD, Annotating, Served, open_tab, sign_in

BODY = "Returns are <b>free</b> for 30 days. 😀 Shoes have 14 days.\nGift cards cannot be returned."
SHOWN = "Returns are |free| for 30 days.|😀 Shoes have 14 days."
PRESENTED = "title: Marked\npresentation: {body: html}\n"


@pytest.fixture(scope="module")
def marking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served project whose guide requires evidence at grades 2 and 3; all judge the same three pages."""
    folder = tmp_path_factory.mktemp("marking")
    guide = GUIDE.format(ask="required").replace("title: Marked\n", PRESENTED, 1)
    (folder / "guide.md").write_text(guide, encoding="utf-8")
    pages = [
        {"_id": str(number), "title": f"Help {number}", "text": f"{BODY}<p>Page {number}.</p>"}
        for number in range(3)
    ]
    pages += [{"_id": f"o{number}", "title": "Tools", "text": "A saw cuts wood."} for number in range(5)]
    store = init_project(folder / "project.duckdb", folder / "guide.md")
    import_rows(store, pages, [{"_id": "q", "text": "returns of shoes"}])
    build_pool(store, PoolRequest(systems=["bm25"], depth=5, random_negatives=0, seed=1))
    (query_id,) = rows_of(store, "SELECT query_id FROM queries")[0]
    alone, together = ("anna", "ben", "cleo"), ("dora", "emil")
    for name in (*alone, *together):
        add_annotator(store, name, "annotator", PASSWORD)
    add_annotator(store, "rosa", "reviewer", PASSWORD)
    two = {(query_id, document): "" for document in ("0", "1")}
    open_round(store, RoundRequest("first", alone, overlap=3, duplicates=0, seed=1), pairs=two)
    open_round(store, RoundRequest("second", together, overlap=2, duplicates=0, seed=1))
    store.close()
    with Served(store.path) as running:
        yield running


def stored(served: Served, who: str) -> list[tuple[int | None, str | None]]:
    """The grade and quotes of each event of somebody, in the order of writing."""
    sql = f"""
        SELECT any_value(e.grade), string_agg(m.quote, ' | ' ORDER BY m.start_at)
        FROM judgment_events e LEFT JOIN evidence_marks m USING (presentation_id, revision)
        WHERE e.author = '{who}' GROUP BY e.presentation_id, e.revision ORDER BY min(e.rowid)
        """
    return [(row[0], row[1]) for row in rows_of(served.store, sql)]


def marked(tab: Annotating) -> str:
    """What is marked on screen."""
    return "|".join(tab.root.locator(".sentence[data-marked]").all_inner_texts())


def keys(tab: Annotating, *pressed: str) -> None:
    for key in pressed:
        tab.page.keyboard.press(key)


def test_a_grade_that_needs_evidence_waits_for_marks_made_by_keys(browser: Browser, marking: Served) -> None:
    anna = open_tab(sign_in(browser, marking, "anna"), marking)
    anna.look()
    first = anna.shown
    keys(anna, "3")
    expect(anna.root.locator(".marking")).to_contain_text("Which sentences show it?")
    keys(anna, "Enter")
    expect(anna.trouble()).to_contain_text("Mark at least one sentence")
    keys(anna, " ", "ArrowDown", " ", "ArrowUp")
    assert marked(anna) == SHOWN
    passes(anna.page, "marking evidence")

    anna.page.reload()
    anna.wait_for_item()
    assert anna.shown == first
    assert marked(anna) == SHOWN, "a reload keeps the marks"
    anna.press("2")
    anna.saved()
    assert stored(marking, "anna") == [(2, "Returns are <b>free</b> for 30 days. | Shoes have 14 days.")]

    anna.press("u")
    assert marked(anna) == SHOWN, "undo offers them again"
    anna.press("0")
    anna.saved()
    assert stored(marking, "anna")[1:] == [(None, None), (0, None)], "a grade that takes none has none"


def test_marks_by_pointer_wait_without_a_network_and_are_stored_once(
    browser: Browser, marking: Served
) -> None:
    ben = open_tab(sign_in(browser, marking, "ben"), marking)
    ben.look()
    ben.root.locator(".sentence", has_text="Gift cards").click()
    expect(ben.root.locator('[data-do="evidence"]')).to_contain_text("Evidence: 1")
    ben.root.locator(".sentence", has_text="Shoes").click()
    ben.root.locator(".sentence", has_text="Gift cards").click()
    assert marked(ben) == "😀 Shoes have 14 days."
    ben.page.context.set_offline(True)
    ben.press("3")
    ben.look()
    ben.page.context.set_offline(False)
    ben.saved()
    assert stored(marking, "ben") == [(3, "Shoes have 14 days.")]

    keys(ben, "h")
    ben.root.locator(".history .line").first.wait_for()
    ben.look()
    keys(ben, "Enter")
    ben.wait_for_item()
    assert marked(ben) in ("😀 Shoes have 14 days.", ""), "offered again where the answer may be seen"


def test_two_who_marked_apart_are_a_dispute_that_a_reviewer_decides_by_marking(
    browser: Browser, marking: Served
) -> None:
    for who, sentence in (("dora", "Gift cards"), ("emil", "Shoes")):
        tab = open_tab(sign_in(browser, marking, who), marking)
        tab.look()
        tab.root.locator(".sentence", has_text=sentence).click()
        tab.press("3")
        tab.saved()
    rosa = sign_in(browser, marking, "rosa").new_page()
    rosa.goto(f"{marking.url}/adjudicate")
    root = rosa.locator(".grading")
    expect(root).to_have_attribute("data-phase", "item")
    if root.locator(".found .title").inner_text() != "Help 2":  # what anna and ben graded apart comes first
        rosa.evaluate(DRAWN)
        rosa.wait_for_timeout(160)
        rosa.keyboard.press("l")
    expect(root.locator('.sentence[data-by="A"], .sentence[data-by="B"]')).to_have_count(2)
    passes(rosa, "evidence by two annotators")
    rosa.evaluate(DRAWN)
    rosa.wait_for_timeout(160)
    root.locator(".sentence", has_text="Gift cards").click()
    rosa.keyboard.press("3")
    rosa.keyboard.type("Gift cards are what it is about.")
    rosa.keyboard.press("Enter")
    expect(root.locator(".saved")).to_have_text("Saved")
    quotes = rows_of(marking.store, "SELECT quote FROM decision_marks")
    assert quotes == [("Gift cards cannot be returned.",)]


def test_the_release_has_what_was_marked_and_decided_and_any_chunks_are_scored_by_it(
    browser: Browser, marking: Served, tmp_path: Path
) -> None:
    project = marking.store.path
    command(project, "split", "--part", "all=1", "--no-paraphrase")
    command(project, "freeze", "v1", "--allow-disputed", "--override", "a story")
    [row] = load_release(marking.store, "v1").rows("evidence")
    assert (row["document_id"], row["quote"]) == ("2", "Gift cards cannot be returned."), "the decision wins"
    assert (row["start"], row["end"]) == (59, 89)

    sizes = {"forty": [(40, 80), (80, 103)], "whole": [(0, 103)]}
    words = ["--measures", "evidence_recall@1,evidence_precision@1"]
    for name, chunks in sizes.items():
        lines = [
            f"{row['query_id']},2,{start},{end},{rank},{-rank}" for rank, (start, end) in enumerate(chunks, 1)
        ]
        run = tmp_path / f"{name}.csv"
        run.write_text("\n".join(["query_id,document_id,start,end,rank,score", *lines]), encoding="utf-8")
        words += ["--run", str(run)]
    found = {one["name"]: one["per_query"] for one in command(project, "evaluate", "v1", *words)["runs"]}
    assert found["forty"] == {"evidence_recall@1": [21 / 30], "evidence_precision@1": [21 / 40]}
    assert found["whole"] == {"evidence_recall@1": [1.0], "evidence_precision@1": [30 / 103]}
