"""Embeddings of texts, computed once for each model and text, and stored in the project.

Vectors are stored in chunks, each chunk in a short transaction. After any interruption, even kill -9, the
next call continues after the last chunk. A vector is stored under the model's name and the hash of the text,
so every pool and snapshot gets the same vector for the same text. If all vectors are stored, the model and
torch are not even imported.

The model behind a name may change, because the folder of a model can be replaced. So the vector of a fixed
sentence is stored with the first chunk, and a model that gives a different vector for this sentence is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.request import DEFAULT_MODEL
from curation.retrieval import embedding_model
from curation.retrieval.embedding_model import Kind, ModelSource, Vectors, encode, find_model, load_model
from curation.store import Cursor, Store, get_setting, put_setting, reading_arrow
from curation.store.settings import MEASURED

CHUNK = 256
TIMED = 32
"""Number of texts that are embedded first, so that the time left is known soon."""
STEPS: Mapping[Kind, str] = {"document": "comparing passages", "query": "comparing queries"}
"""Kind of text → name of the step in the progress that people read."""
ELSEWHERE = (8_000.0, 60_000.0)
"""Characters that the default model embeds in a second, on two slow cores and on eight fast cores.
"""
_PROBE = "The quick brown fox jumps over the lazy dog 0123456789."
_SAME = 0.99  # two machines' vectors of a text have the cosine 1 except for the last digits
BFLOAT16 = "bfloat16"
# A text to embed, after the hash of the text and its kind ('document' or 'query')
HashedText = tuple[str, str]
_RENAME = "Vectors of two models cannot be compared: put the new model into a folder with a different name."


def refuse_without_model(cursor: Cursor, model: str) -> None:
    """Reject an embedding model that is known to be missing before it is loaded.

    Raises
    ------
    NotFoundError: see `find_model`.
    RefusedError: the packages for embedding are missing, and no vectors of this model are stored.
    """
    source = find_model(model)
    stored = "SELECT 1 FROM embeddings WHERE model = ? LIMIT 1"
    if not cursor.execute(stored, [source.name]).fetchall():
        embedding_model.refuse_without_packages()


def embed(
    store: Store,
    texts: Sequence[str],
    kind: Kind = "document",
    model: str = DEFAULT_MODEL,
    progress: Progress = silent,
    half: bool = False,
    ask_hub: bool = True,
) -> Vectors:
    """Embed the texts as unit vectors, shape (texts, dimension); missing vectors are computed and stored.

    Parameters
    ----------
    half: compute in bfloat16, and store the vectors apart from exact vectors; needs 0.6 of the time if the
        processor has bfloat16 (`has_bfloat16`), and changes cosines by at most 0.001.
    ask_hub: ask the hub for a model that is not on this machine, instead of refusing the model.

    Raises
    ------
    NotFoundError, RefusedError: the model does not exist or cannot be loaded, or the vectors stored under its
        name are from another model.
    """
    source = _name_vectors(find_model(model), half)
    hashed = [(digest(kind, text), text) for text in texts]
    distinct = sorted(set(hashed))
    missing = _missing(store, source.name, distinct)
    if missing:
        progress("loading the embedding model, which takes up to a minute", 0, 0)
        encoder = open_model(store, source, ask_hub)
        _embed_missing(store, source.name, encoder, kind, missing, len(distinct), progress, half)
    return _read(store, source.name, [text_hash for text_hash, _ in hashed])


def open_model(store: Store | None, source: ModelSource, ask_hub: bool = True) -> Any:
    """Load an embedding model, and check that it produces the vectors stored under its name.

    Raises
    ------
    RefusedError: the model cannot be loaded, or the vectors stored under its name are from another model.
    """
    encoder = load_model(source.location, ask_hub)
    if store is not None:
        _refuse_another_model(store, source.name, encoder)
    return encoder


def has_measured_speed(cursor: Cursor, model: str = DEFAULT_MODEL, half: bool = False) -> bool:
    """Return whether the project knows the speed of a model on this machine."""
    return bool(get_setting(cursor, f"{MEASURED}{_name_vectors(find_model(model), half).name}"))


def minutes_to_embed(cursor: Cursor, characters: int, model: str = DEFAULT_MODEL, half: bool = False) -> str:
    """Estimate how many minutes it takes to embed this many characters, from the last measured speed if there
    is one."""
    measured = get_setting(cursor, f"{MEASURED}{_name_vectors(find_model(model), half).name}")
    slow, fast = (0.7 * float(measured), 1.3 * float(measured)) if measured else ELSEWHERE
    low, high = ceil(characters / fast / 60), ceil(characters / slow / 60)
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    by = "by the last measured speed" if measured else "by the speed of other machines"
    return f"about {span} {'minute' if high == 1 else 'minutes'}, {by}"


def _name_vectors(source: ModelSource, half: bool) -> ModelSource:
    """Give vectors in bfloat16 a name of their own."""
    return source._replace(name=f"{source.name} in {BFLOAT16}") if half else source


def _missing(store: Store, name: str, texts: Sequence[HashedText]) -> list[HashedText]:
    hashes = pa.table({"text_hash": [text_hash for text_hash, _ in texts], "position": np.arange(len(texts))})
    if not texts:
        return []
    with store.reading() as cursor, reading_arrow(cursor, wanted_texts=hashes):
        rows = cursor.execute(
            "SELECT position FROM wanted_texts ANTI JOIN (SELECT text_hash FROM embeddings WHERE model = ?) "
            "stored USING (text_hash)",
            [name],
        ).fetchall()
    return [texts[position] for (position,) in sorted(rows)]


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
    """Embed the missing texts in the order of their hashes, so that the first texts show the pace of all."""
    done, start_time = total - len(missing), monotonic()
    progress(STEPS[kind], done, total)
    for start, end in pairwise([0, *range(TIMED, len(missing), CHUNK), len(missing)]):
        chunk = missing[start:end]
        with embedding_model.half_precision(half):
            vectors = encode(encoder, [text for _, text in chunk], kind)
        with store.transaction(appends=True) as cursor:
            _append(cursor, name, [text_hash for text_hash, _ in chunk], vectors)
        done += len(chunk)
        progress(STEPS[kind], done, total)
    if len(missing) >= CHUNK:
        pace = sum(len(text) for _, text in missing) / max(monotonic() - start_time, 0.001)
        with store.transaction() as cursor:
            put_setting(cursor, f"{MEASURED}{name}", f"{pace:.0f}")


def _append(cursor: Cursor, name: str, text_hashes: Sequence[str], vectors: Vectors) -> None:
    """Store embeddings of texts under a model's name, except vectors that the project already has."""
    values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    rows = pa.table({"text_hash": list(text_hashes), "vector": values})
    with reading_arrow(cursor, embedded=rows):
        cursor.execute(
            "INSERT INTO embeddings SELECT ?, text_hash, vector FROM embedded ANTI JOIN (SELECT text_hash "
            "FROM embeddings WHERE model = ?) stored USING (text_hash)",
            [name, name],
        )


