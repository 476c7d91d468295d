"""A query's documents as a list: graded by keys, changed before going on, kept through a reload."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.people.accounts import add_annotator
from tests.support.accessibility import passes
from tests.support.projects import new_project
from tests.support.served import (
    PASSWORD,
    Annotating,
    Event,
    Served,
    fill,
    lost_answers,
    open_tab,
    sign_in,
    until,
)


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = new_project(tmp_path_factory.mktemp("listed") / "project.duckdb")
    fill(store)
    add_annotator(store, "lisa", "annotator", PASSWORD)
    open_round(
        store, RoundRequest("first", ["lisa"], overlap=1, duplicates=0, seed=5, ask_from=0, lists=True)
    )
    store.close()
    with Served(store.path) as running:
        yield running


def test_a_list_is_graded_by_keys_changed_and_left(browser: Browser, listed: Served) -> None:
    context = sign_in(browser, listed, "lisa")
    lisa = open_tab(context, listed)
    lines, keys = lisa.root.locator(".lines .line"), lisa.page.keyboard
    expect(lines).to_have_count(8)
    with lost_answers(context, "**/api/judgments"):
        graded = [(lisa.press(key), int(key)) for key in "01"]
    lisa.look()
    held = lisa.shown
    for _ in range(20):
        keys.down("2")  # held: it grades one document, and not those that follow
    keys.up("2")
    graded.append((held, 2))
    lisa.saved()
    coming = lisa.shown
    assert listed.events("lisa") == [Event(one, 0, "grade", grade) for one, grade in graded]

    for _ in range(3):
        keys.press("ArrowUp")
    assert lisa.shown == graded[0][0]
    assert lisa.press("3") == graded[0][0]
    assert lisa.shown == coming, "on to the next that is open"
    passes(lisa.page, "a list")
    stays_in_view_at_large_zoom(lisa)
    lisa.saved()
    lisa.page.reload()
    lisa.wait_for_item()
    assert lisa.shown == coming
    expect(lines.locator(".chip:not(.none)")).to_contain_text(["Exactly it", "Related", "Useful"])

    graded += [(lisa.press("0"), 0) for _ in range(6)]
    expect(lisa.root).to_have_attribute("data-phase", "list")
    lisa.look()
    keys.press("1")  # one key too many answers nothing
    lisa.saved()
    lisa.page.reload()
    expect(lisa.root).to_have_attribute("data-phase", "list")
    expect(lines).to_have_count(9)
    lisa.look()
    keys.press("u")
    expect(lisa.root).to_have_attribute("data-presentation", graded[-1][0])
    lisa.press("0")
    lisa.look()
    keys.press("Enter")
    lisa.wait_for_item()
    assert lisa.shown not in dict(graded)
    expect(lines.locator(".chip:not(.none)")).to_have_count(0)
    lisa.saved()
    changes = [
        Event(graded[0][0], 1, "grade", 3),
        Event(graded[-1][0], 1, "undo", None),
        Event(graded[-1][0], 2, "grade", 0),
    ]
    firsts = [Event(one, 0, "grade", grade) for one, grade in graded]
    assert sorted(listed.events("lisa"), key=str) == sorted(firsts + changes, key=str)
    assert_put_off_comes_last(lisa)


HEAD_IN_VIEW = """() => {
  const root = document.querySelector(".st-key-grading [data-testid=stBidiComponentIsolated]").shadowRoot;
  const box = (name) => root.querySelector(name).getBoundingClientRect();
  const [above, title, grades] = [box(".asked"), box(".title"), box(".grades")];
  return title.top >= above.bottom && title.bottom <= Math.min(grades.top, innerHeight);
}"""


def stays_in_view_at_large_zoom(lisa: Annotating) -> None:
    """In a small window the page scrolls: the head of the document on screen is below the query."""
    size = lisa.page.viewport_size
    lisa.page.set_viewport_size({"width": 720, "height": 450})
    until(lisa.page, HEAD_IN_VIEW)
    for key in ("ArrowDown", "ArrowUp"):
        lisa.page.keyboard.press(key)
        until(lisa.page, HEAD_IN_VIEW)
    lisa.page.set_viewport_size(size or {"width": 1280, "height": 720})
    until(lisa.page, HEAD_IN_VIEW)


def assert_put_off_comes_last(lisa: Annotating) -> None:
    """What is put off stays a line of its list until the list is left."""
    late = lisa.press("l")
    expect(lisa.root.locator(".lines .line").first).to_contain_text("Later")
    for _ in range(8):
        lisa.press("1")
    expect(lisa.root.locator(".listed h2")).to_have_text(re.compile("All 9 documents.*, 1 skipped"))
    lisa.look()
    lisa.page.keyboard.press("Enter")
    lisa.wait_for_item()
    expect(lisa.root.locator(".skipped")).to_have_text("t 1 skipped")
    assert lisa.shown != late
    lisa.saved()
