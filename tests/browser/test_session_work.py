"""A working day in a real browser: what was pressed, and exactly the rows that it left."""

from __future__ import annotations

import re
from itertools import cycle

from playwright.sync_api import Browser, expect

from tests.support.accessibility import passes
from tests.support.projects import grade_next, rows_of
from tests.support.served import Annotating, Event, Served, lost_answers, open_tab, sign_in


def graded(pressed: list[tuple[str, str]]) -> list[Event]:
    return [Event(presentation, 0, "grade", int(key)) for presentation, key in pressed]


def ask_about_query(tab: Annotating, key: str = "2") -> list[tuple[str, str]]:
    """Grade until the last document of a query is done; what was graded."""
    pressed = []
    while tab.phase != "question":
        pressed.append((tab.press(key), key))
    return pressed


def test_items_and_questions_by_keyboard_alone_leave_their_rows_and_nothing_else(
    browser: Browser, session: Served
) -> None:
    hana = open_tab(sign_in(browser, session, "hana"), session)
    pressed: list[tuple[str, str]] = []
    asked: list[tuple[str, str]] = []
    answers = {"y": "yes", "p": "partly", "o": "no"}
    keys, replies = cycle("0123"), cycle(answers)
    while len(asked) < 3:
        if hana.phase == "question":
            reply = next(replies)
            asked.append((hana.root.locator(".query").inner_text(), answers[reply]))
            hana.go_on(reply)
        key = next(keys)
        pressed.append((hana.press(key), key))
    hana.saved()
    assert len(dict(pressed)) == 28, "the nine documents of three queries, and one of the fourth"
    assert sorted(session.events("hana")) == sorted(graded(pressed))
    assert session.query_answers("hana") == asked
    expect(hana.root.locator(".count")).to_have_text("28 of 54")
    expect(hana.root.locator(".pace")).to_have_text(re.compile(r"^28 this hour\s+·\s+about 1 min left$"))


def test_a_change_from_the_history_is_a_new_event_and_leads_back_to_where_one_was(
    browser: Browser, session: Served
) -> None:
    ivo = open_tab(sign_in(browser, session, "ivo"), session)
    pressed = [(ivo.press(key), key) for key in "01"]
    ivo.page.keyboard.press("f")
    pressed += [(ivo.press(key), key) for key in "23"]
    ivo.look()
    ivo.page.keyboard.press("n")
    ivo.page.keyboard.type("half a thought")
    ivo.page.keyboard.press("Escape")
    here = ivo.shown
    ivo.page.keyboard.press("h")
    lines = ivo.root.locator(".history .line")
    expect(lines).to_have_count(4)
    expect(lines.first).to_be_focused()
    expect(lines.locator(".cap")).to_have_count(0)  # while items are open
    ivo.page.keyboard.press("2")  # a grade key grades nothing here
    ivo.page.keyboard.press("ArrowDown")
    expect(lines.nth(1)).to_be_focused()
    ivo.look()
    ivo.page.keyboard.press("Enter")
    ivo.wait_for_item()
    changed = pressed[2][0]
    assert ivo.shown == changed
    expect(ivo.root.locator(".banner")).to_contain_text(
        "Your earlier answer stays hidden while you have open items"
    )
    expect(ivo.root.locator("[data-was]")).to_have_count(0)
    assert ivo.press("0") == changed
    assert ivo.shown == here
    expect(ivo.root.locator(".note textarea")).to_have_value("half a thought")
    ivo.page.keyboard.press("h")
    expect(lines).to_have_count(4)
    ivo.look()
    ivo.page.keyboard.press("Enter")
    ivo.wait_for_item()
    ivo.page.keyboard.press("Escape")  # leaves the earlier answer as it is
    expect(ivo.root).to_have_attribute("data-presentation", here)
    pressed.append((ivo.press("1"), "1"))
    ivo.saved()
    assert sorted(session.events("ivo")) == sorted([*graded(pressed), Event(changed, 1, "grade", 0)])
    assert session.column("ivo", "note")[-1] == "half a thought"
    assert session.column("ivo", "flagged") == [False, False, True, False, False, False]
    expect(ivo.root.locator(".count")).to_have_text("5 of 54")


