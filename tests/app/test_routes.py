"""The routes and the guard before them, asked over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
import resource
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app import api, context, json_routes
from app.front import tabs
from app.front.guard import RERUN_MESSAGE, UNREADABLE_CODE, Guard
from app.front.offered_files import OfferedFiles
from app.index_page import EARLY
from app.monitoring import health
from app.monitoring.failures import HEADER, FailureLog
from app.signin import cookies, current_user
from app.signin import routes as signin
from app.signin.cookies import CookieCodec
from app.signin.throttle import AttemptKey, LoginThrottle, find_network, list_sign_in_keys, login_throttle
from curation.agreement.fingerprint import read_fingerprint
from curation.core.errors import StoreBusyError
from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.people.accounts import add_annotator, set_role
from curation.people.invitations import accept_invitation, invite
from curation.people.sign_ins import SIGN_IN_SECONDS, list_sign_ins
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import HEALTH_CHECKED, Annotator, Store, get_setting, open_store
from tests.support.projects import discard, import_rows, new_project, rows_of

PASSWORD = "correct horse battery"
ORIGIN = {"Origin": "http://testserver"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One query with three documents, to be judged by anna and ben."""
    store = new_project(tmp_path_factory.mktemp("template") / "project.duckdb")
    documents = [{"_id": name, "title": name, "text": f"what {name} is"} for name in ("one", "two", "three")]
    import_rows(store, documents, [{"_id": "q", "text": "what"}])
    build_pool(store, PoolRequest(["bm25"], depth=3, random_negatives=3, seed=1))
    for name in ("anna", "ben"):
        add_annotator(store, name, "annotator", PASSWORD)
    open_round(store, RoundRequest("first", ["anna", "ben"], overlap=2, duplicates=0, seed=1, ask_from=1))
    store.close()
    return store.path


@pytest.fixture
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """What the process serves."""
    store = open_store(Path(shutil.copy(template, tmp_path / "project.duckdb")))
    monkeypatch.setenv(context.PROJECT, str(store.path))
    monkeypatch.setattr(login_throttle, "_failures", {})
    yield store
    discard(store)


async def broken(request: Request) -> Response:
    raise ZeroDivisionError("of nobody's concern")


@pytest.fixture
def anyone(project: Store) -> Iterator[TestClient]:
    """A client that is not signed in."""
    routes = [*signin.ROUTES, *api.ROUTES, health.ROUTE, Route("/broken", broken)]
    application = Starlette(routes=routes, middleware=[Middleware(FailureLog), Middleware(Guard)])
    with TestClient(application, follow_redirects=False) as client:
        yield client


@pytest.fixture
def anna(anyone: TestClient) -> TestClient:
    """A client in which anna has signed in."""
    assert enter(anyone, "anna").status_code == 303
    return anyone


def enter(client: TestClient, name: str, password: str = PASSWORD, target: str = "/") -> Any:
    form = {"name": name, "password": password}
    return client.post("/sign-in", params={"next": target}, data=form, headers=ORIGIN)


def items(client: TestClient) -> list[dict[str, Any]]:
    return list(client.get("/api/presentations").json()["showings"])


def grade(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    identity = {"presentation_id": item["presentation_id"], "revision": item["revision"]}
    return {**identity, "kind": "grade", "grade": 2, "client_key": "key-" + item["presentation_id"], **more}


def send(client: TestClient, *submissions: dict[str, Any], **more: Any) -> Any:
    return client.post("/api/judgments", json={"submissions": submissions, **more}, headers=ORIGIN)


def test_no_route_of_labeling_answers_an_evaluator_even_with_items_of_an_earlier_role(
    anyone: TestClient, project: Store
) -> None:
    assert enter(anyone, "anna").status_code == 303
    ((item, *_), guide) = items(anyone), "any"
    with project.transaction() as cursor:
        cursor.execute("UPDATE annotators SET role = 'evaluator' WHERE name = 'anna'")
    current_user.sign_in_cache.cache_clear()
    asked = [
        anyone.get("/api/presentations"),
        anyone.get("/api/presentations/previous"),
        anyone.get(f"/api/presentations/{item['presentation_id']}/document"),
        anyone.get(f"/api/guides/{guide}"),
        anyone.get("/api/history"),
        anyone.get("/api/skipped"),
        anyone.get("/api/worked"),
        anyone.post("/api/questions", json={"words": "Why?"}, headers=ORIGIN),
        send(anyone, grade(item)),
        anyone.post("/api/answers", json={"answers": []}, headers=ORIGIN),
    ]
    own = {route.path for route in api.ROUTES}
    assert len(asked) == len(own), "a route of the API that this test does not ask"
    for answer in asked:
        assert answer.status_code == 403
        assert (
            answer.json()["message"]
            == "This action needs the role annotator or reviewer or lead; anna is evaluator."
        )


def test_a_page_leads_to_the_sign_in_and_back(anyone: TestClient) -> None:
    asked = anyone.get("/adjudicate", headers={"Accept": "text/html"})
    assert (asked.status_code, asked.headers["location"]) == (303, "/sign-in?next=/adjudicate")
    shared = anyone.get("/query?id=q1", headers={"Accept": "text/html"}, follow_redirects=False)
    assert shared.headers["location"] == "/sign-in?next=/query%3Fid%3Dq1"
    watched = anyone.get("/", headers={"Accept": "*/*"})  # a monitor, which no warning reports
    assert (watched.status_code, watched.headers["location"]) == (303, "/sign-in?next=/")
    assert enter(anyone, "anna", target="/adjudicate").headers["location"] == "/adjudicate"


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "/a\nb"])
def test_signing_in_never_leads_to_another_site(anyone: TestClient, target: str) -> None:
    assert enter(anyone, "anna", target=target).headers["location"] == "/"


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(anyone: TestClient) -> None:
    cookie = enter(anyone, "anna").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert f"max-age={SIGN_IN_SECONDS}" in cookie
    assert "secure" not in cookie, "over http the browser would not send it back"


