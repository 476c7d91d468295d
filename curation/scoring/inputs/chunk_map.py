"""A map of chunks: what an index calls its chunks, and where they are in the documents of a release.

It is made once of what a splitter wrote: a table of id, document, and start and end or text. The map has the
version of each document, so that it is not taken for another one. With it runs are evaluated that have the
index's own ids.
"""

from __future__ import annotations

import csv
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from curation.arrow import ints_of, texts
from curation.errors import InputError
from curation.files.fields import ChunkFields, column
from curation.files.records import Records
from curation.files.values import text_of
from curation.progress import Progress, silent
from curation.releases.verify import opened
from curation.scoring.inputs.bodies import PinnedBodies
from curation.scoring.inputs.run_chunks import ChunkCounts, ChunkPlace, LocatedChunks, located_chunks
from curation.statistics.arrays import Ints
from curation.store import Store

COLUMNS = ("chunk_id", *ChunkPlace._fields)


@dataclass(frozen=True)
class SplitterFields(ChunkFields):
    """Columns of what a splitter wrote."""

    chunk: str | None = column(
        "Chunk", "the chunk's id", ("chunk_id", "id", "_id", "node_id"), "the chunks' ids"
    )


@dataclass(frozen=True)
class ChunkMap:
    """Chunks that were mapped; those that were not found are not in the file.

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
    store: Store, name: str, splitter: Path, out: Path, apart: bool = False, progress: Progress = silent
) -> ChunkMap:
    """Find the chunks of a splitter's file in the documents of a release, and write their map.

    Parameters
    ----------
    apart: the splitter promises that the chunks of a document do not overlap.

    Raises
    ------
    InputError: the file cannot be read, or chunks are of unknown documents or versions, outside their
        documents, there twice, or overlap although they should not.
    NotFoundError, RefusedError: as `opened`.
    """
    release = opened(store, name)
    bodies = PinnedBodies(store, release)
    records = Records(splitter, None, progress)
    used = records.resolve(SplitterFields(), but=("query", "rank", "score"))
    wanted = used.of_chunks
    if not wanted:
        records.refuse_columns("no columns are known to hold the chunks' start and end, nor one their text")
    rows = []
    with suppress(InputError):  # noted with the file's problems
        columns = [used.chunk, used.document, *wanted.values()]
        rows = [(line, [text_of(values.get(one or "")) for one in columns]) for line, values in records]
    records.problems.check()
    line = np.array([number for number, _ in rows], np.int64)
    chunk, document, *others = (list(column) for column in zip(*(texts for _, texts in rows), strict=True))
    times = Counter(chunk)
    for number, one, own in zip(line.tolist(), chunk, document, strict=True):
        if own not in bodies.hashes:
            lacks = f"the chunk {one!r} is of document {own!r}, which the release does not have"
            records.problems.add(number, lacks, "Leave it out, or split the documents of the release.")
        elif times[one] > 1:
            records.problems.add(number, f"{times[one]} chunks are {one!r}", "Give each an id of its own.")
    records.problems.check()
    given = dict(zip(wanted, map(texts, others), strict=True))
    found = located_chunks(line, texts(document).dictionary_encode(), given, bodies, {}, records.problems)
    assert found is not None  # there are columns of chunks
    overlapping = _overlapping(found)
    for row in overlapping.tolist() if apart else ():
        sentence = f"the chunk {chunk[row]!r} of {document[row]!r} begins before the one before it ends"
        records.problems.add(int(line[row]), sentence, "Leave out --no-overlap where chunks may overlap.")
    records.problems.check()
    if not found.found.any():
        records.refuse_nothing_taken("chunk", {"with a text that its document does not have": len(line)})
    _write(out, chunk, document, found, bodies)
    ids = {document[row] for row in np.flatnonzero(found.found).tolist()}
    return ChunkMap(release.row.name, release.row.release_id, out, len(ids), found.counts, len(overlapping))


def _overlapping(chunks: LocatedChunks) -> Ints:
    """The chunks that begin before one that begins earlier in their document ends."""
    document = ints_of(chunks.documents.indices)
    order = np.lexsort((chunks.start, document))[chunks.found[np.lexsort((chunks.start, document))]]
    same = np.diff(document[order]) == 0
    return np.sort(order[1:][same & (chunks.start[order[1:]] < chunks.end[order[:-1]])])


def _write(
    path: Path, chunk: list[str], document: list[str], found: LocatedChunks, bodies: PinnedBodies
) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in np.flatnonzero(found.found).tolist():
                own = document[row]
                writer.writerow([chunk[row], own, found.start[row], found.end[row], bodies.hashes[own]])
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
                row["chunk_id"]: ChunkPlace(
                    row["document_id"], int(row["start"]), int(row["end"]), row["content_hash"]
                )
                for row in csv.DictReader(file)
            }
    except (OSError, ValueError, KeyError, TypeError) as error:
        expected = f"expected a CSV file with the columns {', '.join(COLUMNS)}, as the chunks were mapped to"
        raise InputError(f"it is no map of chunks ({error}); {expected}", path=path) from error