def test_the_last_answer_leaves_a_trace_and_no_earlier_one_is_shown(
    browser: Browser, session: Served
) -> None:
    uma = open_tab(sign_in(browser, session, "uma"), session)
    title = uma.root.locator(".title").inner_text()
    trace = uma.root.locator(".trace")
    expect(trace).to_be_hidden()
    expect(uma.root.locator(".place")).to_contain_text("document 1 of 9")
    uma.press("1")
    expect(trace).to_contain_text("Last: 1 Related")
    expect(trace).to_contain_text(title)
    uma.look()
    shown = uma.shown
    uma.page.keyboard.press("x")
    uma.page.keyboard.press("2")
    expect(uma.root).not_to_have_attribute("data-presentation", shown)
    expect(trace).to_contain_text("Last: Cannot tell")
    uma.saved()

    def reload_and_change() -> None:
        uma.page.reload()
        uma.wait_for_item()
        uma.page.keyboard.press("h")
        expect(uma.root.locator(".history .line").first).to_be_focused()
        expect(uma.root.locator(".history .line").first).not_to_contain_text("The document is broken")
        uma.look()
        uma.page.keyboard.press("Enter")
        uma.wait_for_item()

    reload_and_change()
    assert uma.shown == shown
    expect(uma.root.locator("[data-was]")).to_have_count(0)
    uma.look()
    uma.page.keyboard.press("n")
    uma.page.keyboard.type("page 2 is missing")
    reload_and_change()
    expect(uma.root.locator(".note textarea")).to_have_value("page 2 is missing")
    uma.press("0")
    uma.saved()
    assert session.column("uma", "note")[-1] == "page 2 is missing"
    uma.look()
    uma.page.keyboard.press("u")
    expect(uma.root).to_have_attribute("data-presentation", shown)
    expect(uma.root.locator("[data-was]")).to_have_count(0)


def test_what_was_put_off_is_counted_and_taken_up_and_the_history_is_filtered_by_keys(
    browser: Browser, session: Served
) -> None:
    vera = open_tab(sign_in(browser, session, "vera"), session)
    keys = vera.page.keyboard
    vera.look()
    put_off, place = vera.shown, vera.root.locator(".query").bounding_box()
    keys.press("l")
    vera.wait_for_item()
    later = vera.root.locator(".skipped")
    expect(later).to_have_text(re.compile("1 skipped$"))
    pressed = [(vera.press(key), key) for key in "01"]
    assert vera.root.locator(".query").bounding_box() == place, (
        "neither the count nor the trace moves anything"
    )
    vera.saved()
    vera.look()
    keys.press("t")
    lines = vera.root.locator(".history .line")
    expect(lines).to_have_count(1)
    expect(lines).to_be_focused()
    passes(vera.page, "items put off")
    vera.look()
    keys.press("Enter")
    vera.wait_for_item()
    assert vera.shown == put_off
    pressed.append((vera.press("3"), "3"))
    expect(later).to_be_hidden()
    vera.saved()
    assert session.events("vera") == [
        Event(put_off, 0, "later", None),
        *graded(pressed[:2]),
        Event(put_off, 1, "grade", 3),
    ]
    vera.wait_for_item()
    vera.look()
    keys.press("h")
    expect(lines).to_have_count(3)
    keys.press("/")
    keys.type("no such words")
    expect(vera.root.locator(".history .why")).to_have_text("No answers match.")
    for _ in "no such words":
        keys.press("Backspace")
    expect(lines).to_have_count(3)
    expect(vera.root.locator(".pills")).to_be_hidden()
    expect(vera.root.locator(".withheld")).to_be_visible()
    passes(vera.page, "history while items are open")
    keys.press("Escape")
    grade_next(session.store, "vera", 20, grade=1)  # until then a repeat of what was put off could come
    session.leave_nothing_open("vera")
    vera.page.reload()
    expect(vera.root.locator(".nothing")).to_be_visible()
    keys.press("h")
    expect(lines.locator(".cap")).to_have_text(["1"] * 20)
    vera.root.locator(".pills button").filter(has_text="Exactly it").press("Enter")
    expect(lines).to_have_count(1)
    passes(vera.page, "filtered history")
    vera.look()
    lines.first.click()
    vera.wait_for_item()
    expect(vera.root.locator(".grade[data-was]")).to_contain_text("Exactly it")
    assert len(session.events("vera")) == 24, "what was looked at again was not answered again"