def test_over_https_the_cookie_goes_over_https_only(anyone: TestClient) -> None:
    form = {"name": "anna", "password": PASSWORD}
    answer = anyone.post("https://testserver/sign-in", data=form, headers={"Origin": "https://testserver"})
    assert answer.status_code == 303
    assert "secure" in answer.headers["set-cookie"].lower()


def test_a_cookie_that_was_not_issued_here_or_has_ended_says_nothing() -> None:
    sessions = CookieCodec(b"k" * 32)
    cookie = sessions.issue_session_cookie("its key", now=1_000.0)
    content, signature = cookie.split(".")
    assert sessions.read_session_cookie(cookie, now=1_000.0 + SIGN_IN_SECONDS - 1) == "its key"
    assert sessions.read_session_cookie(cookie, now=1_000.0 + SIGN_IN_SECONDS) is None
    assert CookieCodec(b"x" * 32).read_session_cookie(cookie, now=1_000.0) is None
    for forged in (
        "",
        ".",
        content,
        f"{content}.",
        f"{content}A.{signature}",
        f"{content}.{signature}0",
        "ü.ü",
    ):
        assert sessions.read_session_cookie(forged, now=1_000.0) is None


def test_signing_out_ends_every_copy_of_the_sign_in_and_no_other(anna: TestClient, project: Store) -> None:
    copied = {cookies.cookie_codec().cookie: anna.cookies[cookies.cookie_codec().cookie]}
    enter(anna, "anna")  # in another browser
    other = {cookies.cookie_codec().cookie: anna.cookies[cookies.cookie_codec().cookie]}
    anna.cookies.clear()

    def answers(cookies: dict[str, str]) -> int:
        header = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return anna.get("/api/presentations", headers={"Cookie": header}).status_code

    assert (answers(copied), answers(other)) == (200, 200)
    cookie = "; ".join(f"{name}={value}" for name, value in copied.items())
    assert anna.post("/sign-out", headers={**ORIGIN, "Cookie": cookie}).status_code == 303
    assert (answers(copied), answers(other)) == (401, 200)
    current_user.sign_in_cache.cache_clear()  # as a server that starts anew
    assert (answers(copied), answers(other)) == (401, 200)
    assert rows_of(project, "SELECT actor FROM events WHERE action = 'end sign-ins'") == [("anna",)]


AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/139.0.0.0 Safari/537.36 Edg/139.0"


@pytest.mark.slow
def test_people_see_where_they_are_signed_in_and_end_what_they_do_not_know(anna: TestClient) -> None:
    elsewhere = from_elsewhere(anna, "2001:db8:1:2::9")
    elsewhere.headers["user-agent"] = AGENT
    assert enter(elsewhere, "anna").status_code == 303
    others = from_elsewhere(anna)
    assert enter(others, "ben").status_code == 303
    page = anna.get("/password").text
    assert "Edge 139 on Linux at 2001:db8:1::/48" in page
    assert "<script>" not in page.replace(page[: page.index("<main>")], "")
    assert page.count("this browser") == 1
    (found,) = re.findall(r'name="id" value="(\w+)"', page)
    refused = others.post("/sign-ins", data={"id": found}, headers=ORIGIN)
    assert (refused.status_code, elsewhere.get("/api/presentations").status_code) == (303, 200)
    assert anna.post("/sign-ins", data={"id": found}, headers=ORIGIN).headers["location"] == "/password"
    assert [one.get("/api/presentations").status_code for one in (elsewhere, anna, others)] == [401, 200, 200]
    assert enter(elsewhere, "anna").status_code == 303
    assert anna.post("/sign-ins", data={"id": ""}, headers=ORIGIN).status_code == 303
    assert [one.get("/api/presentations").status_code for one in (elsewhere, anna, others)] == [401, 200, 200]


@pytest.mark.parametrize("agent", ["", "<script>1</script>", "Chrome/9999999 ; Windows", "x" * 9_000])
def test_a_browser_names_itself_in_our_words_only(anna: TestClient, project: Store, agent: str) -> None:
    other = from_elsewhere(anna, "no address")
    other.headers["user-agent"] = agent
    assert enter(other, "anna").status_code == 303
    with project.reading() as cursor:
        found = list_sign_ins(cursor, "anna")
    assert {one.network for one in found} == {""}
    ours = re.compile(r"(Another browser|Chrome \d{1,4}) on (another system|Windows)")
    assert all(ours.fullmatch(one.device) for one in found)


