"""The chunks of a run: which part of which document each place of a list is.

A file says it by the columns start and end, by the ids of its documents, as `doc#0-120` or as a map of
chunks has them (`chunk_map`), or by the chunks' texts. A text is looked for in its document as it is, then
with other white space and case. Of one that is there several times the last place is taken: people mark what
they read first, and the figure of a run is rather too low than too high. One that is not there keeps its rank
and length, and has no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.arrow import ints_of, numbers, texts
from curation.files.problems import Problems
from curation.files.values import whole_number
from curation.scoring.inputs.bodies import PinnedBodies
from curation.scoring.metrics.evidence import OPEN, UNKNOWN
from curation.similarity.quotes import places_of
from curation.spans import Span
from curation.statistics.arrays import Ints, Mask
from curation.text import amount
from curation.words import word_starts

_CHUNK_ID = re.compile(r"(.+)#(\d{1,12})-(\d{1,12})", re.DOTALL)
_AGAIN = "make, or map, the chunks of other versions again for this release"
_NO_NUMBER = -OPEN


class ChunkPlace(NamedTuple):
    """A part of a document's body; `content_hash` is of the version, where that is known.

    The end of a whole document is `UNKNOWN`, and the start, too, of a part that was not found.
    """

    document_id: str
    start: int
    end: int
    content_hash: str = ""


class ChunkCounts(NamedTuple):
    """How many chunks there are, and what was found of their texts.

    Attributes
    ----------
    not_found, twice: chunks whose text is not in their document, and those where it is twice or more.
    first_not_found, first_twice: the first line of these.
    """

    chunks: int
    not_found: int = 0
    first_not_found: int | None = None
    twice: int = 0
    first_twice: int | None = None

    @property
    def sentences(self) -> list[str]:
        """What has to be known of texts that were not found, or twice."""
        lacking, twice = (
            amount(number, "chunk has", "chunks have") for number in (self.not_found, self.twice)
        )
        said = [
            f"{lacking} a text that is not in the document, first in line {self.first_not_found}.",
            f"{twice} a text that the document has several times, first in line {self.first_twice}; the last "
            "place counts, so that figures are rather too low. Columns start and end would say which.",
        ]
        return [one for one, number in zip(said, (self.not_found, self.twice), strict=True) if number]


class LocatedChunks(NamedTuple):
    """The places of C lines, as in `RunChunks`; `found` says which of them are known."""

    documents: pa.DictionaryArray
    start: Ints
    end: Ints
    words: Ints
    found: Mask
    counts: ChunkCounts


def place_of(name: str, documents: Collection[str], mapped: Mapping[str, ChunkPlace]) -> ChunkPlace:
    """What an id means: a chunk, or a whole document, whose end is `UNKNOWN`."""
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
) -> LocatedChunks | None:
    """The chunks of the lines of a file; None where it is one of documents.

    Parameters
    ----------
    line, documents, columns: of C lines; columns as `RunFile.chunk_columns` names them.

    Raises
    ------
    InputError: offsets that are no numbers or outside the document, or of another version of it; or an id
        that a map of chunks lacks.
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
    own = texts([place.document_id for place in places]).dictionary_encode()
    ids, document = own.dictionary.to_pylist(), ints_of(own.indices)[codes]
    lengths, found = bodies.lengths(ids)[document], np.ones(len(line), bool)
    counts, words = ChunkCounts(len(line)), None
    if "text" in columns:
        start, end, words, found, counts = _by_text(line, columns["text"], ids, document, lengths, bodies)
    elif columns:
        start, end = (_offsets(columns[name], line, name, problems) for name in ("start", "end"))
    else:
        start, end = (np.array([place[at] for place in places], np.int64)[codes] for at in (1, 2))
        found = start != UNKNOWN
        start = np.where(found, start, lengths + codes)  # behind the end, each elsewhere
        end = np.where(found, np.where(end == UNKNOWN, lengths, end), start + 1)

    def refuse(wrong: Mask, said: Callable[[int], str], way_out: str) -> None:
        for row in np.flatnonzero(wrong).tolist():
            sentence = f"the chunk {start[row]}-{end[row]} of document {ids[document[row]]!r} {said(row)}"
            problems.add(int(line[row]), f"{sentence}: {way_out}")

    hashes = columns.get("content_hash", texts([place.content_hash for place in places]).take(numbers(codes)))
    pinned = texts([bodies.hashes.get(name, "") for name in ids]).take(numbers(document))
    both = pc.and_(pc.not_equal(hashes, ""), pc.not_equal(pinned, ""))
    other = np.zeros(len(line), bool)
    other[ints_of(pc.indices_nonzero(pc.and_(both, pc.not_equal(hashes, pinned))))] = True
    once = np.zeros(len(line), bool)
    once[np.flatnonzero(other)[np.unique(document[other], return_index=True)[1]]] = True  # of each document
    refuse(once, lambda row: f"is of its version {str(hashes[row])[:12]}; the release has another", _AGAIN)
    outside = found & ((start < 0) | (end <= start) | (end > lengths)) & ~other
    outside &= (start > _NO_NUMBER) & (end > _NO_NUMBER)
    known = np.array([name in bodies.hashes for name in ids])[document]
    refuse(
        outside,
        lambda row: (
            f"is outside its text, which has {lengths[row]:,} characters" if known[row] else "is none"
        ),
        f"expected 0 ≤ start < end ≤ length, in characters from 0; {_AGAIN}",
    )
    problems.check()
    words = np.where(found, bodies.words(ids, document, start, end), UNKNOWN) if words is None else words
    return LocatedChunks(
        pa.DictionaryArray.from_arrays(numbers(document), own.dictionary), start, end, words, found, counts
    )


