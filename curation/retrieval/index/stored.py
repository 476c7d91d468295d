"""The files of the index, in a folder next to the project that can be deleted at any time.

`….counts` hold the counts of some documents each, by content hash: every version of a document is counted
once, and after a kill the next call counts what is in no file yet. `….index` is merged from them for one
corpus. Their names begin with a hash of what decides what a word is, and end with one of the content hashes.
Who makes files holds a lock on the folder meanwhile.

Many documents are counted by several processes. Each gets batches of texts as streams of Arrow on its
standard input, and answers each with a line: empty, or why it could not be written.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from hashlib import sha256
from io import BufferedReader, FileIO
from itertools import accumulate, islice
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.core.errors import StoreError
from curation.core.progress import Progress, silent
from curation.retrieval.index.array_files import UNFINISHED, cannot_write, read_arrays, write_arrays
from curation.retrieval.index.counting import CHUNK, Counts, count_words, counter
from curation.retrieval.index.merging import CorpusIndex, merge
from curation.store import Store
from curation.store.documents import batches_of_texts

FEW = 20_000
"""The index of so many documents is merged each time, which takes some hundredths of a second."""
_STEP = "bm25: count words"
_NAME = 8  # letters of the name of a way of counting
_ENDED = "A process that counts words has ended before its time: perhaps the machine has no memory left."


def index_folder(project: Path) -> Path:
    """The folder of a project's index."""
    return project.with_name(f"{project.name}.bm25")


def stored_index(
    store: Store, hashes: pa.StringArray, progress: Progress = silent, stemmer: str | None = None
) -> CorpusIndex:
    """The index of versions of documents in this order, made where it is missing.

    Raises
    ------
    StoreError: the folder cannot be written.
    ValueError: the project does not hold one of the versions.
    """
    folder, name = index_folder(store.path), counter(stemmer)
    key = _file_name(name, hashes)
    path = folder / f"{key}.index"
    with _alone(folder):
        if (arrays := read_arrays(path, key)) is not None:
            return CorpusIndex(**arrays)
        made = merge(*_counted(store, CountedParts(folder, name, stemmer), hashes, progress))
        if len(hashes) > FEW:
            _remove(folder.glob(f"{name[:_NAME]}-*.index"))
            write_arrays(path, key, made._asdict())
    return made


class CountedParts(NamedTuple):
    """The files of counts of one way of counting (`counting.counter`)."""

    folder: Path
    name: str
    stemmer: str | None

    def read(self) -> tuple[list[Counts], pa.StringArray]:
        """All that are whole, and the content hashes of their documents."""
        counts, hashes = [], [pa.array([], pa.string())]
        for path in sorted(self.folder.glob(f"{self.name[:_NAME]}-*.counts")):
            if (arrays := read_arrays(path, self.name)) is not None:
                hashes.append(arrays.pop("hashes"))
                counts.append(Counts(**arrays))
        return counts, pa.concat_arrays(hashes)

    def write(self, texts: pa.Table) -> int:
        """Count and keep a batch of `documents.batches_of_texts`; returns how many documents that are.

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
        """The same for many batches, by so many further processes at a time."""
        program = f"from {__name__} import count_sent_texts; count_sent_texts()"
        command = [sys.executable, "-P", "-c", program, str(self.folder), self.name, self.stemmer or ""]
        with ExitStack() as ending, ThreadPoolExecutor(processes) as threads:
            start = partial(subprocess.Popen, command, stdin=PIPE, stdout=PIPE, start_new_session=True)
            started = [ending.enter_context(start()) for _ in range(processes)]
            while waiting := list(islice(batches, processes)):
                yield from threads.map(_send, started, waiting)


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


def count_sent_texts() -> None:
    """What a further process does until its parent ends, however that comes about."""
    folder, name, stemmer = sys.argv[1:]
    parts, texts = CountedParts(Path(folder), name, stemmer or None), BufferedReader(FileIO(0))
    while texts.peek(1):
        try:
            parts.write(pa.ipc.open_stream(texts).read_all())
            print(flush=True)
        except StoreError as error:
            print(error.found, flush=True)


def _file_name(name: str, hashes: pa.StringArray) -> str:
    """The name of a file about these versions of documents, without its ending."""
    _, ends, letters = pa.concat_arrays([hashes]).buffers()
    content = sha256(b"".join([name.encode(), ends, letters or b""]))
    return f"{name[:_NAME]}-{content.hexdigest()[:32]}"


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
    store: Store, parts: CountedParts, hashes: pa.StringArray, progress: Progress
) -> tuple[list[Counts], NDArray[np.int64]]:
    """All parts, and where these documents are among theirs; what is in none is counted."""
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