def test_the_history_waits_for_what_is_not_saved_and_loses_none_of_it(
    browser: Browser, session: Served
) -> None:
    context = sign_in(browser, session, "otto")
    otto = open_tab(context, session)
    context.route("**/api/judgments", lambda route: route.abort())
    pressed = [(otto.press(key), key) for key in "13"]
    otto.page.keyboard.press("h")
    expect(otto.root.locator(".history .why")).to_contain_text("Waiting for your last answers to be saved")
    context.unroute("**/api/judgments")
    expect(otto.root.locator(".history .line")).to_have_count(2)
    otto.page.keyboard.press("Escape")
    otto.wait_for_item()
    assert sorted(session.events("otto")) == sorted(graded(pressed))


def test_an_item_put_off_and_taken_back_leaves_the_question_about_its_query(
    browser: Browser, session: Served
) -> None:
    nils = open_tab(sign_in(browser, session, "nils"), session)
    query = nils.root.locator(".query").inner_text()
    pressed = [(nils.press("1"), "1") for _ in range(6)]
    put_off = nils.press("l")
    nils.saved()
    nils.look()
    nils.page.keyboard.press("u")
    expect(nils.root).to_have_attribute("data-presentation", put_off)
    assert nils.press("2") == put_off
    expect(nils.root).to_have_attribute("data-phase", "item")
    pressed += ask_about_query(nils)
    expect(nils.root.locator(".query")).to_have_text(query)
    nils.saved()
    put_off_and_back = [Event(put_off, 0, "later", None), Event(put_off, 1, "grade", 2)]
    assert {*session.events("nils")} == {*graded(pressed), *put_off_and_back}


def test_the_question_about_a_query_takes_its_own_keys_once_it_could_be_read(
    browser: Browser, session: Served
) -> None:
    jan = open_tab(sign_in(browser, session, "jan"), session)
    pressed = ask_about_query(jan)
    query = jan.root.locator(".query").inner_text()
    jan.look()
    for key in "0123nxlf":  # somebody who is still grading answers nothing
        jan.page.keyboard.press(key)
    assert jan.phase == "question"
    jan.page.keyboard.press("u")
    jan.wait_for_item()
    last = pressed[-1][0]
    assert jan.shown == last
    assert jan.press("3") == last
    assert jan.phase == "question", "the last document of the query is graded again"
    jan.page.reload()
    expect(jan.root).to_have_attribute("data-phase", "question")
    expect(jan.root.locator(".query")).to_have_text(query)
    jan.go_on("o")
    jan.saved()
    pressed += ask_about_query(jan)
    jan.go_on("Escape")
    jan.saved()
    assert session.query_answers("jan") == [(query, "no")]
    change = [Event(last, 1, "undo", None), Event(last, 2, "grade", 3)]
    assert sorted(session.events("jan")) == sorted([*graded(pressed), *change])


def test_an_answer_about_a_query_that_got_lost_is_written_once(browser: Browser, session: Served) -> None:
    context = sign_in(browser, session, "kim")
    kim = open_tab(context, session)
    ask_about_query(kim)
    query = kim.root.locator(".query").inner_text()
    kim.saved()
    with lost_answers(context, "**/api/answers"):
        kim.go_on("p")
        expect(kim.trouble()).to_contain_text("Not saved yet: 1 waiting")
        kim.page.reload()
    kim.wait_for_item()
    kim.saved()
    assert session.query_answers("kim") == [(query, "partly")]