def _offsets(column: pa.Array, line: Ints, name: str, problems: Problems) -> Ints:
    try:
        return ints_of(pc.cast(column, pa.int64()))
    except pa.ArrowInvalid:
        values = column.to_pylist()
        found = [whole_number(text) for text in values]
    for at, text, number in zip(line.tolist(), values, found, strict=True):
        if number is None:
            problems.add(at, f"the {name} of the chunk is {text!r}; expected a whole number of characters")
    return np.array([_NO_NUMBER if number is None else number for number in found], np.int64)


def _by_text(
    line: Ints, column: pa.Array, ids: list[str], document: Ints, lengths: Ints, bodies: PinnedBodies
) -> tuple[Ints, Ints, Ints, Mask, ChunkCounts]:
    """Start, end, words and whether it was found of each line's text, and the counts."""
    pairs = list(zip(map(ids.__getitem__, document.tolist()), column.to_pylist(), strict=True))
    wanted: dict[str, dict[str, list[Span]]] = {}
    for name, text in pairs:
        wanted.setdefault(name, {})[text] = []
    for name, body in bodies.walk(wanted):
        wanted[name] = {text: places_of(text, body or "", re.IGNORECASE) for text in wanted[name]}
    found, twice = (np.array([len(wanted[name][text]) > n for name, text in pairs]) for n in (0, 1))
    apart = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}  # behind the end, each elsewhere
    spans = [
        wanted[name][text][-1] if wanted[name][text] else (long + apart[name, text], 0)
        for (name, text), long in zip(pairs, lengths.tolist(), strict=True)
    ]
    start = np.array([first for first, _ in spans], np.int64)
    long = np.array([len(text) for _, text in pairs], np.int64)
    end = np.where(found, np.array([last for _, last in spans], np.int64), start + long)
    words = {text: len(word_starts(text)) for _, text in apart}
    lines = [line[rows] for rows in (~found, twice)]
    firsts = [int(rows.min()) if len(rows) else None for rows in lines]
    counts = ChunkCounts(len(line), len(lines[0]), firsts[0], len(lines[1]), firsts[1])
    return start, end, np.array([words[text] for _, text in pairs], np.int64), found, counts
