"""The operation that builds a pool: its check, and the forecast of its time."""

from __future__ import annotations

from curation.core.operation import Operation
from curation.core.request import DEFAULT_MODEL
from curation.ingest.stored_runs import find_run
from curation.pooling.pool import build_pool, check_request
from curation.pooling.pooled_queries import read_queries
from curation.pooling.request import PoolRequest
from curation.pooling.systems import ENGINE_PREFIX, require_corpus
from curation.retrieval import RUN_PREFIX
from curation.retrieval.embeddings import minutes_to_embed, refuse_without_model
from curation.retrieval.engines.stored_engines import find_engine
from curation.store import Cursor, get_setting

_COUNT_CHARACTERS = """
SELECT sum(length(title) + length(body)) FROM documents JOIN snapshot_documents USING (content_hash)
WHERE snapshot_id = ? AND NOT EXISTS (
    FROM pools WHERE snapshot_id = ?
        AND (json_exists(parameters, '$.systems.dense') OR json_exists(parameters, '$.systems.hybrid')))
"""


def forecast_embedding(cursor: Cursor) -> str | None:
    """Estimate the time to embed the corpus; None if an earlier pool has already embedded it."""
    snapshot = get_setting(cursor, "corpus")
    [(characters,)] = cursor.execute(_COUNT_CHARACTERS, [snapshot, snapshot]).fetchall()
    return minutes_to_embed(cursor, characters, DEFAULT_MODEL) if characters else None


def _check_pool(cursor: Cursor, request: PoolRequest | None) -> None:
    """Reject a pool that must fail, as far as is known without a search."""
    read_queries(cursor, request.systems if request else ())
    if request is None:
        return
    request = check_request(request)
    require_corpus(cursor, request.systems)
    for system in request.systems:
        if system.startswith(RUN_PREFIX):
            find_run(cursor, system.removeprefix(RUN_PREFIX))
        elif system.startswith(ENGINE_PREFIX):
            find_engine(cursor, system.removeprefix(ENGINE_PREFIX))
    if not {"dense", "hybrid"}.isdisjoint(request.systems):
        refuse_without_model(cursor, request.model)


OPERATIONS = {
    "pool": Operation(
        PoolRequest,
        build_pool,
        in_progress="building the pool",
        on_interrupt="No pool was stored. Build the pool again; finished embeddings are kept.",
        check=_check_pool,
        first_step="reading the corpus",
        stage="pool",
    )
}
