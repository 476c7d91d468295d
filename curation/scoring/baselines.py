"""Baselines: BM25, dense and hybrid on a release's own corpus, written as TREC run files for any tool.

Or an engine, asked for the release's queries: it searches what it has, so documents that the release lacks
may be in its run. Its seconds are of one request each.

Or the same systems over chunks: each splitter cuts the documents, and each system searches the chunks, with
their document's title before them. Such a run is a CSV file with the offsets of chunks, and with the version
of their document.

What is searched is what the release pins: its versions of the documents, for its queries. No grade is read,
so a run gives nothing away and passes no seal.

Tools order a run by its scores, some compare them in single precision, and each breaks ties in its own way.
So scores are written as singles that decrease strictly: a document that scores as the one above it is written
with the next smaller single. The order of equal scores is the retrievers': by document id. Ids are those of
the TREC export.

With each run file is a JSON file of the same name with all that the run depends on, and the seconds that
each query took. The run file has the same bytes each time; seconds have not.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from curation import __version__
from curation.engines.answers import StoredList, ask_missing, forget, read_asked
from curation.engines.client import Engine, EngineClient
from curation.errors import InputError, RefusedError, refuse_problems
from curation.pooling.request import SYSTEMS
from curation.pooling.systems import Systems, known_systems
from curation.progress import Progress, silent
from curation.releases.export.formats.trec import without_space
from curation.releases.seal import refuse_unknown_parts
from curation.releases.stored import Pin
from curation.releases.verify import Opened, opened
from curation.retrieval import DEFAULT_MODEL, RUN_PREFIX, Hit, Retriever
from curation.retrieval.terms import choose_stemmer, project_stemmer
from curation.scoring.inputs.run_chunks import ChunkPlace
from curation.scoring.splitters import Splitter, splitters_named
from curation.sources.corpus import content_hash_of
from curation.store import COMMAND_LINE, Document, Query, Store, append_rows, create_store, note_event
from curation.store.documents import corpus_of
from curation.store.staging import staged
from curation.text import digest, normalise_query, quote_formula

DEPTH = 1000
REQUESTED = "wall time of one request over HTTP for each query"
ALL = "all"
RUN_SUFFIX = ".trec"
CHUNK_SUFFIX = ".csv"
CHUNK_COLUMNS = ("query_id", *ChunkPlace._fields[:-1], "rank", "score")
SIDECAR_SUFFIX = ".json"
TIMED = (
    "wall time to search for each query by itself, to the depth of the run; index and embeddings were made "
    "before, those of the queries too"
)
"""What the seconds of a run are."""


class EngineLists:
    """An engine's lists for the queries of a release, as a `Retriever`."""

    def __init__(self, engine: Engine, lists: Sequence[StoredList]) -> None:
        self.name = engine.name
        self.settings = {"kind": engine.kind, "template": json.loads(engine.template.written)}
        self.lists = {one.query_id: one for one in lists}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """See `Retriever.search`; a list that is not whole is none, and without scores ranks order it."""
        lists = [self.lists[query.query_id] for query in queries]
        scores = [one.scores or [float(-rank) for rank in range(len(one.document_ids))] for one in lists]
        return [list(map(Hit, one.document_ids, of_list)) for one, of_list in zip(lists, scores, strict=True)]

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        return self.lists[query.query_id].left_out or "the engine has nothing for the query"


def chunked_name(system: str, splitter: Splitter) -> str:
    """What the run of a system over a splitter's chunks is called."""
    return f"{system}-{splitter.name.replace('/', '-')}"