def from_elsewhere(client: TestClient, address: str = "198.51.100.7") -> TestClient:
    return TestClient(client.app, follow_redirects=False, client=(address, 50_000))


FREE = AttemptKey(()).free_attempts


def test_guessing_a_password_makes_that_name_wait_whether_it_exists_or_not(anyone: TestClient) -> None:
    for name in ("anna", "nobody"):
        answers = [enter(anyone, name, "wrong password") for _ in range(FREE + 1)]
        assert [answer.status_code for answer in answers] == [401] * FREE + [429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert enter(anyone, name).status_code == 429, "the right password waits too"
    assert enter(anyone, "ben").status_code == 303


def test_whoever_guesses_keeps_the_owner_out_neither_elsewhere_nor_in_a_known_browser(
    anyone: TestClient,
) -> None:
    known = from_elsewhere(anyone, "testclient")  # at the address of the one who guesses
    assert enter(known, "anna").status_code == 303
    known.post("/sign-out", headers=ORIGIN)
    for _ in range(FREE + 1):
        refused = enter(anyone, "anna", "wrong password")
    assert refused.status_code == 429
    assert enter(from_elsewhere(anyone), "anna").status_code == 303
    assert enter(known, "anna").status_code == 303
    guesses = [enter(known, "anna", "wrong password").status_code for _ in range(FREE + 1)]
    assert guesses == [401] * FREE + [429], "a known browser is counted, too"
    assert enter(known, "ben").status_code == 303


def test_a_browser_is_known_to_the_name_that_signed_in_only_and_not_for_ever() -> None:
    sessions = CookieCodec(b"k" * 32)
    cookie = sessions.issue_browser_cookie("anna", "its key")
    assert sessions.read_browser_cookie("anna", cookie) == "its key"
    assert [
        sessions.read_browser_cookie("ben", cookie),
        CookieCodec(b"x" * 32).read_browser_cookie("anna", cookie),
    ] == [None] * 2
    assert "anna" not in sessions.name_browser_cookie("anna")
    assert sessions.name_browser_cookie("anna") != sessions.name_browser_cookie("ben")


def test_a_project_that_is_busy_is_no_wrong_try(anyone: TestClient, project: Store) -> None:
    project.close()
    away = project.path.rename(project.path.with_name("elsewhere.duckdb"))
    assert [enter(anyone, "anna").status_code for _ in range(FREE + 1)] == [503] * (FREE + 1)
    away.rename(project.path)
    assert enter(anyone, "anna").status_code == 303


def test_the_wait_doubles_and_ends() -> None:
    throttle, anna = LoginThrottle(), list_sign_in_keys("anna", "192.0.2.1", None)
    waits, now = [], 0.0
    for _ in range(12):
        assert throttle.start_attempt(anna, now) == 0
        waits.append(throttle.start_attempt([anna[0]], now) if len(waits) >= FREE - 1 else 0)
        now += waits[-1]
    assert waits == [0, 0, 0, 0, 4, 8, 16, 32, 64, 128, 256, 300]


def test_an_owner_passes_while_a_stranger_tries_once_a_second_for_an_hour() -> None:
    throttle, owner = LoginThrottle(), list_sign_in_keys("anna", "192.0.2.1", None)
    passed = 0
    for second in range(3_600):
        throttle.start_attempt(list_sign_in_keys("anna", "198.51.100.7", None), float(second))
        if second % 18 == 0:
            passed += throttle.start_attempt(owner, float(second)) == 0
            throttle.record_success(owner)
    assert passed == 200


def test_guesses_from_many_addresses_wait_together_and_a_known_browser_passes() -> None:
    throttle = LoginThrottle()
    tries = [
        throttle.start_attempt(list_sign_in_keys("anna", f"192.0.2.{host}", None), 0.0) for host in range(150)
    ]
    assert (tries.count(0), max(tries)) == (100, 4)
    assert throttle.start_attempt(list_sign_in_keys("anna", "192.0.2.1", "a known browser"), 0.0) == 0
    assert throttle.start_attempt(list_sign_in_keys("ben", "192.0.2.1", None), 0.0) == 0
    assert throttle.start_attempt(list_sign_in_keys("anna", "192.0.2.1", None), 3_601.0) == 0


def test_guesses_from_a_hundred_networks_of_one_customer_lock_no_name() -> None:
    throttle = LoginThrottle()
    for second, subnet in enumerate(range(100)):
        throttle.start_attempt(list_sign_in_keys("anna", f"2001:db8:0:{subnet:x}::1", None), float(second))
    assert throttle.start_attempt(list_sign_in_keys("anna", "2001:db8:1::1", None), 100.0) == 0


def test_one_network_waits_for_names_that_it_invents_and_no_other_does() -> None:
    throttle = LoginThrottle()
    tries = [throttle.start_attempt(list_sign_in_keys(f"n{n}", "192.0.2.1", None), 0.0) for n in range(200)]
    assert tries.count(0) == 60
    assert throttle.start_attempt(list_sign_in_keys("anna", "192.0.2.2", None), 0.0) == 0


def test_one_network_of_ipv6_is_one_address() -> None:
    assert find_network("2001:db8::1") == find_network("2001:db8::ffff") != find_network("2001:db8:0:1::1")
    assert find_network("::ffff:192.0.2.1") == find_network("192.0.2.1")
    assert find_network("a socket") == "a socket"


def test_what_somebody_types_as_a_name_stays_text(anyone: TestClient) -> None:
    answer = enter(anyone, "<script>alert(1)</script>", target="/\"'><script>")
    assert "<script>" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_another_site_cannot_act_with_somebodys_cookie(anna: TestClient) -> None:
    body = {"submissions": [grade(items(anna)[0])]}
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {}):
        assert anna.post("/api/judgments", json=body, headers=headers).status_code == 403
        assert anna.post("/api/answers", json={"answers": []}, headers=headers).status_code == 403
        assert anna.post("/sign-out", headers=headers).status_code == 403
    assert len(items(anna)) == 3


