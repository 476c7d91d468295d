"""The index of BM25: counts of words by document, merged by word, and kept in a folder of files.

In an index, words are in the order of their bytes, and documents are in the order of the corpus. So the index
of a corpus has the same bytes for all ways to count its documents: in any parts, in any order, by any number
of processes.

Each file `….counts` has the counts of some documents by content hash. Every version of a document is counted
once, and after a kill the next call counts the documents that are in no file yet. The file `….index` of a
corpus is merged from the counts. A file name begins with a hash of the rules that cut texts into words, and
ends with a hash of the content hashes. A process that writes files holds a lock on the folder.

Several processes count a large number of documents. Each process gets batches of texts as Arrow streams on
its standard input. A child process answers each batch with a line, which is empty or has the reason why the
counts could not be written.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from hashlib import sha256
from io import BufferedReader, FileIO
from itertools import accumulate, islice
from pathlib import Path
from subprocess import PIPE
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.errors import StoreError
from curation.core.progress import Progress, silent
from curation.retrieval.array_files import UNFINISHED, cannot_write, read_arrays, write_arrays
from curation.retrieval.terms import GRAM
from curation.retrieval.word_counts import Counts, Places, count_words, counter
from curation.store import Store
from curation.store.documents import batches_of_texts

CHUNK = 20_000  # documents that are counted, or held as text, at once
_BLOCK = 50_000  # documents
Numbers = NDArray[np.int32]
# Number of documents up to which an index is merged at each use instead of being stored
MAX_MERGED_EACH_TIME = 20_000
_STEP = "bm25: count words"
_NAME = 8  # letters of the name of a way of counting
_ENDED = "A process that counts words ended early, perhaps because the machine has no memory left."


class CorpusIndex(NamedTuple):
    """The index of a corpus: word `w` is in the documents `rows[starts[w]:starts[w + 1]]`, `counts[…]` times.

    Attributes
    ----------
    words: all words, sorted, so that grams come first.
    words_in, grams_in: number of words, and number of grams, of each document.
    """

    words: pa.StringArray
    starts: NDArray[np.int64]
    rows: Numbers
    counts: NDArray[Any]
    words_in: NDArray[np.uint32]
    grams_in: NDArray[np.uint32]


def merge(parts: Sequence[Counts], places: Places) -> CorpusIndex:
    """Merge the counts of the documents at these positions into an index."""
    words, numbers = _number_words(parts)
    firsts = range(0, len(places), _BLOCK)
    held_by, most = np.zeros(len(words), np.int64), 0
    for first in firsts:
        block = _count_matrix(parts, numbers, places[first : first + _BLOCK], len(words))
        held_by += np.bincount(block.indices, minlength=len(words))
        most = max(most, int(block.data.max(initial=0)))
    used = held_by > 0
    words, number = words.filter(pa.array(used)), np.cumsum(used, dtype=np.int32) - 1
    numbers = [number[word_numbers] for word_numbers in numbers]
    starts, grams = np.append(0, np.cumsum(held_by[used])), count_grams(words)
    rows = np.empty(starts[-1], np.int32)
    counts = np.empty(starts[-1], np.uint16 if most < 2**16 else np.uint32)
    lengths, at = np.empty((2, len(places)), np.uint32), starts[:-1].copy()
    for first in firsts:
        block = _count_matrix(parts, numbers, places[first : first + _BLOCK], len(words)).tocsc()
        lengths_here = np.diff(block.indptr)
        to = np.repeat(at - block.indptr[:-1], lengths_here) + np.arange(len(block.indices))
        rows[to], counts[to] = block.indices + np.int32(first), block.data
        at += lengths_here
        for field, part in enumerate((slice(block.indptr[grams], None), slice(block.indptr[grams]))):
            totals = np.bincount(block.indices[part], block.data[part], block.shape[0])
            lengths[field, first : first + _BLOCK] = totals
    for array in (rows, counts, starts):
        array.setflags(write=False)  # as arrays of a file are: numba compiles for one kind
    return CorpusIndex(words, starts, rows, counts, *lengths)


def count_grams(words: pa.StringArray) -> int:
    """Count the grams among these words."""
    return int(pc.sum(pc.starts_with(words, GRAM)).as_py() or 0)


def index_folder(project: Path) -> Path:
    """Return the folder of a project's index."""
    return project.with_name(f"{project.name}.bm25")


def stored_index(
    store: Store, hashes: pa.StringArray, progress: Progress = silent, stemmer: str | None = None
) -> CorpusIndex:
    """Read the index of these versions of documents in this order, or make the missing index.

    Raises
    ------
    StoreError: the folder cannot be written.
    ValueError: the project does not hold one of the versions.
    """
    folder, name = index_folder(store.path), counter(stemmer)
    key = _file_name(name, hashes)
    path = folder / f"{key}.index"
    with _lock_folder(folder):
        if (arrays := read_arrays(path, key)) is not None:
            return CorpusIndex(**arrays)
        made = merge(*_read_counts(store, CountedParts(folder, name, stemmer), hashes, progress))
        if len(hashes) > MAX_MERGED_EACH_TIME:
            _remove(folder.glob(f"{name[:_NAME]}-*.index"))
            write_arrays(path, key, made._asdict())
    return made


