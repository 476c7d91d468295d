"""Qrels, runs and tables that Python passes in memory, as the files that the evaluation reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, runtime_checkable

from curation.core.errors import InputError

Run = Mapping[str, Mapping[str, float]]
"""Query id → document id → score."""
Grades = Mapping[str, Mapping[str, int]]
"""Query id → document id → grade."""


@runtime_checkable
class Frame(Protocol):
    """A table of pandas, polars, pyarrow or another library with Arrow's interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Source = Run | Grades | Frame | str | Path


@contextmanager
def write_files(sources: Mapping[str, Source]) -> Iterator[list[Path]]:
    """Yield a file for each source; a source in memory becomes a temporary file, and errors name its label.

    Parameters
    ----------
    sources: label, such as "the run 'bm25'" → source.

    Raises
    ------
    InputError: a source has a type that cannot be read.
    """
    with TemporaryDirectory() as folder:
        files = [
            _find_file(label, source, Path(folder) / str(index))
            for index, (label, source) in enumerate(sources.items())
        ]
        try:
            yield files
        except InputError as error:
            for label, file in zip(sources, files, strict=True):
                if error.path == file and file.parent == Path(folder):
                    raise InputError(error.problems, path=label, way_out=error.way_out) from None
            raise


def fuse_runs(runs: Sequence[Run], depth: int) -> dict[str, dict[str, float]]:
    """Fuse runs as the hybrid retriever fuses lists."""
    from curation.retrieval.hybrid import fuse
    from curation.retrieval.retriever import Hit

    fused: dict[str, dict[str, float]] = {}
    for query in dict.fromkeys(query for run in runs for query in run):
        ranked = [sorted(run.get(query, {}).items(), key=lambda hit: hit[::-1], reverse=True) for run in runs]
        hits = fuse([[Hit(document, score) for document, score in documents] for documents in ranked])
        fused[query] = {hit.document_id: hit.score or 0.0 for hit in hits[:depth]}
    return fused


def list_names(argument: str, names: str | Sequence[str]) -> Sequence[str]:
    """Return names as a sequence; a single name becomes a sequence of one.

    Raises
    ------
    InputError: the argument is something else.
    """
    if isinstance(names, str):
        return [names]
    if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
        return names
    raise _expected(argument, names, 'a name or a list of names, such as ["ndcg_exp@10", "recall@100"]')


def check_runs(runs: object) -> None:
    """Reject an argument `runs` that does not map names to runs."""
    if not isinstance(runs, Mapping) or not all(isinstance(name, str) for name in runs):
        raise _expected("runs", runs, 'a run for each name, such as {"bm25": "bm25.trec"}')


def _find_file(label: str, source: Source, path: Path) -> Path:
    """Return the file of a source; a source in memory is written to a file that begins with `path`."""
    if isinstance(source, str | Path):
        return Path(source)
    if isinstance(source, Mapping):
        file = path.with_suffix(".json")
        rows = {str(query): _read_row(label, query, row) for query, row in source.items()}
        file.write_text(json.dumps(rows), encoding="utf-8")
        return file
    if not isinstance(source, Frame):
        raise _expected(
            label, source, "a path, {query: {document: number}} or a table (pandas, polars, Arrow)"
        )
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = path.with_suffix(".parquet")
    pq.write_table(pa.table(source), file)
    return file


def _read_row(label: str, query: object, row: object) -> dict[str, float]:
    """Convert one query's numbers, which may be numpy's, to numbers that JSON has."""
    if not isinstance(row, Mapping):
        raise _expected(f"{label}, query {query!r}", row, "a number for each document, as in {'d7': 1}")
    numbers: dict[str, float] = {}
    for document, number in row.items():
        if isinstance(number, bool) or not isinstance(number, Real):
            raise _expected(f"{label}, query {query!r}, document {document!r}", number, "a number")
        numbers[str(document)] = int(number) if isinstance(number, Integral) else float(number)
    return numbers


def _expected(what: str, value: object, expected: str) -> InputError:
    return InputError(f"{what} is {type(value).__name__} {str(value)[:60]!r}; expected {expected}.")