def test_a_judgment_is_answered_with_its_outcome_and_what_comes_next(anna: TestClient) -> None:
    first, second, third = items(anna)
    answer = send(anna, grade(first), holding=[second["presentation_id"]]).json()
    assert [outcome["status"] for outcome in answer["outcomes"]] == ["saved"]
    assert [item["presentation_id"] for item in answer["queue"]["showings"]] == [third["presentation_id"]]
    assert (answer["queue"]["done"], answer["queue"]["total"]) == (1, 3)


def test_a_retried_submit_counts_once(anna: TestClient, project: Store) -> None:
    item = grade(items(anna)[0], note="once", shown_at="2026-01-02T03:04:05.678+02:00", active_ms=1200)
    statuses = [send(anna, item).json()["outcomes"][0]["status"] for _ in range(2)]
    assert statuses == ["saved", "repeated"]
    rows = rows_of(project, "SELECT author, note, shown_at::TEXT, active_ms FROM judgment_events")
    assert rows == [("anna", "once", "2026-01-02 01:04:05.678", 1200)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"revision": -1}, "revision"),
        ({"grade": "2; DROP TABLE"}, "grade"),
        *(({"grade": value}, "grade: Input should be a valid integer") for value in ("2", True, 2.0)),
        ({"flagged": "yes"}, "flagged"),
        ({"evidence": [["0", "1"]]}, "evidence"),
        ({"annotator": "ben"}, "an unknown name: Extra inputs are not permitted"),
        ({"note": "x" * 5_000}, "note"),
        ({"shown_at": "yesterday"}, "shown_at"),
    ],
)
def test_a_misshapen_judgment_is_refused_by_its_key_and_keeps_no_other_from_being_saved(
    anna: TestClient, change: dict[str, Any], words: str
) -> None:
    first, second, _ = items(anna)
    answer = send(anna, grade(first, **change), grade(second))
    refused, saved = answer.json()["outcomes"]
    assert (refused["client_key"], refused["status"]) == (grade(first)["client_key"], "refused")
    assert words in refused["message"]
    assert (saved["client_key"], saved["status"]) == (grade(second)["client_key"], "saved")


@pytest.mark.slow
def test_a_misshapen_answer_about_a_query_is_refused_by_its_key(anna: TestClient) -> None:
    item = items(anna)[0]["presentation_id"]
    (refused,) = reply(anna, {"presentation_id": item, "answer": "x" * 30, "client_key": "answer-1"})[
        "outcomes"
    ]
    assert (refused["client_key"], refused["status"]) == ("answer-1", "refused")
    assert "answer" in refused["message"]


@pytest.mark.slow
def test_what_names_no_key_is_no_answer_to_any_submission(anna: TestClient) -> None:
    answer = send(anna, {**grade(items(anna)[0]), "client_key": None})
    assert (answer.status_code, "outcomes" in answer.json()) == (422, False)


@pytest.mark.parametrize(
    ("sent", "stored"), [(86_400_000, 86_400_000), (86_400_001, 86_400_000), (2**40, 86_400_000), (-1, None)]
)
def test_no_grade_is_refused_for_the_time_that_its_browser_measured(
    anna: TestClient, project: Store, sent: int, stored: int | None
) -> None:
    (outcome,) = send(
        anna, grade(items(anna)[0], active_ms=sent, shown_at="0001-01-01T00:00:00+14:00")
    ).json()["outcomes"]
    assert outcome["status"] == "saved"
    assert rows_of(project, "SELECT active_ms, shown_at FROM judgment_events") == [(stored, None)]


@pytest.mark.slow
def test_while_the_project_is_elsewhere_or_its_disk_full_nothing_is_final_and_the_reason_is_said(
    anna: TestClient, project: Store
) -> None:
    item = grade(items(anna)[0])
    project.close()
    away = project.path.rename(project.path.with_name("elsewhere.duckdb"))
    answer = send(anna, item)
    assert "There is no goldgrade project" in answer.json()["message"]
    assert (answer.status_code >= 400, "outcomes" in answer.json()) == (True, False)
    assert not project.path.exists()
    away.rename(project.path)
    with no_more_on_disk():
        answer = send(anna, item)
    assert "File too large" in answer.json()["message"]
    assert (answer.status_code, "outcomes" in answer.json()) == (500, False)
    assert send(anna, item).json()["outcomes"][0]["status"] == "saved"


