"""Formats of files, recognized by a file's name or beginning."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from curation.core.text import suggest
from curation.ingest.readers import trec
from curation.ingest.readers.document_files.listing import holds_documents
from curation.ingest.readers.lines import read_lines
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.query_logs import parse_log_line
from curation.ingest.readers.text_tables import QRELS_COLUMNS, find_separator
from curation.ingest.readers.values import parse_whole_number

FORMATS = ("jsonl", "csv", "tsv", "parquet", "xlsx", "qrels", "trec", "log")
SUFFIXES = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "jsonl"),
    **dict.fromkeys((".tsv", ".tab"), "tsv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".csv": "csv",
    ".xlsx": "xlsx",
}
"""Format of a file for each ending of a file's name."""
DOCUMENT_FILES = "document-files"
"""Format of a folder or an archive whose files are documents."""


class FileLayout(NamedTuple):
    """A file's format, encoding and columns; if the format is None, the reader recognizes it from the file.

    Attributes
    ----------
    columns: names of the columns of a table without a header (`header` False).
    """

    format: str | None = None
    encoding: str = "utf-8"
    columns: tuple[str, ...] | None = None
    header: bool = True


def find_format(path: Path, layout: FileLayout, problems: Problems) -> str:
    """Return a file's requested format, or the format indicated by its name or beginning."""
    by_name = {**SUFFIXES, ".qrels": "qrels"}.get(find_suffix(path))
    if by_name == "tsv" and layout.header and look_like_qrels(read_first_lines(path, layout.encoding)):
        by_name = "qrels"  # as in MS MARCO's qrels.tsv, which has no header
    return choose_format(layout.format, FORMATS, lambda: by_name or _detect_format(path, layout), problems)


def find_layout(path: Path, layout: FileLayout) -> FileLayout:
    """Return the layout of a file; MS MARCO's files with a number and a text on each line have no header."""
    if find_suffix(path) != ".tsv" or layout != FileLayout() or not path.is_file():
        return layout
    rows = [line.split("\t") for line in read_first_lines(path, layout.encoding)]
    is_plain = all(len(row) == 2 and row[0].isdecimal() and not row[1].isdecimal() for row in rows)
    return FileLayout("tsv", columns=("id", "text"), header=False) if rows and is_plain else layout


def choose_format(
    requested: str | None, formats: Sequence[str], detect: Callable[[], str | None], problems: Problems
) -> str:
    """Return the requested format, or the one that `detect` returns.

    Raises
    ------
    InputError: the requested format is not one of `formats`, or `detect` returns None.
    """
    if requested is not None and requested not in formats:
        problems.stop(
            f"there is no format {requested!r}{suggest(requested, formats)}",
            f"Formats: {', '.join(formats)}.",
        )
    format = requested or detect()
    if format is None:
        way_out = f"Name the format with --format ({', '.join(formats)})."
        problems.stop("neither the file's name nor its beginning shows the format", way_out)
    return format


def find_suffix(path: Path) -> str:
    """Return a file's extension in lower case, without .gz."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_first_lines(path: Path, encoding: str) -> list[str]:
    """Return the non-blank lines among a file's first 20 lines, without reporting problems."""
    lines = islice(read_lines(path, encoding, Problems(path), Counter()), 20)
    return [line.rstrip("\n") for line in lines if not line.isspace()]


def check_layout(format: str, layout: FileLayout, problems: Problems) -> None:
    """Reject column names for a format that fixes them, and a table that has neither a header nor named
    columns."""
    if format in ("csv", "tsv"):
        if layout.columns is None and not layout.header:
            problems.stop("--no-header needs column names", "Name columns, as in --columns time,query.")
        if layout.columns is not None and layout.header:
            problems.stop("--columns is for a file without a header", "Use --columns with --no-header.")
    elif layout.columns is not None or not layout.header:
        problems.stop(f"is {format}, where --columns and --no-header have no meaning")


def _detect_format(path: Path, layout: FileLayout) -> str | None:
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    start = read_first_lines(path, layout.encoding)
    if not start:
        return "jsonl"
    if delimiter := find_separator(start[0]):
        return "tsv" if delimiter == "\t" else "csv"
    if trec.BEGINNING.match(start[0]):
        return "trec"
    if layout.columns is None and any(map(parse_log_line, start)):
        return "log"
    if start[0].lstrip().startswith(("{", "[")):
        return "jsonl"
    if layout.columns is not None and len(layout.columns) == 1:
        return "tsv"
    if _are_even(line.count("\t") for line in start):
        return "tsv"
    if look_like_qrels([line for line in start if not line.startswith("#")]):
        return "qrels"
    return "csv" if _are_even(len(row) - 1 for row in csv.reader(start)) else None


def _are_even(counts: Iterable[int]) -> bool:
    """Return whether all lines have the same number of delimiters, which is at least one."""
    distinct_counts = set(counts)
    return len(distinct_counts) == 1 and distinct_counts != {0}


def look_like_qrels(lines: Sequence[str]) -> bool:
    """Return whether lines are TREC qrels: four columns, the last with whole numbers."""
    rows = [line.split() for line in lines]
    return all(len(row) == len(QRELS_COLUMNS) and parse_whole_number(row[3]) is not None for row in rows)


def find_corpus_file(path: Path, layout: FileLayout) -> tuple[Path, FileLayout]:
    """Return a corpus's file and layout: a single file, a BEIR folder, or documents in files."""
    is_beir = any((path / name).is_file() for name in ("corpus.jsonl", "corpus.jsonl.gz"))
    if is_beir or not holds_documents(path) or layout.format is not None:
        return find_beir_file(path, "corpus.jsonl"), layout
    return path, layout._replace(format=DOCUMENT_FILES)


def find_beir_file(path: Path, name: str) -> Path:
    """Return the file `name` (or `name`.gz) in a BEIR folder; return any other path unchanged."""
    if not path.is_dir():
        return path
    for candidate in (path / name, path / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    way_out = f"Expected a file, or a BEIR folder that contains {name}."
    return Problems(path).stop(f"is a folder without {name}", way_out)
