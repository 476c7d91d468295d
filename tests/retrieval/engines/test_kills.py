"""`kill -9` while an engine is queried: nothing is half written, and the same command continues."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from curation.ingest.importers.query_import import import_queries
from curation.retrieval.engines.stored_engines import add_engine
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.gold_project import frozen_project
from tests.support.projects import discard, rows_of
from tests.support.search_server import SearchServer, engine, template_file

pytestmark = pytest.mark.slow

__all__ = ["engine"]
IMPORT = "import run --engine shop --name n --depth 5 --rate 1000"
POOL = "pool --systems engine:shop --depth 3 --random-negatives 2 --seed 7 --rate 1000"
REFRESH = "import corpus --refresh shop --rate 1000"
TABLES = ("runs", "run_entries", "candidates", "pools", "corpus_snapshots", "events", "engine_runs")


@pytest.fixture
def shop(tmp_path: Path, store: Store, engine: SearchServer) -> Iterator[Store]:
    """Three queries and no corpus; the engine has four shoes and thirty other things."""
    engine.documents = {f"shoe {n}": {"title": f"shoes number {n}"} for n in range(4)}
    engine.documents |= {f"thing {n}": {"title": f"thing number {n}"} for n in range(30)}
    add_engine(store, "shop", "http", template_file(tmp_path))
    file = tmp_path / "queries.csv"
    file.write_text("text\nred shoes\nshoes\nnumber 3\n")
    import_queries(store, file)
    store.close()
    yield store
    discard(store)


def goldgrade(store: Store, words: str, engine: SearchServer) -> int:
    """Run a command; how many requests it sent."""
    engine.requests.clear()
    store.close()
    done = invoke(["--project", str(store.path), *words.split()])
    assert done.exit_code == 0, (done.output, done.exception)
    return len(engine.requests)


def kill(store: Store, words: str, engine: SearchServer, at: int, slowly: bool = False) -> None:
    """Run a command in a process that is killed at a request; `slowly`: a second is between it and others."""
    engine.requests.clear()
    store.close()
    command = [sys.executable, "-c", "from curation.cli import main; main()"]
    process = subprocess.Popen([*command, "--project", str(store.path), *words.split()])

    def before(number: int) -> None:
        if slowly and number == at - 1:
            sleep(1.05)  # what was answered until then is stored
        if number == at:
            os.kill(process.pid, signal.SIGKILL)

    engine.before = before
    assert process.wait(60) == -signal.SIGKILL
    engine.before = lambda number: None


def state(store: Store) -> dict[str, Any]:
    """What a project has, without times."""
    counts = {table: rows_of(store, f"SELECT count(*) FROM {table}") for table in TABLES}
    entries = rows_of(store, "SELECT * FROM run_entries ORDER BY ALL")
    pairs = rows_of(store, "SELECT * FROM candidates ORDER BY ALL")
    corpus = rows_of(store, "SELECT value FROM settings WHERE name IN ('corpus', 'held') ORDER BY name")
    store.close()
    return {**counts, "entries": entries, "pairs": pairs, "corpus": corpus}


@pytest.mark.parametrize(
    ("words", "first", "places"),
    [(IMPORT, "", (2, -1)), (POOL, "", (-3,)), (REFRESH, IMPORT, (2,))],
    ids=["import", "pool", "refresh"],
)
def test_a_kill_leaves_nothing_half_written_and_the_next_try_comes_to_the_same(
    shop: Store, engine: SearchServer, tmp_path: Path, words: str, first: str, places: tuple[int, ...]
) -> None:
    if first:
        goldgrade(shop, first, engine)
        engine.documents["shoe 1"] = {"title": "other shoes"}
        del engine.documents["shoe 2"]
    before, whole = state(shop), Store(tmp_path / "whole.duckdb")
    shutil.copy(shop.path, whole.path)
    sent = goldgrade(whole, words, engine)
    expected = state(whole)
    for place in places:
        killed = Store(tmp_path / f"killed {place}.duckdb")
        shutil.copy(shop.path, killed.path)
        kill(killed, words, engine, at=place % (sent + 1))
        found = state(killed)
        assert found["pools"] == before["pools"]
        if words != POOL:  # whose run is whole before anything else is drawn
            assert found == before
        assert goldgrade(killed, words, engine) <= sent
        again = state(killed)
        assert again == expected | {name: again[name] for name in ("corpus_snapshots", "events")}


def test_a_run_of_a_release_goes_on_after_a_kill_and_is_asked_anew_when_it_is_written(
    tmp_path: Path, engine: SearchServer
) -> None:
    store, out, sent = frozen_project(tmp_path), tmp_path / "runs", 8
    engine.documents = {"new": {"title": "best violin"}}
    add_engine(store, "shop", "http", template_file(tmp_path))
    words = f"baseline v1 --engine shop --depth 5 --rate 1000 --out {out}"
    kill(store, words, engine, at=4, slowly=True)
    assert not out.exists()
    assert goldgrade(store, words, engine) == sent - 3
    assert len((out / "shop.trec").read_text().splitlines()) == 8
    assert rows_of(store, "SELECT count(*) FROM engine_answers") == [(0,)]
    assert goldgrade(store, f"{words} --overwrite", engine) == sent
    store.close()
