"""Engines asked for a release's queries: the run, its seconds, and what is no list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.core.errors import RefusedError
from curation.evaluation.scoring.baselines import write_baselines
from curation.releases.freeze.freeze import freeze
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.stored import add_engine, find_engine
from curation.store import Store, get_setting, put_setting
from curation.store.documents import HELD, current_corpus
from tests.support.command_line import invoke
from tests.support.gold_project import TOPICS, frozen_project
from tests.support.search_server import KEY, SearchServer, Served, engine, template_file

__all__ = ["engine"]


@pytest.fixture
def gold(tmp_path: Path, engine: SearchServer) -> Iterator[Store]:
    store = frozen_project(tmp_path)
    with store.reading() as cursor:
        ids = current_corpus(cursor).ids
    engine.documents = {one: {"title": one.replace("-", " ")} for one in ids}
    engine.documents["new 1"] = {"title": "best violin"}
    add_engine(store, "shop", "http", template_file(tmp_path))
    yield store
    store.close()


def test_an_engine_is_asked_for_the_releases_queries_and_its_seconds_are_written(
    gold: Store, engine: SearchServer, tmp_path: Path
) -> None:
    gold.close()
    out = tmp_path / "runs"
    words = ["run", "v1", "--engine", "shop", "--rate", "1000", "--depth", "9", "--out", str(out), "--json"]
    done = invoke(["--project", str(gold.path), *words])
    assert done.exit_code == 0, done.output
    assert "Asking 127.0.0.1 for 8 lists, 1000 requests a second" in done.stderr
    assert KEY not in done.output + (out / "shop.json").read_text()
    assert engine.url not in done.output + (out / "shop.json").read_text()
    lines = (out / "shop.trec").read_text().splitlines()
    assert "q-violin Q0 new%201 1 2.0 shop" in lines  # the release lacks it
    described = json.loads((out / "shop.json").read_text())
    assert described["seconds"]["queries"].keys() == {f"q-{topic}" for topic in TOPICS}
    run = ["evaluate", "v1", "--run", str(out / "shop.trec"), "--part", "dev", "--json"]
    evaluated = invoke(["--project", str(gold.path), *run])
    assert evaluated.exit_code == 0, evaluated.output
    assert '"seconds"' in evaluated.stdout


def test_lists_that_are_not_whole_are_left_out_and_no_answer_leaves_no_file(
    gold: Store, engine: SearchServer, tmp_path: Path
) -> None:
    with gold.reading() as cursor:
        client = EngineClient(find_engine(cursor, "shop"), 1e6)
    engine.faults = [Served(400), *[Served(body={"partial": True, "results": []})] * 4]
    [run] = write_baselines(gold, "v1", [], tmp_path / "runs", engine=client).runs
    assert run.empty["queries that the engine rejected"] == 1
    assert run.empty["queries without a whole answer (partial is true)"] == 1
    engine.faults = [None, Served(401)]
    with pytest.raises(RefusedError, match="HTTP 401"):
        write_baselines(gold, "v1", [], tmp_path / "others", engine=client)
    assert not (tmp_path / "others").exists()


def test_a_release_of_engines_documents_is_not_searched_as_if_it_were_the_whole_corpus(
    gold: Store, tmp_path: Path
) -> None:
    with gold.transaction() as cursor:
        put_setting(cursor, HELD, get_setting(cursor, "corpus") or "")
    freeze(gold, "held")
    with pytest.raises(RefusedError, match="bm25 would take them for the whole corpus"):
        write_baselines(gold, "held", ["bm25"], tmp_path / "runs")
    assert write_baselines(gold, "v1", ["bm25"], tmp_path / "runs").runs
