"""A project where a random sample of the pool was judged, with the truth about every pooled pair."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from curation.core.text import digest
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.judgments.imported import add_judgments
from curation.pooling.pool import build_pool
from curation.releases.freeze.freeze import freeze
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store, open_store
from tests.support.pool_project import put_run, put_texts
from tests.support.projects import new_project

QUERIES = [f"q{number:02}" for number in range(24)]
DEPTH = 30
BANDS = "5:1,30:0.4"
PARTS = {"dev": 0.5, "test": 0.5}
Pair = tuple[str, str]


def document_ids(query_id: str) -> list[str]:
    return [f"{query_id}.{place:02}" for place in range(DEPTH)]


def truth(query_id: str, document_id: str) -> int:
    """The grade that people would give: relevant documents are a third of all, most of them near the top."""
    place = int(document_id[-2:])
    return 3 if int(digest("truth", query_id, document_id)[:8], 16) % 30 < 18 - place // 2 else 0


def run_of(step: int) -> dict[str, list[str]]:
    """A system: the documents by place, with neighbours exchanged in blocks of `step`."""
    return {
        query_id: sorted(
            document_ids(query_id),
            key=lambda name: (int(name[-2:]) // step, digest(step, name)),
        )
        for query_id in QUERIES
    }


def sampled_pool_project(folder: Path) -> Store:
    """24 queries, half of them sealed, two systems' first 30 pooled, and the drawn pairs judged by two."""
    path = folder / "project.duckdb"
    path.write_bytes(_sampled_pool_project())
    return open_store(path)


@cache
def _sampled_pool_project() -> bytes:
    with TemporaryDirectory() as name:
        folder = Path(name)
        store = new_project(folder / "project.duckdb")
        texts = {one: digest(one) for query_id in QUERIES for one in document_ids(query_id)}
        put_texts(store, folder, texts, {query_id: digest("text", query_id)[:16] for query_id in QUERIES})
        put_run(store, folder, "near", run_of(4))
        put_run(store, folder, "far", run_of(12))
        build_pool(store, ["run:near", "run:far"], DEPTH, 0, 7, sample_bands=BANDS)
        with store.reading() as cursor:
            drawn = cursor.execute("SELECT query_id, document_id FROM candidates").fetchall()
        for who in ("ada", "ben"):
            given = [ImportedJudgment(*pair, who, truth(*pair)) for pair in sorted(drawn)]
            add_judgments(store, given, f"{who}.csv", [])
        make_split(store, PARTS, 1, Rules(paraphrase=None))
        freeze(store, "v1")
        store.close()
        return store.path.read_bytes()
