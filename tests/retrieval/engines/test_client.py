"""One engine over a real connection: what it sends, what it reads, and its sentences where it cannot."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.core.web import RetryPolicy
from curation.retrieval.engines.client import EngineClient, EngineList
from curation.retrieval.engines.stored_engines import add_engine, find_engine, read_engines
from curation.retrieval.engines.template import Engine, EngineTemplate, read_template
from curation.retrieval.engines.trial import try_engine
from curation.store import Store
from tests.support.http_server import HttpAnswer
from tests.support.search_server import KEY, TEMPLATE, SearchServer, engine, template_file

__all__ = ["engine"]
QUICK = RetryPolicy(seconds=5, attempts=2, first_wait=0.001, longest_wait=0.01)


@pytest.fixture
def client(engine: SearchServer, tmp_path: Path) -> EngineClient:
    engine.documents = {
        "a": {"title": "red shoes", "text": "nice", "price": 3},
        "b": {"title": "blue shoes"},
        "c": {"title": "a hat"},
    }
    return EngineClient(Engine("shop", "http", read_template("http", template_file(tmp_path))), 1e6, QUICK)


def refusal(client: EngineClient, engine: SearchServer, fault: HttpAnswer, times: int = 1) -> str:
    """The refusal where the engine answers so; neither key nor address is in it."""
    engine.faults = [fault] * times
    with pytest.raises(CurationError) as caught:
        client.search("red shoes", 5)
    assert KEY not in str(caught.value)
    assert engine.url not in str(caught.value)
    return str(caught.value)


def test_a_list_has_ids_and_scores_in_the_engines_order(client: EngineClient, engine: SearchServer) -> None:
    found = client.search("red shoes", 5)
    assert (found.ids, found.scores, found.left_out) == (["a", "b"], [2.0, 1.0], "")
    assert found.seconds > 0
    assert engine.keys == [f"Bearer {KEY}"]
    assert client.search("red shoes", 1).ids == ["a"]


def test_documents_are_fetched_by_id_in_batches_and_those_that_are_gone_are_missing(
    client: EngineClient, engine: SearchServer
) -> None:
    found = list(client.fetch_documents(["a", "gone", "c"]))
    assert [one for one, _ in found] == ["a", "c"]
    assert found[0][1] == {"title": "red shoes", "text": "nice", "price": 3}
    assert len(engine.requests) == 2


def test_documents_one_at_a_time_are_gone_where_the_answer_is_404(
    client: EngineClient, engine: SearchServer
) -> None:
    template = json.loads(client.engine.template.as_json)
    template["documents"] |= {"method": "GET", "path": "/one/{id}", "body": None, "source": "doc", "batch": 1}
    single = EngineClient(Engine("shop", "http", EngineTemplate.model_validate(template)), 1e6, QUICK)
    engine.faults = [HttpAnswer(404, "{}"), HttpAnswer(body={"doc": {"title": "x"}})]
    assert [one for one, _ in single.fetch_documents(["a/b", "c d"])] == ["c d"]
    assert engine.requests == ["/one/a%2Fb", "/one/c%20d"]


@pytest.mark.parametrize(
    ("fault", "times", "said"),
    [
        (
            HttpAnswer(401, f"no {KEY}"),
            1,
            "answered HTTP 401: no [key] to GET /api/search. Check GOLDGRADE_ENGINE",
        ),
        (
            HttpAnswer(302, "", {"Location": "http://127.0.0.1:1/login?key=1"}),
            1,
            "answered HTTP 302 (a redirect to http://127.0.0.1:1/login) to GET",
        ),
        (HttpAnswer(400, "bad syntax"), 1, "rejected a request (HTTP 400: bad syntax)"),
        (HttpAnswer(503, "down"), 2, "did not respond: it answered HTTP 503: down (2 requests)"),
        (HttpAnswer(429, "", {"Retry-After": "9"}), 1, "it answered HTTP 429 (1 request)"),
        (HttpAnswer(body="<html>"), 1, "did not answer with JSON: <html>. Check"),
        (
            HttpAnswer(body={"result": {"list": []}, "took": 1}),
            1,
            "has no 'results'. Found: result.list, took.",
        ),
        (HttpAnswer(body={"results": {"a": 1}}), 1, "has no list at 'results'"),
        (HttpAnswer(body={"results": [{"_id": "a", "score": 1}]}), 1, "has no 'id'. Found: _id, score."),
        (HttpAnswer(body={"results": [{"id": "a"}]}), 1, "has no 'score'. Found: id."),
        (
            HttpAnswer(body={"results": [{"id": "a", "score": 1}, {"id": "a", "score": 0}]}),
            1,
            "has 'a' twice for the query 'red shoes', at the ranks 1 and 2",
        ),
        (HttpAnswer(body='{"results": [{"id": "a", "score": NaN}]}'), 1, "has the score nan at 'score'"),
        (HttpAnswer(body={"results": [{"id": "a", "score": "high"}]}), 1, "has the score 'high' at 'score'"),
        (HttpAnswer(body={"results": [{"id": "", "score": 1}]}), 1, "has no id at rank 1"),
    ],
)
def test_what_is_no_list_is_a_sentence(
    client: EngineClient, engine: SearchServer, fault: HttpAnswer, times: int, said: str
) -> None:
    assert said in refusal(client, engine, fault, times)


def test_an_engine_that_does_not_answer_has_its_time(client: EngineClient, engine: SearchServer) -> None:
    hasty = EngineClient(client.engine, 1e6, QUICK._replace(seconds=0.05))
    silence = HttpAnswer(body="silence")
    assert "did not respond: no answer in time (2 requests)" in refusal(hasty, engine, silence, times=2)


def test_more_than_64_mb_are_not_read(
    client: EngineClient, engine: SearchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curation.retrieval.engines.client.MAX_ANSWER_BYTES", 1_000)
    assert "more than 64 MB" in refusal(client, engine, HttpAnswer(body=" " * 2_000))


def test_an_engine_that_is_away_is_named_by_its_variable(
    client: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_URL", "http://127.0.0.1:1")
    away = EngineClient(client.engine, 1e6, QUICK)
    with pytest.raises(
        RefusedError, match=r"the server could not be reached .* Check GOLDGRADE_ENGINE_SHOP_URL"
    ):
        away.search("x", 1)


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "https://me:secret-word@host", "https://host?key=secret-word"]
)
def test_an_address_that_cannot_be_one_is_not_repeated(
    client: EngineClient, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_URL", url)
    with pytest.raises(InputError, match="GOLDGRADE_ENGINE_SHOP_URL") as caught:
        EngineClient(client.engine)
    assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan])
def test_a_rate_that_is_none_is_refused(client: EngineClient, rate: float) -> None:
    with pytest.raises(InputError, match="expected more than 0 requests per second"):
        EngineClient(client.engine, rate)


def test_an_answer_that_is_not_whole_is_asked_again_and_then_no_list(
    client: EngineClient, engine: SearchServer
) -> None:
    part: Any = {"partial": True, "results": [{"id": "a", "score": 1}]}
    engine.faults = [HttpAnswer(body=part)]
    assert client.search("red shoes", 5).ids == ["a", "b"]
    engine.faults = [HttpAnswer(body=part)] * 2
    found = client.search("red shoes", 5)
    assert found == EngineList(
        [], None, found.seconds, "queries without a complete response (partial is true)"
    )


def test_requests_keep_to_their_rate(client: EngineClient, monkeypatch: pytest.MonkeyPatch) -> None:
    now, waits = [0.0], list[float]()

    class Clock:
        def wait(self, seconds: float) -> None:
            waits.append(round(seconds, 3))
            now[0] += seconds

    monkeypatch.setattr("curation.retrieval.engines.client.monotonic", lambda: now[0])
    monkeypatch.setattr("curation.retrieval.engines.client.Event", Clock)
    paced = EngineClient(client.engine, 2.0, QUICK)._pace
    for _ in range(3):
        paced.wait()
    now[0] += 10
    paced.wait()
    assert waits == [0.0, 0.5, 0.5, 0.0]


def test_an_engine_is_stored_without_address_and_key_and_replaced_by_another_template(
    store: Store, engine: SearchServer, tmp_path: Path
) -> None:
    file = template_file(tmp_path)
    assert add_engine(store, "shop", "http", file)[1]
    assert not add_engine(store, "shop", "http", file)[1]
    other = template_file(tmp_path, TEMPLATE.replace("n: ", "size: "))
    assert add_engine(store, "shop", "http", other)[1]
    with store.reading() as cursor:
        assert [one.name for one in read_engines(cursor)] == ["shop"]
        assert find_engine(cursor, "shop").template.search.params == {"q": "{query}", "size": "{depth}"}
        with pytest.raises(NotFoundError, match=r"no engine 'store'\. Engines: shop"):
            find_engine(cursor, "store")
    store.close()
    assert KEY.encode() not in store.path.read_bytes()
    assert engine.url.encode() not in store.path.read_bytes()


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("lucene", "", "'lucene' is not a kind of engine"),
        ("http", "a: [", "is not YAML"),
        ("http", "- a", "is not a mapping"),
        ("http", "", "search: field required"),
        ("solr", "", "{collection} has no value; give it under `values`"),
        ("http", TEMPLATE.replace("{query}", "x"), "search: the placeholder {query} is missing"),
        ("http", TEMPLATE + "extra: 1\n", "extra: extra inputs are not permitted"),
        ("http", TEMPLATE.replace("path: /api/search", "path: api"), "search.path: string should match"),
        ("http", TEMPLATE + 'headers: {"a: b": c}\n', "headers.a: b.[key]"),
    ],
)
def test_a_template_that_cannot_be_used_says_what_it_lacks(
    store: Store, tmp_path: Path, kind: str, text: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        add_engine(store, "shop", kind, template_file(tmp_path, text))
    assert said in str(caught.value)


def test_trying_shows_request_hits_and_fields_and_no_key(
    store: Store, client: EngineClient, engine: SearchServer, tmp_path: Path, goldgrade: Any
) -> None:
    goldgrade("import", "engine", "shop", template_file(tmp_path), "--kind", "http")
    found = try_engine(store, "shop", "red shoes of me@example.org", 3)
    assert found.request.path == "/api/search?n=3&q=red+shoes+of+%5Bemail%5D"
    assert (found.hits.ids[0], found.documents["a"].title, found.documents["a"].body) == (
        "a",
        "red shoes",
        "nice",
    )
    assert found.documents["a"].metadata == '{"price":3}'
    for options in ([], ["--json"]):
        shown = goldgrade("import", "engine", "shop", "--try", "red shoes", *options)
        assert "red shoes" in shown
        assert KEY not in shown
        assert engine.url not in shown


def test_documents_without_title_and_text_name_the_fields_that_they_have(
    store: Store, client: EngineClient, engine: SearchServer, tmp_path: Path
) -> None:
    engine.documents = {"a": {"naam": "shoes"}}
    add_engine(store, "shop", "http", template_file(tmp_path))
    with pytest.raises(
        InputError, match="The documents have the fields naam: name the title and text fields under “fields”"
    ):
        try_engine(store, "shop", "shoes", 3)
