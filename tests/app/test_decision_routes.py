"""The routes of Adjudicate, asked over HTTP: for reviewers only, final only by key, nothing twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import api_decisions, context
from app.context import project_store
from app.front.guard import Guard
from app.signin import current_user
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus import claims
from curation.labeling.imported import add_judgments
from curation.store import Store
from curation.store.row_types import Query
from tests.support.projects import add_names, built_once, import_rows, rows_of
from tests.support.signed_in import cookie_of

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)> **bold**"
ORIGIN = {"Origin": "http://testserver"}


@built_once
def disputed(store: Store) -> Store:
    """Two disputed pairs whose every text is hostile; the second document is long."""
    bodies = {"d1": HOSTILE, "d2": "A bold word. " * 2_000}
    rows = [{"_id": name, "title": f"{HOSTILE} {name}", "text": text} for name, text in bodies.items()]
    import_rows(store, rows)
    grades = {("d1", "carl"): 0, ("d1", "dana"): 3, ("d2", "carl"): 1, ("d2", "dana"): 2}
    judgments = [ImportedJudgment("q", *pair, grade, note=HOSTILE) for pair, grade in grades.items()]
    add_judgments(store, judgments, "votes.csv", [Query("q", HOSTILE, HOSTILE, "imported", HOSTILE)])
    add_names(store, "rosa", "mia", role="reviewer")
    add_names(store, "anna")
    return store


@pytest.fixture
def project(disputed: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv(context.PROJECT, str(disputed.path))
    claims._claims_by_project.clear()
    yield disputed
    claims._claims_by_project.clear()


@pytest.fixture
def anyone(project: Store) -> Iterator[TestClient]:
    application = Starlette(routes=api_decisions.ROUTES, middleware=[Middleware(Guard)])
    with TestClient(application, follow_redirects=False, headers=ORIGIN) as client:
        yield client


def enter(client: TestClient, name: str) -> TestClient:
    client.cookies.clear()
    client.cookies.set(*cookie_of(project_store(), name))
    current_user.sign_in_cache().expire()
    return client


@pytest.fixture
def rosa(anyone: TestClient) -> TestClient:
    return enter(anyone, "rosa")


def next_disputes(client: TestClient, **asked: Any) -> Any:
    return client.get("/api/disputes/next", params=asked).json()


def send(client: TestClient, *submissions: dict[str, Any]) -> Any:
    return client.post("/api/decisions", json={"submissions": submissions})


def decision(case: dict[str, Any], **more: Any) -> dict[str, Any]:
    which = {name: case[name] for name in ("query_id", "document_id", "revision", "content_hash")}
    about = {"kind": "decide", "client_key": f"key {case['pair_id']}", "grade": 2, "words": "A part of it."}
    return {**which, **about, **more}


def test_no_route_of_adjudicate_answers_a_stranger_or_who_is_no_reviewer(anyone: TestClient) -> None:
    def asked() -> set[int]:
        paths = [route.path for route in api_decisions.ROUTES]
        answers = [anyone.get(path) for path in paths if path != "/api/decisions"]
        return {one.status_code for one in [*answers, send(anyone)]}

    assert asked() == {401}
    enter(anyone, "anna")
    assert asked() == {403}


def test_the_next_pairs_come_with_opinions_and_without_names(rosa: TestClient) -> None:
    found = next_disputes(rosa)
    assert (found["disputed"], found["waiting"], len(found["cases"])) == (2, 0, 2)
    first = found["cases"][0]
    assert [(one["grade"], one["words"]) for one in first["opinions"]] == [(0, HOSTILE), (3, HOSTILE)]
    assert "carl" not in json.dumps(found)
    assert next_disputes(rosa, holding=[first["pair_id"]])["cases"] == found["cases"][1:]


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "forget"}, {"grade": "high"}, {"revision": -1}, {"more": 1}, {"query_id": ""}],
    ids=["kind", "grade", "revision", "field", "query"],
)
def test_what_cannot_be_read_is_refused_by_its_key_and_the_rest_is_done(
    rosa: TestClient, project: Store, wrong: dict[str, Any]
) -> None:
    first, second = next_disputes(rosa)["cases"]
    outcomes = send(rosa, decision(first, **wrong), decision(second)).json()["outcomes"]
    statuses = {one["client_key"]: one["status"] for one in outcomes}
    assert statuses == {f"key {first['pair_id']}": "refused", f"key {second['pair_id']}": "saved"}
    assert rows_of(project, "SELECT document_id FROM adjudications") == [(second["document_id"],)]


def test_a_decision_without_a_grade_field_is_not_taken_for_no_grade(rosa: TestClient, project: Store) -> None:
    first = decision(next_disputes(rosa)["cases"][0])
    del first["grade"]
    assert send(rosa, first).json()["outcomes"][0]["status"] == "refused"
    assert send(rosa, {**first, "grade": None}).json()["outcomes"][0]["status"] == "saved"
    assert rows_of(project, "SELECT grade FROM adjudications") == [(None,)]


def test_a_long_document_is_shown_in_part_and_whole_on_demand(rosa: TestClient) -> None:
    long = next(one for one in next_disputes(rosa)["cases"] if one["document_id"] == "d2")
    assert long["has_more"]
    shown = "".join(text for text, _ in long["passage"])
    which = {"query": "q", "document": "d2"}
    whole = "".join(text for text, _ in rosa.get("/api/disputes/document", params=which).json()["body"])
    assert (len(whole) > 25_000, len(shown) <= 12_000, shown in whole) == (True, True, True)
    assert rosa.get("/api/disputes/document", params={"query": "q", "document": "d9"}).status_code == 404


def test_a_request_from_another_site_decides_nothing(rosa: TestClient, project: Store) -> None:
    first = next_disputes(rosa)["cases"][0]
    answer = rosa.post(
        "/api/decisions", json={"submissions": [decision(first)]}, headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403
    assert rows_of(project, "FROM adjudications") == []
