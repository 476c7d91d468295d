"""The reviewer at the keyboard: a grade by its key, a reason, Enter; decided at once, saved once."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from curation.guides.guide_text import read_guide
from curation.guides.questions import list_questions
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.case_views import make_pair_id
from curation.labeling.consensus.disputes import find_disputes, read_case
from curation.labeling.consensus.second_opinions import read_awaited_opinions
from curation.labeling.judging import Submission
from curation.labeling.rounds.rounds import append_event, find_round
from curation.labeling.rounds.use_guide import use_guide
from curation.labeling.session.submit import submit_judgments
from curation.store import Store, open_store
from tests.support import ROOT
from tests.support.accessibility import passes
from tests.support.projects import rows_of
from tests.support.served import DRAWN, HOSTILE, Served, lost_answers, open_tab, settled, sign_in


def disagree(store: Store) -> None:
    """Two people answer all they have: one always 0, the other now 0, now 3. 'idle' joins and has nothing."""
    with store.transaction() as cursor:
        round_id = find_round(cursor, "first").round_id
        append_event(cursor, round_id, "extend", {"annotators": ["idle"]}, "rosa")
    rows = rows_of(
        store,
        """
        SELECT annotator, presentation_id, row_number() OVER (ORDER BY query_id, document_id)
        FROM presentations WHERE annotator IN ('anna', 'ben') AND duplicate_of IS NULL
        """,
    )
    for who in ("anna", "ben"):
        mine = [
            Submission(one, 0, "grade", f"key {one}", 3 if who == "ben" and place % 4 < 2 else 0)
            for name, one, place in rows
            if name == who
        ]
        assert {done.status for done in submit_judgments(store, who, mine)} == {"saved"}


@pytest.fixture(scope="module")
def reviewed(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A served project with disputes."""
    project = Path(shutil.copy(template, tmp_path_factory.mktemp("reviewed") / "project.duckdb"))
    store = open_store(project)
    disagree(store)
    store.close()
    with Served(project) as running:
        yield running


class Reviewing:
    """One browser tab of a reviewer on the page Adjudicate."""

    def __init__(self, page: Page, served: Served) -> None:
        self.page, self.served = page, served
        self.root: Locator = page.locator(".deciding")
        page.goto(f"{served.url}/adjudicate")
        self.wait_for_pair()

    def wait_for_pair(self) -> None:
        expect(self.root).to_have_attribute("data-phase", "item")
        self.look()

    def look(self) -> None:
        """Look at what is on screen for as long as a quick person needs."""
        self.page.evaluate(DRAWN)
        self.page.wait_for_timeout(170)

    @property
    def shown(self) -> str:
        return self.root.get_attribute("data-pair") or ""

    @property
    def pair(self) -> tuple[str, str]:
        """Query and title on screen."""
        return self.root.locator(".query").inner_text(), self.root.locator(".found .title").inner_text()

    @property
    def reason(self) -> Locator:
        return self.page.get_by_label("Reason", exact=True)

    def press(self, keys: str) -> None:
        self.page.keyboard.press(keys)

    def leave_by(self, key: str) -> None:
        """Press a key after which another pair is on screen."""
        expect(self.root).not_to_have_attribute("data-paused", re.compile(".*"))  # five unsent: keys wait
        shown = self.shown
        self.press(key)
        expect(self.root).not_to_have_attribute("data-pair", shown)
        self.look()

    def saved(self) -> None:
        expect(self.root.locator(".saved")).to_have_text("Saved")

    @property
    def decisions(self) -> list[tuple[int | None, str, str, int]]:
        """Grade, reason, reviewer and revision of every decision, in order."""
        sql = "SELECT grade, reason, reviewer, revision FROM adjudications ORDER BY rowid"
        return [(row[0], row[1], row[2], row[3]) for row in rows_of(self.served.store, sql)]


def adjudicating(browser: Browser, served: Served, name: str = "rosa") -> Reviewing:
    return Reviewing(sign_in(browser, served, name).new_page(), served)


@pytest.fixture
def fresh(reviewed: Served) -> Served:
    """The served project as if nobody had decided anything yet."""
    with reviewed.store.transaction() as cursor:
        cursor.execute("DELETE FROM adjudications")
    return reviewed


