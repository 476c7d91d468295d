"""A map of chunks: what an index calls its chunks, and where they are in the documents of a release.

It is made once of what a splitter wrote: a table of id, document, and start and end or text. The map has the
version of each document, so that it is not taken for another one, and of texts how many places they may be
at: one where their order leaves no other. With it runs are evaluated that have the index's own ids.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from curation.core.arrow import ints_of, texts
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints
from curation.core.text import alike, quote_formula, unquote_formula
from curation.evaluation.scoring.inputs.bodies import PinnedBodies
from curation.evaluation.scoring.inputs.run_chunks import (
    ChunkCounts,
    ChunkPlace,
    LocatedChunks,
    located_chunks,
)
from curation.evaluation.scoring.metrics.evidence import UNKNOWN
from curation.ingest.importers.unknown_names import like_known
from curation.ingest.readers.columns import column
from curation.ingest.readers.fields import ChunkFields
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import text_of
from curation.releases.verify import load_release
from curation.store import Store

COLUMNS = ("chunk_id", *ChunkPlace._fields)


@dataclass(frozen=True)
class SplitterFields(ChunkFields):
    """Columns of what a splitter wrote."""

    chunk: str | None = column(
        "Chunk", "the chunk's id", ("chunk_id", "id", "_id", "node_id"), "the chunks' ids", ids=True
    )


@dataclass(frozen=True)
class ChunkMap:
    """Chunks that were mapped; those that were not found have `UNKNOWN` places in the file.

    Attributes
    ----------
    overlapping: chunks that begin before the one before them ends.
    """

    release: str
    release_id: str
    file: Path
    documents: int
    counts: ChunkCounts
    overlapping: int


def map_chunks(
    store: Store,
    name: str,
    splitter: Path,
    out: Path,
    fields: SplitterFields = SplitterFields(),
    apart: bool = False,
    progress: Progress = silent,
) -> ChunkMap:
    """Find the chunks of a splitter's file in the documents of a release, and write their map.

    Parameters
    ----------
    apart: the splitter promises that the chunks of a document do not overlap.

    Raises
    ------
    InputError: the file cannot be read, or chunks are of unknown documents or versions, outside their
        documents, there twice, or overlap although they should not.
    NotFoundError, RefusedError: as `load_release`.
    """
    release = load_release(store, name)
    bodies = PinnedBodies(store, release)
    records = Records(splitter, None, progress)
    problems, rows = records.problems, _read(records, fields, bodies)
    document = texts(rows.document).dictionary_encode()
    found = located_chunks(rows.line, document, rows.columns, bodies, {}, problems)
    assert found is not None  # there are columns of chunks
    overlapping = _overlapping(found)
    for row in overlapping.tolist() if apart else ():
        begins = (
            f"the chunk {rows.chunk[row]!r} of {rows.document[row]!r} begins before the one before it ends"
        )
        problems.add(int(rows.line[row]), begins, "Leave out --no-overlap where chunks may overlap.")
    problems.check()
    if not found.found.any():
        nowhere = f"line {rows.line[0]}: the chunk's text is not in its document, nor is that of any other"
        problems.stop(nowhere, "Split the texts that the release has, or give start and end of each chunk.")
    start, end = (np.where(found.found, column, UNKNOWN).tolist() for column in (found.start, found.end))
    hashes = [bodies.hashes[name] for name in rows.document]
    places = [found.places.tolist()] if "text" in rows.columns else []
    _write(out, [rows.chunk, rows.document, start, end, hashes, *places])
    documents = len({name for name, place in zip(rows.document, start, strict=True) if place != UNKNOWN})
    return ChunkMap(release.row.name, release.row.release_id, out, documents, found.counts, len(overlapping))


class _MapRows(NamedTuple):
    """A splitter's chunks; columns as `located_chunks` takes them."""

    line: Ints
    chunk: list[str]
    document: list[str]
    columns: dict[str, pa.Array]


def _read(records: Records, fields: SplitterFields, bodies: PinnedBodies) -> _MapRows:
    used = records.resolve(fields, but=("query", "rank", "score"))
    wanted = used.of_chunks
    if not wanted:
        records.refuse_columns(
            "no columns are known to hold the chunks' start and end, nor one their text: name them with "
            "--start-field and --end-field, or with --text-field"
        )
    names, first = [used.chunk, used.document, *wanted.values()], dict[str, int]()
    rows = []
    with suppress(InputError):  # noted with the file's problems
        for line, values in records:
            chunk, document, *others = (text_of(values.get(name or "")) for name in names)
            fault = ""
            if not chunk:
                fault = "the chunk has no id: give it one"
            elif first.setdefault(chunk, line) != line:
                fault = f"the chunk {chunk!r} again, also in line {first[chunk]}: give it an id of its own"
            elif document not in bodies.hashes:
                like = like_known(document, partial(alike, known=bodies.hashes))
                fault = (
                    f"the chunk {chunk!r} is of {document!r}, no document of the release{like}: leave it out"
                )
            if fault:
                records.problems.add(line, fault)
            else:
                rows.append((line, chunk, document, *others))
    if not rows:
        records.problems.check()
    lines, chunks, documents, *columns = (list(column) for column in zip(*rows, strict=True))
    return _MapRows(np.array(lines), chunks, documents, dict(zip(wanted, map(texts, columns), strict=True)))


def _overlapping(chunks: LocatedChunks) -> Ints:
    """The chunks that begin before the one before them in their document ends."""
    document = ints_of(chunks.documents.indices)
    order = np.lexsort((chunks.start, document))
    order = order[chunks.found[order]]
    same = np.diff(document[order]) == 0
    return np.sort(order[1:][same & (chunks.start[order[1:]] < chunks.end[order[:-1]])])


def _write(path: Path, columns: Sequence[Sequence[Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = zip(*columns, strict=True)
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS[: len(columns)])
            writer.writerows([quote_formula(str(cell)) for cell in row] for row in rows)
    except OSError as error:
        raise InputError(f"the map could not be written: {error.strerror or error}", path=path) from error


def read_chunk_map(path: Path | None) -> dict[str, ChunkPlace]:
    """Chunk id → where it is; nothing without a file.

    Raises
    ------
    InputError: it is no map of chunks.
    """
    if path is None:
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {
                unquote_formula(row["chunk_id"]): ChunkPlace(
                    unquote_formula(row["document_id"]),
                    *(int(row["start"]), int(row["end"])),
                    row["content_hash"],
                    int(row.get("places", 1)),
                )
                for row in csv.DictReader(file)
            }
    except (OSError, ValueError, KeyError, TypeError) as error:
        expected = f"expected CSV with the columns {', '.join(COLUMNS[:-1])}, as the chunks were mapped to"
        raise InputError(f"it is no map of chunks ({error}); {expected}", path=path) from error
