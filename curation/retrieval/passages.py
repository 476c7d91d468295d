"""Passages: parts of a document that is longer than a model's window, so that the whole document is embedded.

A document is cut at the end of a sentence if possible, else at the end of a word. Passages overlap by about
the share `OVERLAP` of a window, so that a sentence cut in one passage is whole in the next. Passages after
the first passage are embedded with the document's title in front. The project stores the cuts of documents
into passages by the hash of the text, so that cutting the same text again needs neither tokenizer nor model.
Cuts are stored in chunks, each chunk in a short transaction.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from curation.core.digests import digest
from curation.core.progress import Progress, silent
from curation.core.spans import Span
from curation.retrieval.embedding_model import ModelSource, find_model, model_file
from curation.retrieval.embeddings import open_model
from curation.store import Document, Store, reading_arrow

OVERLAP = 0.25
CHUNK = 1_000  # number of documents that are cut together
_VERSION = 1
_WORD = re.compile(r"\S+")
_SENTENCE_END = ".!?…。！？"
_BOUNDS = pa.schema({"text_hash": pa.string(), "starts": pa.list_(pa.int32()), "ends": pa.list_(pa.int32())})


class Cutter(NamedTuple):
    """An embedding model with its window in word pieces. For a model without a window, no document is cut."""

    model: ModelSource
    window: int | None

    @property
    def overlap(self) -> int:
        """Return the approximate overlap of two passages in word pieces."""
        return int((self.window or 0) * OVERLAP)

    def surely_fits(self, text: str) -> bool:
        """Return whether a text surely fits the model's window, by its number of bytes."""
        return self.window is None or len(text.encode("utf-8", "surrogatepass")) + 8 <= self.window


def find_cutter(model: str) -> Cutter:
    """Read a model's window in word pieces, and make the passage cutter for it.

    Raises
    ------
    NotFoundError, RefusedError: see `embeddings.embed`.
    """
    source = find_model(model)
    window = _window_in_files(source)
    if window is None:
        max_seq_length = open_model(None, source).max_seq_length
        window = int(max_seq_length) if max_seq_length is not None and max_seq_length < 1_000_000 else None
    return Cutter(source, window)


def cut_documents(
    store: Store, documents: Sequence[Document], cutter: Cutter, progress: Progress = silent
) -> list[list[Span]]:
    """Cut documents into passages, given in order as (start, end) in characters of `Document.text`.

    Raises
    ------
    NotFoundError, RefusedError: see `embeddings.embed`.
    """
    spans: list[list[Span]] = [[(0, len(document.text))] for document in documents]
    long_rows = [number for number, document in enumerate(documents) if not cutter.surely_fits(document.text)]
    if not long_rows:
        return spans
    hashes = [digest(documents[number].title, documents[number].body) for number in long_rows]
    stored_cuts = _read(store, cutter, hashes)
    missing = [index for index, text_hash in enumerate(hashes) if text_hash not in stored_cuts]
    for start in range(0, len(missing), CHUNK):
        progress("cutting documents into passages", start, len(missing))
        chunk = missing[start : start + CHUNK]
        cut = _cut_all(store, [documents[long_rows[index]] for index in chunk], cutter)
        _keep(store, cutter, [hashes[index] for index in chunk], cut)
        stored_cuts |= dict(zip((hashes[index] for index in chunk), cut, strict=True))
    for number, text_hash in zip(long_rows, hashes, strict=True):
        spans[number] = stored_cuts[text_hash]
    return spans


def passage_text(document: Document, span: Span) -> str:
    """Return the text to embed for a passage, which begins with the document's title."""
    text = document.text[slice(*span)]
    return text if span[0] == 0 or not document.title.strip() else f"{document.title.strip()}\n{text}"