def test_a_slow_network_loses_and_doubles_nothing(browser: Browser, session: Served) -> None:
    context = sign_in(browser, session, "lea")
    lea = open_tab(context, session)
    slow = {"offline": False, "latency": 600, "downloadThroughput": 20_000, "uploadThroughput": 20_000}
    context.new_cdp_session(lea.page).send("Network.emulateNetworkConditions", slow)
    pressed = []
    for key in "0123012":
        expect(lea.root).not_to_have_attribute("data-paused", "")
        pressed.append((lea.press(key), key))
        lea.wait_for_item()
    lea.saved()
    assert len(dict(pressed)) == 7
    assert sorted(session.events("lea")) == sorted(graded(pressed))


def test_two_annotators_who_race_on_the_same_pairs_each_have_their_own_rows(
    browser: Browser, session: Served
) -> None:
    tabs = [open_tab(sign_in(browser, session, name), session) for name in ("mia", "nils")]
    before = {name: session.events(name) for name in ("mia", "nils")}
    pressed: list[list[tuple[str, str]]] = [[], []]
    for key in "01230":
        for tab, mine in zip(tabs, pressed, strict=True):
            mine.append((tab.press(key), key))
    for name, tab, mine in zip(("mia", "nils"), tabs, pressed, strict=True):
        tab.saved()
        assert sorted(session.events(name)) == sorted([*before[name], *graded(mine)])
    voices = "SELECT DISTINCT count(*) FROM counted_judgments GROUP BY annotator, query_id, document_id"
    assert rows_of(session.store, voices) == [(1,)]


def test_going_to_my_consistency_and_back_resumes_at_the_same_item(browser: Browser, session: Served) -> None:
    mia = open_tab(sign_in(browser, session, "mia"), session)
    before = session.events("mia")
    answered = mia.press("2")
    mia.saved()
    coming = mia.shown
    mia.page.keyboard.press("h")
    mia.root.locator(".history").get_by_role("link", name="My consistency").click()
    expect(mia.page.get_by_role("heading", name="My consistency")).to_be_visible()
    mia.page.keyboard.press("3")  # there is nothing to grade here
    mia.page.go_back()  # to the item, or to History, which was open: both are where mia came from
    expect(mia.root).to_have_attribute("data-phase", re.compile("item|history"))
    mia.page.keyboard.press("Escape")
    mia.wait_for_item()
    assert mia.shown == coming
    assert sorted(session.events("mia")) == sorted([*before, Event(answered, 0, "grade", 2)])


def test_a_grade_that_is_pointed_at_or_focused_shows_its_worked_examples(
    browser: Browser, session: Served
) -> None:
    page = sign_in(browser, session, "otto").new_page()
    page.goto(session.url)
    otto = Annotating(page)
    spot, whole = otto.root.locator(".guide .spot"), otto.root.locator(".guide .whole")
    buttons = otto.root.locator(".grade")
    buttons.nth(2).hover()
    expect(spot).to_contain_text("The query asks for two things.")
    expect(whole).to_be_hidden()
    otto.root.locator(".query").hover()
    expect(whole).to_be_visible()
    otto.root.locator(".found").focus()
    page.keyboard.press("Tab")
    if not buttons.first.evaluate("button => button.matches(':focus')"):  # past "Whole document"
        page.keyboard.press("Tab")
    expect(spot).to_contain_text("Shared words")
    otto.press("l")
    buttons.nth(2).hover()
    expect(spot).to_be_visible()
    otto.press("1")
    expect(whole).to_be_visible()  # of the next item: the pointer rests on the grade of the last
    box = buttons.nth(2).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    expect(spot).to_contain_text("The query asks for two things.")
    otto.saved()
