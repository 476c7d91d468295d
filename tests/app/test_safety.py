"""Who gets what: every route and websocket, asked by nobody, a forger, and an annotator who wants more."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from websockets.exceptions import InvalidStatus

from app.navigation import all_pages
from app.signin.cookies import CookieCodec
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.people.accounts import add_annotator
from curation.people.sign_ins import list_sign_ins
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import count_rows, grade_next, import_rows, new_project, rows_of
from tests.support.served import PASSWORD, Served
from tests.support.signed_in import sessions_of
from tests.support.started import run_code
from tests.support.websockets_client import pages, session, strings

pytestmark = pytest.mark.slow

OPEN = {"/sign-in", "/join", "/health"}
STRANGERS_ROUTES = {"/auth/login", "/auth/logout", "/oauth2callback", "/sign-in/with"}
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")
DOCUMENT, QUERY, NEED, NOTE = "halcyonword", "cormorantword", "guillemotword", "petrelword"
WORDS = (DOCUMENT, QUERY, NEED, NOTE)
PEOPLE = {
    "quixote": "annotator",
    "dulcinea": "annotator",
    "rosinante": "reviewer",
    "sancho": "lead",
    "teresa": "lead",
}
ALL_ROUTES = """
import json
from app.serve import build_application
found = build_application()
found._runtime = found._create_runtime()
print(json.dumps([getattr(route, "path", "") for route in found._build_starlette_app().routes]))
"""


@pytest.fixture
def held_file() -> None:
    """Other processes wait for the file here."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two annotators who disagree on what both judged, and much that is still open, duplicates among it."""
    store = new_project(tmp_path_factory.mktemp("safety") / "project.duckdb")
    documents = [
        {"_id": f"d{n}", "title": f"{DOCUMENT} {n}", "text": f"{DOCUMENT} text {n}"} for n in range(30)
    ]
    queries = [
        {"_id": f"q{n}", "text": f"{QUERY} {DOCUMENT} {n}", "information_need": NEED} for n in range(6)
    ]
    import_rows(store, documents, queries)
    build_pool(store, PoolRequest(["bm25"], depth=8, random_negatives=8, seed=1))
    for name, role in PEOPLE.items():
        add_annotator(store, name, role, PASSWORD)
    open_round(store, RoundRequest("both", ["quixote", "dulcinea"], overlap=2, duplicates=0.1, seed=3))
    for name, value, number in (("quixote", 0, 12), ("dulcinea", 3, 80)):
        grade_next(store, name, number, value, note=NOTE)  # nearly all of hers: some are the same pairs
    store.close()
    return store.path