def test_a_reviewer_decides_by_key_and_sends_back_without_the_mouse(browser: Browser, fresh: Served) -> None:
    rosa = adjudicating(browser, fresh)
    waiting = find_disputes(fresh.store)
    assert len(waiting) > 4
    expect(rosa.root.locator(".count")).to_have_text(f"{len(waiting)} disputed")
    assert rosa.pair == (waiting[0].query, waiting[0].title), "the weightiest comes first"
    names = rosa.root.locator(".grade").all_inner_texts()
    assert [name.split()[0] for name in names] == ["0", "1", "2", "3"], "in the order that Label has"
    expect(rosa.root.locator(".opinions li")).to_have_count(2)

    rosa.page.keyboard.down("2")  # held: it chooses the grade, and writes nothing into the reason
    expect(rosa.reason).to_be_focused()
    for _ in range(10):
        rosa.page.keyboard.down("2")
    rosa.page.keyboard.up("2")
    expect(rosa.reason).to_have_value("")
    rosa.page.keyboard.type("no 3 and no l: it answers a part")  # keys are letters here
    expect(rosa.root.locator(".grade[aria-pressed=true]")).to_contain_text("2")
    shown = rosa.shown
    rosa.page.keyboard.down("Enter")
    for _ in range(5):
        rosa.page.keyboard.down("Enter")
    rosa.page.keyboard.up("Enter")
    rosa.press("Enter")
    expect(rosa.root).not_to_have_attribute("data-pair", shown)
    expect(rosa.root.locator(".trace")).to_contain_text("2")
    rosa.saved()
    expect(rosa.root.locator(".count")).to_have_text(f"{len(waiting) - 1} disputed")
    assert rosa.decisions == [(2, "no 3 and no l: it answers a part", "rosa", 0)]

    rosa.look()
    second = rosa.pair
    rosa.page.keyboard.down("r")  # held over several pairs: one is sent back
    for _ in range(10):
        rosa.page.keyboard.down("r")
        rosa.page.evaluate(DRAWN)
    rosa.page.keyboard.up("r")
    expect(rosa.root.locator(".count")).to_contain_text("1 waiting for an opinion")
    rosa.saved()
    with fresh.store.reading() as cursor:
        assert len(read_awaited_opinions(cursor)) == 1
    new = rows_of(
        fresh.store, "SELECT annotator FROM opinion_requests JOIN presentations USING (presentation_id)"
    )
    assert new == [("idle",)], "the only one who never had the pair"
    assert second not in [(one.query, one.title) for one in find_disputes(fresh.store)]

    rosa.look()
    third = rosa.shown
    rosa.leave_by("l")
    expect(rosa.root.locator(".trace")).to_contain_text("Skipped")
    rosa.leave_by("u")
    assert rosa.shown == third, "undo brings back what was put off"
    settled(rosa.page)
    passes(rosa.page, "Adjudicate")


def test_undo_brings_a_decision_back_and_deciding_again_is_one_more(browser: Browser, fresh: Served) -> None:
    rosa = adjudicating(browser, fresh)
    first = rosa.shown
    rosa.press("1")
    rosa.page.keyboard.type("Names it")
    rosa.leave_by("Enter")
    rosa.leave_by("u")
    assert rosa.shown == first
    expect(rosa.root.locator(".changing")).to_contain_text("Your decision counts until you decide again.")
    expect(rosa.root.locator(".ruled")).to_contain_text("Names it")
    expect(rosa.reason).to_have_value("Names it")
    rosa.leave_by("Escape")
    rosa.saved()
    assert rosa.decisions == [(1, "Names it", "rosa", 0)], "left as it was"

    rosa.page.reload()  # the page remembers nothing; the server does
    rosa.wait_for_pair()
    rosa.press("h")
    line = rosa.root.locator(".history .line").first
    expect(line).to_contain_text("Names it")
    expect(line).to_be_focused()
    rosa.look()
    rosa.press("Enter")
    expect(rosa.root).to_have_attribute("data-pair", first)
    rosa.look()
    rosa.press("3")
    rosa.leave_by("Enter")
    rosa.saved()
    assert rosa.decisions[1:] == [(3, "Names it", "rosa", 1)]


def test_a_decision_is_shown_at_once_survives_a_lost_answer_and_a_reload_and_is_saved_once(
    browser: Browser, fresh: Served
) -> None:
    rosa = adjudicating(browser, fresh)
    context = rosa.page.context
    with lost_answers(context, "**/api/decisions"):
        for _ in range(2):
            rosa.press("x")
            rosa.page.keyboard.type("Cut off")
            rosa.leave_by("Enter")
        expect(rosa.root.locator(".trouble")).to_contain_text("Not saved yet: 2 waiting")
        first = rosa.shown
        rosa.press("2")
        rosa.page.keyboard.type("It answers")
        rosa.page.reload()
        rosa.wait_for_pair()  # still without an answer: what saves them is this page, not the one before
    rosa.saved()
    assert rosa.decisions == [(None, "Cut off", "rosa", 0)] * 2, "each arrived again and was written once"
    assert rosa.shown == first
    expect(rosa.reason).to_have_value("It answers")
    rosa.press("2")
    rosa.page.keyboard.type(" a part")
    expect(rosa.reason).to_have_value("It answers a part")
    rosa.leave_by("Enter")
    rosa.saved()
    assert rosa.decisions[2:] == [(2, "It answers a part", "rosa", 0)]
    assert rosa.page.evaluate(KEPT) == []


