"""A run's chunks, located in a release's documents.

A run of chunks has a part of a document at each rank of a list. The file gives the part by the columns start
and end, by ids such as `doc#0-120`, by ids that a map of chunks has (`chunk_map`), or by the texts of chunks
(`chunk_texts`). A chunk of a different version of a document is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.arrow import int_array, string_array, to_ints
from curation.core.statistics.arrays import Ints, Mask
from curation.core.text import pluralize
from curation.evaluation.scoring.chunk_measures import UNKNOWN
from curation.evaluation.scoring.chunk_texts import ChunkRanges, ScoredLists, count_words, find_texts
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.pinned_bodies import PinnedBodies
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.values import parse_whole_number

CHUNK_ID = re.compile(r"(.+)#(\d{1,12})-(\d{1,12})", re.DOTALL)
MAP_AGAIN = "cut or map the chunks again from the documents of this release"
NO_OFFSET = -OPEN
"""Stands for the offset of a line whose offset is not a number."""
WAY_OUT = "Add the columns start and end to the run or the mapped index for exact places."


class ChunkLocation(NamedTuple):
    """The range of a chunk in a document's body.

    The end of a whole document is `UNKNOWN`. A part that was not found has an `UNKNOWN` start as well.

    Attributes
    ----------
    content_hash: the version of the document; '' if the version is unknown.
    places: the number of ranges that the part may have.
    """

    document_id: str
    start: int
    end: int
    content_hash: str = ""
    places: int = 1


class ChunkCounts(NamedTuple):
    """Counts of chunks, including chunks whose text was not found or was found several times.

    Attributes
    ----------
    not_found: chunks whose document lacks their text.
    twice: chunks whose document has their text twice or more, so that their place is not sure.
    first_not_found, first_twice: the first line with such a chunk.
    """

    chunks: int
    not_found: int = 0
    first_not_found: int | None = None
    twice: int = 0
    first_twice: int | None = None

    def sentences(self) -> list[str]:
        """Warn about chunk texts that were not found or were found several times."""
        sentences = []
        if self.not_found:
            lacking = pluralize(self.not_found, "chunk has", "chunks have")
            line = self.first_not_found
            sentences.append(f"{lacking} a text that is not in the document, first in line {line}.")
        if self.twice:
            sentences.append(
                f"{pluralize(self.twice, 'chunk has', 'chunks have')} a text that the document has "
                f"several times, first in line {self.first_twice}. Each repeated chunk is placed at the "
                "next free occurrence: by rank in a run, and after the previous chunk in an index."
            )
        return sentences


class LocatedChunks(NamedTuple):
    """The chunks of C lines of a file, located in documents, with columns as in `RunChunks`.

    Attributes
    ----------
    range_counts: the number of ranges that each chunk may have; 0 for a chunk that was not found, shape (C,).
    """

    documents: pa.DictionaryArray
    start: Ints
    end: Ints
    words: Ints
    first_word: Ints
    range_counts: Ints
    counts: ChunkCounts

    @property
    def is_found(self) -> Mask:
        """Return whether each chunk was found in its document, shape (C,)."""
        return self.range_counts > 0


def locate_chunks(
    line: Ints,
    documents: pa.DictionaryArray,
    columns: Mapping[str, pa.Array],
    bodies: PinnedBodies,
    chunk_map: Mapping[str, ChunkLocation],
    problems: Problems,
    scored_lists: ScoredLists | None = None,
) -> LocatedChunks | None:
    """Locate the chunks of a file's lines in their documents; None if they list whole documents.

    Parameters
    ----------
    line, documents, columns: the C lines; columns have the names of `RunFile.chunk_columns`.
    scored_lists: the lists of a run; None for an index in order.

    Raises
    ------
    InputError: offsets that are not numbers, outside the document or of a different version; or an id that
        the map of chunks lacks.
    """
    codes = to_ints(documents.indices)
    locations = [locate_id(name, bodies.hashes, chunk_map) for name in documents.dictionary.to_pylist()]
    if any(location.content_hash for location in locations):
        _note_unmapped_chunks(line, documents, locations, bodies, problems)
    if not columns and all(location.end == UNKNOWN for location in locations):
        return None
    named = string_array([location.document_id for location in locations]).dictionary_encode()
    ids = named.dictionary.to_pylist()
    document = to_ints(named.indices)[codes]
    if "text" in columns:
        ranges = find_texts(columns["text"], ids, document, bodies, scored_lists)
    elif columns:
        start, end = (_read_offsets(columns[name], line, name, problems) for name in ("start", "end"))
        ranges = start, end, np.ones(len(line), np.int64)
    else:
        ranges = _find_ranges_of_ids(locations, codes, bodies.find_lengths(ids)[document])
    versions = string_array([location.content_hash for location in locations]).take(int_array(codes))
    versions = columns.get("content_hash", versions)
    _refuse_wrong_ranges(line, ids, document, ranges, versions, bodies, problems)
    start, end, range_counts = ranges
    is_found = range_counts > 0
    body_words, first_word = bodies.count_words(ids, document, start, end)
    words = np.where(is_found, body_words, count_words(columns["text"]) if "text" in columns else UNKNOWN)
    first_word = np.where(is_found, first_word, UNKNOWN)
    located_documents = pa.DictionaryArray.from_arrays(int_array(document), named.dictionary)
    counts = _count_chunks(line, range_counts)
    return LocatedChunks(located_documents, start, end, words, first_word, range_counts, counts)


def locate_id(name: str, ids: Collection[str], chunk_map: Mapping[str, ChunkLocation]) -> ChunkLocation:
    """Parse an id as a chunk or as a whole document; the end of a whole document is `UNKNOWN`."""
    match = None if name in chunk_map or name in ids else CHUNK_ID.fullmatch(name)
    if match is not None and match[1] in ids:
        return ChunkLocation(match[1], int(match[2]), int(match[3]))
    return chunk_map.get(name) or ChunkLocation(name, 0, UNKNOWN)


def warn_of_unsure_ranges(by_text: Mapping[str, bool]) -> str:
    """Warn if only some of the compared systems have chunks at uncertain positions in documents; '' if no
    system or every system does.

    Parameters
    ----------
    by_text: system → whether chunks are given by texts that occur several times in their documents.
    """
    names = [name for name, unsure in by_text.items() if unsure]
    if not names or len(names) == len(by_text):
        return ""
    return (
        f"{', '.join(names)}: chunks are given by texts that occur several times in their documents. "
        f"Differences from other systems may be due only to these uncertain places. {WAY_OUT}"
    )


def _note_unmapped_chunks(
    line: Ints,
    documents: pa.DictionaryArray,
    locations: Sequence[ChunkLocation],
    bodies: PinnedBodies,
    problems: Problems,
) -> None:
    """Report the ids that are in neither the chunk map nor the release, each with its first line."""
    for code, row in zip(*np.unique(to_ints(documents.indices), return_index=True), strict=True):
        if locations[code].document_id not in bodies.hashes:
            fault = f"the map has no chunk {documents[row].as_py()!r} of a document of the release"
            problems.add(int(line[row]), fault, "Map the whole index again, for this release.")


def _read_offsets(column: pa.Array, line: Ints, name: str, problems: Problems) -> Ints:
    try:
        return to_ints(pc.cast(column, pa.int64()))
    except pa.ArrowInvalid:
        cells = column.to_pylist()
        offsets = [parse_whole_number(cell) for cell in cells]
    for line_number, cell, offset in zip(line.tolist(), cells, offsets, strict=True):
        if offset is None:
            fault = f"the {name} of the chunk is {cell!r}; expected a whole number of characters"
            problems.add(line_number, fault)
    return np.array([NO_OFFSET if offset is None else offset for offset in offsets], np.int64)


def _find_ranges_of_ids(locations: Sequence[ChunkLocation], codes: Ints, lengths: Ints) -> ChunkRanges:
    """Find the range of characters for each line's chunk id; a chunk without a range gets a range beyond the
    document's end."""
    columns = [(location.start, location.end, location.places) for location in locations]
    start, end, range_counts = np.array(columns, np.int64).reshape(-1, 3)[codes].T
    is_found = start != UNKNOWN
    start = np.where(is_found, start, lengths + codes)  # ranges behind the end of the document differ by id
    end = np.where(is_found, np.where(end == UNKNOWN, lengths, end), start + 1)
    return start, end, np.where(is_found, np.maximum(range_counts, 1), 0)