@pytest.fixture(scope="module")
def safe(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(Path(shutil.copy(prepared, tmp_path_factory.mktemp("served") / "project.duckdb")))
    try:
        yield running
    finally:
        running.kill()  # stop() would take what Streamlit logs of forged values as a fault
        running.store.close()


def cookie(served: Served, name: str) -> str:
    form, headers = {"name": name, "password": PASSWORD}, {"Origin": served.url}
    answer = httpx2.post(f"{served.url}/sign-in", data=form, headers=headers)
    return f"{(own := sessions_of(served.store).cookie)}={answer.cookies[own]}"


def forgeries(served: Served) -> dict[str, str]:
    """Cookie headers that say they are the lead's."""
    real, other = sessions_of(served.store), CookieCodec(b"x" * 32)
    content, _, signature = cookie(served, "sancho").partition("=")[2].partition(".")
    key, quixote = (
        real.read_session_cookie(f"{content}.{signature}") or "",
        cookie(served, "quixote").partition("=")[2],
    )
    with served.store.reading() as cursor:
        stored = next(one.sign_in_id for one in list_sign_ins(cursor, "sancho"))
    return {
        "none": "",
        "another key": f"{real.cookie}={other.issue_session_cookie(key)}",
        "no signature": f"{real.cookie}={content}.",
        "an empty key": f"{real.cookie}={CookieCodec(b'').issue_session_cookie(key)}",
        "its signature cut": f"{real.cookie}={content}.{signature[:-1]}",
        "another's signature": f"{real.cookie}={content}.{quixote.partition('.')[2]}",
        "expired": f"{real.cookie}={real.issue_session_cookie(key, now=1_000.0)}",
        "a sign-in that is not open": f"{real.cookie}={real.issue_session_cookie('0' * 32)}",
        "what the project stores of a sign-in": f"{real.cookie}={real.issue_session_cookie(stored)}",
        "Streamlit's own": "_streamlit_user=" + content,
    }


def tables(store: Store) -> dict[str, int]:
    names = (
        "rounds round_events adjudications jobs query_tags queries judgment_events opinion_requests".split()
    )
    return {name: count_rows(store, name) for name in names}


def words_in(text: str, words: tuple[str, ...] = WORDS) -> set[str]:
    return {word for word in words if word in text}


@pytest.fixture(scope="module")
def routes(safe: Served, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Every route of the app, Streamlit's among them, as the running program has them."""
    log = tmp_path_factory.mktemp("routes") / "log"
    printed = run_code(ALL_ROUTES, log, GOLDGRADE_PROJECT=str(safe.project))
    return [path for path in json.loads(printed.splitlines()[-1]) if path]


def test_no_route_answers_who_is_not_signed_in(safe: Served, routes: list[str]) -> None:
    assert {"/api/judgments", "/_stcore/stream", "/password", *STRANGERS_ROUTES} <= set(routes)
    pages = ["/", *(f"/{page.address}" for page in all_pages())]
    paths = {path.replace("{", "").replace("}", "").partition(":")[0] for path in routes} - OPEN
    answered, forged = [], forgeries(safe)
    with httpx2.Client(base_url=safe.url, headers={"Origin": safe.url}) as client:
        for path in sorted(paths | set(pages)):
            for method in METHODS:
                for kind, value in forged.items() if method == "GET" else [("none", "")]:
                    answer = client.request(method, path, headers={"Cookie": value, "Accept": "*/*"})
                    assert not words_in(answer.text), (method, path, kind)
                    signing_in = path == "/" and answer.headers.get("Location") == "/sign-in?next=/"
                    if answer.status_code not in {401, 405} and not signing_in:
                        answered.append((method, path, kind, answer.status_code))
    assert answered == []


@pytest.mark.parametrize("path", sorted(OPEN))
def test_what_is_open_tells_nothing(safe: Served, path: str) -> None:
    text = httpx2.get(f"{safe.url}{path}").text
    assert not words_in(text, (*WORDS, *PEOPLE))


def test_a_websocket_opens_for_who_is_signed_in_here_only(safe: Served) -> None:
    for kind, value in forgeries(safe).items():
        with pytest.raises(InvalidStatus), session(safe.url, value):
            pytest.fail(kind)
    for origin in ("https://evil.example", "null", safe.url + "0"):
        with pytest.raises(InvalidStatus), session(safe.url, cookie(safe, "quixote"), origin):
            pytest.fail(origin)
    with session(safe.url, cookie(safe, "quixote")) as opened:
        assert opened.ask()


def test_a_forged_rerun_brings_an_annotator_no_page_of_others(safe: Served) -> None:
    before = tables(safe.store)
    with session(safe.url, cookie(safe, "sancho")) as opened:
        offered = pages(opened.ask())
        shown = {path: opened.ask(page_hash) for path, page_hash in offered.items()}
    texts = {path: " ".join(text for one in found for text in strings(one)) for path, found in shown.items()}
    assert words_in(texts["rounds"], ("quixote", "dulcinea")) == {"quixote", "dulcinea"}
    widgets = {
        text for found in shown.values() for one in found for text in strings(one) if text.startswith("$$")
    }
    assert widgets

    with session(safe.url, cookie(safe, "quixote")) as opened:
        own = pages(opened.ask())
        assert set(own) <= {"", "label", "write"}
        for path, page_hash in offered.items():
            for value in (True, "dulcinea", "both"):
                messages = opened.ask(page_hash, "round=both&pair=q0", dict.fromkeys(sorted(widgets), value))
                text = " ".join(text for one in messages for text in strings(one))
                assert not words_in(text), (path, value)
                assert not words_in(text, ("dulcinea", "rosinante", "sancho")), (path, value)
    assert tables(safe.store) == before


def test_what_a_page_offers_for_download_is_for_whom_it_was_offered(safe: Served) -> None:
    with session(safe.url, cookie(safe, "sancho")) as opened:
        sent = opened.ask(pages(opened.ask())["settings"])
        [address] = {url for one in sent if (url := one.delta.new_element.download_button.url)}
        answers = {
            name: httpx2.get(f"{safe.url}{address}", headers={"Cookie": cookie(safe, name)})
            for name in ("sancho", "teresa", "quixote")
        }
    assert [answer.status_code for answer in answers.values()] == [200, 404, 404]
    assert answers["sancho"].text.startswith("---")


def test_an_ended_sign_in_is_refused_in_every_tab_and_after_a_restart(prepared: Path, tmp_path: Path) -> None:
    own = Served(Path(shutil.copy(prepared, tmp_path / "project.duckdb")))

    def answers(cookies: str) -> int:
        return httpx2.get(f"{own.url}/api/guides/x", headers={"Cookie": cookies}).status_code

    try:
        here, there = cookie(own, "sancho"), cookie(own, "sancho")
        with session(own.url, there) as tab, session(own.url, there) as other:
            rounds = [pages(one.ask())["rounds"] for one in (tab, other)]
            headers = {"Origin": own.url, "Cookie": here}
            httpx2.post(f"{own.url}/sign-ins", data={"id": ""}, headers=headers)
            for opened, page in zip((tab, other), rounds, strict=True):
                text = " ".join(text for one in opened.ask(page) for text in strings(one))
                assert "You are signed out" in text
                assert not words_in(text, ("quixote", "dulcinea"))
        assert (answers(here), answers(there)) == (404, 401)
        own.kill()
        own.start()
        assert (answers(here), answers(there)) == (404, 401)
        ended = invoke(["--project", str(own.project), "people", "set", "sancho", "--end-sign-ins", "all"])
        assert ended.output == "Ended 1 sign-in of sancho.\n"
        time.sleep(1.1)
        assert answers(here) == 401
    finally:
        own.stop()


def test_an_annotator_gets_and_answers_nothing_that_is_not_theirs(safe: Served) -> None:
    sql = "SELECT annotator, list(presentation_id ORDER BY 1) FROM presentations GROUP BY annotator"
    ids = dict(rows_of(safe.store, sql))
    before = tables(safe.store)
    headers = {"Origin": safe.url, "Cookie": cookie(safe, "quixote")}
    with httpx2.Client(base_url=safe.url, headers=headers) as client:
        for theirs in [*ids["dulcinea"][:6], "", "%00", "../../etc/passwd", "'; DROP TABLE rounds; --"]:
            answer = client.get(f"/api/presentations/{quote(theirs, safe='')}/document")
            assert not words_in(answer.text, (*WORDS, '"body"'))
            judged = {
                "presentation_id": theirs,
                "revision": 0,
                "kind": "grade",
                "grade": 3,
                "client_key": f"k{theirs}",
            }
            sent = {"submissions": [judged], "explain": [theirs] if theirs else []}
            answer = client.post("/api/judgments", json=sent)
            assert answer.status_code == 422 or answer.json()["outcomes"][0]["status"] == "refused"
            said = {"presentation_id": theirs, "answer": "yes", "client_key": f"a{theirs}"}
            answer = client.post("/api/answers", json={"answers": [said]})
            assert (
                answer.status_code in {403, 404, 422} or answer.json()["outcomes"][0]["status"] == "refused"
            )
        for path in ("/api/presentations?limit=20", "/api/history", "/api/presentations/previous"):
            text = client.get(path, params={"annotator": "dulcinea"} if "?" not in path else None).text
            assert not [one for one in ids["dulcinea"] if one in text], path
            assert "dulcinea" not in text
    assert tables(safe.store) == before


def test_what_a_reviewer_reads_is_out_of_reach_of_an_annotator(safe: Served) -> None:
    def asked(who: str) -> list[httpx2.Response]:
        headers = {"Origin": safe.url, "Cookie": cookie(safe, who)}
        with httpx2.Client(base_url=safe.url, headers=headers) as client:
            judged = client.get("/api/disputes/next").json().get("showings", [{}])[0]
            pair = {"query": judged.get("query_id", "q0"), "document": judged.get("document_id", "d0")}
            sent = {"submissions": [{"query_id": "q0", "document_id": "d0", "client_key": "some key"}]}
            return [
                client.get("/api/disputes/next"),
                client.get("/api/disputes/one", params=pair),
                client.get("/api/disputes/document", params=pair),
                client.get("/api/disputes/context", params=pair),
                client.get("/api/decisions/recent"),
                client.post("/api/decisions", json=sent),
            ]

    before = tables(safe.store)
    shown = [answer.text for answer in asked("rosinante")]
    assert words_in(shown[0]) == {DOCUMENT, QUERY, NEED, NOTE}, (
        "the reviewer is shown what is looked for below"
    )
    assert not words_in(" ".join(shown), ("quixote", "dulcinea")), "whose judgments they are"
    for answer in asked("quixote"):
        assert answer.status_code == 403
        assert not words_in(answer.text)
    assert tables(safe.store) == before


def test_a_blind_duplicate_is_sent_like_any_other_item(safe: Served) -> None:
    sql = "FROM presentations SELECT presentation_id WHERE annotator = ? AND duplicate_of IS NOT NULL"
    again = {row[0] for row in rows_of(safe.store, sql, "quixote")}
    assert again
    headers = {"Origin": safe.url, "Cookie": cookie(safe, "quixote")}
    found: list[dict[str, Any]] = []
    with httpx2.Client(base_url=safe.url, headers=headers) as client:
        while more := client.get(
            "/api/presentations",
            params=[("limit", "20"), *(("holding", one["presentation_id"]) for one in found[-100:])],
        ).json()["showings"]:
            fresh = [one for one in more if one not in found]
            found += fresh
            if not fresh or len(found) > 100:
                break
    assert again & {one["presentation_id"] for one in found}
    shapes = {frozenset((name, type(value).__name__) for name, value in one.items()) for one in found}
    assert len({frozenset(one) for one in found}) == 1, shapes
    words = json.dumps(found).lower()
    assert not words_in(words, ("duplicate", "rank", "bm25", "random", "system", "score"))
