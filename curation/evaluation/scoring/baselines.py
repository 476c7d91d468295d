"""Run files of baseline systems on the queries of a release.

BM25, dense and hybrid search the release's versions of the documents. An engine searches its own documents,
so its run may hold documents that the release lacks. For an engine, the seconds are the time of one request
for each query.

The systems can also search chunks: each splitter cuts the documents, and each system searches the chunks,
with the title of the document before each chunk. A run of chunks is a CSV file with the offsets of chunks and
the versions of their documents.

No grade is read, so a run reveals no grade and opens no seal.

Scores are written as `baseline_systems` describes, and ids as in the TREC export.

Next to each run file is a JSON file of the same name with everything that the run depends on, and the seconds
of each query. Repeated runs write run files with the same bytes; only the seconds differ.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from curation import __version__
from curation.core.errors import InputError, RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.request import DEFAULT_MODEL
from curation.core.text import pluralize
from curation.evaluation.scoring import baseline_systems
from curation.evaluation.scoring.baseline_systems import ChunkedSystem, EngineLists
from curation.evaluation.scoring.release import ALL, make_query
from curation.evaluation.scoring.splitters import parse_splitters
from curation.ingest.importers.corpus import compute_content_hash
from curation.pooling.request import SYSTEMS
from curation.pooling.systems import sort_systems
from curation.releases.export.trec import encode_ids
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.seal import refuse_unknown_parts
from curation.retrieval import RUN_PREFIX, Hit, Retriever
from curation.retrieval.engines.client import EngineClient
from curation.store import COMMAND_LINE, Document, Query, Store, note_event
from curation.store.staging import staging_folder

DEFAULT_DEPTH = 1000
TIMED_REQUEST = "wall time of one request over HTTP for each query"
RUN_SUFFIX = ".trec"
CHUNK_SUFFIX = ".csv"
SIDECAR_SUFFIX = ".json"
TIMED_SEARCH = (
    "wall time to search for each query by itself, to the depth of the run; index and embeddings, also "
    "of the queries, were made before"
)
"""The meaning of the seconds of a run."""


class BaselineRequest(NamedTuple):
    """The runs of baseline systems, or of an engine, to write for a release.

    Attributes
    ----------
    release: the name of the release.
    systems: names out of `pooling.request.SYSTEMS`.
    out: the folder for the run files.
    part: a part of the split, or 'all'.
    model: the embedding model of dense and hybrid.
    replace: whether files of the same names are overwritten.
    engine: an engine that is asked instead of `systems`.
    chunks: names of splitters; the systems search chunks instead of whole documents.
    """

    release: str
    systems: Sequence[str]
    out: Path
    depth: int = DEFAULT_DEPTH
    part: str = ALL
    model: str = DEFAULT_MODEL
    replace: bool = False
    engine: EngineClient | None = None
    chunks: Sequence[str] = ()


@dataclass(frozen=True)
class BaselineRun:
    """The run of one system in its files.

    Attributes
    ----------
    file: the run file.
    sidecar: the JSON file with everything that the run depends on.
    results: the number of lines of the run file.
    empty: reason → number of queries without a result; the run file lacks these queries.
    seconds: the mean of the seconds a query (see `TIMED_SEARCH`).
    """

    system: str
    file: Path
    sidecar: Path
    queries: int
    results: int
    empty: dict[str, int]
    seconds: float
    sha256: str


@dataclass(frozen=True)
class BaselineRuns:
    """Runs on a release's corpus.

    Attributes
    ----------
    part: the part of the split whose queries were searched for, or 'all'.
    without_text: the number of documents without any text, which no system finds.
    mapped: the number of ids with white space, which were encoded as in the TREC export.
    """

    name: str
    release_id: str
    part: str
    depth: int
    queries: int
    documents: int
    without_text: int
    mapped: int
    out: Path
    runs: list[BaselineRun]

    @property
    def sentences(self) -> list[str]:
        """Sentences on the documents that were searched, and on queries without a result."""
        lines = []
        if self.documents:
            documents = pluralize(self.documents, "document was", "documents were")
            lines.append(f"{documents} searched, to depth {self.depth:,}.")
        if self.without_text:
            documents = pluralize(self.without_text, "document has", "documents have")
            lines.append(f"{documents} no text, so no system finds these documents.")
        if self.mapped:
            lines.append(f"{self.mapped:,} ids hold white space and were encoded, as in the TREC export.")
        for run in self.runs:
            counts = {why: pluralize(count, "query", "queries") for why, count in run.empty.items()}
            lines += [f"{run.system}: nothing for {queries}: {why}" for why, queries in counts.items()]
        return [*lines, f"release id: {self.release_id}"]

    @property
    def tables(self) -> tuple[Table, ...]:
        """A table of the run files."""
        columns = ("file", "queries", "lines", "without a result", "ms a query")
        rows = []
        for run in self.runs:
            empty, milliseconds = sum(run.empty.values()), 1000 * run.seconds
            rows.append((run.file.name, run.queries, run.results, empty, milliseconds))
        return (Table(f"Runs of {self.name} ({self.part}) in {self.out}", columns, tuple(rows)),)


def write_baselines(
    store: Store,
    request: BaselineRequest,
    say: Callable[[str], object] = lambda _: None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> BaselineRuns:
    """Search a release's corpus for its queries and write one run file for each system.

    All files are written to temporary paths and moved to the folder when all files are complete.

    Parameters
    ----------
    say: a function that is told which data is sent to which engine, before the data is sent.

    Raises
    ------
    InputError: unknown systems or part, a depth below 1; files of the same names exist and `replace` is
        false; the folder cannot be written.
    NotFoundError: no release or model has this name.
    RefusedError: the release or one of its documents has changed since the freeze, a newer goldgrade froze
    the release, the corpus is held, the model cannot be used, or the engine gives no answer.
    """
    engine, part, depth, out = request.engine, request.part, request.depth, request.out.resolve()
    names = _choose_systems(request.systems if engine is None else SYSTEMS, depth)
    names = names if engine is None else [engine.engine.name]
    splitters = parse_splitters(request.chunks)
    release = load_release(store, request.release)
    if engine is None and release.header.get("held"):
        raise RefusedError(
            f"Not possible on the release {request.release!r}: it has the documents that engines brought, "
            f"and {', '.join(names)} would take these documents for the whole corpus. Ask the engine "
            "instead, with --engine."
        )
    queries = _read_queries(release, part)
    chunked = [baseline_systems.name_chunked_run(name, splitter) for splitter in splitters for name in names]
    labels = chunked or names
    _refuse_existing(out, labels, CHUNK_SUFFIX if splitters else RUN_SUFFIX, request.replace)
    documents = [] if engine is not None else _read_documents(store, release, progress)
    release_id = release.row.release_id
    about = {
        "release": request.release,
        "release_id": release_id,
        "split": part,
        "depth": depth,
        "queries": len(queries),
        "documents": len(documents),
        "versions": {"goldgrade": __version__, "numpy": version("numpy"), "scipy": version("scipy")},
        "timed": TIMED_SEARCH if engine is None else TIMED_REQUEST,
    }
    ids = _ExportedIds(release)
    with (
        baseline_systems.open_searchers(store, release, names, documents, splitters, request.model)
        if engine is None
        else baseline_systems.open_engine_searchers(store, release, engine, queries, depth, say, progress)
    ) as searchers:
        runs = _write_runs(out, searchers, queries, ids, about, progress)
    if release.file is None:
        detail = {"release": release_id, "name": request.release, "split": part}
        note_event(store, "run baselines", {**detail, "systems": labels, "depth": depth}, actor)
    return BaselineRuns(
        name=request.release,
        release_id=release_id,
        part=part,
        depth=depth,
        queries=len(queries),
        documents=len(documents),
        without_text=sum(not document.text for document in documents),
        mapped=ids.mapped,
        out=out,
        runs=runs,
    )


class _ExportedIds:
    """The ids of a release's queries and documents in its TREC export."""

    def __init__(self, release: FrozenRelease) -> None:
        self.queries = encode_ids(row["query_id"] for row in release.rows("queries"))
        self.documents = encode_ids(row["document_id"] for row in release.rows("documents"))
        pairs = [*self.queries.items(), *self.documents.items()]
        self.mapped = sum(exported_id != original_id for original_id, exported_id in pairs)

    def map_hits(self, hits: Sequence[Hit]) -> dict[str, str]:
        """Map the document id of each hit to its exported id; the release may lack the document."""
        encoded_ids = encode_ids(hit.document_id for hit in hits)
        return {name: self.documents.get(name, encoded) for name, encoded in encoded_ids.items()}


