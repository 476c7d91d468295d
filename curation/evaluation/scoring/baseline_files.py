"""Files of baseline runs: run files in TREC's format, or tables of chunks.

Tools order a run by its scores, some in single precision, and break ties in different ways. So scores are
written as strictly decreasing single-precision numbers: of two documents with equal scores, the lower is
written with the next smaller number. Retrievers order equal scores by document id. Ids are written as in the
TREC export.

A JSON file of the same name next to each run file has everything that the run depends on, and the seconds of
each query. Repeating a run gives the same bytes except for the seconds.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from curation.core.characters import quote_formula
from curation.core.errors import InputError
from curation.core.progress import Progress
from curation.evaluation.scoring.baseline_systems import ChunkedSystem, EngineLists
from curation.evaluation.scoring.run_chunks import ChunkLocation
from curation.releases.export.trec import encode_ids
from curation.releases.frozen_release import FrozenRelease
from curation.retrieval import Hit, Retriever
from curation.store import Query
from curation.store.staging import staging_folder

RUN_SUFFIX = ".trec"
CHUNK_SUFFIX = ".csv"
SIDECAR_SUFFIX = ".json"
CHUNK_COLUMNS = ("query_id", *ChunkLocation._fields[:-1], "rank", "score")
"""Columns of a table of chunks."""


@dataclass(frozen=True)
class BaselineRun:
    """The run written for one baseline system.

    Attributes
    ----------
    file: the run file.
    results: the number of lines of the run file.
    empty: reason → number of queries without a result; the run file lacks these queries.
    seconds: the mean of the seconds a query (see `baselines.TIMED_SEARCH`).
    """

    system: str
    file: Path
    queries: int
    results: int
    empty: dict[str, int]
    seconds: float
    sha256: str


class ExportedIds:
    """Ids of a release's queries and documents, as they appear in its TREC export."""

    def __init__(self, release: FrozenRelease) -> None:
        self.queries = encode_ids(row["query_id"] for row in release.rows("queries"))
        self.documents = encode_ids(row["document_id"] for row in release.rows("documents"))
        pairs = [*self.queries.items(), *self.documents.items()]
        self.mapped = sum(exported_id != original_id for original_id, exported_id in pairs)

    def map_hits(self, hits: Sequence[Hit]) -> dict[str, str]:
        """Map each hit's document id to its exported id, also for documents that the release lacks."""
        encoded_ids = encode_ids(hit.document_id for hit in hits)
        return {name: self.documents.get(name, encoded) for name, encoded in encoded_ids.items()}


