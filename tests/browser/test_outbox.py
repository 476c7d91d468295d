"""The outbox: no answer is forgotten for what a proxy, a network or a server in trouble says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from app.annotating import FOLDER, joined
from tests.support.served import Event, Served, open_tab, sign_in

ORIGIN = "http://goldgrade.example"
OUTBOX = (
    joined('import { Memory } from "./memory.js";\nimport { Outbox } from "./outbox.js";', FOLDER)
    + """
window.outboxOf = (answers) => {
  localStorage.clear();
  const memory = new Memory("test");
  const routes = { judgments: { path: "/api/judgments", body: (batch) => ({ submissions: batch }) } };
  const outbox = new Outbox(memory, routes, { answered: () => {}, changed: () => {} });
  outbox.busy = true; // until all are in it
  for (const answer of answers) outbox.add("judgments", answer, 1);
  outbox.busy = false;
  return outbox;
};
window.stored = () => Object.keys(localStorage).length;
// Send until nothing waits, without the pauses between two tries.
window.drain = async (outbox, most) => {
  for (let tries = 0; outbox.waiting.length && tries < most; tries += 1) {
    while (outbox.busy) await new Promise((done) => { setTimeout(done, 5); });
    await outbox.send();
    clearTimeout(outbox.timer);
  }
  return outbox.waiting.map(({ item }) => item.client_key);
};
"""
)
ONCE = """async ([answers]) => {
  const outbox = outboxOf(answers);
  await outbox.send();
  clearTimeout(outbox.timer);
  const { problem, waiting, committed, retryAt } = outbox;
  const [kept, wait] = [[waiting.length, stored()], retryAt - Date.now()];
  return { problem, kept, committed, wait, at: location.pathname };
}"""
ANSWER = {"presentation_id": "p1", "revision": 0, "kind": "grade", "grade": 2}
Answering = Callable[[Route], None]


class Network:
    """What is between an outbox and goldgrade; `posted` is what goldgrade got, `sizes` how many bytes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.posted: list[list[dict[str, Any]]] = []
        self.sizes: list[int] = []
        self.answering: Answering = self.goldgrade
        page.route(f"{ORIGIN}/**", self._route)
        page.goto(ORIGIN)
        page.evaluate(f"() => {{ {OUTBOX} }}")

    def goldgrade(self, route: Route) -> None:
        self.sizes.append(len(route.request.post_data_buffer or b""))
        self.posted.append(submissions(route))
        keys = [one["client_key"] for one in self.posted[-1]]
        outcomes = [{"client_key": key, "status": "saved", "revision": 1} for key in keys]
        route.fulfill(json={"outcomes": outcomes, "queue": None})

    def once(self, *answers: dict[str, Any]) -> dict[str, Any]:
        """Send once, and say what the outbox then knows."""
        return dict(self.page.evaluate(ONCE, [answers or (ANSWER,)]))

    def drain(self, answers: list[dict[str, Any]], most: int = 40) -> int:
        """Send again and again, and return how many answers are still waiting."""
        return len(self.page.evaluate("([answers, most]) => drain(outboxOf(answers), most)", [answers, most]))

    def _route(self, route: Route) -> None:
        if route.request.method == "GET":
            route.fulfill(content_type="text/html", body="")
        else:
            self.answering(route)


def answers(**answer: Any) -> Answering:
    """Whoever answers every request so."""
    return lambda route: route.fulfill(**answer)


def submissions(route: Route) -> list[dict[str, Any]]:
    return list(json.loads(route.request.post_data or "")["submissions"])


@pytest.fixture
def network(browser: Browser) -> Network:
    return Network(browser.new_page())


def strange_answers() -> dict[str, dict[str, Any]]:
    """What others than goldgrade answer, or goldgrade about the request and not about an answer in it."""
    codes = (400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 431, 451, 500, 502, 503, 504)
    other = {"client_key": "of another answer", "status": "refused", "message": "no"}
    return {
        **{str(code): {"status": code, "body": "<h1>nginx</h1>"} for code in codes},
        "a gateway's JSON": {"status": 404, "json": {"message": "no Route matched"}},
        "a network's sign-in page": {"body": "<form>", "content_type": "text/html"},
        "nothing": {"body": ""},
        "null": {"body": "null"},
        "another JSON": {"json": {"outcomes": "none"}},
        "no outcome": {"json": {"outcomes": []}},
        "the outcome of another answer": {"json": {"outcomes": [other, None]}},
    }


def test_no_answer_is_forgotten_for_what_goldgrade_has_not_said_of_it(network: Network) -> None:
    for kind, answer in strange_answers().items():
        network.answering = answers(**answer)
        found = network.once()
        assert (found["kept"], found["committed"], found["at"]) == ([1, 1], False, "/"), kind
        assert found["problem"].endswith("."), kind
    network.answering = lambda route: route.abort()
    assert network.once()["problem"] == "The server cannot be reached."


def test_what_goldgrade_says_of_an_answer_is_final(network: Network) -> None:
    for status in ("saved", "repeated", "stale", "refused"):

        def say(route: Route, status: str = status) -> None:
            (sent,) = submissions(route)
            route.fulfill(json={"outcomes": [{"client_key": sent["client_key"], "status": status}]})

        network.answering = say
        found = network.once()
        assert (found["kept"], found["committed"]) == ([0, 0], status in {"saved", "repeated"})