def cut(text: str, pieces: Sequence[Span], room: int, overlap: int) -> list[Span]:
    """Cut a text of word pieces, given as (start, end) in characters, into spans of at most `room` pieces.

    A text with at most `room` pieces is one span.
    """
    spans: list[Span] = []
    first, count = 0, len(pieces)
    while count - first > room:
        last = first + room
        end = _first_beginning(text, pieces, range(last, first + room // 2, -1), last)
        spans.append((pieces[first][0], pieces[end - 1][1]))
        next_first = _first_beginning(text, pieces, range(end - min(overlap, room // 4), end), end)
        first = max(next_first, first + 1)
    spans.append((pieces[first][0] if count else 0, len(text)))
    return [(0, spans[0][1]), *spans[1:]]


def _first_beginning(text: str, pieces: Sequence[Span], candidates: range, default: int) -> int:
    """Find the first word piece that begins a sentence, otherwise the first that begins a word, else
    `default`."""
    for quality in (2, 1):
        for piece in candidates:
            if _begins(text, pieces[piece][0]) >= quality:
                return piece
    return default


def _begins(text: str, position: int) -> int:
    """Return 2 if a sentence begins at a position of the text, 1 if a word begins there, else 0."""
    while position < len(text) and text[position].isspace():
        position += 1
    before = text[max(0, position - 80) : position]
    stripped = before.rstrip()
    if len(stripped) == len(before) and position:
        return 0
    line_ends = "\n" in before[len(stripped) :]
    return 2 if line_ends or stripped[-1:] in _SENTENCE_END else 1


def _window_in_files(source: ModelSource) -> int | None:
    """Read a model's window from sentence-transformers' file in the model's folder or the hub's cache."""
    path = model_file(source.location, "sentence_bert_config.json")
    try:
        window = json.loads(path.read_text(encoding="utf-8")).get("max_seq_length") if path else None
    except (OSError, ValueError, AttributeError):
        return None
    return window if isinstance(window, int) and window > 0 else None


def _cut_all(store: Store, documents: Sequence[Document], cutter: Cutter) -> list[list[Span]]:
    encoder = open_model(store, cutter.model)
    tokenizer = encoder.tokenizer
    prompt = (getattr(encoder, "prompts", None) or {}).get("document") or ""
    room = (cutter.window or 0) - tokenizer.num_special_tokens_to_add() - len(_pieces(tokenizer, [prompt])[0])
    texts = [document.text for document in documents]
    titles = _pieces(tokenizer, [document.title.strip() for document in documents])
    pieces = _pieces(tokenizer, texts)
    return [
        # All passages leave room for the title, except the only passage of a text that fits.
        [(0, len(text))]
        if len(pieces) <= room
        else cut(text, pieces, max(room - len(title), room // 2, 1), cutter.overlap)
        for text, pieces, title in zip(texts, pieces, titles, strict=True)
    ]


def _pieces(tokenizer: Any, texts: Sequence[str]) -> list[list[Span]]:
    """Find the word pieces of each text as (start, end). Slow tokenizers give only positions of words."""
    if getattr(tokenizer, "is_fast", False):
        options = {"add_special_tokens": False, "return_offsets_mapping": True, "truncation": False}
        offsets = tokenizer(list(texts), verbose=False, **options)["offset_mapping"]
        return [[(int(start), int(end)) for start, end in offset] for offset in offsets]
    return [
        [word.span() for word in _WORD.finditer(text) for _ in tokenizer.tokenize(word[0])] for text in texts
    ]


def _cutter_hash(cutter: Cutter) -> str:
    return digest("passages", _VERSION, cutter.model.name, cutter.window, cutter.overlap)


def _read(store: Store, cutter: Cutter, hashes: Sequence[str]) -> dict[str, list[Span]]:
    wanted = pa.table({"text_hash": sorted(set(hashes))})
    with store.reading() as cursor, reading_arrow(cursor, wanted_texts=wanted):
        rows = cursor.execute(
            "SELECT text_hash, starts, ends FROM passages JOIN wanted_texts USING (text_hash) "
            "WHERE cutter = ?",
            [_cutter_hash(cutter)],
        ).fetchall()
    return {text_hash: list(zip(starts, ends, strict=True)) for text_hash, starts, ends in rows}


def _keep(store: Store, cutter: Cutter, hashes: Sequence[str], spans: Sequence[Sequence[Span]]) -> None:
    """Store how texts were cut into passages, for texts without stored passages."""
    starts, ends = ([[span[side] for span in cut] for cut in spans] for side in (0, 1))
    name = _cutter_hash(cutter)
    by_hash = {text_hash: number for number, text_hash in enumerate(hashes)}  # equal texts are stored once
    order = np.array(sorted(by_hash.values()))
    rows = pa.table([list(hashes), starts, ends], schema=_BOUNDS).take(order)
    with store.transaction() as cursor, reading_arrow(cursor, cut_texts=rows):
        cursor.execute(
            "INSERT INTO passages SELECT ?, text_hash, starts, ends FROM cut_texts "
            "ANTI JOIN (SELECT text_hash FROM passages WHERE cutter = ?) stored USING (text_hash)",
            [name, name],
        )