def refuse_existing_files(out: Path, names: Sequence[str], ending: str, replace: bool) -> None:
    """Reject a folder that already contains files of these runs, unless these files may be replaced."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file; expected a folder for the runs", path=out)
    paths = [f"{name}{suffix}" for name in names for suffix in (ending, SIDECAR_SUFFIX)]
    existing = [] if replace else [name for name in paths if (out / name).exists()]
    if existing:
        files = ", ".join(existing)
        fault = f"already contains {files}; choose another folder, or overwrite the files with --overwrite"
        raise InputError(fault, path=out)


def write_runs(
    out: Path,
    systems: Sequence[Retriever],
    queries: Sequence[Query],
    ids: ExportedIds,
    about: Mapping[str, Any],
    progress: Progress,
) -> list[BaselineRun]:
    """Write run files to temporary paths, and move them to the folder once all are complete."""
    try:
        with staging_folder(out) as folder:
            runs = [_write_run(folder, out, system, queries, ids, about, progress) for system in systems]
            out.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.iterdir()):
                path.replace(out / path.name)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"the runs could not be written: {why}", path=out) from error
    return runs


def _write_run(
    folder: Path,
    out: Path,
    system: Retriever,
    queries: Sequence[Query],
    ids: ExportedIds,
    about: Mapping[str, Any],
    progress: Progress,
) -> BaselineRun:
    """Write one system's run and its JSON file into `folder`; the files are moved to `out` later."""
    lists, times = _search_each_query(system, queries, about["depth"], progress)
    seconds = dict(zip((ids.queries[query.query_id] for query in queries), times, strict=True))
    mean = round(sum(seconds.values()) / max(1, len(seconds)), 6)
    results_of = zip(queries, lists, strict=True)
    reasons = Counter(system.explain_no_hits(query) for query, hits in results_of if not hits)
    empty = dict(sorted(reasons.items()))
    is_chunked = isinstance(system, ChunkedSystem)
    lines = [",".join(CHUNK_COLUMNS)] if is_chunked else []
    for query, hits in zip(queries, lists, strict=True):
        if isinstance(system, ChunkedSystem):
            lines += _write_csv_lines(query.query_id, hits, system.locations)
        else:
            lines += write_run_lines(ids.queries[query.query_id], hits, system.name, ids.map_hits(hits))
    content = "".join(f"{line}\n" for line in lines).encode("utf-8")
    sha256 = hashlib.sha256(content).hexdigest()
    run_name = f"{system.name}{CHUNK_SUFFIX if is_chunked else RUN_SUFFIX}"
    sidecar_name = f"{system.name}{SIDECAR_SUFFIX}"
    results = sum(map(len, lists))
    sidecar_values = {
        "system": system.name,
        "settings": dict(system.settings),
        **about,
        "empty": empty,
        "file": {"name": run_name, "sha256": sha256, "lines": results},
        "seconds": {"mean": mean, "queries": seconds},
    }
    sidecar_text = json.dumps(sidecar_values, ensure_ascii=False, indent=2, sort_keys=True)
    (folder / run_name).write_bytes(content)
    (folder / sidecar_name).write_text(f"{sidecar_text}\n", encoding="utf-8")
    return BaselineRun(
        system=system.name,
        file=out / run_name,
        queries=len(seconds),
        results=results,
        empty=empty,
        seconds=mean,
        sha256=sha256,
    )


def _search_each_query(
    system: Retriever, queries: Sequence[Query], depth: int, progress: Progress
) -> tuple[list[Sequence[Hit]], list[float]]:
    """Search for each query separately, and measure how many seconds each search takes."""
    lists: list[Sequence[Hit]] = []
    times: list[float] = []
    if not isinstance(system, EngineLists):
        system.search(queries, 1, progress)  # builds the index and the embeddings
    for count, query in enumerate(queries, 1):
        start = perf_counter()
        lists += system.search([query], depth)
        elapsed = perf_counter() - start
        if isinstance(system, EngineLists):
            elapsed = system.lists[query.query_id].seconds
        times.append(round(elapsed, 6))
        progress(f"{system.name}: write", count, len(queries))
    return lists, times


def _write_csv_lines(query_id: str, hits: Sequence[Hit], locations: Mapping[str, ChunkLocation]) -> list[str]:
    """Write one query's results as CSV lines, with strictly decreasing scores."""
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    scores = write_decreasing_scores(hit.score or 0.0 for hit in hits)
    for rank, (hit, score) in enumerate(zip(hits, scores, strict=True), 1):
        cells = (query_id, *locations[hit.document_id][:-1], rank, score)
        writer.writerow([quote_formula(str(cell)) for cell in cells])
    return buffer.getvalue().splitlines()


def write_run_lines(query_id: str, hits: Sequence[Hit], tag: str, ids: Mapping[str, str]) -> list[str]:
    """Write one query's results in TREC's six columns, with strictly decreasing scores.

    Parameters
    ----------
    ids: document id → the id that is written.
    """
    scores = write_decreasing_scores(hit.score or 0.0 for hit in hits)
    ranked = enumerate(zip(hits, scores, strict=True), 1)
    return [f"{query_id} Q0 {ids[hit.document_id]} {rank} {score} {tag}" for rank, (hit, score) in ranked]


def write_decreasing_scores(scores: Iterable[float]) -> list[str]:
    """Convert scores, highest first, to the nearest single-precision numbers that strictly decrease."""
    texts: list[str] = []
    previous = np.float32(np.inf)
    for score in scores:
        previous = min(np.float32(score), np.nextafter(previous, np.float32(-np.inf)))
        texts.append(str(previous))
    return texts
