"""The stored BM25 index, in a folder of files next to the project.

The index of a corpus is built from the files of word counts (`count_files`), and a large index is stored in a
file as well. After a kill, the next call counts only the documents that are in no file. A process that writes
files holds a lock on the folder.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.core.errors import StoreError
from curation.core.progress import Progress, silent
from curation.retrieval.array_files import UNFINISHED, describe_write_error, read_arrays, write_arrays
from curation.retrieval.count_files import CountFiles
from curation.retrieval.inverted_index import CorpusIndex, build_index
from curation.retrieval.terms import PLAIN, Analyzer
from curation.retrieval.word_counts import Positions, WordCounts, hash_word_rules
from curation.store import Store
from curation.store.documents import batches_of_texts

BATCH_SIZE = 20_000  # number of documents that are counted together
MAX_NOT_STORED = 20_000  # a smaller index is built at each use and not stored
_STEP = "counting words of documents"


def find_index_folder(project: Path) -> Path:
    """Return the folder of a project's index."""
    return project.with_name(f"{project.name}.bm25")


def load_index(
    store: Store, hashes: pa.StringArray, progress: Progress = silent, analyzer: Analyzer = PLAIN
) -> CorpusIndex:
    """Read the index of documents from the project's folder, or build it if it is missing.

    Parameters
    ----------
    hashes: content hashes of the documents, in the order of the corpus.

    Raises
    ------
    StoreError: the folder cannot be written.
    ValueError: the project does not hold one of the versions.
    """
    folder = find_index_folder(store.path)
    files = CountFiles(folder, hash_word_rules(analyzer), analyzer)
    key = files.make_file_name(hashes)
    path = folder / f"{key}.index"
    with _lock_folder(folder):
        arrays = read_arrays(path, key)
        if arrays is not None:
            return CorpusIndex(**arrays)
        index = build_index(*_read_counts(store, files, hashes, progress))
        if len(hashes) > MAX_NOT_STORED:
            _remove_files(folder.glob(f"{files.prefix}-*.index"))
            write_arrays(path, key, index._asdict())
    return index


def _read_counts(
    store: Store, files: CountFiles, hashes: pa.StringArray, progress: Progress
) -> tuple[list[WordCounts], Positions]:
    """Count the words of documents that are in no file yet, then read all files and the documents'
    positions."""
    batches, counted_hashes = files.read()
    positions = pc.index_in(hashes, value_set=counted_hashes)
    if positions.null_count:
        _count_missing(store, files, hashes.filter(pc.is_null(positions)), progress)
        batches, counted_hashes = files.read()
        positions = pc.index_in(hashes, value_set=counted_hashes)
    if positions.null_count:
        raise ValueError(f"{positions.null_count} of {len(hashes)} documents are not stored")
    return batches, positions.to_numpy().astype(np.int64)


def _count_missing(store: Store, files: CountFiles, hashes: pa.StringArray, progress: Progress) -> None:
    """Count the words of documents into new files, in several processes if there are many documents."""
    n_processes = max(1, min(os.cpu_count() or 1, len(hashes) // (2 * BATCH_SIZE)))
    texts = batches_of_texts(store, hashes, BATCH_SIZE)
    batch_sizes = files.write_in_processes(texts, n_processes) if n_processes > 1 else map(files.write, texts)
    for done in accumulate(batch_sizes, initial=0):
        progress(_STEP, done, len(hashes))


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder during the `with` block, and remove incomplete files left by killed processes."""
    try:
        folder.mkdir(0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise StoreError(describe_write_error(folder, error)) from error
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _remove_files(folder.glob(f"{UNFINISHED}*"))
        yield
    finally:
        os.close(descriptor)


def _remove_files(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()
