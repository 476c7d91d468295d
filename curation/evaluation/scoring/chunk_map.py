"""The chunk map of an index: the range of each chunk id in a release's documents.

A map is made once from a splitter's table of id, document, and start and end or text, so that runs with the
index's own ids can be evaluated. The map has the version of each document, so that a chunk of a different
version is refused.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from curation.core.arrow import string_array
from curation.core.characters import find_lookalikes, quote_formula, unquote_formula
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.statistics.arrays import Ints
from curation.core.text import pluralize
from curation.evaluation.scoring.chunk_measures import UNKNOWN
from curation.evaluation.scoring.pinned_bodies import PinnedBodies
from curation.evaluation.scoring.run_chunks import ChunkLocation, locate_chunks
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.ingest.readers.fields import ChunkFields, file_column
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text
from curation.releases.frozen_release import load_release
from curation.store import Store

COLUMNS = ("chunk_id", *ChunkLocation._fields)


@dataclass(frozen=True)
class SplitterFields(ChunkFields):
    """The columns of a splitter's table."""

    chunk: str | None = file_column(
        "Chunk", ("chunk_id", "id", "_id", "node_id"), "the chunks' ids", ids=True
    )


def map_chunks(
    store: Store,
    name: str,
    splitter: Path,
    out: Path,
    fields: SplitterFields = SplitterFields(),
    progress: Progress = silent,
) -> list[str]:
    """Find the chunks listed in a splitter's file in the documents of a release, and write a map of the
    chunks' ranges.

    In the map, chunks that were not found have `UNKNOWN` ranges. Returns sentences on the chunks that were
    found and not found.

    Raises
    ------
    InputError: the file cannot be read, or chunks have unknown documents or versions, are outside their
        documents or are repeated.
    NotFoundError, RefusedError: as for `load_release`.
    """
    release = load_release(store, name)
    bodies = PinnedBodies(store, release)
    records = Records(splitter, None, progress)
    problems = records.problems
    lines, chunk_ids, documents, columns = _read_splitter_rows(records, fields, bodies)
    located = locate_chunks(lines, string_array(documents).dictionary_encode(), columns, bodies, {}, problems)
    assert located is not None  # the table has columns of chunks
    problems.check()
    is_found = located.is_found
    if not is_found.any():
        no_text = "no chunk's text is in its document; this is the first"
        fault = f"line {lines[0]}: {no_text}"
        problems.stop(fault, "Split the texts of the release, or give the start and end of each chunk.")
    start = np.where(is_found, located.start, UNKNOWN).tolist()
    end = np.where(is_found, located.end, UNKNOWN).tolist()
    versions = [bodies.hashes[document_id] for document_id in documents]
    range_counts = [located.range_counts.tolist()] if "text" in columns else []
    _write_chunk_map(out, [chunk_ids, documents, start, end, versions, *range_counts])
    located_ids = set(compress(documents, is_found.tolist()))
    chunks = pluralize(located.counts.chunks - located.counts.not_found, "chunk")
    sentence = f"{chunks} of {pluralize(len(located_ids), 'document')} of {release.row.name} were found."
    return [sentence, *located.counts.sentences()]


def read_chunk_map(path: Path | None) -> dict[str, ChunkLocation]:
    """Read the location of each chunk id from a chunk map; empty if there is no file.

    Raises
    ------
    InputError: the file is not a map of chunks.
    """
    if path is None:
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            chunk_map = {}
            for row in csv.DictReader(file):
                start, end, places = int(row["start"]), int(row["end"]), int(row.get("places", 1))
                document_id, version = unquote_formula(row["document_id"]), row["content_hash"]
                location = ChunkLocation(document_id, start, end, version, places)
                chunk_map[unquote_formula(row["chunk_id"])] = location
            return chunk_map
    except (OSError, ValueError, KeyError, TypeError) as error:
        expected = f"expected CSV with the columns {', '.join(COLUMNS[:-1])}, as the chunks were mapped to"
        raise InputError(f"the file is not a map of chunks ({error}); {expected}", path=path) from error


def _read_splitter_rows(
    records: Records, fields: SplitterFields, bodies: PinnedBodies
) -> tuple[Ints, list[str], list[str], dict[str, pa.Array]]:
    """Read the lines, ids and documents of a splitter's chunks, and the columns that `located_chunks`
    needs."""
    chunk_fields = records.resolve(fields, except_fields=("query", "rank", "score"))
    range_columns = chunk_fields.of_chunks
    if not range_columns:
        records.refuse_columns(
            "no known columns have the start and end of chunks, or their text: name columns with "
            "--map start=COLUMN and --map end=COLUMN, or with --map text=COLUMN"
        )
    names = [chunk_fields.chunk, chunk_fields.document, *range_columns.values()]
    first_lines: dict[str, int] = {}
    rows = []
    with suppress(InputError):  # reported with the file's other problems
        for line, values in records:
            chunk_id, document_id, *cells = (to_text(values.get(name or "")) for name in names)
            first_line = first_lines.setdefault(chunk_id, line)
            fault = _find_fault(chunk_id, document_id, first_line, line, bodies)
            if fault:
                records.problems.add(line, fault)
            else:
                rows.append((line, chunk_id, document_id, *cells))
    if not rows:
        records.problems.check()
    lines, chunk_ids, documents, *columns = (list(column) for column in zip(*rows, strict=True))
    arrays = dict(zip(range_columns, map(string_array, columns), strict=True))
    return np.array(lines), chunk_ids, documents, arrays


def _find_fault(chunk_id: str, document_id: str, first_line: int, line: int, bodies: PinnedBodies) -> str:
    """Explain why a row of a splitter's file cannot be mapped, and what to do; '' if the row is usable."""
    if not chunk_id:
        return "the chunk has no id; give each chunk an id"
    if first_line != line:
        return f"the chunk {chunk_id!r} again, also in line {first_line}: give the chunk a different id"
    if document_id not in bodies.hashes:
        like = describe_similar_name(document_id, partial(find_lookalikes, known=bodies.hashes))
        chunk = f"the chunk {chunk_id!r} is of {document_id!r}"
        return f"{chunk}, which is not a document of the release{like}: leave this chunk out"
    return ""


def _write_chunk_map(path: Path, columns: Sequence[Sequence[Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = zip(*columns, strict=True)
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS[: len(columns)])
            writer.writerows([quote_formula(str(cell)) for cell in row] for row in rows)
    except OSError as error:
        raise InputError(f"the map could not be written: {error.strerror or error}", path=path) from error
