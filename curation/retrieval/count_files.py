"""Files of word counts, each with the counts and the content hashes of a batch of documents.

Every version of a document is counted once. The name of a file begins with a hash of the rules that cut texts
into words, and ends with a hash of the content hashes.

Several child processes count a large number of documents. A child process gets batches of texts as Arrow
streams on its standard input, and answers each batch with a line, which is empty or has the reason why the
counts could not be written.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from hashlib import sha256
from io import BufferedReader, FileIO
from itertools import islice
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

import pyarrow as pa

from curation.core.errors import StoreError
from curation.retrieval.array_files import read_arrays, write_arrays
from curation.retrieval.terms import Analyzer
from curation.retrieval.word_counts import WordCounts, count_words

_PREFIX_LENGTH = 8  # number of hash characters in a file name
_ENDED = "A process that counts words ended early, perhaps because memory ran out."


class CountFiles(NamedTuple):
    """The files of word counts in a folder, for one set of rules that cut texts into words."""

    folder: Path
    rules_hash: str
    analyzer: Analyzer

    def read(self) -> tuple[list[WordCounts], pa.StringArray]:
        """Read all complete files of word counts, and the content hashes of the counted documents."""
        batches, hashes = [], [pa.array([], pa.string())]
        for path in sorted(self.folder.glob(f"{self.prefix}-*.counts")):
            arrays = read_arrays(path, self.rules_hash)
            if arrays is not None:
                hashes.append(arrays.pop("hashes"))
                batches.append(WordCounts(**arrays))
        return batches, pa.concat_arrays(hashes)

    def write(self, texts: pa.Table) -> int:
        """Count the words of a batch of texts, store the counts, and return the number of documents.

        Raises
        ------
        StoreError: the file cannot be written.
        """
        hashes = pa.concat_arrays(texts["content_hash"].chunks)
        counts = count_words(texts["text"], self.analyzer)
        path = self.folder / f"{self.make_file_name(hashes)}.counts"
        write_arrays(path, self.rules_hash, {"hashes": hashes, **counts._asdict()})
        return len(texts)

    def write_in_processes(self, batches: Iterator[pa.Table], n_processes: int) -> Iterator[int]:
        """Count and store the words of batches in child processes; yield each batch's size."""
        program = f"from {__name__} import count_sent_texts; count_sent_texts()"
        rules = (self.rules_hash, self.analyzer.stemmer or "", " ".join(self.analyzer.kept_words))
        command = [sys.executable, "-P", "-c", program, str(self.folder), *rules]
        with ExitStack() as stack, ThreadPoolExecutor(n_processes) as threads:
            start = partial(subprocess.Popen, command, stdin=PIPE, stdout=PIPE, start_new_session=True)
            processes = [stack.enter_context(start()) for _ in range(n_processes)]
            while next_batches := list(islice(batches, n_processes)):
                yield from threads.map(_send_batch, processes, next_batches)

    @property
    def prefix(self) -> str:
        """Return the prefix that the names of all these word-count files have."""
        return self.rules_hash[:_PREFIX_LENGTH]

    def make_file_name(self, hashes: pa.StringArray) -> str:
        """Make the name, without extension, of the file for the documents with these content hashes."""
        _, ends, letters = pa.concat_arrays([hashes]).buffers()
        content = sha256(b"".join([self.rules_hash.encode(), ends, letters or b""]))
        return f"{self.prefix}-{content.hexdigest()[:32]}"


def count_sent_texts() -> None:
    """Count the words of texts in a child process until the parent process ends."""
    folder, rules_hash, stemmer, kept_words = sys.argv[1:]
    analyzer = Analyzer(stemmer or None, frozenset(kept_words.split()))
    files = CountFiles(Path(folder), rules_hash, analyzer)
    stream = BufferedReader(FileIO(0))
    while stream.peek(1):
        try:
            files.write(pa.ipc.open_stream(stream).read_all())
            print(flush=True)
        except StoreError as error:
            print(error.found, flush=True)


def _send_batch(process: subprocess.Popen[bytes], batch: pa.Table) -> int:
    """Send a batch to a child process, wait for the answer, and return its number of documents."""
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