class CountedParts(NamedTuple):
    """Files of word counts in a folder, for one set of rules that cut texts into words
    (`word_counts.counter`).
    """

    folder: Path
    name: str
    stemmer: str | None

    def read(self) -> tuple[list[Counts], pa.StringArray]:
        """Read all complete files, and the content hashes of their documents."""
        counts, hashes = [], [pa.array([], pa.string())]
        for path in sorted(self.folder.glob(f"{self.name[:_NAME]}-*.counts")):
            if (arrays := read_arrays(path, self.name)) is not None:
                hashes.append(arrays.pop("hashes"))
                counts.append(Counts(**arrays))
        return counts, pa.concat_arrays(hashes)

    def write(self, texts: pa.Table) -> int:
        """Count the words of a batch (`documents.batches_of_texts`), store the counts, and return the number
        of documents.

        Raises
        ------
        StoreError: the file cannot be written.
        """
        hashes = pa.concat_arrays(texts["content_hash"].chunks)
        words = count_words(texts["text"], self.stemmer)
        path = self.folder / f"{_file_name(self.name, hashes)}.counts"
        write_arrays(path, self.name, {"hashes": hashes, **words._asdict()})
        return len(texts)

    def write_all(self, batches: Iterator[pa.Table], processes: int) -> Iterator[int]:
        """Count and store the words of many batches, with `processes` child processes."""
        program = f"from {__name__} import count_sent_texts; count_sent_texts()"
        command = [sys.executable, "-P", "-c", program, str(self.folder), self.name, self.stemmer or ""]
        with ExitStack() as ending, ThreadPoolExecutor(processes) as threads:
            start = partial(subprocess.Popen, command, stdin=PIPE, stdout=PIPE, start_new_session=True)
            started = [ending.enter_context(start()) for _ in range(processes)]
            while waiting := list(islice(batches, processes)):
                yield from threads.map(_send, started, waiting)


def count_sent_texts() -> None:
    """Count the words of texts in a child process until the parent process ends."""
    folder, name, stemmer = sys.argv[1:]
    parts, texts = CountedParts(Path(folder), name, stemmer or None), BufferedReader(FileIO(0))
    while texts.peek(1):
        try:
            parts.write(pa.ipc.open_stream(texts).read_all())
            print(flush=True)
        except StoreError as error:
            print(error.found, flush=True)


def _number_words(parts: Sequence[Counts]) -> tuple[pa.StringArray, list[Numbers]]:
    """Sort the words of all parts, and number each part's words in this order."""
    words = pa.concat_arrays([pa.array([], pa.string()), *(part.words for part in parts)]).dictionary_encode()
    order = pc.sort_indices(words.dictionary)
    number = np.argsort(order.to_numpy()).astype(np.int32)
    ends = np.cumsum([len(part.words) for part in parts])
    return words.dictionary.take(order), np.split(number[words.indices.to_numpy()], ends[:-1])


def _count_matrix(parts: Sequence[Counts], numbers: Sequence[Numbers], places: Places, width: int) -> Any:
    """Make a sparse matrix of counts: a row for each document, a column for each word."""
    from scipy.sparse import csr_matrix, vstack

    firsts = np.cumsum([0, *(len(part.starts) - 1 for part in parts)])
    part_of = np.searchsorted(firsts, places, "right") - 1
    order, pieces = np.argsort(part_of, kind="stable"), []
    for at in np.unique(part_of):
        part, shape = parts[at], (len(parts[at].starts) - 1, len(parts[at].words))
        matrix = csr_matrix((part.counts, part.numbers, part.starts), shape)
        matrix = matrix[places[part_of == at] - firsts[at]]
        pieces.append(
            csr_matrix((matrix.data, numbers[at][matrix.indices], matrix.indptr), (matrix.shape[0], width))
        )
    return vstack(pieces, "csr")[np.argsort(order)]


def _send(process: subprocess.Popen[bytes], batch: pa.Table) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):
        with pa.ipc.new_stream(process.stdin, batch.schema) as stream:
            stream.write_table(batch)
        process.stdin.flush()
    answer = process.stdout.readline().decode()
    if answer != "\n":
        raise StoreError(answer.strip() or _ENDED)
    return len(batch)


def _file_name(name: str, hashes: pa.StringArray) -> str:
    """Make the name, without extension, of the file for these versions of documents."""
    _, ends, letters = pa.concat_arrays([hashes]).buffers()
    content = sha256(b"".join([name.encode(), ends, letters or b""]))
    return f"{name[:_NAME]}-{content.hexdigest()[:32]}"


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder during the `with` block, and remove incomplete files of killed processes."""
    try:
        folder.mkdir(0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise StoreError(cannot_write(folder, error)) from error
    try:
        with suppress(OSError):  # some disks know no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _remove(folder.glob(f"{UNFINISHED}*"))
        yield
    finally:
        os.close(descriptor)


def _read_counts(
    store: Store, parts: CountedParts, hashes: pa.StringArray, progress: Progress
) -> tuple[list[Counts], NDArray[np.int64]]:
    """Count the documents that no part has; then read all parts, and the positions of these documents."""
    counts, there = parts.read()
    places = pc.index_in(hashes, value_set=there)
    if places.null_count:
        missing = hashes.filter(pc.is_null(places))
        processes = max(1, min(os.cpu_count() or 1, len(missing) // (2 * CHUNK)))
        batches = batches_of_texts(store, missing, CHUNK)
        counting = parts.write_all(batches, processes) if processes > 1 else map(parts.write, batches)
        for done in accumulate(counting, initial=0):
            progress(_STEP, done, len(missing))
        counts, there = parts.read()
        places = pc.index_in(hashes, value_set=there)
    if places.null_count:
        raise ValueError(f"of {len(hashes)} documents {places.null_count} are not stored")
    return counts, places.to_numpy().astype(np.int64)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()