def _choose_systems(systems: Sequence[str], depth: int) -> list[str]:
    problems = []
    if depth < 1:
        problems.append(f"--depth {depth}: expected at least 1 document a query.")
    if named := [system for system in systems if system.startswith(RUN_PREFIX)]:
        problems.append(
            f"{', '.join(named)}: an imported run is a run already; `goldgrade baseline` makes runs of "
            f"{', '.join(SYSTEMS)}."
        )
    refuse_problems(problems)
    return sort_systems(systems)


def _read_queries(release: FrozenRelease, part: str) -> list[Query]:
    if part != ALL:
        refuse_unknown_parts(release.header["queries"], [part])
    return [make_query(row) for row in release.rows("queries") if part in (ALL, row["part"])]


def _read_documents(store: Store, release: FrozenRelease, progress: Progress) -> list[Document]:
    """Read the release's versions of the documents."""
    documents = []
    for number, (document_id, document) in enumerate(release.documents(store), 1):
        if document is None or compute_content_hash(document) != release.versions[document_id]:
            raise RefusedError(
                f"The document {document_id!r} of the release {release.row.name!r} has changed since the "
                f"freeze, so nothing was searched. `goldgrade verify {release.row.name}` names all changes."
            )
        documents.append(document)
        progress("reading documents", number, len(release.versions))
    return documents


