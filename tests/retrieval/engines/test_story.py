"""From an engine to grades, and to the next quarter, in a project that never sees the whole corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.labeling.rounds.create_round import open_round
from curation.relabeling.staleness.judged_pairs import read_pairs
from curation.retrieval import Bm25
from curation.store import Document, Query, Store
from tests.support.command_line import Done, invoke
from tests.support.projects import add_names, grade_next, rows_of
from tests.support.search_server import KEY, SearchServer, engine, template_file

__all__ = ["engine"]
KINDS = ("shoes", "boots", "hats", "gloves", "scarves")


def by_bm25(engine: SearchServer) -> None:
    """Have the engine search its documents by BM25."""
    documents = [Document(one, one, fields["title"], "") for one, fields in engine.documents.items()]
    searcher = Bm25(documents)

    def search(text: str, depth: int) -> list[tuple[str, float]]:
        [hits] = searcher.search([Query("q", text, text, "written")], depth)
        return [(hit.document_id, hit.score or 0.0) for hit in hits]

    engine.search = search


def test_an_engine_is_added_pooled_graded_and_fetched_again(
    store: Store, engine: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curation.retrieval.engines.client.Pace.wait", lambda self: None)
    colours = ("red", "blue", "green", "black")
    engine.documents = {f"{c} {k}": {"title": f"{c} {k} for winter"} for k in KINDS for c in colours}
    by_bm25(engine)
    queries = tmp_path / "queries.csv"
    queries.write_text("id,text\nq1,red shoes\nq2,black hats\n")

    def goldgrade(*words: str) -> Done:
        store.close()
        done = invoke(["--project", str(store.path), *words])
        assert done.exit_code == 0, (done.output, done.exception)
        assert KEY not in done.output
        return done

    goldgrade("engine", "add", "shop", "--kind", "http", str(template_file(tmp_path)))
    goldgrade("import", "queries", str(queries))
    pool = json.loads(
        goldgrade("pool", "--systems", "engine:shop", "--random-negatives", "2", "--json").stdout
    )
    assert pool["random_negatives"] == 4
    assert "documents of engines" in goldgrade("status").stdout
    add_names(store, "ada")
    open_round(store, "first", ["ada"], overlap=1, duplicates=0)
    assert len(grade_next(store, "ada", count=3)) == 3
    [(first,)] = rows_of(store, "SELECT document_id FROM presentations WHERE position = 0")
    engine.documents[first] = {"title": "another text"}
    refreshed = json.loads(goldgrade("import", "corpus", "--refresh", "shop", "--json").stdout)
    assert (refreshed["changed"], refreshed["gone"]) == (1, 0)
    with store.reading() as cursor:
        changed = {one.pair[1] for one in read_pairs(cursor) if one.read_hash != one.now_hash}
    assert changed == {first}
