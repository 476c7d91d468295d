"""Chunks of runs and of indexes: the places of chunks in documents, and maps of an index's chunks.

A run of chunks has a part of a document at each place of a list. The file gives the part by the columns start
and end, by ids such as `doc#0-120`, by ids that a map of chunks has, or by the texts of chunks. A map of
chunks is made once from a splitter's table of id, document, and start and end or text, so that runs with an
index's own ids can be evaluated. The map has the version of each document, so that a chunk of a different
version is refused.

A text is searched in its document literally, then with different white space and case. A text that the
document lacks keeps its rank and length, and has no evidence. Where a document has a text several times, the
place is chosen without regard to marks. If marks decided, a short text would be placed on marked evidence,
and gain more than a run with offsets can. In a list, the first copy takes the first place and the next copy
the next place; a copy may have different white space or case. A surplus copy repeats a chunk. An index has
its chunks in the order of the documents, so a chunk begins behind the start of the chunk before it: at the
place that follows that chunk without a gap, else at the first place outside that chunk, else at the first
place. A place is sure if the order of all chunks leaves no other place, and no chunk breaks the order.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.arrow import ints_of, numbers, texts
from curation.core.characters import alike, quote_formula, unquote_formula
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.similarity.quotes import places_of
from curation.core.statistics.arrays import Floats, Ints, Mask
from curation.core.text import pluralize
from curation.core.words import word_starts
from curation.evaluation.scoring.chunk_measures import UNKNOWN
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.pinned_bodies import PinnedBodies
from curation.ingest.importers.unknown_names import like_known
from curation.ingest.readers.fields import ChunkFields, file_column
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import parse_whole_number, to_text
from curation.releases.verify import load_release
from curation.store import Store

_CHUNK_ID = re.compile(r"(.+)#(\d{1,12})-(\d{1,12})", re.DOTALL)
_AGAIN = "make, or map, the chunks of other versions again for this release"
_NO_NUMBER = -OPEN
_Place = tuple[int, int, int]
"""Start and end of a text, and the start of the white space before the text."""
_Copy = tuple[int, str]
"""The document of a text, and the text in lower case with single spaces: copies may differ in case and
space."""
WAY_OUT = "The columns start and end, in the run or in the mapped index, would give exact places."


class ChunkPlace(NamedTuple):
    """A part of a document's body.

    The end of a whole document is `UNKNOWN`. A part that was not found has an `UNKNOWN` start as well.

    Attributes
    ----------
    content_hash: the version of the document; '' if the version is unknown.
    places: the number of places that the part may have.
    """

    document_id: str
    start: int
    end: int
    content_hash: str = ""
    places: int = 1


COLUMNS = ("chunk_id", *ChunkPlace._fields)


def said_of_texts(by_text: Mapping[str, bool]) -> str:
    """Warn that some of the compared systems have unsure places; '' if no system or every system has unsure
    places.

    Parameters
    ----------
    by_text: system → whether chunks are given by texts that occur several times in their documents.
    """
    names = [name for name, unsure in by_text.items() if unsure]
    if not names or len(names) == len(by_text):
        return ""
    return (
        f"{', '.join(names)}: chunks are given by texts that occur several times in their documents. "
        f"Differences from the other systems may come only from the uncertain places. {WAY_OUT}"
    )


class ChunkCounts(NamedTuple):
    """The number of chunks, and the numbers of chunks with texts that are not found, or found several times.

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
        """Warn about texts that were not found, or found several times."""
        sentences = []
        if self.not_found:
            lacking = pluralize(self.not_found, "chunk has", "chunks have")
            line = self.first_not_found
            sentences.append(f"{lacking} a text that is not in the document, first in line {line}.")
        if self.twice:
            sentences.append(
                f"{pluralize(self.twice, 'chunk has', 'chunks have')} a text that the document has several "
                f"times, first in line {self.first_twice}. A copy takes the first free place: in a list by "
                "rank, in an index behind the chunk before it."
            )
        return sentences


class LocatedChunks(NamedTuple):
    """The chunks of C lines, with columns as in `RunChunks`.

    Attributes
    ----------
    places: the number of places that each chunk may have, shape (C,).
    is_found: whether each chunk has a place, shape (C,).
    """

    documents: pa.DictionaryArray
    start: Ints
    end: Ints
    words: Ints
    first_word: Ints
    places: Ints
    is_found: Mask
    counts: ChunkCounts


