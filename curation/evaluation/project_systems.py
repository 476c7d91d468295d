"""Systems that a project can evaluate without an uploaded run: retrievers, imported runs and engines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from curation.core.progress import Progress
from curation.evaluation.request import EvaluateRequest, RunFiles
from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
from curation.evaluation.scoring.release import ALL
from curation.ingest.stored_runs import find_run, read_run_entries, read_stored_runs
from curation.people.annotators import require_author
from curation.pooling.request import SYSTEMS
from curation.pooling.systems import ENGINE_PREFIX, MAX_DOCUMENTS
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.client import EngineClient
from curation.retrieval.engines.stored_engines import find_engine, read_engines
from curation.store import Cursor, Store
from curation.store.documents import count_documents, is_held


def list_project_systems(cursor: Cursor, is_lead: bool) -> list[str]:
    """List the systems that can be evaluated, named as in the pools; only leads may send queries to
    engines."""
    names = [f"{RUN_PREFIX}{run.name}" for run in read_stored_runs(cursor)]
    if is_lead:
        names += [f"{ENGINE_PREFIX}{engine.name}" for engine in read_engines(cursor)]
    if is_held(cursor):
        return names
    documents = count_documents(cursor)
    searchers = SYSTEMS if find_spec("sentence_transformers") else SYSTEMS[:1]
    return [*(name for name in searchers if documents <= MAX_DOCUMENTS[name]), *names]


def get_system_name(system: str) -> str:
    """Return a system's name without the prefix that says where its lists come from."""
    return system.removeprefix(RUN_PREFIX).removeprefix(ENGINE_PREFIX)


def describe_engine_requests(cursor: Cursor, systems: Sequence[str], queries: int) -> list[str]:
    """Describe what goldgrade sends to the engines among these systems for this number of queries."""
    names = [name.removeprefix(ENGINE_PREFIX) for name in systems if name.startswith(ENGINE_PREFIX)]
    return [EngineClient(find_engine(cursor, name)).describe_list_requests(queries) for name in names]


def write_project_runs(
    store: Store, request: EvaluateRequest, folder: Path, author: str, progress: Progress
) -> RunFiles:
    """Write a run file for each of the request's systems, for the queries of the evaluated part.

    Raises
    ------
    NotFoundError: the project has no such run or engine.
    RefusedError: a search is not possible, an engine does not answer, or the author may not query an engine.
    """
    paths: dict[str, Path] = {}
    searchers = [system for system in request.systems if system in SYSTEMS]
    clients: list[EngineClient | None] = [None] if searchers else []
    with store.reading() as cursor:
        for system in request.systems:
            if system.startswith(RUN_PREFIX):
                paths[system] = _write_stored_run(cursor, system.removeprefix(RUN_PREFIX), folder)
            elif system.startswith(ENGINE_PREFIX):
                require_author(cursor, author, "lead")
                clients.append(EngineClient(find_engine(cursor, system.removeprefix(ENGINE_PREFIX))))
    for client in clients:
        baseline = BaselineRequest(
            request.release, searchers, folder, part=request.part or ALL, engine=client
        )
        prefix = ENGINE_PREFIX if client else ""
        runs = write_baselines(store, baseline, actor=author, progress=progress).runs
        paths |= {f"{prefix}{run.system}": run.file for run in runs}
    return tuple((get_system_name(system), str(paths[system])) for system in request.systems)


def _write_stored_run(cursor: Cursor, name: str, folder: Path) -> Path:
    """Write the result lists of an imported run as a file, ordered by rank."""
    path = folder / f"{RUN_PREFIX[:-1]}-{name}.jsonl"
    lines = [
        json.dumps({"query_id": entry.query_id, "document_id": entry.document_id, "rank": entry.rank})
        for entry in read_run_entries(cursor, find_run(cursor, name))
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
