"""The files of the index, in a folder next to the project that can be deleted at any time.

`….counts` hold the counts of some documents each, by content hash: every version of a document is counted
once, and after a kill the next call counts what is in no file yet. `….index` is merged from them for one
corpus. Their names begin with a hash of what decides what a word is, and end with one of the content hashes.
Who makes files holds a lock on the folder meanwhile.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.errors import StoreError
from curation.progress import Progress, silent
from curation.retrieval.index.array_files import (
    UNFINISHED,
    Arrays,
    cannot_write,
    new_arrays,
    read_arrays,
    unpacked,
)
from curation.retrieval.index.counting import CHUNK, counter
from curation.retrieval.index.merging import in_memory, merge
from curation.retrieval.index.parts import Parts, PartsWriter, file_name, read_parts
from curation.retrieval.terms import is_gram
from curation.store import Store
from curation.store.documents import batches_of_texts, current_snapshot, snapshot_corpus

FEW = 20_000
"""The index of so many documents is merged anew each time, which takes some hundredths of a second."""
MANY = 80_000
"""Documents to count from which on more processes than one are worth their start."""
KEPT = 3
"""Indexes that stay: the pool and a release may be about two corpora."""
_STEP = "bm25: count words"


def index_folder(project: Path) -> Path:
    """The folder of a project's index."""
    return project.with_name(f"{project.name}.bm25")


def stored_index(
    store: Store, hashes: pa.StringArray, progress: Progress = silent, stemmer: str | None = None
) -> Arrays:
    """The index of versions of documents in this order (see `merging.merge`), made where it is missing.

    Raises
    ------
    StoreError: the folder cannot be written.
    ValueError: the project does not hold one of the versions.
    """
    folder, name = index_folder(store.path), counter(stemmer)
    key = file_name(name, hashes)
    path = folder / f"{key}.index"
    if (found := read_arrays(path, key)) is not None:
        return found
    with _alone(folder):
        if (found := read_arrays(path, key)) is not None:
            return found  # another process has made it meanwhile
        parts, places = _counted(store, PartsWriter(folder, name, stemmer), hashes, progress)
        if len(hashes) <= FEW:
            return merge(parts.counts, places, in_memory)
        made = merge(parts.counts, places, partial(new_arrays, path, key))
        _remove_others(path)
    return made


def vocabulary(store: Store, progress: Progress = silent) -> dict[str, int]:
    """Content word → number of documents of the snapshot in force that hold it.

    Words are `terms.content_words`: folded, without stop words; of scripts without spaces whole runs.

    Raises
    ------
    RefusedError: there is no corpus yet.
    """
    with store.reading() as cursor:
        corpus = snapshot_corpus(cursor, current_snapshot(cursor))
    index = stored_index(store, corpus.hashes, progress)
    words = unpacked(index["word_ends"], index["word_letters"]).to_pylist()
    counted = zip(words, np.diff(index["starts"]).tolist(), strict=True)
    return {word: documents for word, documents in counted if not is_gram(word)}


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else makes files there meanwhile. What a killed process was writing is removed."""
    try:
        folder.mkdir(0o700, exist_ok=True)
        held = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise StoreError(cannot_write(folder, error)) from error
    try:
        with suppress(OSError):  # some disks know no locks
            fcntl.flock(held, fcntl.LOCK_EX)
        _remove(folder.glob(f"{UNFINISHED}*"))
        yield
    finally:
        os.close(held)


def _counted(
    store: Store, writer: PartsWriter, hashes: pa.StringArray, progress: Progress
) -> tuple[Parts, NDArray[np.int64]]:
    """All parts, and where these documents are among theirs; what is in none is counted."""
    parts = read_parts(writer.folder, writer.name)
    places = pc.index_in(hashes, value_set=parts.hashes)
    if places.null_count:
        missing, done = hashes.filter(pc.is_null(places)), 0
        progress(_STEP, done, len(missing))
        processes = os.cpu_count() or 1 if len(missing) >= MANY else 1
        for counted in writer.write_all(batches_of_texts(store, missing, CHUNK), processes):
            done += counted
            progress(_STEP, done, len(missing))
        parts = read_parts(writer.folder, writer.name)
        places = pc.index_in(hashes, value_set=parts.hashes)
    if places.null_count:
        known = len(hashes) - places.null_count
        raise ValueError(f"{len(hashes)} documents were asked for, {known} are stored")
    return parts, places.to_numpy().astype(np.int64)


def _remove_others(path: Path) -> None:
    """Of the indexes of this way of counting only the ones that were made last stay."""
    made = sorted(path.parent.glob(f"{path.name[:8]}-*.index"), key=lambda other: other.stat().st_mtime_ns)
    _remove(made[:-KEPT])


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()