class ChunkedSystem:
    """A `Retriever` over the chunks that a splitter makes of documents.

    Attributes
    ----------
    places: id of a chunk as the system has it → where it is.
    """

    def __init__(self, system: Retriever, splitter: Splitter, places: Mapping[str, ChunkPlace]) -> None:
        self.name = chunked_name(system.name, splitter)
        self.settings = {**system.settings, "chunks": len(places), "splitter": splitter.name}
        self.places, self._system = places, system
        self.search = system.search

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`: what is searched is chunks."""
        return self._system.why_none(query).replace("documents", "chunks")

    def lines(self, query_id: str, hits: Sequence[Hit]) -> list[str]:
        """The lines of one query, with scores as `run_lines` has them."""
        written = StringIO()
        writer = csv.writer(written, lineterminator="\n")
        for rank, (hit, score) in enumerate(zip(hits, _scores(hits), strict=True), 1):
            writer.writerow(
                [
                    quote_formula(str(cell))
                    for cell in (query_id, *self.places[hit.document_id][:-1], rank, score)
                ]
            )
        return written.getvalue().splitlines()


@dataclass(frozen=True)
class BaselineRun:
    """One system's run as it was written.

    Attributes
    ----------
    file, sidecar: where it was written: the run, and what it depends on.
    results: lines of the run file.
    empty: reason → queries for which nothing was found; they are not in the run file.
    seconds: per query, the mean (see `TIMED`).
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
    part: of the split whose queries were searched for, or 'all'.
    without_text: documents without any text, which no system finds.
    mapped: ids that hold white space and were encoded, as in the TREC export.
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


def write_baselines(
    store: Store,
    name: str,
    systems: Sequence[str],
    out: Path,
    *,
    depth: int = DEPTH,
    part: str = ALL,
    model: str = DEFAULT_MODEL,
    replace: bool = False,
    engine: EngineClient | None = None,
    chunks: Sequence[str] = (),
    say: Callable[[str], object] = lambda _: None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> BaselineRuns:
    """Search a release's corpus for its queries and write one run file a system into the folder `out`.

    All files are written next to their place and moved there when all are whole.

    Parameters
    ----------
    systems: names out of `pooling.SYSTEMS`.
    part: of the split, or 'all'.
    model: what dense and hybrid embed with.
    replace: write over files of the same names.
    engine: is asked in the place of `systems`; `say` is called with what is sent where, before it is.
    chunks: splitters, each of which makes chunks that the systems search in the place of whole documents.

    Raises
    ------
    InputError: unknown systems or part, a depth below 1; files of the same names are there and are not to be
        replaced; the folder cannot be written.
    NotFoundError: there is no such release or model.
    RefusedError: the release or a document of it is not as it was frozen, a newer goldset froze it, its
        corpus is held, the model cannot be used, or the engine gives no answer.
    """
    names = _checked(systems if engine is None else SYSTEMS, depth)
    names = names if engine is None else [engine.engine.name]
    splitters = splitters_named(chunks)
    release = opened(store, name)
    if engine is None and release.header.get("held"):
        raise RefusedError(
            f"Not possible on the release {name!r}: it has the documents that engines brought, and "
            f"{', '.join(names)} would take them for the whole corpus. Ask the engine instead, with --engine."
        )
    queries = _queries(release, part)
    out = out.resolve()
    labels = [chunked_name(name, splitter) for splitter in splitters for name in names] or names
    _refuse_existing(out, labels, CHUNK_SUFFIX if splitters else RUN_SUFFIX, replace)
    documents = [] if engine is not None else _documents(store, release, progress)
    about = {
        "release": name,
        "release_id": release.row.release_id,
        "split": part,
        "depth": depth,
        "queries": len(queries),
        "documents": len(documents),
        "versions": {"goldset": __version__, "numpy": version("numpy"), "scipy": version("scipy")},
        "timed": TIMED if engine is None else REQUESTED,
    }
    ids = _ExportedIds(release)
    with (
        _searchers(store, release, names, documents, splitters, model)
        if engine is None
        else _answered(store, release, engine, queries, depth, say, progress)
    ) as searchers:
        runs = _write_all(out, searchers, queries, ids, about, progress)
    if release.file is None:
        detail = {"release": release.row.release_id, "name": name, "split": part}
        note_event(store, "run baselines", {**detail, "systems": labels, "depth": depth}, actor)
    return BaselineRuns(
        name=name,
        release_id=release.row.release_id,
        part=part,
        depth=depth,
        queries=len(queries),
        documents=len(documents),
        without_text=sum(not document.text for document in documents),
        mapped=ids.mapped,
        out=out,
        runs=runs,
    )


def _chunks(documents: Sequence[Document], splitter: Splitter) -> list[tuple[Document, ChunkPlace]]:
    """The chunks as documents to search, with their places; none has a place that another one has."""
    found = []
    for document in documents:
        for start, end in splitter.split(document.body):
            place = ChunkPlace(document.document_id, start, end, document.content_hash)
            name = f"{document.document_id}#{start}-{end}"
            chunk = Document(name, "", document.title, document.body[start:end])
            found.append((chunk._replace(content_hash=content_hash_of(chunk)), place))
    return found


@contextmanager
def _searchers(
    store: Store,
    release: Opened,
    names: Sequence[str],
    documents: Sequence[Document],
    splitters: Sequence[Splitter],
    model: str,
) -> Iterator[list[Retriever]]:
    with ExitStack() as stack:
        searchers: list[Retriever] = []
        if not splitters:
            work = store if release.file is None else stack.enter_context(_scratch(documents))
            found = Systems(work, names, corpus_of(documents), model)
            searchers = [found.retriever(name) for name in names]
        with nullcontext() if release.file else store.reading() as cursor:
            stemmer = project_stemmer(cursor) if cursor else None
        for splitter in splitters:
            cut = _chunks(documents, splitter)
            places = {chunk.document_id: place for chunk, place in cut}
            work = stack.enter_context(_scratch([chunk for chunk, _ in cut], stemmer))
            corpus = corpus_of(chunk for chunk, _ in cut)
            found = Systems(work, names, corpus, model, vectors=None if release.file else store)
            searchers += [ChunkedSystem(found.retriever(name), splitter, places) for name in names]
        yield searchers


@contextmanager
def _answered(
    store: Store,
    release: Opened,
    engine: EngineClient,
    queries: Sequence[Query],
    depth: int,
    say: Callable[[str], object],
    progress: Progress,
) -> Iterator[list[Retriever]]:
    """An engine with its lists, which are kept until the files are written: what breaks off goes on."""
    template = engine.engine.template.template_hash
    request_id = digest(
        "engine run of a release", release.row.release_id, engine.engine.name, template, depth
    )
    with store.reading() as cursor:
        asked = read_asked(cursor, request_id, queries)
    say(engine.notice_of_lists(len(asked.missing)))
    lists = ask_missing(store, engine, asked, lambda one: engine.search(one.text, depth), progress)
    yield [EngineLists(engine.engine, lists)]
    forget(store, asked)


@contextmanager
def _scratch(documents: Sequence[Document], stemmer: str | None = None) -> Iterator[Store]:
    """A project of these documents for what searching them keeps, such as counts of words."""
    with TemporaryDirectory() as folder:
        store = create_store(Path(folder) / "scratch.duckdb")
        try:
            with store.transaction(appends=True) as cursor:
                append_rows(cursor, "documents", documents)
                if stemmer is not None:
                    choose_stemmer(cursor, stemmer)
            yield store
        finally:
            store.close()


def run_lines(query_id: str, hits: Sequence[Hit], tag: str, ids: Mapping[str, str]) -> list[str]:
    """The lines of one query in TREC's six columns; see the head of the module for the scores.

    Parameters
    ----------
    ids: document id → id as it is written.
    """
    return [
        f"{query_id} Q0 {ids[hit.document_id]} {rank} {score} {tag}"
        for rank, (hit, score) in enumerate(zip(hits, _scores(hits), strict=True), 1)
    ]


def _scores(hits: Sequence[Hit]) -> list[str]:
    return decreasing([hit.score or 0.0 for hit in hits])


def decreasing(scores: Iterable[float]) -> list[str]:
    """Scores, best first, as texts of singles that decrease strictly: each as near to its own as can be."""
    written: list[str] = []
    above = np.float32(np.inf)
    for score in scores:
        above = min(np.float32(score), np.nextafter(above, np.float32(-np.inf)))
        written.append(str(above))
    return written


class _ExportedIds:
    """The ids of a release as its TREC export has them."""

    def __init__(self, release: Opened) -> None:
        self.queries = without_space(row["query_id"] for row in release.rows("queries"))
        self.documents = without_space(row["document_id"] for row in release.rows("documents"))
        pairs = [*self.queries.items(), *self.documents.items()]
        self.mapped = sum(exported != own for own, exported in pairs)

    def of(self, hits: Sequence[Hit]) -> dict[str, str]:
        """Document id → id as it is written, of those that the release lacks, too."""
        written = without_space(hit.document_id for hit in hits)
        return {one: self.documents.get(one, other) for one, other in written.items()}


def _checked(systems: Sequence[str], depth: int) -> list[str]:
    problems = []
    if depth < 1:
        problems.append(f"--depth {depth}: expected at least 1 document a query.")
    if named := [system for system in systems if system.startswith(RUN_PREFIX)]:
        problems.append(
            f"{', '.join(named)}: an imported run is a run already; `goldset run` makes those of "
            f"{', '.join(SYSTEMS)}."
        )
    refuse_problems(problems)
    return known_systems(systems)


def _queries(release: Opened, part: str) -> list[Query]:
    rows = release.rows("queries")
    if part != ALL:
        refuse_unknown_parts(release.header["queries"], [part])
    return [
        Query(
            row["query_id"],
            row["text"],
            normalise_query(row["text"]),
            row["source"],
            row.get("information_need"),
        )
        for row in rows
        if part in (ALL, row["part"])
    ]


def _documents(store: Store, release: Opened, progress: Progress) -> list[Document]:
    """The documents as the release pins them."""
    pins = [Pin(row["document_id"], row["content_hash"]) for row in release.rows("documents")]
    found = []
    for number, (pin, document) in enumerate(release.pinned(store, pins), 1):
        if document is None or content_hash_of(document) != pin.content_hash:
            raise RefusedError(
                f"The document {pin.document_id!r} of the release {release.row.name!r} is not as it was "
                f"frozen, so nothing was searched. `goldset verify {release.row.name}` names everything."
            )
        found.append(document)
        progress("reading documents", number, len(pins))
    return found


def _refuse_existing(out: Path, names: Sequence[str], ending: str, replace: bool) -> None:
    if out.exists() and not out.is_dir():
        raise InputError("is a file; expected a folder for the runs", path=out)
    files = [f"{name}{suffix}" for name in names for suffix in (ending, SIDECAR_SUFFIX)]
    there = [] if replace else [name for name in files if (out / name).exists()]
    if there:
        raise InputError(
            f"holds {', '.join(there)} already; choose another folder, or write over them with --overwrite",
            path=out,
        )


def _write_all(
    out: Path,
    systems: Sequence[Retriever],
    queries: Sequence[Query],
    ids: _ExportedIds,
    about: Mapping[str, Any],
    progress: Progress,
) -> list[BaselineRun]:
    """Write the files next to their place and move them there when all are whole."""
    try:
        with staged(out) as new:
            runs = [_write_run(new, out, system, queries, ids, about, progress) for system in systems]
            out.mkdir(parents=True, exist_ok=True)
            for path in sorted(new.iterdir()):
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
    """Write one system's run and what it depends on into `folder`, which is going to be `out`."""
    if not isinstance(system, EngineLists):
        system.search(queries, 1, progress)  # makes the index and the embeddings
    lines: list[str] = []
    chunked = isinstance(system, ChunkedSystem)
    seconds: dict[str, float] = {}
    empty: Counter[str] = Counter()
    for done, query in enumerate(queries, 1):
        began = perf_counter()
        [hits] = system.search([query], about["depth"])
        took = perf_counter() - began
        query_id = ids.queries[query.query_id]
        if isinstance(system, EngineLists):
            took = system.lists[query.query_id].seconds
        seconds[query_id] = round(took, 6)
        if isinstance(system, ChunkedSystem):
            lines += system.lines(query.query_id, hits)
        else:
            lines += run_lines(query_id, hits, system.name, ids.of(hits))
        if not hits:
            empty[system.why_none(query)] += 1
        progress(f"{system.name}: write", done, len(queries))
    head = [",".join(CHUNK_COLUMNS)] if chunked else []
    content = "".join(f"{line}\n" for line in [*head, *lines]).encode("utf-8")
    sha256 = hashlib.sha256(content).hexdigest()
    mean = round(sum(seconds.values()) / max(1, len(seconds)), 6)
    ending = CHUNK_SUFFIX if chunked else RUN_SUFFIX
    run, sidecar = (f"{system.name}{suffix}" for suffix in (ending, SIDECAR_SUFFIX))
    (folder / run).write_bytes(content)
    described = {
        "system": system.name,
        "settings": dict(system.settings),
        **about,
        "empty": dict(sorted(empty.items())),
        "file": {"name": run, "sha256": sha256, "lines": len(lines)},
        "seconds": {"mean": mean, "queries": seconds},
    }
    text = json.dumps(described, ensure_ascii=False, indent=2, sort_keys=True)
    (folder / sidecar).write_text(f"{text}\n", encoding="utf-8")
    return BaselineRun(
        system.name,
        out / run,
        out / sidecar,
        len(seconds),
        len(lines),
        dict(sorted(empty.items())),
        mean,
        sha256,
    )
