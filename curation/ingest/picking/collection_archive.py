"""Collections in one file that are read as a folder: a zip, and LlamaIndex's pairs for embeddings."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from curation.core.errors import InputError
from curation.ingest.readers.bounds import OutOfBoundsError, open_zip
from curation.ingest.readers.lines import text_lines
from curation.ingest.readers.nested.json_records import whole_text
from curation.ingest.readers.problems import Problems

_PAIRS = re.compile(r'\s*\{\s*"queries"\s*:\s*\{')


@contextmanager
def opened_collection(path: Path) -> Iterator[Path]:
    """The folder that a packed collection is, while the context lasts; any other path as it is.

    Raises
    ------
    InputError: it cannot be unpacked, or unpacks to more than can be meant.
    """
    is_pairs = path.is_file() and path.suffix.lower() == ".json" and _begins_as_pairs(path)
    if not is_pairs and not zipfile.is_zipfile(path):
        yield path
        return
    with TemporaryDirectory(prefix="goldgrade-") as folder:
        root = Path(folder, path.stem)
        if is_pairs:
            _write_pairs(path, root)
        else:
            _unpack(path, root)
        yield root


def _unpack(path: Path, root: Path) -> None:
    try:
        with open_zip(path) as archive:
            archive.extractall(root)
    except (OutOfBoundsError, zipfile.BadZipFile, RuntimeError, OSError, NotImplementedError) as error:
        raise InputError(f"cannot be unpacked: {error}", path=path) from error


def _begins_as_pairs(path: Path) -> bool:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return _PAIRS.match(file.read(200)) is not None


def _write_pairs(path: Path, root: Path) -> None:
    """`queries` and `corpus`: id → text; `relevant_docs`: query id → document ids. As lines of BEIR."""
    problems = Problems(path)
    value = whole_text(text_lines(path, "utf-8", problems, Counter()), problems)
    parts = [value.get(name) for name in ("corpus", "queries", "relevant_docs")]
    if not all(isinstance(part, dict) for part in parts):
        problems.stop("expected the objects queries, corpus and relevant_docs, as LlamaIndex saves them")
    corpus, queries, relevant = parts
    root.mkdir()
    _write(root / "corpus.jsonl", [{"_id": name, "text": text} for name, text in corpus.items()])
    _write(root / "queries.jsonl", [{"_id": name, "text": text} for name, text in queries.items()])
    pairs = [(query, document) for query, documents in relevant.items() for document in documents]
    rows = [{"query-id": query, "corpus-id": document, "score": 1} for query, document in pairs]
    _write(root / "qrels.jsonl", rows)


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
