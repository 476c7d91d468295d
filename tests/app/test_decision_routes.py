"""The routes of Adjudicate, asked over HTTP: for reviewers only, final only by key, nothing twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import api_decisions, context
from app.context import project_store
from app.front.guard import Guard
from app.signin import current_user
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus import claims
from curation.labeling.consensus.adjudication import decide
from curation.labeling.judgments.imported import add_judgments
from curation.people.annotators import add_annotator
from curation.store import Store
from curation.store.rows import Query
from tests.support.projects import new_project, rows_of
from tests.support.signed_in import cookie_of

HOSTILE = "<img src=x onerror=alert(1)> **bold**"
ORIGIN = {"Origin": "http://testserver"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Two disputed pairs whose every text is hostile; the second document is long."""
    store = new_project(tmp_path / "project.duckdb")
    bodies = {"d1": HOSTILE, "d2": "A bold word. " * 2_000}
    rows = [{"_id": name, "title": f"{HOSTILE} {name}", "text": text} for name, text in bodies.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    import_corpus(store, tmp_path / "corpus.jsonl")
    said = {("d1", "carl"): 0, ("d1", "dana"): 3, ("d2", "carl"): 1, ("d2", "dana"): 2}
    judgments = [ImportedJudgment("q", *pair, grade, note=HOSTILE) for pair, grade in said.items()]
    add_judgments(store, judgments, "votes.csv", [Query("q", HOSTILE, HOSTILE, "imported", HOSTILE)])
    for name, role in {"rosa": "reviewer", "mia": "reviewer", "anna": "annotator"}.items():
        add_annotator(store, name, role, "correct horse battery")
    monkeypatch.setenv(context.PROJECT, str(store.path))
    claims._projects.clear()
    yield store
    claims._projects.clear()
    store.close()


@pytest.fixture
def anyone(project: Store) -> Iterator[TestClient]:
    application = Starlette(routes=api_decisions.ROUTES, middleware=[Middleware(Guard)])
    with TestClient(application, follow_redirects=False, headers=ORIGIN) as client:
        yield client


def enter(client: TestClient, name: str) -> TestClient:
    client.cookies.clear()
    client.cookies.set(*cookie_of(project_store(), name))
    current_user.accounts().expire()
    return client


@pytest.fixture
def rosa(anyone: TestClient) -> TestClient:
    return enter(anyone, "rosa")


def queue(client: TestClient, **asked: Any) -> Any:
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
    found = queue(rosa)
    assert (found["disputed"], found["waiting"], len(found["showings"])) == (2, 0, 2)
    first = found["showings"][0]
    assert [(one["grade"], one["words"]) for one in first["opinions"]] == [(0, HOSTILE), (3, HOSTILE)]
    assert "carl" not in json.dumps(found)
    assert queue(rosa, holding=[first["pair_id"]])["showings"] == found["showings"][1:]


def test_a_decision_is_saved_once_however_often_it_is_sent(rosa: TestClient, project: Store) -> None:
    first, second = queue(rosa)["showings"]
    for _ in range(2):
        answer = send(rosa, decision(first)).json()
        assert answer["outcomes"] == [
            {"client_key": f"key {first['pair_id']}", "status": "saved", "message": ""}
        ]
    assert rows_of(project, "SELECT document_id, grade, reason, reviewer FROM adjudications") == [
        (first["document_id"], 2, "A part of it.", "rosa")
    ]
    assert queue(rosa)["showings"] == [second]
    assert [one["decision"]["reason"] for one in rosa.get("/api/decisions/recent").json()] == [
        "A part of it."
    ]


def test_a_comment_comes_back_as_it_was_written_with_a_name_and_a_time(rosa: TestClient) -> None:
    first, second = queue(rosa)["showings"]
    said = {"kind": "comment", "client_key": "a comment", "words": HOSTILE}
    pair = {name: first[name] for name in ("query_id", "document_id")}
    assert send(rosa, {**pair, **said}).json()["outcomes"][0]["status"] == "saved"
    send(rosa, decision(second))
    found = rosa.get("/api/disputes/context", params={"query": "q", "document": first["document_id"]}).json()
    assert [(one["author"], one["words"]) for one in found["comments"]] == [("rosa", HOSTILE)]
    assert found["comments"][0]["commented_at"].endswith("Z")
    assert [(one["document_id"], one["grade"]) for one in found["anchors"]] == [(second["document_id"], 2)]


def test_a_pair_decided_meanwhile_is_stale_and_nothing_is_overwritten(
    rosa: TestClient, project: Store
) -> None:
    first = queue(rosa)["showings"][0]
    decide(project, first["query_id"], first["document_id"], None, "Cut off", "mia")
    outcome = send(rosa, decision(first)).json()["outcomes"][0]
    assert outcome["status"] == "stale"
    assert "mia decided this pair" in outcome["message"]
    which = {"query": first["query_id"], "document": first["document_id"]}
    now = rosa.get("/api/disputes/one", params=which).json()
    assert (now["revision"], now["decision"]["reviewer"]) == (1, "mia")
    assert send(rosa, decision(now)).json()["outcomes"][0]["status"] == "saved"


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "forget"}, {"grade": "high"}, {"revision": -1}, {"more": 1}, {"query_id": ""}],
    ids=["kind", "grade", "revision", "field", "query"],
)
def test_what_cannot_be_read_is_refused_by_its_key_and_the_rest_is_done(
    rosa: TestClient, project: Store, wrong: dict[str, Any]
) -> None:
    first, second = queue(rosa)["showings"]
    outcomes = send(rosa, decision(first, **wrong), decision(second)).json()["outcomes"]
    statuses = {one["client_key"]: one["status"] for one in outcomes}
    assert statuses == {f"key {first['pair_id']}": "refused", f"key {second['pair_id']}": "saved"}
    assert rows_of(project, "SELECT document_id FROM adjudications") == [(second["document_id"],)]


def test_a_decision_without_a_grade_field_is_not_taken_for_no_grade(rosa: TestClient, project: Store) -> None:
    first = decision(queue(rosa)["showings"][0])
    del first["grade"]
    assert send(rosa, first).json()["outcomes"][0]["status"] == "refused"
    assert send(rosa, {**first, "grade": None}).json()["outcomes"][0]["status"] == "saved"
    assert rows_of(project, "SELECT grade FROM adjudications") == [(None,)]


def test_a_long_document_is_shown_in_part_and_whole_on_demand(rosa: TestClient) -> None:
    long = next(one for one in queue(rosa)["showings"] if one["document_id"] == "d2")
    assert long["has_more"]
    shown = "".join(text for text, _ in long["passage"])
    which = {"query": "q", "document": "d2"}
    whole = "".join(text for text, _ in rosa.get("/api/disputes/document", params=which).json()["body"])
    assert (len(whole) > 25_000, len(shown) <= 12_000, shown in whole) == (True, True, True)
    assert rosa.get("/api/disputes/document", params={"query": "q", "document": "d9"}).status_code == 404


def test_a_request_from_another_site_decides_nothing(rosa: TestClient, project: Store) -> None:
    first = queue(rosa)["showings"][0]
    answer = rosa.post(
        "/api/decisions", json={"submissions": [decision(first)]}, headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403
    assert rows_of(project, "FROM adjudications") == []