def _read(store: Store, name: str, text_hashes: Sequence[str]) -> Vectors:
    wanted = pa.table({"text_hash": list(text_hashes), "position": np.arange(len(text_hashes))})
    if not wanted.num_rows:
        return np.zeros((0, 0), np.float32)
    with store.reading() as cursor, reading_arrow(cursor, wanted_texts=wanted):
        sql = "SELECT position, vector FROM wanted_texts JOIN embeddings USING (text_hash) WHERE model = ?"
        rows = cursor.sql(sql, params=[name]).to_arrow_table()
    dimensions = sorted(pc.unique(pc.list_value_length(rows["vector"])).to_pylist())
    if len(dimensions) > 1:
        raise RefusedError(_mixed(name, dimensions[0], dimensions[1]))
    vectors = np.empty((len(text_hashes), dimensions[0]), np.float32)
    values = np.concatenate([chunk.flatten().to_numpy() for chunk in rows["vector"].chunks])
    vectors[rows["position"].to_numpy()] = values.reshape(-1, dimensions[0])
    return vectors


def _refuse_another_model(store: Store, name: str, encoder: Any) -> None:
    """Reject a model that gives a different vector for a fixed sentence than the stored vector."""
    probe = encode(encoder, [_PROBE], "document")
    text_hash = digest("probe", _PROBE)
    with store.transaction(appends=True) as cursor:
        sql = "SELECT max(len(vector)) FROM embeddings WHERE model = ? HAVING count(*) > 0"
        stored = cursor.execute(sql, [name]).fetchall()
        if stored and stored[0][0] != probe.shape[1]:
            raise RefusedError(_mixed(name, stored[0][0], probe.shape[1]))
        _append(cursor, name, [text_hash], probe)
    cosine = float((_read(store, name, [text_hash]) @ probe.T)[0, 0])
    if cosine < _SAME:
        raise RefusedError(
            f"The model {name} did not make the vectors stored under this name: its vector and the stored "
            f"vector of one sentence have a cosine of {cosine:.3f}. {_RENAME}"
        )


def _mixed(name: str, stored: int, now: int) -> str:
    return (
        f"The vectors stored under the name {name} have {stored} dimensions, and the model now gives {now}: "
        f"a different model has this name now. {_RENAME}"
    )