def place_of(name: str, documents: Collection[str], mapped: Mapping[str, ChunkPlace]) -> ChunkPlace:
    """Read an id as a chunk, or as a whole document, whose end is `UNKNOWN`."""
    match = None if name in mapped or name in documents else _CHUNK_ID.fullmatch(name)
    if match is not None and match[1] in documents:
        return ChunkPlace(match[1], int(match[2]), int(match[3]))
    return mapped.get(name) or ChunkPlace(name, 0, UNKNOWN)


def located_chunks(
    line: Ints,
    documents: pa.DictionaryArray,
    columns: Mapping[str, pa.Array],
    bodies: PinnedBodies,
    mapped: Mapping[str, ChunkPlace],
    problems: Problems,
    listed: tuple[Ints, Floats] | None = None,
) -> LocatedChunks | None:
    """Locate the chunks of a file's lines in their documents; None for a file of documents.

    Parameters
    ----------
    line, documents, columns: the C lines; columns have the names of `RunFile.chunk_columns`.
    listed: the number of each line's query, and each line's score, of a run; None for an index in order.

    Raises
    ------
    InputError: offsets that are not numbers, outside the document or of a different version; or an id that
    the
        map of chunks lacks.
    """
    codes = ints_of(documents.indices)
    places = [place_of(name, bodies.hashes, mapped) for name in documents.dictionary.to_pylist()]
    by_map = any(place.content_hash for place in places)
    for code, row in zip(*np.unique(codes, return_index=True), strict=True) if by_map else ():
        if places[code].document_id not in bodies.hashes:
            lacking = f"the map has no chunk {documents[row].as_py()!r} of a document of the release"
            problems.add(int(line[row]), lacking, "Map the whole index again, for this release.")
    if not columns and all(place.end == UNKNOWN for place in places):
        return None
    named = texts([place.document_id for place in places]).dictionary_encode()
    ids, document = named.dictionary.to_pylist(), ints_of(named.indices)[codes]
    lengths, is_found = bodies.lengths(ids)[document], np.ones(len(line), bool)
    words, number = None, np.ones(len(line), np.int64)
    if "text" in columns:
        start, end, words, number = _places_of_texts(columns["text"], ids, document, lengths, bodies, listed)
        is_found = number > 0
    elif columns:
        start, end = (_offsets(columns[name], line, name, problems) for name in ("start", "end"))
    else:
        every = [(place.start, place.end, place.places) for place in places]
        start, end, number = np.array(every, np.int64).reshape(-1, 3)[codes].T
        is_found = start != UNKNOWN
        start = np.where(is_found, start, lengths + codes)  # behind the end, each elsewhere
        end = np.where(is_found, np.where(end == UNKNOWN, lengths, end), start + 1)

    def refuse(wrong: Mask, fault: Callable[[int], str], way_out: str) -> None:
        for row in np.flatnonzero(wrong).tolist():
            sentence = f"the chunk {start[row]}-{end[row]} of document {ids[document[row]]!r} {fault(row)}"
            problems.add(int(line[row]), f"{sentence}: {way_out}")

    hashes = columns.get("content_hash", texts([place.content_hash for place in places]).take(numbers(codes)))
    pinned = texts([bodies.hashes.get(name, "") for name in ids]).take(numbers(document))
    both = pc.and_(pc.not_equal(hashes, ""), pc.not_equal(pinned, ""))
    other = np.zeros(len(line), bool)
    other[ints_of(pc.indices_nonzero(pc.and_(both, pc.not_equal(hashes, pinned))))] = True
    once = np.zeros(len(line), bool)
    once[np.flatnonzero(other)[np.unique(document[other], return_index=True)[1]]] = True  # of each document
    refuse(
        once,
        lambda row: f"belongs to the version {str(hashes[row])[:12]}; the release has another version",
        _AGAIN,
    )
    outside = is_found & ((start < 0) | (end <= start) | (end > lengths)) & ~other
    outside &= (start > _NO_NUMBER) & (end > _NO_NUMBER)
    known = np.array([name in bodies.hashes for name in ids])[document]
    refuse(
        outside,
        lambda row: (
            f"is outside its text, which has {lengths[row]:,} characters" if known[row] else "is no chunk"
        ),
        f"expected 0 ≤ start < end ≤ length, in characters from 0; {_AGAIN}",
    )
    problems.check()
    begun, first = bodies.words(ids, document, start, end)
    words = np.where(is_found, begun, UNKNOWN if words is None else words)
    first_word = np.where(is_found, first, UNKNOWN)
    lines = [line[rows] for rows in (~is_found, number > 1)]
    firsts = [int(rows.min()) if len(rows) else None for rows in lines]
    counts = ChunkCounts(len(line), len(lines[0]), firsts[0], len(lines[1]), firsts[1])
    named = pa.DictionaryArray.from_arrays(numbers(document), named.dictionary)
    return LocatedChunks(named, start, end, words, first_word, number, is_found, counts)


