"""The grading loop in a real browser, compared with what the database then holds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.support import GOLDGRADE
from tests.support.served import HOSTILE, PASSWORD, Annotating, Event, Served, lost_answers, open_tab, sign_in


def grades(pressed: list[tuple[str, str]]) -> list[Event]:
    return [Event(presentation, 0, "grade", int(key)) for presentation, key in pressed]


def test_signing_in_leads_to_the_page_asked_for_and_out_again(browser: Browser, served: Served) -> None:
    page = browser.new_context().new_page()
    page.goto(f"{served.url}/label?show=consistency")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("idle")
    page.keyboard.press("Tab")
    page.keyboard.type("not the password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is wrong")
    expect(page.get_by_label("Password")).to_be_focused()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="My consistency")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{served.url}/sign-in")
    assert page.request.get(f"{served.url}/api/presentations").status == 401


def test_what_was_pressed_is_stored_through_a_reload_and_an_undo(browser: Browser, served: Served) -> None:
    anna = open_tab(sign_in(browser, served, "anna"), served)
    pressed = [(anna.press(key), key) for key in "01230"]
    coming = anna.shown
    anna.page.reload()
    anna.wait_for_item()
    assert anna.shown == coming, "a reload resumes at the same item"
    pressed += [(anna.press(key), key) for key in "32103"]
    assert len(set(pressed)) == len(dict(pressed)) == 10
    after = anna.shown

    anna.press("u")
    last, _ = pressed[-1]
    assert anna.shown == last
    assert anna.press("1") == last
    assert anna.shown == after

    ben = open_tab(sign_in(browser, served, "ben"), served)
    by_ben = [(ben.press(key), key) for key in "222"]
    anna.saved()
    ben.saved()
    change = [Event(last, 1, "undo", None), Event(last, 2, "grade", 1)]
    assert sorted(served.events("anna")) == sorted(grades(pressed) + change)
    assert served.events("ben") == grades(by_ben)
    expect(anna.root.locator(".count")).to_have_text("10 of 39")


def test_undo_after_a_reload_takes_back_the_last_answer(browser: Browser, served: Served) -> None:
    gus = open_tab(sign_in(browser, served, "gus"), served)
    gus.press("2")
    answered = gus.press("3")
    gus.saved()
    gus.page.reload()
    gus.wait_for_item()
    gus.press("u")
    assert gus.shown == answered
    gus.look()
    gus.page.keyboard.press("x")  # asks for the reason; the grade keys are out of force meanwhile
    gus.page.keyboard.press("0")
    gus.page.keyboard.press("1")
    expect(gus.root).not_to_have_attribute("data-presentation", answered)
    gus.saved()
    kinds = [event.kind for event in served.events("gus") if event.presentation_id == answered]
    assert kinds == ["grade", "undo", "cannot_tell"]


def test_a_held_key_judges_one_item(browser: Browser, served: Served) -> None:
    cleo = open_tab(sign_in(browser, served, "cleo"), served)
    cleo.look()
    first = cleo.shown
    for _ in range(40):
        cleo.page.keyboard.down("2")  # from the second on, the browser marks it as a repeat
        cleo.page.wait_for_timeout(30)  # as keyboards do
    cleo.page.keyboard.up("2")
    cleo.saved()
    assert served.events("cleo") == [Event(first, 0, "grade", 2)]


def test_a_burst_of_keys_answers_only_what_was_on_screen(browser: Browser, served: Served) -> None:
    fay = open_tab(sign_in(browser, served, "fay"), served)
    fay.look()
    seen = fay.page.evaluate_handle(
        """() => {
            const host = document.querySelector(".st-key-grading [data-testid=stBidiComponentIsolated]");
            const grading = host.shadowRoot.querySelector(".grading");
            const seen = [];
            const look = () => {
                const { presentation } = grading.dataset;
                if (presentation && seen.at(-1) !== presentation) seen.push(presentation);
            };
            look();
            new MutationObserver(look).observe(grading, { attributes: true });
            return seen;
        }"""
    )
    for pause in (10, 30, 60):
        if fay.phase == "question":
            fay.go_on("Escape")
        for _ in range(30):
            fay.page.keyboard.press("1")
            fay.page.wait_for_timeout(pause)
    fay.saved()
    events = served.events("fay")
    assert 3 <= len(events) < 39
    assert [event.presentation_id for event in events] == seen.json_value()[: len(events)]
    assert {(event.revision, event.kind) for event in events} == {(0, "grade")}
    assert min(served.column("fay", "active_ms")) >= 150


def test_of_two_tabs_the_first_answer_stands(browser: Browser, served: Served) -> None:
    context = sign_in(browser, served, "dora")
    first, second = open_tab(context, served), open_tab(context, served)
    assert first.shown == second.shown
    first.page.bring_to_front()
    answered = first.press("3")
    first.saved()
    second.page.bring_to_front()
    assert second.press("0") == answered
    expect(second.trouble()).to_contain_text("in another tab or window")
    expect(second.root).to_have_attribute("data-presentation", first.shown)
    assert served.events("dora") == [Event(answered, 0, "grade", 3)]


def test_keys_typed_into_a_note_are_text_and_go_with_the_answer(browser: Browser, served: Served) -> None:
    emil = open_tab(sign_in(browser, served, "emil"), served)
    emil.look()
    emil.page.keyboard.press("n")
    emil.page.keyboard.type("2 or 3? u, l and x do nothing here")
    emil.page.keyboard.press("Escape")
    assert served.events("emil") == []
    noted = emil.press("3")
    put_off = emil.press("l")
    emil.saved()
    assert served.events("emil") == [Event(noted, 0, "grade", 3), Event(put_off, 0, "later", None)]
    assert served.column("emil", "note") == ["2 or 3? u, l and x do nothing here", None]
    _stays_text(emil)


def _stays_text(annotating: Annotating) -> None:
    assert HOSTILE in annotating.text
    annotating.page.keyboard.press("w")
    expect(annotating.root.get_by_role("button", name="Best passage only")).to_be_visible()
    assert annotating.page.evaluate("window.hacked") is None
    assert annotating.root.locator(".found").locator("img, script, a, iframe").count() == 0
    assert annotating.root.locator(".found mark").count() > 0


def test_the_page_says_nothing_of_ranks_systems_or_duplicates(browser: Browser, served: Served) -> None:
    context = sign_in(browser, served, "ben")
    answers: list[str] = []
    context.on("response", lambda response: answers.append(response.url) if "/api/" in response.url else None)
    ben = open_tab(context, served)
    shown = ben.page.request.get(f"{served.url}/api/presentations").json()["showings"][0]
    allowed = (
        "presentation_id revision query information_need title passage has_more url published guide_hash "
        "facts kind asks_about_query item_number item_count skipped list_id"
    )
    assert set(shown) <= set(allowed.split())
    html = ben.page.content() + ben.root.inner_html() + " ".join(answers)
    for word in ("duplicate", "bm25", "score", "rank", "lib/"):
        assert word not in html.lower(), word


def test_who_has_nothing_to_do_is_told_why(browser: Browser, served: Served) -> None:
    page = sign_in(browser, served, "idle").new_page()
    page.goto(served.url)
    expect(page.locator(".nothing .why")).to_contain_text("You have no items yet")
    expect(page.locator(".guide .scale dt")).to_have_count(4)
    expect(page.get_by_role("button", name="Ask about the guide")).to_be_visible()


@pytest.mark.costly("whole commands beside a served app")
def test_the_command_line_works_while_somebody_grades(
    browser: Browser, own_served: Served, tmp_path: Path
) -> None:
    corpus = tmp_path / "more.jsonl"
    lines = [{"_id": f"new/{n}", "title": f"New {n}", "text": f"Body of document {n}."} for n in range(3_000)]
    corpus.write_text("\n".join(map(json.dumps, lines)))
    cleo = open_tab(sign_in(browser, own_served, "cleo"), own_served)
    pressed = [(cleo.press(key), key) for key in "0123"]
    project = ["--project", str(own_served.project)]
    commands = [
        subprocess.Popen([GOLDGRADE, *project, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for arguments in (["import", "corpus", str(corpus), "--json"], ["agreement", "--json"])
    ]
    keys = iter("0123" * 8)
    while any(command.poll() is None for command in commands) and (key := next(keys, None)):
        pressed.append((cleo.press(key), key))
    assert len(pressed) > 6, "nobody graded while the commands ran"
    for command in commands:
        output, errors = command.communicate(timeout=60)
        assert command.returncode == 0, errors.decode()
        json.loads(output)
    cleo.saved()
    assert sorted(own_served.events("cleo")) == sorted(grades(pressed))


def test_what_was_shown_as_saved_outlives_a_killed_server(browser: Browser, own_served: Served) -> None:
    anna = open_tab(sign_in(browser, own_served, "anna"), own_served)
    pressed = []
    for key in "0123":
        pressed.append((anna.press(key), key))
        anna.saved()
    own_served.kill()
    pressed += [(anna.press(key), key) for key in "32"]
    expect(anna.trouble()).to_contain_text("Not saved yet: 2 waiting")
    spoken = "Not saved yet. The server cannot be reached. You can go on."  # without seconds that run
    expect(anna.root.get_by_role("alert")).to_have_text(spoken)
    assert own_served.events("anna") == grades(pressed[:4]), "saved is saved"
    own_served.start()
    expect(anna.root.locator(".saved")).to_have_text("Saved", timeout=30_000)
    assert sorted(own_served.events("anna")) == sorted(grades(pressed))
    # Streamlit's, of the lost connection: it covers the keys until it has reconnected.
    expect(anna.page.get_by_role("dialog")).to_be_hidden()
    pressed.append((anna.press("1"), "1"))
    anna.saved()
    assert sorted(own_served.events("anna")) == sorted(grades(pressed))


def test_while_a_slow_server_saves_five_answers_the_page_says_so_and_waits(
    browser: Browser, served: Served
) -> None:
    context = sign_in(browser, served, "dora")
    dora = open_tab(context, served)
    before = served.events("dora")
    held: list[Route] = []
    saving = False
    context.route("**/api/judgments", lambda route: route.continue_() if saving else held.append(route))
    pressed = [(dora.press(key), key) for key in "01230"]
    expect(dora.root.locator(".saved")).to_have_text("Saving…")
    shown = dora.shown
    dora.look()
    dora.page.keyboard.press("1")
    dora.look()
    assert dora.shown == shown, "the sixth answer is not taken"
    assert len(held) == 1, "one request is under way at a time"
    saving = True
    held[0].continue_()
    dora.saved()
    assert sorted(served.events("dora")) == sorted(before + grades(pressed))


def test_without_a_server_the_loop_pauses_and_a_lost_answer_is_not_written_twice(
    browser: Browser, served: Served
) -> None:
    context = sign_in(browser, served, "ben")
    ben = open_tab(context, served)
    before = served.events("ben")
    with lost_answers(context, "**/api/judgments"):
        pressed = [(ben.press(key), key) for key in "01230"]
        expect(ben.trouble()).to_contain_text("Grading pauses until they are saved")
        ben.look()
        ben.page.keyboard.press("1")
        assert ben.shown not in dict(pressed), "a paused loop takes no answer"
    ben.saved()
    assert sorted(served.events("ben")) == sorted(before + grades(pressed))


def test_the_keyboard_scrolls_and_the_next_item_starts_at_its_query(browser: Browser, served: Served) -> None:
    context = sign_in(browser, served, "emil")
    emil = open_tab(context, served)
    emil.page.set_viewport_size({"width": 1024, "height": 600})
    emil.page.keyboard.press("w")
    expect(emil.root.get_by_role("button", name="Best passage only")).to_be_visible()
    document = emil.root.locator(".found")
    emil.page.keyboard.press("End")
    expect(document).not_to_have_js_property("scrollTop", 0)
    emil.page.keyboard.press("Home")
    expect(document).to_have_js_property("scrollTop", 0)
    emil.page.set_viewport_size({"width": 720, "height": 450})  # 1440 by 900 at a zoom of 200 %
    emil.page.keyboard.press("End")
    expect(emil.root.locator(".asked")).not_to_be_in_viewport()
    emil.page.keyboard.press("Home")
    expect(emil.root.locator(".grades")).to_be_in_viewport(ratio=1)
    emil.page.keyboard.press("x")
    expect(emil.root.locator(".reasons")).to_be_in_viewport(ratio=1)
    emil.page.keyboard.press("Escape")
    emil.press("2")
    expect(emil.root.locator(".query")).to_be_in_viewport()
    emil.saved()
