"""Counted documents in files, some thousands in each, made by one process or by several.

A further process gets batches of texts as a stream of Arrow on its standard input, and answers each with a
line: empty, or why it could not be written. It ends with the stream, however its parent ended.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from hashlib import sha256
from io import BufferedReader, FileIO
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import pyarrow as pa

from curation.errors import StoreError
from curation.retrieval.index.array_files import Arrays, new_arrays, packed, read_arrays, unpacked
from curation.retrieval.index.counting import Counts, count_words

_NAME = 8  # letters of the name of a way of counting
_ENDED = "A process that counts words has ended before its time: perhaps the machine has no memory left."


class Parts(NamedTuple):
    """What the files hold: counts, and the content hashes of their documents, of all one after the other."""

    counts: list[Counts]
    hashes: pa.StringArray


class PartsWriter(NamedTuple):
    """Counts words of texts into files.

    Attributes
    ----------
    name: of the way of counting; see `counting.counter`.
    """

    folder: Path
    name: str
    stemmer: str | None

    def write(self, texts: pa.Table) -> int:
        """Count and keep a batch of `documents.batches_of_texts`; returns how many documents that are.

        Raises
        ------
        StoreError: the file cannot be written.
        """
        hashes = pa.concat_arrays(texts["content_hash"].chunks)
        found = count_words(texts["text"], self.stemmer)
        hash_ends, hash_letters = packed(hashes)
        word_ends, word_letters = packed(found.words)
        arrays: Arrays = {"hash_ends": hash_ends, "hash_letters": hash_letters, "starts": found.starts}
        arrays |= {"word_ends": word_ends, "word_letters": word_letters}
        arrays |= {"numbers": found.numbers, "counts": found.counts}
        layout = {name: (array.dtype.str[1:], len(array)) for name, array in arrays.items()}
        path = self.folder / f"{file_name(self.name, hashes)}.counts"
        with new_arrays(path, self.name, layout) as made:
            for name, array in arrays.items():
                made[name][:] = array
        return len(texts)

    def write_all(self, batches: Iterable[pa.Table], processes: int) -> Iterator[int]:
        """The same for many batches, by so many processes."""
        if processes == 1:
            yield from map(self.write, batches)
            return
        with ExitStack() as ending, ThreadPoolExecutor(processes) as threads:
            idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
            for _ in range(processes):
                idle.put(ending.enter_context(self._process()))
            waiting: deque[Future[int]] = deque()
            for batch in batches:
                waiting.append(threads.submit(_send, idle, batch))
                if len(waiting) > processes:
                    yield waiting.popleft().result()
            for sent in waiting:
                yield sent.result()

    def _process(self) -> subprocess.Popen[bytes]:
        program = f"from {__name__} import main; main()"
        command = [sys.executable, "-P", "-c", program, str(self.folder), self.name, self.stemmer or ""]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)  # noqa: S603


def read_parts(folder: Path, name: str) -> Parts:
    """All parts that were counted in this way. One that is damaged is removed."""
    counts, hashes = [], [pa.array([], pa.string())]
    for path in sorted(folder.glob(f"{name[:_NAME]}-*.counts")):
        found = read_arrays(path, name)
        if found is None:
            with suppress(OSError):
                path.unlink()
            continue
        words = unpacked(found["word_ends"], found["word_letters"])
        counts.append(Counts(words, found["starts"], found["numbers"], found["counts"]))
        hashes.append(unpacked(found["hash_ends"], found["hash_letters"]))
    return Parts(counts, pa.concat_arrays(hashes))


def file_name(name: str, hashes: pa.StringArray) -> str:
    """The name of a file about these versions of documents, without its ending."""
    found = sha256(name.encode())
    for array in packed(hashes):
        found.update(array.tobytes())
    return f"{name[:_NAME]}-{found.hexdigest()[:32]}"


def _send(idle: SimpleQueue[subprocess.Popen[bytes]], batch: pa.Table) -> int:
    process = idle.get()
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with suppress(BrokenPipeError):
            with pa.ipc.new_stream(process.stdin, batch.schema) as stream:
                stream.write_table(batch)
            process.stdin.flush()
        answer = process.stdout.readline().decode()
    finally:
        idle.put(process)
    if answer != "\n":
        raise StoreError(answer.strip() or _ENDED)
    return len(batch)


def main() -> None:
    """Count what comes in until it ends."""
    folder, name, stemmer = sys.argv[1:]
    writer = PartsWriter(Path(folder), name, stemmer or None)
    texts = BufferedReader(FileIO(0))
    while texts.peek(1):
        try:
            writer.write(pa.ipc.open_stream(texts).read_all())
            print(flush=True)
        except StoreError as error:
            print(error.found, flush=True)