def _refuse_wrong_ranges(
    line: Ints,
    ids: Sequence[str],
    document: Ints,
    ranges: ChunkRanges,
    versions: pa.Array,
    bodies: PinnedBodies,
    problems: Problems,
) -> None:
    """Reject chunks from a different version of their document, and chunks that end beyond the document's
    text."""
    start, end, range_counts = ranges

    def note(rows: Ints, describe: Callable[[int], str], way_out: str) -> None:
        for row in rows.tolist():
            chunk = f"the chunk {start[row]}-{end[row]} of document {ids[document[row]]!r}"
            problems.add(int(line[row]), f"{chunk} {describe(row)}: {way_out}")

    pinned = string_array([bodies.hashes.get(name, "") for name in ids]).take(int_array(document))
    both_known = pc.and_(pc.not_equal(versions, ""), pc.not_equal(pinned, ""))
    differs = np.zeros(len(line), bool)
    differs[to_ints(pc.indices_nonzero(pc.and_(both_known, pc.not_equal(versions, pinned))))] = True
    first_of_document = np.flatnonzero(differs)[np.unique(document[differs], return_index=True)[1]]
    other = "the release has a different version"
    rows = np.sort(first_of_document)
    note(rows, lambda row: f"belongs to the version {str(versions[row])[:12]}; {other}", MAP_AGAIN)
    lengths = bodies.find_lengths(ids)[document]
    is_outside = (start < 0) | (end <= start) | (end > lengths)
    is_number = (start > NO_OFFSET) & (end > NO_OFFSET)
    is_known = np.array([name in bodies.hashes for name in ids])[document]
    note(
        np.flatnonzero((range_counts > 0) & is_outside & is_number & ~differs),
        lambda row: (
            f"is outside its text, which has {lengths[row]:,} characters"
            if is_known[row]
            else "is not a chunk"
        ),
        f"expected 0 ≤ start < end ≤ length, in characters from 0; {MAP_AGAIN}",
    )
    problems.check()


def _count_chunks(line: Ints, range_counts: Ints) -> ChunkCounts:
    not_found = line[range_counts == 0].tolist()
    several = line[range_counts > 1].tolist()
    return ChunkCounts(
        chunks=len(line),
        not_found=len(not_found),
        first_not_found=min(not_found, default=None),
        twice=len(several),
        first_twice=min(several, default=None),
    )