def test_the_servers_own_reason_is_said_and_its_wish_to_wait_is_kept(network: Network) -> None:
    full = "The database file could not be used, and nothing was changed: No space left on device"
    network.answering = answers(status=500, json={"message": full})
    found = network.once()
    assert found["problem"] == f"{full}."
    assert 0 < found["wait"] <= 500
    for after, least, most in (("90", 89_000, 90_000), ("99999", 599_000, 600_000), ("soon", 0, 500)):
        network.answering = answers(status=429, headers={"Retry-After": after})
        assert least <= network.once()["wait"] <= most, after


def test_a_proxy_that_takes_small_requests_only_gets_small_ones(network: Network) -> None:
    def small(route: Route) -> None:
        if len(route.request.post_data_buffer or b"") > 600:
            route.fulfill(status=413, body="<h1>Request Entity Too Large</h1>")
        else:
            network.goldgrade(route)

    network.answering = small
    given = [{**ANSWER, "presentation_id": f"p{n}", "note": "x" * 60} for n in range(9)]
    assert network.drain(given) == 0
    sent = [one["presentation_id"] for batch in network.posted for one in batch]
    assert sorted(sent) == [f"p{n}" for n in range(9)], "each once"


def test_an_answer_that_a_proxy_never_lets_through_holds_up_no_other_item(network: Network) -> None:
    def cautious(route: Route) -> None:
        if "DROP TABLE" in (route.request.post_data or ""):
            route.fulfill(status=403, body="<h1>Blocked by the firewall</h1>")
        else:
            network.goldgrade(route)

    network.answering = cautious
    given = [{**ANSWER, "presentation_id": f"p{n}"} for n in range(5)]
    given[0]["note"] = "DROP TABLE"
    given.insert(3, {**ANSWER, "presentation_id": "p0", "revision": 1, "kind": "undo"})
    assert network.drain(given, 30) == 2, "the answer, and what was done with its item later"
    assert {one["presentation_id"] for batch in network.posted for one in batch} == {"p1", "p2", "p3", "p4"}
    network.answering, network.posted = network.goldgrade, []
    assert network.drain(given) == 0
    of_p0 = [one for batch in network.posted for one in batch if one["presentation_id"] == "p0"]
    assert [one["revision"] for one in of_p0] == [0, 1]


def test_long_notes_in_any_script_leave_in_requests_that_outlive_the_page(network: Network) -> None:
    network.page.evaluate(
        """() => {
          const { fetch } = window;
          window.outlives = [];
          window.fetch = (path, request) => {
            outlives.push(request.keepalive);
            return fetch(path, request);
          };
        }"""
    )
    given = [{**ANSWER, "presentation_id": f"p{n}", "note": "电热水壶" * 1_000} for n in range(12)]
    assert network.drain(given, 12) == 0
    assert sum(map(len, network.posted)) == 12
    assert max(network.sizes) < 64 * 1024
    assert set(network.page.evaluate("outlives")) == {True}


def test_whatever_a_proxy_answers_the_grades_are_stored_once_and_the_page_says_so_meanwhile(
    browser: Browser, session: Served
) -> None:
    context = sign_in(browser, session, "tara")
    tara = open_tab(context, session)
    before = session.events("tara")
    pressed = []
    for code, key in ((429, "0"), (404, "1"), (408, "2"), (413, "3")):
        context.route("**/api/judgments", answers(status=code, body="<h1>proxy</h1>"))
        pressed.append((tara.press(key), key))
        expect(tara.trouble()).to_contain_text("Not saved yet: 1 waiting, kept in this browser.")
        expect(tara.trouble()).to_contain_text(f"The answer was an error ({code}).")
        expect(tara.root.locator(".saved")).to_have_text("Not saved yet")
        context.unroute("**/api/judgments")
        tara.saved()
    away = session.project.rename(session.project.with_name("elsewhere.duckdb"))
    try:
        pressed += [(tara.press(key), key) for key in "01"]
        expect(tara.trouble()).to_contain_text("There is no goldgrade project")
    finally:
        away.rename(session.project)
    tara.saved()
    expect(tara.trouble()).to_be_hidden()
    stored = [Event(shown, 0, "grade", int(key)) for shown, key in pressed]
    assert sorted(session.events("tara")) == sorted(before + stored)


def test_a_note_survives_a_reload_and_a_refusal_of_its_answer(browser: Browser, session: Served) -> None:
    context = sign_in(browser, session, "tara")
    tara = open_tab(context, session)
    shown = tara.shown
    tara.page.keyboard.press("n")
    tara.page.keyboard.type("the scale leaves this open")
    tara.page.reload()
    tara.wait_for_item()
    note = tara.root.locator(".note textarea")
    expect(note).to_have_value("the scale leaves this open")

    def refuse(route: Route) -> None:
        (sent,) = submissions(route)
        refused = {"client_key": sent["client_key"], "status": "refused", "message": "look at it again"}
        route.fulfill(json={"outcomes": [refused], "queue": None})

    context.route("**/api/judgments", refuse)
    assert tara.press("2") == shown
    expect(tara.trouble()).to_contain_text("An answer was not taken: look at it again.")
    context.unroute("**/api/judgments")
    expect(tara.root).to_have_attribute("data-presentation", shown)
    expect(note).to_have_value("the scale leaves this open")
    tara.press("2")
    tara.saved()
    assert session.column("tara", "note")[-1] == "the scale leaves this open"