def test_a_count_from_before_a_decision_does_not_take_it_back(browser: Browser, fresh: Served) -> None:
    rosa = adjudicating(browser, fresh)
    disputed, late = len(find_disputes(fresh.store)), []
    # However long the answers are held here, the page does not give them up.
    rosa.page.evaluate("AbortSignal.timeout = () => new AbortController().signal")
    rosa.page.route("**/api/disputes/next*", lambda route: late.append((route, route.fetch())))
    while not late:
        rosa.press("1")
        rosa.page.keyboard.type("A part")
        rosa.leave_by("Enter")
    rosa.press("1")
    rosa.page.keyboard.type("A part")
    rosa.leave_by("Enter")
    rosa.saved()
    left = re.compile(f"^{disputed - len(rosa.decisions)} disputed")
    expect(rosa.root.locator(".count")).to_have_text(left)
    for route, answer in late:
        with rosa.page.expect_response("**/api/disputes/next*"):
            route.fulfill(response=answer)
    rosa.look()
    expect(rosa.root.locator(".count")).to_have_text(left)


def test_a_reason_typed_before_the_pair_counts_as_seen_is_a_reason_and_no_keys(
    browser: Browser, fresh: Served
) -> None:
    rosa = adjudicating(browser, fresh)
    with fresh.store.reading() as cursor:
        awaited = read_awaited_opinions(cursor)
    rosa.page.evaluate("window.requestAnimationFrame = () => 0")  # the next pair is never drawn
    first = rosa.shown
    rosa.press("1")
    rosa.page.keyboard.type("A part")
    rosa.press("Enter")
    expect(rosa.root).not_to_have_attribute("data-pair", first)
    shown = rosa.shown
    rosa.press("2")
    rosa.page.keyboard.type("A later part")
    rosa.press("Enter")
    expect(rosa.reason).to_have_value("A later part")
    expect(rosa.root.locator(".trouble")).to_have_text(
        "This pair has just appeared. Press Enter again to decide this pair."
    )
    expect(rosa.root).to_have_attribute("data-pair", shown)
    rosa.saved()
    assert [reason for _, reason, _, _ in rosa.decisions] == ["A part"]
    with fresh.store.reading() as cursor:
        assert read_awaited_opinions(cursor) == awaited


def test_a_queue_that_cannot_be_fetched_is_asked_for_after_a_pause_though_few_pairs_are_held(
    browser: Browser, fresh: Served
) -> None:
    page, refused = sign_in(browser, fresh, "rosa").new_page(), []

    def answer(route: Route) -> None:
        if "holding=" not in route.request.url:
            queue = route.fetch().json()
            route.fulfill(json={**queue, "cases": queue["cases"][:3]})
            return
        refused.append(route.request.url)
        route.fulfill(status=503, headers={"Retry-After": "600"}, json={"message": "Busy."})

    page.route("**/api/disputes/next*", answer)
    rosa = Reviewing(page, fresh)
    expect(rosa.root.locator(".trouble")).to_contain_text("cannot be loaded now. Busy. Trying again")
    rosa.press("1")
    rosa.page.keyboard.type("A part")
    rosa.leave_by("Enter")
    rosa.saved()
    assert len(refused) == 1, "asked for again at once"


def test_enter_without_a_grade_or_a_reason_decides_nothing_and_says_what_is_missing(
    browser: Browser, fresh: Served
) -> None:
    rosa = adjudicating(browser, fresh)
    rosa.press("n")
    rosa.page.keyboard.type("A reason first")
    rosa.press("Enter")
    expect(rosa.root.locator(".trouble")).to_contain_text("Choose a grade, or press x")
    rosa.press("1")
    expect(rosa.reason).to_be_focused()
    expect(rosa.reason).to_have_value("A reason first")
    rosa.reason.fill("")
    rosa.press("Enter")
    expect(rosa.root.locator(".trouble")).to_contain_text("Enter a reason")
    rosa.press("Escape")
    rosa.press("f")
    question = rosa.page.get_by_label("What does the guide leave open here?")
    expect(question).to_be_focused()
    rosa.page.keyboard.type("No 2 has an example")
    rosa.press("Enter")
    expect(rosa.root.locator(".trace")).to_contain_text("Noted for the guide")
    rosa.saved()
    with fresh.store.reading() as cursor:
        assert [asked.words for asked in list_questions(cursor)] == ["No 2 has an example"]
    assert rosa.decisions == []


