"""Baseline runs: the results of baseline systems, such as BM25, for a release's queries.

BM25, dense and hybrid search the release's versions of the documents. An engine searches its own documents,
so its run may hold documents that the release lacks; its seconds are the time of one request for each query.

The systems can also search the chunks into which splitters cut the documents, each chunk with the title of
its document before it. A run of chunks is a CSV file with the offsets of chunks and the versions of their
documents.

No grade is read, so a run reveals no grade and opens no seal.

`baseline_files` describes the files of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from curation import __version__
from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.request import DEFAULT_MODEL
from curation.core.text import pluralize
from curation.evaluation.scoring import baseline_files, baseline_systems
from curation.evaluation.scoring.release import ALL, make_query
from curation.evaluation.scoring.splitters import parse_splitters
from curation.ingest.importers.corpus_documents import compute_content_hash
from curation.pooling.request import SYSTEMS
from curation.pooling.systems import sort_systems
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.seal import refuse_unknown_parts
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.client import EngineClient
from curation.store import COMMAND_LINE, Document, Query, Store, note_event

DEFAULT_DEPTH = 1000
TIMED_REQUEST = "time of the HTTP request for each query"
TIMED_SEARCH = (
    "time to search one query to the depth of the run, without the time to build the index and the embeddings"
)
"""Meaning of the seconds of a run."""


class BaselineRequest(NamedTuple):
    """A request to write the runs of baseline systems or of an engine for a release.

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
class BaselineRuns:
    """The baseline runs written for a release's corpus.

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
    runs: list[baseline_files.BaselineRun]

    @property
    def sentences(self) -> list[str]:
        """Describe the searched documents, and the queries without a result."""
        lines = []
        if self.documents:
            documents = pluralize(self.documents, "document was", "documents were")
            lines.append(f"{documents} searched, to depth {self.depth:,}.")
        if self.without_text:
            documents = pluralize(self.without_text, "document has", "documents have")
            lines.append(f"{documents} no text, so no system can find them.")
        if self.mapped:
            lines.append(f"{self.mapped:,} ids contain white space and were encoded, as in the TREC export.")
        for run in self.runs:
            counts = {why: pluralize(count, "query", "queries") for why, count in run.empty.items()}
            lines += [f"{run.system}: nothing for {queries}: {why}" for why, queries in counts.items()]
        return [*lines, f"release id: {self.release_id}"]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Make a table of the run files."""
        columns = ("file", "queries", "lines", "without a result", "ms per query")
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
    """Search a release's corpus for its queries, and write one run file per system.

    Files are moved to the folder only when all are complete.

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
    engine, out = request.engine, request.out.resolve()
    names = _choose_systems(request)
    splitters = parse_splitters(request.chunks)
    release = load_release(store, request.release)
    _refuse_engine_documents(release, request, names)
    queries = _read_queries(release, request.part)
    chunked = [baseline_systems.name_chunked_run(name, splitter) for splitter in splitters for name in names]
    run_names = chunked or names
    suffix = baseline_files.CHUNK_SUFFIX if splitters else baseline_files.RUN_SUFFIX
    baseline_files.refuse_existing_files(out, run_names, suffix, request.replace)
    documents = [] if engine is not None else _read_documents(store, release, progress)
    ids = baseline_files.ExportedIds(release)
    about = _describe_search(request, release, len(queries), len(documents))
    with (
        baseline_systems.open_searchers(store, release, names, documents, splitters, request.model)
        if engine is None
        else baseline_systems.open_engine_searchers(
            store, release, engine, queries, request.depth, say, progress
        )
    ) as searchers:
        runs = baseline_files.write_runs(out, searchers, queries, ids, about, progress)
    if release.file is None:
        detail = {"release": release.row.release_id, "name": request.release, "split": request.part}
        note_event(store, "run baselines", {**detail, "systems": run_names, "depth": request.depth}, actor)
    return BaselineRuns(
        name=request.release,
        release_id=release.row.release_id,
        part=request.part,
        depth=request.depth,
        queries=len(queries),
        documents=len(documents),
        without_text=sum(not document.text for document in documents),
        mapped=ids.mapped,
        out=out,
        runs=runs,
    )


def _refuse_engine_documents(release: FrozenRelease, request: BaselineRequest, names: Sequence[str]) -> None:
    """Reject a search of documents that came from engines, because they are only part of the engines'
    corpus."""
    if request.engine is None and release.header.get("held"):
        raise RefusedError(
            f"This is not possible on the release {request.release!r}: its corpus has only documents that "
            f"search engines returned, and {', '.join(names)} would treat these documents as the whole "
            "corpus. Query the engine instead, with --engine."
        )


def _describe_search(
    request: BaselineRequest, release: FrozenRelease, queries: int, documents: int
) -> dict[str, Any]:
    """Describe everything on which all runs of a request depend; each run's JSON file contains this
    description."""
    return {
        "release": request.release,
        "release_id": release.row.release_id,
        "split": request.part,
        "depth": request.depth,
        "queries": queries,
        "documents": documents,
        "versions": {"goldgrade": __version__, "numpy": version("numpy"), "scipy": version("scipy")},
        "timed": TIMED_SEARCH if request.engine is None else TIMED_REQUEST,
    }


def _choose_systems(request: BaselineRequest) -> list[str]:
    """Choose a request's systems, in goldgrade's order; an engine replaces all systems."""
    systems = SYSTEMS if request.engine is not None else request.systems
    imported_runs = [system for system in systems if system.startswith(RUN_PREFIX)]
    problems = []
    if request.depth < 1:
        problems.append(f"--depth {request.depth}: expected at least 1 document per query.")
    if imported_runs:
        problems.append(
            f"{', '.join(imported_runs)}: this is already a run; `goldgrade baseline` makes runs "
            f"of {', '.join(SYSTEMS)}."
        )
    refuse_problems(problems)
    return sort_systems(systems) if request.engine is None else [request.engine.engine.name]


def _read_queries(release: FrozenRelease, part: str) -> list[Query]:
    """Read the queries in one part of a release."""
    if part != ALL:
        refuse_unknown_parts(release.header["queries"], [part])
    return [make_query(row) for row in release.rows("queries") if part in (ALL, row["part"])]


def _read_documents(store: Store, release: FrozenRelease, progress: Progress) -> list[Document]:
    """Read the document versions of a release."""
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