def _offsets(column: pa.Array, line: Ints, name: str, problems: Problems) -> Ints:
    try:
        return ints_of(pc.cast(column, pa.int64()))
    except pa.ArrowInvalid:
        values = column.to_pylist()
        numbers_read = [parse_whole_number(text) for text in values]
    for at, text, number in zip(line.tolist(), values, numbers_read, strict=True):
        if number is None:
            problems.add(at, f"the {name} of the chunk is {text!r}; expected a whole number of characters")
    return np.array([_NO_NUMBER if number is None else number for number in numbers_read], np.int64)


def _places_of_texts(
    column: pa.Array,
    ids: list[str],
    document: Ints,
    lengths: Ints,
    bodies: PinnedBodies,
    listed: tuple[Ints, Floats] | None,
) -> tuple[Ints, Ints, Ints, Ints]:
    """Find start, end and words of each line's text, and the number of places that the text may have."""
    encoded = column.dictionary_encode()
    written, code = encoded.dictionary.to_pylist(), ints_of(encoded.indices)
    pairs, row, pair_of = np.unique(document * len(written) + code, return_index=True, return_inverse=True)
    pair_of = pair_of.ravel()
    wanted: dict[str, list[int]] = {}
    for at, at_document in enumerate(document[row].tolist()):
        wanted.setdefault(ids[at_document], []).append(at)
    # behind the end, each elsewhere, until it is found
    places = [[(long + at,) * 3] for at, long in enumerate(lengths[row].tolist())]
    number = np.zeros(len(pairs), np.int64)
    for name, body in bodies.walk(wanted):
        for at in wanted[name]:
            if spans := places_of(written[code[row[at]]], body or "", re.IGNORECASE):
                places[at] = [(*span, _end_of_text_before(body or "", span[0])) for span in spans]
                number[at] = len(spans)
    first = np.cumsum([0, *map(len, places)])[:-1]
    may_be = number[pair_of]
    if listed is None:
        earliest, ordered = _places_in_index(pair_of, document, places, number)
        mirrored = [[(-start, -end, 0) for start, end, _ in reversed(place)] for place in places]
        backwards, _ = _places_in_index(pair_of[::-1], document[::-1], mirrored, number)
        latest = may_be - 1 - backwards[::-1]
        may_be = np.where(ordered & (earliest == latest), 1, may_be)
        which, _ = _places_in_index(pair_of, document, places, number, latest)
    else:
        plain = [" ".join(written[text_code].lower().split()) for text_code in code[row].tolist()]
        copies = list(zip(document[row].tolist(), plain, strict=True))
        which = _places_in_lists(pair_of, copies, places, *listed)
    every = np.array([place for spans in places for place in spans], np.int64).reshape(-1, 3)
    start, end, _ = every[first[pair_of] + which].T
    long, words = np.array([(len(text), len(word_starts(text))) for text in written], np.int64)[code].T
    return start, np.where(number[pair_of] == 0, start + long, end), words, may_be


def _end_of_text_before(body: str, at: int) -> int:
    """Find the end of the text before a place; white space is between the two."""
    while at and body[at - 1].isspace():
        at -= 1
    return at


def _places_in_lists(
    pair_of: Ints, copies: Sequence[_Copy], places: Sequence[Sequence[_Place]], query: Ints, scores: Floats
) -> Ints:
    """Choose the place of each line's text: the first place that no copy above takes in the query's list.

    Texts with fewer possible places choose first.
    """
    taken: set[tuple[int, _Copy, int]] = set()
    which = np.zeros(len(pair_of), np.int64)
    for row in np.lexsort((-scores, np.array(list(map(len, places)))[pair_of])).tolist():
        pair = pair_of[row]
        keys = [(int(query[row]), copies[pair], place) for _, _, place in places[pair]]
        which[row] = next((at for at, key in enumerate(keys) if key not in taken), len(keys) - 1)
        taken.add(keys[which[row]])
    return which