def _refuse_existing(out: Path, names: Sequence[str], ending: str, replace: bool) -> None:
    if out.exists() and not out.is_dir():
        raise InputError("is a file; expected a folder for the runs", path=out)
    paths = [f"{name}{suffix}" for name in names for suffix in (ending, SIDECAR_SUFFIX)]
    existing = [] if replace else [name for name in paths if (out / name).exists()]
    if existing:
        files = ", ".join(existing)
        fault = f"holds {files} already; choose another folder, or write over them with --overwrite"
        raise InputError(fault, path=out)


def _write_runs(
    out: Path,
    systems: Sequence[Retriever],
    queries: Sequence[Query],
    ids: _ExportedIds,
    about: Mapping[str, Any],
    progress: Progress,
) -> list[BaselineRun]:
    """Write the files to temporary paths, and move the files to the folder when all are complete."""
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
    ids: _ExportedIds,
    about: Mapping[str, Any],
    progress: Progress,
) -> BaselineRun:
    """Write one system's run and its JSON file into `folder`; the files are later moved to `out`."""
    if not isinstance(system, EngineLists):
        system.search(queries, 1, progress)  # makes the index and the embeddings
    lines: list[str] = []
    is_chunked = isinstance(system, ChunkedSystem)
    seconds: dict[str, float] = {}
    empty: Counter[str] = Counter()
    for count, query in enumerate(queries, 1):
        start = perf_counter()
        [hits] = system.search([query], about["depth"])
        elapsed = perf_counter() - start
        query_id = ids.queries[query.query_id]
        if isinstance(system, EngineLists):
            elapsed = system.lists[query.query_id].seconds
        seconds[query_id] = round(elapsed, 6)
        if isinstance(system, ChunkedSystem):
            lines += system.write_lines(query.query_id, hits)
        else:
            lines += baseline_systems.write_run_lines(query_id, hits, system.name, ids.map_hits(hits))
        if not hits:
            empty[system.why_none(query)] += 1
        progress(f"{system.name}: write", count, len(queries))
    header = [",".join(baseline_systems.CHUNK_COLUMNS)] if is_chunked else []
    content = "".join(f"{line}\n" for line in [*header, *lines]).encode("utf-8")
    sha256 = hashlib.sha256(content).hexdigest()
    mean = round(sum(seconds.values()) / max(1, len(seconds)), 6)
    ending = CHUNK_SUFFIX if is_chunked else RUN_SUFFIX
    run, sidecar = (f"{system.name}{suffix}" for suffix in (ending, SIDECAR_SUFFIX))
    (folder / run).write_bytes(content)
    reasons = dict(sorted(empty.items()))
    sidecar_values = {
        "system": system.name,
        "settings": dict(system.settings),
        **about,
        "empty": reasons,
        "file": {"name": run, "sha256": sha256, "lines": len(lines)},
        "seconds": {"mean": mean, "queries": seconds},
    }
    text = json.dumps(sidecar_values, ensure_ascii=False, indent=2, sort_keys=True)
    (folder / sidecar).write_text(f"{text}\n", encoding="utf-8")
    return BaselineRun(system.name, out / run, out / sidecar, len(seconds), len(lines), reasons, mean, sha256)