@contextmanager
def no_more_on_disk() -> Iterator[None]:
    """No file of this process can grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_is_not_json_or_too_large_is_refused(anna: TestClient) -> None:
    headers = {**ORIGIN, "Content-Type": "application/json"}
    assert anna.post("/api/judgments", content=b"{", headers=headers).status_code == 422
    nested = b'{"submissions":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
    deep = anna.post("/api/judgments", content=nested, headers=headers)
    assert (deep.status_code, "too deeply" in deep.json()["message"]) == (422, True)
    assert anna.post("/api/judgments", data={"a": "b"}, headers=ORIGIN).status_code == 422
    large = anna.post("/api/judgments", content=b" " * (json_routes.MAX_BODY_BYTES + 1), headers=headers)
    assert (large.status_code, "larger than" in large.json()["message"]) == (422, True)


@pytest.mark.slow
def test_the_history_is_filtered_and_answers_are_counted_by_the_server(
    anna: TestClient, project: Store
) -> None:
    first, second, *_ = items(anna)
    send(anna, grade(first), grade(second, grade=1, note="why"))
    assert anna.get("/api/history", params={"grade": 1}).status_code == 403, "an item is open"
    set_round_state(project, "first", "closed")

    def listed(**asked: object) -> list[str]:
        found = anna.get("/api/history", params=asked).json()["answers"]
        return [one["showing"]["presentation_id"] for one in found]

    assert listed(grade=1) == listed(noted=True) == [second["presentation_id"]]
    assert listed(text=first["title"][0][0].upper()) == [first["presentation_id"]]
    assert anna.get("/api/history", params={"page": -1}).status_code == 422
    since = {"since": ["2001-01-01T00:00:00Z", "2999-01-01T00:00:00+01:00"]}
    assert anna.get("/api/worked", params=since).json() == [2, 0]
    for moment in ("yesterday", "0001-01-01T00:00:00+14:00"):  # the second is before all that UTC can say
        assert anna.get("/api/worked", params={"since": moment}).status_code == 422


def reply(client: TestClient, *answers: dict[str, Any]) -> Any:
    return client.post("/api/answers", json={"answers": answers}, headers=ORIGIN).json()


@pytest.mark.slow
def test_nothing_that_an_annotator_is_sent_tells_a_rounds_name(
    anyone: TestClient, project: Store, tmp_path: Path
) -> None:
    """Names such as "bm25-against-dense" would tell what is studied."""
    set_round_state(project, "first", "closed")
    known = tmp_path / "known.jsonl"
    pair = {"query_id": "q", "document_id": "one", "grade": 3, "explanation": "It says what one is."}
    known.write_text(json.dumps(pair))
    add_annotator(project, "cleo", "annotator", PASSWORD)
    open_practice(project, PracticeRequest("Secretname practice", ["cleo"], file=known))
    open_round(project, RoundRequest("Secretname", ["cleo", "ben"], overlap=2, duplicates=0, again=True))
    sent = []

    def look(client: TestClient) -> list[dict[str, Any]]:
        paths = ("/api/presentations", "/api/presentations/previous", "/api/history")
        sent.extend(client.get(path).text for path in paths)
        return items(client)

    def answer(client: TestClient, found: list[dict[str, Any]]) -> None:
        sent.append(
            send(client, *map(grade, found[:1]), explain=[one["presentation_id"] for one in found]).text
        )

    enter(anyone, "cleo")
    answer(anyone, look(anyone))  # fails practice
    look(anyone)
    set_round_state(project, "Secretname practice", "paused")
    look(anyone)
    enter(anyone, "ben")
    answer(anyone, look(anyone))
    held = look(anyone)
    set_round_state(project, "Secretname", "paused")
    look(anyone)
    set_round_state(project, "Secretname", "closed")
    answer(anyone, held)
    look(anyone)
    assert any("paused" in text for text in sent)
    assert any("has closed" in text for text in sent)
    assert not [text for text in sent if "secretname" in text.lower()]


@pytest.mark.slow
def test_the_expected_grade_of_a_practice_item_is_told_after_its_answer_only(
    anyone: TestClient, project: Store, tmp_path: Path
) -> None:
    add_annotator(project, "cleo", "annotator", PASSWORD)
    known = tmp_path / "known.jsonl"
    pair = {"query_id": "q", "document_id": "one", "grade": 3, "explanation": "It says what one is."}
    known.write_text(json.dumps(pair))
    open_practice(project, PracticeRequest("practice", ["cleo"], file=known))
    enter(anyone, "cleo")
    queue = anyone.get("/api/presentations").json()
    (item,) = queue["showings"]
    assert "round" not in queue, "its name may tell what it is for"
    assert (item["kind"], queue["practice"]["passed"], queue["practice"]["total"]) == ("practice", None, 1)
    assert "3" not in json.dumps({**item, "presentation_id": "", "guide_hash": ""})
    explain = [item["presentation_id"]]
    assert send(anyone, explain=explain).json()["feedback"] == []
    (told,) = send(anyone, grade(item), explain=explain).json()["feedback"]
    assert (told["expected"], told["given"], told["right"]) == (3, 2, False)
    assert told["explanation"] == "It says what one is."
    enter(anyone, "ben")
    assert send(anyone, explain=explain).json()["feedback"] == []


def test_a_guide_comes_as_html_that_holds_no_html_of_its_author(anna: TestClient, project: Store) -> None:
    body = "# Task\n\n<script>x</script> [link](javascript:alert(1)) ![i](http://x/y.png)\n\n|a|\n|-|\n|b|\n"
    with project.transaction() as cursor:
        cursor.execute("UPDATE guides SET body = ?", [body])
        (name,) = cursor.execute("SELECT guide_hash FROM guides").fetchone() or ("",)
    guide = anna.get(f"/api/guides/{name}").json()
    assert [step["value"] for step in guide["scale"]] == [0, 1, 2, 3]
    assert "<h1>Task</h1>" in guide["html"]
    assert "<table>" in guide["html"]
    for danger in ("<script", "<img", 'href="javascript'):
        assert danger not in guide["html"]
    assert anna.get("/api/guides/unknown").status_code == 404
    assert anna.get("/api/guides/current").json() == guide


def change(client: TestClient, old: str, new: str, again: str | None = None) -> Any:
    form = {"old": old, "new": new, "again": new if again is None else again}
    return client.post("/password", data=form, headers=ORIGIN)


@pytest.mark.slow
def test_a_changed_password_keeps_this_browser_and_ends_the_other_sign_ins(anna: TestClient) -> None:
    before = dict(anna.cookies)
    assert "old password" in anna.get("/password").text.lower()
    assert change(anna, PASSWORD, "another horse").headers["location"] == "/"
    assert anna.get("/api/presentations").status_code == 200
    elsewhere = TestClient(anna.app, cookies=before, follow_redirects=False)
    assert elsewhere.get("/api/presentations").status_code == 401
    assert enter(elsewhere, "anna").status_code == 401
    assert enter(elsewhere, "anna", "another horse").status_code == 303


@pytest.mark.slow
def test_a_password_chosen_by_a_link_ends_all_sign_ins(anna: TestClient, project: Store) -> None:
    assert accept_invitation(project, invite(project, "anna", None).token, "another horse")
    current_user.sign_in_cache().expire()  # as it does by itself after some seconds
    assert anna.get("/api/presentations").status_code == 401
    assert enter(anna, "anna", "another horse").status_code == 303
    assert anna.get("/api/presentations").status_code == 200


def test_a_grade_costs_no_reading_of_who_may_sign_in(
    anna: TestClient, project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna.get("/api/history")
    monkeypatch.setattr(current_user, "read_sign_in_owners", None)  # would fail if it were asked
    assert send(anna, grade(items(anna)[0])).json()["outcomes"][0]["status"] == "saved"


@pytest.mark.slow
def test_a_password_is_changed_by_who_knows_it_only(anna: TestClient, anyone: TestClient) -> None:
    assert change(anna, PASSWORD, "short").status_code == 422
    assert change(anna, PASSWORD, PASSWORD).status_code == 422
    assert "differ" in change(anna, PASSWORD, "another horse", "other horse").text
    for _ in range(FREE + 1):
        refused = enter(from_elsewhere(anyone, "testclient"), "anna", "wrong password")
    assert refused.status_code == 429
    answers = [change(anna, "wrong password", "another horse") for _ in range(FREE + 1)]
    assert [answer.status_code for answer in answers] == [422] * FREE + [429], "not kept back by a sign-in"
    assert change(anna, PASSWORD, "another horse").status_code == 429, "the right one waits too"
    assert enter(from_elsewhere(anyone), "anna").status_code == 303, "and signing in does not"


def test_health_tells_everybody_whether_the_project_can_be_read_and_the_log_why_not(
    anyone: TestClient, project: Store, caplog: pytest.LogCaptureFixture
) -> None:
    assert anyone.get("/health").json() == {"status": "ok"}
    project.close()
    Path(project.path).unlink()
    failing = anyone.get("/health")
    assert failing.status_code == 503
    told = "The project cannot be read. The server's log shows why."
    assert failing.json().items() >= {"status": "failing", "message": told}.items()
    assert "no goldgrade project" in caplog.text
    assert "The project cannot be read." in enter(anyone, "anna").text


def test_a_stranger_is_told_neither_path_nor_process_while_the_project_is_busy() -> None:
    error = StoreBusyError(
        "/home/anna/project.duckdb has been in use by process 7 (psql --token=x) for 10 s."
    )
    assert context.explain_unreadable(error) == "The project is busy. Try again in a moment."


def test_what_the_server_counts_is_for_leads(anna: TestClient, project: Store) -> None:
    assert anna.get("/_stcore/metrics").status_code == 403
    set_role(project, "anna", "lead")
    current_user.sign_in_cache().expire()
    assert anna.get("/_stcore/metrics").status_code == 404  # here nothing is behind the guard


def test_files_are_taken_only_from_those_who_have_a_page_that_asks_for_them(
    anna: TestClient, project: Store
) -> None:
    address = "/_stcore/upload_file/a-session/a-file"
    for method in ("PUT", "POST", "DELETE"):
        assert anna.request(method, address, content=b"x", headers=ORIGIN).status_code == 403
    add_annotator(project, "eve", "evaluator", PASSWORD)
    enter(anna, "eve")
    assert anna.put(address, content=b"x", headers=ORIGIN).status_code == 404, "Streamlit's own route"


async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    async for message in websocket.iter_bytes():
        await websocket.send_bytes(message)


def echoing() -> Starlette:
    """In place of Streamlit: what a tab sends comes back to it, behind the guard."""
    return Starlette(routes=[WebSocketRoute("/_stcore/stream", echo)], middleware=[Middleware(Guard)])


def test_a_tab_that_is_still_open_acts_no_more_once_its_sign_in_has_ended(
    project: Store, anna: TestClient
) -> None:
    click = BackMsg()
    click.rerun_script.fragment_id = "the progress of a job"
    click.rerun_script.widget_states.widgets.add(id="Stop", trigger_value=True)
    with (
        TestClient(echoing(), cookies=dict(anna.cookies)) as tab,
        tab.websocket_connect("/_stcore/stream", headers=ORIGIN) as open_tab,
    ):
        open_tab.send_bytes(click.SerializeToString())
        assert open_tab.receive_bytes() == click.SerializeToString()
        assert anna.post("/sign-out", headers=ORIGIN).status_code == 303
        open_tab.send_bytes(click.SerializeToString())
        arrived = BackMsg.FromString(open_tab.receive_bytes())
    assert arrived.WhichOneof("type") == "rerun_script"
    assert (arrived.rerun_script.fragment_id, len(arrived.rerun_script.widget_states.widgets)) == ("", 0)


@pytest.mark.parametrize(
    ("headers", "path", "reason"),
    [
        ({}, "/_stcore/stream", "not signed in, or from another site"),
        ({"Origin": "https://evil.example"}, "/_stcore/stream", "not signed in, or from another site"),
        (ORIGIN, "/nothing", "there is no such address"),
    ],
)
def test_a_refused_websocket_is_one_line_of_the_log(
    anna: TestClient, caplog: pytest.LogCaptureFixture, headers: dict[str, str], path: str, reason: str
) -> None:
    with pytest.raises(WebSocketDisconnect), anna.websocket_connect(path, headers=headers):
        pass
    [line] = caplog.records
    assert line.getMessage() == f"A page's connection was refused: {reason}"
    assert line.exc_info is None


@pytest.mark.parametrize("sent", [{"text": "words"}, {"bytes": b"\xff\xff\xff"}, {"bytes": None, "text": ""}])
def test_what_no_page_sends_ends_its_websocket_with_one_line_of_the_log(
    anna: TestClient, caplog: pytest.LogCaptureFixture, sent: dict[str, Any]
) -> None:
    with (
        TestClient(echoing(), cookies=dict(anna.cookies)) as client,
        client.websocket_connect("/_stcore/stream", headers=ORIGIN) as tab,
    ):
        tab.send({"type": "websocket.receive", **sent})
        with pytest.raises(WebSocketDisconnect) as ended:
            tab.receive_bytes()
    assert ended.value.code == UNREADABLE_CODE
    assert [line.getMessage() for line in caplog.records] == [
        "A page's connection was closed: the page sent a message that no goldgrade page sends"
    ]


def test_a_file_that_is_made_when_its_button_is_pressed_is_offered_to_who_pressed_it() -> None:
    offered, lee = OfferedFiles(), Annotator("lee", "lead", False)
    told = ForwardMsg()
    told.backend_operation_response.deferred_file.url = "/media/topics.tsv"
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    message = {"type": "websocket.send", "bytes": told.SerializeToString()}
    with ThreadPoolExecutor(1) as apart:  # a browser test before this one keeps an event loop in this thread
        apart.submit(asyncio.run, offered.watch(lee, send)(message)).result()
    assert len(sent) == 1
    assert offered.has_offered(lee, "/media/topics.tsv")
    assert not offered.has_offered(lee, "")
    assert not offered.has_offered(Annotator("anna", "annotator", False), "/media/topics.tsv")


@pytest.mark.slow
def test_a_question_is_asked_at_an_own_item_and_nobody_elses(anyone: TestClient, project: Store) -> None:
    enter(anyone, "anna")
    item = items(anyone)[0]["presentation_id"]
    asked = {"words": "Do parts count?", "presentation_id": item}
    found = anyone.post("/api/questions", json=asked, headers=ORIGIN).json()
    assert [(one["words"], one["mine"], one["answer"]) for one in found] == [("Do parts count?", True, None)]
    assert set(found[0]) == {"question_id", "revision", "words", "answer", "mine", "query"}
    assert anyone.get("/api/questions").json() == found
    for more, status in (
        ({"presentation_id": "another's"}, 404),
        ({"words": ""}, 422),
        ({"who": "ben"}, 422),
    ):
        assert anyone.post("/api/questions", json=asked | more, headers=ORIGIN).status_code == status
    assert anyone.post("/api/questions", json=asked).status_code == 403  # from no page of this host


def lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, dict[str, Any]]]:
    """What the log says, and the fields of each line."""
    return [(record.getMessage(), getattr(record, "fields", {})) for record in caplog.records]


def test_each_refusal_has_an_id_that_the_answer_and_the_log_have_in_common(
    anna: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    refused = anna.post(
        "/api/judgments", content=b"[", headers={**ORIGIN, "Content-Type": "application/json"}
    )
    [(message, fields)] = lines(caplog)
    assert message == refused.json()["message"]
    assert fields["request"] == refused.json()["request"] == refused.headers[HEADER]
    assert (fields["status"], fields["annotator"], fields["path"]) == (422, "anna", "/api/judgments")


def test_the_log_has_no_name_that_a_request_invents(
    anna: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    item = items(anna)[0]
    send(anna, {**grade(item), "my illness": 1})
    body = {"submissions": [], "my illness": 1}
    assert anna.post("/api/judgments", json=body, headers=ORIGIN).status_code == 422
    assert anna.get("/api/history", params={"my illness": 1}).status_code == 422
    assert len(caplog.records) == 3
    assert not [line for line in lines(caplog) if "illness" in str(line)]


def test_the_log_has_no_words_of_a_broken_request_and_nothing_of_what_each_page_asks_for_in_vain(
    anna: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    headers = {**ORIGIN, "Content-Type": "application/json"}
    assert anna.post("/api/judgments", content=b'{"note": illness}', headers=headers).status_code == 422
    assert anna.get("/label/_stcore/health").status_code == 404
    assert anna.get("/label/_stcore/host-config").status_code == 404
    assert [message for message, _ in lines(caplog)] == ["the request cannot be read: line 1: it is not JSON"]


def test_an_unexpected_failure_says_its_id_and_nothing_else(
    anna: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    failed = anna.get("/broken")
    assert failed.status_code == 500
    assert failed.headers[HEADER] in failed.json()["message"]
    assert "nobody" not in failed.text
    [record] = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


def test_a_refused_sign_in_is_in_the_log_with_its_address_and_without_the_password(
    anyone: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    enter(anyone, "anna", "not the password")
    [(message, fields)] = lines(caplog)
    assert message == "The name or the password is wrong."
    assert fields["address"] == "testclient"
    assert "not the password" not in caplog.text


def test_an_answer_that_is_refused_among_others_is_in_the_log(
    anna: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    sent = {"presentation_id": "nobody's", "revision": 0, "kind": "grade", "grade": 1, "client_key": "k" * 12}
    answer = anna.post("/api/judgments", json={"submissions": [sent]}, headers=ORIGIN)
    [outcome] = answer.json()["outcomes"]
    [(message, fields)] = lines(caplog)
    assert (answer.status_code, message) == (200, "An answer was refused: this item is not assigned to you")
    assert fields == {"request": outcome["request"], "annotator": "anna", "presentation": "nobody's"}


def test_health_fails_where_the_project_cannot_be_written_or_the_disk_is_full(
    anyone: TestClient, project: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(health, "MIN_FREE_DISK_BYTES", 1 << 62)
        failing = anyone.get("/health")
    assert (failing.status_code, failing.json()["message"]) == (503, "The disk is almost full.")
    with project.reading() as cursor:
        before = read_fingerprint(cursor)
    assert anyone.get("/health").json() == {"status": "ok"}
    with project.reading() as cursor:
        assert get_setting(cursor, HEALTH_CHECKED) is not None
        assert read_fingerprint(cursor) == before, "no figure rests on it"


def test_the_ninth_tab_of_a_person_ends_the_first_and_nobody_elses(anyone: TestClient) -> None:
    cookies = {}
    for name in ("anna", "ben"):
        anyone.cookies.clear()
        enter(anyone, name)
        cookies[name] = "; ".join(f"{key}={value}" for key, value in anyone.cookies.items())
    with TestClient(echoing()) as server, ExitStack() as opened:

        def tab(name: str) -> WebSocketTestSession:
            headers = {**ORIGIN, "Cookie": cookies[name]}
            return opened.enter_context(server.websocket_connect("/_stcore/stream", headers=headers))

        of_ben, *of_anna = [tab("ben"), *(tab("anna") for _ in range(tabs.MAX_TABS_OF_PERSON))]
        newest = tab("anna")
        with pytest.raises(WebSocketDisconnect) as ended:
            of_anna[0].receive_bytes()
        assert ended.value.code == tabs.TOO_MANY_TABS
        for one in (of_ben, *of_anna[1:], newest):
            one.send_bytes(RERUN_MESSAGE)
            assert one.receive_bytes() == RERUN_MESSAGE
    assert str(tabs.TOO_MANY_TABS) in EARLY
    assert tabs.ENDED_ADDRESS in EARLY


def test_what_a_persons_tabs_send_too_fast_waits_its_turn() -> None:
    pace = tabs.MessageRate()
    waits = [pace.count_message(100.0) for _ in range(tabs.MAX_BURST + 10)]
    assert waits[: tabs.MAX_BURST] == [0.0] * tabs.MAX_BURST
    assert waits[-1] == pytest.approx(9 / tabs.RERUNS_PER_SECOND)
    assert pace.count_message(200.0) == 0.0
