"""The operation that finds the documents to judge."""

from __future__ import annotations

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.reports.page import Table
from curation.core.text import amount
from curation.ingest.importers.runs import find_run
from curation.pooling.pool import build_pool, checked_request, queries_to_pool
from curation.pooling.pool_report import PoolReport, sample_table
from curation.pooling.request import PoolRequest
from curation.pooling.systems import refuse_without_corpus
from curation.retrieval.embeddings import refuse_without_model
from curation.retrieval.engines.stored import find_engine
from curation.store import Cursor, Store


def _check(cursor: Cursor, request: PoolRequest | None) -> None:
    queries_to_pool(cursor, request.systems if request else ())
    if request is None:
        return
    names, _ = checked_request(
        *(request.systems, request.depth, request.random_negatives),
        *(request.budget, request.sample_bands, request.sample_budget),
    )
    refuse_without_corpus(cursor, names)
    for name in names:
        kind, _, of = name.partition(":")
        if of:
            (find_run if kind == "run" else find_engine)(cursor, of)
    if not {"dense", "hybrid"}.isdisjoint(names):
        refuse_without_model(cursor, request.model)


def _build(store: Store, request: PoolRequest, progress: Progress, author: str) -> PoolReport:
    return build_pool(store, progress=progress, author=author, **vars(request))


def _built(_request: PoolRequest, report: PoolReport) -> OperationOutcome:
    candidates = amount(report.candidates, "candidate")
    sentence = f"The pool has {candidates}; {report.added:,} new to the project."
    if report.built_before:
        sentence = "This pool was built before from the same inputs; nothing was added."
    systems = tuple((system.system, system.candidates, system.alone) for system in report.systems)
    proposed = Table(f"Pool {report.pool_id[:8]}", ("System", "Candidates", "Of these alone"), systems)
    tables = (proposed, sample_table(report))
    return OperationOutcome(sentence, tables, more=tuple(report.sentences))


OPERATIONS = {
    "pool": Operation(
        PoolRequest,
        _build,
        _built,
        doing="a pool is being built",
        kept="No pool was stored. Build it again: what was embedded or counted is kept.",
        check=_check,
        first="reading the corpus",
        on_path="pool",
    )
}