def _places_in_index(
    pair_of: Ints,
    document: Ints,
    places: Sequence[Sequence[_Place]],
    number: Ints,
    latest: Ints | None = None,
) -> tuple[Ints, bool]:
    """Choose the place of each line's text: the first free place behind the document's line before.

    Also return whether every line has a free place.

    Parameters
    ----------
    latest: the last place that leaves a place for each line below; up to that place, a place that follows the
        line before is preferred, and after that a place outside the line before.
    """
    before: dict[int, _Place] = {}
    free: dict[int, list[int]] = {}
    which, ordered = np.zeros(len(pair_of), np.int64), True
    for row in np.flatnonzero(number[pair_of]).tolist():
        text, name = int(pair_of[row]), int(document[row])
        left = free.setdefault(text, list(range(len(places[text]))))
        start, end, _ = before.get(name, (-OPEN, -OPEN, 0))
        at = next((at_place for at_place in left if places[text][at_place][0] > start), -1)
        if at < 0:
            at, ordered = left[0], False
        elif latest is not None:
            outside = next((at_place for at_place in left if places[text][at_place][1] > end), at)
            behind = next((at_place for at_place in left if places[text][at_place][0] >= end), at)
            follows = behind if places[text][behind][2] <= end else outside
            at = max(at_place for at_place in (at, outside, follows) if at_place <= max(at, latest[row]))
        if len(left) > 1:
            left.remove(at)
        before[name], which[row] = places[text][at], at
    return which, ordered


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
) -> tuple[ChunkCounts, list[str]]:
    """Find the chunks of a splitter's file in the documents of a release, and write their map.

    In the map, chunks that were not found have `UNKNOWN` places. Returns the counts of chunks, and sentences
    on the chunks that have a place.

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
    lines, chunks, documents, columns = _read_splitter_rows(records, fields, bodies)
    located = located_chunks(lines, texts(documents).dictionary_encode(), columns, bodies, {}, problems)
    assert located is not None  # there are columns of chunks
    problems.check()
    if not located.is_found.any():
        nowhere = (
            f"line {lines[0]}: the chunk's text is not in its document, and neither is the text of "
            "any other chunk"
        )
        problems.stop(nowhere, "Split the texts that the release has, or give start and end of each chunk.")
    start, end = (
        np.where(located.is_found, column, UNKNOWN).tolist() for column in (located.start, located.end)
    )
    hashes = [bodies.hashes[name] for name in documents]
    places = [located.places.tolist()] if "text" in columns else []
    _write_chunk_map(out, [chunks, documents, start, end, hashes, *places])
    placed = {name for name, start_at in zip(documents, start, strict=True) if start_at != UNKNOWN}
    chunks_found = pluralize(located.counts.chunks - located.counts.not_found, "chunk")
    sentence = f"{chunks_found} of {pluralize(len(placed), 'document')} of {release.row.name} were found."
    return located.counts, [sentence, *located.counts.sentences()]


def _read_splitter_rows(
    records: Records, fields: SplitterFields, bodies: PinnedBodies
) -> tuple[Ints, list[str], list[str], dict[str, pa.Array]]:
    """Read lines, ids and documents of a splitter's chunks, and the columns for `located_chunks`."""
    used = records.resolve(fields, but=("query", "rank", "score"))
    wanted = used.of_chunks
    if not wanted:
        records.refuse_columns(
            "no known columns have the start and end of chunks, or their text: name columns with "
            "--map start=COLUMN and --map end=COLUMN, or with --map text=COLUMN"
        )
    names = [used.chunk, used.document, *wanted.values()]
    first: dict[str, int] = {}
    rows = []
    with suppress(InputError):  # noted with the file's problems
        for line, values in records:
            chunk, document, *others = (to_text(values.get(name or "")) for name in names)
            fault = ""
            if not chunk:
                fault = "the chunk has no id: give the chunk an id"
            elif first.setdefault(chunk, line) != line:
                fault = (
                    f"the chunk {chunk!r} again, also in line {first[chunk]}: give the chunk a different id"
                )
            elif document not in bodies.hashes:
                like = like_known(document, partial(alike, known=bodies.hashes))
                fault = (
                    f"the chunk {chunk!r} is of {document!r}, which is not a document of the "
                    f"release{like}: leave the chunk out"
                )
            if fault:
                records.problems.add(line, fault)
            else:
                rows.append((line, chunk, document, *others))
    if not rows:
        records.problems.check()
    lines, chunks, documents, *columns = (list(column) for column in zip(*rows, strict=True))
    return np.array(lines), chunks, documents, dict(zip(wanted, map(texts, columns), strict=True))


def _write_chunk_map(path: Path, columns: Sequence[Sequence[Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = zip(*columns, strict=True)
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS[: len(columns)])
            writer.writerows([quote_formula(str(cell)) for cell in row] for row in rows)
    except OSError as error:
        raise InputError(f"the map could not be written: {error.strerror or error}", path=path) from error


def read_chunk_map(path: Path | None) -> dict[str, ChunkPlace]:
    """Read the place of each chunk id from a map of chunks; an empty result without a file.

    Raises
    ------
    InputError: the file is not a map of chunks.
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
        raise InputError(f"the file is not a map of chunks ({error}); {expected}", path=path) from error
