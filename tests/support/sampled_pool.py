"""Pools with a random sample that is judged: goldgrade built them until 2026-11-29, and projects have them.

`sampled_pool_project` has one, judged, with the truth about every pooled pair.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from curation.core.digests import canonical_json, digest, sort_by_seed
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.queries import read_active_queries
from curation.labeling.imported import add_judgments
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store, append_rows
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, PARTS
from tests.support.pool_project import put_run, put_texts
from tests.support.projects import copied, new_project, rows_of

QUERIES = [f"q{number:02}" for number in range(24)]
DEPTH = 30
BANDS = {5: 1.0, DEPTH: 0.4}
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
            document_ids(query_id), key=lambda name: (int(name[-2:]) // step, digest(step, name))
        )
        for query_id in QUERIES
    }


def sample_last_pool(store: Store, bands: Mapping[int, float], seed: int) -> None:
    """Turn the last pool into one with a judged random sample, under the id that it had.

    The best rank of a pair puts it into a band (last rank → rate). In each band of each query a number of
    pairs was drawn; the others stayed known as pooled and were no candidates.
    """
    with store.transaction() as cursor:
        [(old, snapshot, text)] = cursor.execute(
            "SELECT pool_id, snapshot_id, parameters FROM pools ORDER BY rowid DESC LIMIT 1"
        ).fetchall()
        design = {"bands": [list(band) for band in bands.items()], "budget": None}
        parameters = json.loads(text) | {"sample": design}
        asked = [(query.query_id, query.text) for query in read_active_queries(cursor)]
        pool_id = digest("pool", snapshot, asked, parameters, [])
        pooled = cursor.execute(
            "SELECT query_id, document_id, min(rank) FROM candidate_sources WHERE pool_id = ? AND rank > 0 "
            "GROUP BY ALL ORDER BY ALL",
            [old],
        ).fetchall()
        cells: defaultdict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
        for query_id, document_id, rank in pooled:
            band = next(number for number, last in enumerate(bands, 1) if rank <= last)
            cells[query_id, band].append((document_id, rank))
        rows = []
        for (query_id, band), members in cells.items():
            number = max(1, int(len(members) * list(bands.values())[band - 1] + 0.5))
            keys = [("pool sample", query_id, name) for name, _ in members]
            drawn = {name for *_, name in sort_by_seed(keys, seed, key=list)[:number]}
            chance = number / len(members)
            rows += [(query_id, name, rank, band, chance, name in drawn) for name, rank in members]
        names = ("query_id", "document_id", "rank", "band", "inclusion_probability", "sampled")
        append_rows(cursor, "pool_sample_pairs", rows, names, pool_id=pool_id)
        cursor.execute(
            "UPDATE pools SET pool_id = ?, parameters = ? WHERE pool_id = ?",
            [pool_id, canonical_json(parameters), old],
        )
        cursor.execute("UPDATE candidate_sources SET pool_id = ? WHERE pool_id = ?", [pool_id, old])
        cursor.execute(
            "DELETE FROM candidate_sources WHERE pool_id = ? AND (query_id, document_id) IN "
            "(SELECT (query_id, document_id) FROM pool_sample_pairs WHERE pool_id = ? AND NOT sampled)",
            [pool_id, pool_id],
        )
        cursor.execute(
            "DELETE FROM candidates WHERE (query_id, document_id) NOT IN "
            "(SELECT (query_id, document_id) FROM candidate_sources)"
        )


@copied
def sampled_pool_project(folder: Path) -> Store:
    """24 queries, half of them sealed, two systems' first 30 pooled, and the drawn pairs judged by two."""
    store = new_project(folder / "project.duckdb")
    texts = {document_id: digest(document_id) for query in QUERIES for document_id in document_ids(query)}
    put_texts(store, folder, texts, {query_id: digest("text", query_id)[:16] for query_id in QUERIES})
    put_run(store, folder, "near", run_of(4))
    put_run(store, folder, "far", run_of(12))
    build_pool(store, PoolRequest(["run:near", "run:far"], DEPTH, 0, 7))
    sample_last_pool(store, BANDS, 7)
    drawn = sorted(rows_of(store, "SELECT query_id, document_id FROM candidates"))
    for who in ("ada", "ben"):
        given = [ImportedJudgment(*pair, who, truth(*pair)) for pair in drawn]
        add_judgments(store, given, f"{who}.csv", [])
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(store, "v1")
    return store