def test_a_pair_that_another_decided_meanwhile_says_so_and_goes_on(browser: Browser, fresh: Served) -> None:
    rosa = adjudicating(browser, fresh)
    first = rosa.shown
    found = find_disputes(fresh.store)[0]
    assert rosa.pair == (found.query, found.title)
    decide_pair(fresh.store, found.query_id, found.document_id, 3, "All of it")
    rosa.press("1")
    rosa.page.keyboard.type("A part")
    rosa.leave_by("Enter")
    overtaken = rosa.root.locator(".overtaken")
    expect(overtaken).to_contain_text(
        "decided this pair while you had it open. The decision is grade 3, because “All of it”"
    )
    assert [(grade, who) for grade, _, who, _ in rosa.decisions] == [(3, "command line")]
    rosa.page.get_by_role("button", name="Look at that pair").click()
    expect(rosa.root).to_have_attribute("data-pair", first)
    expect(rosa.root.locator(".ruled")).to_contain_text("All of it")
    expect(rosa.reason).to_have_value("A part")
    rosa.look()
    rosa.press("1")
    rosa.leave_by("Enter")
    rosa.saved()
    decision = read_case(fresh.store, found.query_id, found.document_id).dispute.decision
    assert decision is not None
    assert (decision.grade, decision.reviewer, decision.revision) == (1, "rosa", 1)


def test_what_was_said_under_an_earlier_guide_is_not_called_as_the_new_one_calls_it(
    browser: Browser, fresh: Served, tmp_path: Path
) -> None:
    found = find_disputes(fresh.store)[0]
    decide_pair(fresh.store, found.query_id, found.document_id, 3, "All of it", "rosa")
    guide, shipped = tmp_path / "guide.md", ROOT / "labeling_guides" / "graded-relevance.md"
    renamed = shipped.read_text(encoding="utf-8").replace("name: Not relevant", "name: Beside it")
    guide.write_text(renamed.replace("name: Exactly it", "name: All"), encoding="utf-8")
    use_guide(fresh.store, read_guide(guide), open_rounds="switch")
    try:
        ben = open_tab(sign_in(browser, fresh, "ben"), fresh)
        lines, pills = ben.root.locator(".history .line"), ben.root.locator(".pills .tool")
        fresh.leave_nothing_open("ben")
        ben.page.keyboard.press("h")
        expect(lines).to_have_count(20)
        named = {" ".join(one.split()) for one in lines.locator(".chip").all_inner_texts()}
        assert named == {"0 Not relevant", "3 Exactly it"}
        expect(pills.first).to_have_text("0 Beside it / Not relevant")
        pills.nth(3).press("Enter")
        expect(lines.locator(".chip").last).to_have_text("3 Exactly it")
        ben.page.close()

        rosa = adjudicating(browser, fresh)
        expect(rosa.root.locator(".grade").last).to_contain_text("All")
        rosa.press("h")
        expect(rosa.root.locator(".history .line .chip")).to_have_text("3")
        rosa.look()
        rosa.press("Enter")
        expect(rosa.root.locator(".ruled")).to_contain_text("Under an earlier guide")
        expect(rosa.root.locator(".ruled .chip")).to_have_text("3")
    finally:
        use_guide(fresh.store, read_guide(), open_rounds="switch")
        with fresh.store.transaction() as cursor:
            cursor.execute("DELETE FROM withdrawals")


KEPT = "() => Object.keys(localStorage).filter((name) => /:(draft|answer):/.test(name))"


def test_a_decided_document_is_read_beside_the_pair_and_reviewers_comment(
    browser: Browser, fresh: Served
) -> None:
    first = find_disputes(fresh.store)[0]
    other = next(one for one in find_disputes(fresh.store)[1:] if one.query_id == first.query_id)
    decide_pair(fresh.store, other.query_id, other.document_id, 2, f"It helps. {HOSTILE}")
    rosa = adjudicating(browser, fresh)
    beside = rosa.root.locator(".other")
    rosa.press("c")
    expect(beside.locator(".title")).to_have_text(other.title)
    expect(beside.locator(".decided")).to_have_text(re.compile(r"2 Useful\s*It helps\. <img"))
    expect(rosa.root.locator(".found .title")).to_have_text(first.title)
    passes(rosa.page, "two documents side by side")
    rosa.press("Escape")
    expect(beside).to_be_hidden()

    rosa.press("t")
    rosa.page.keyboard.type(f"Does it? {HOSTILE}")
    rosa.page.reload()
    rosa.wait_for_pair()
    rosa.press("t")
    rosa.press("Enter")  # what was begun survived the reload
    rosa.saved()
    said = rosa.root.locator(".comments li")
    expect(said).to_contain_text(f"Does it? {HOSTILE}")
    expect(said).to_contain_text("rosa")
    assert rosa.page.evaluate("window.hacked") is None
    assert rosa.shown == make_pair_id(first.query_id, first.document_id), "it still waits for a decision"
    assert rosa.decisions == [(2, f"It helps. {HOSTILE}", "command line", 0)]
