"""Formats of files: how a file is to be read, and which format it has by its name or its beginning."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from curation.ingest.readers.classic import letor, trec, workbench
from curation.ingest.readers.lines import text_lines
from curation.ingest.readers.problems import Problems

FORMATS = ("jsonl", "csv", "tsv", "parquet", "xlsx", "qrels", "trec", "smart", "srw", "letor")
BEGINNING = 4_096  # characters in which a file shows what it is
QRELS_COLUMNS = ("query", "iteration", "document", "grade")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
    ".qrels": "qrels",
}
_SEPARATOR = re.compile(r'\s*"?sep=([^"\r\n])"?\s*', re.IGNORECASE)


class FileLayout(NamedTuple):
    """How a file is to be read; what is None is found out.

    Attributes
    ----------
    columns: names of the columns of a table whose file does not name them (`header` False).
    """

    format: str | None = None
    encoding: str = "utf-8"
    columns: tuple[str, ...] | None = None
    header: bool = True


def find_format(path: Path, layout: FileLayout, problems: Problems) -> str:
    """The format of a file out of `FORMATS`: the one asked for, else by its name, else by its beginning.

    Raises
    ------
    InputError: there is no such format, or the file shows none.
    """
    if layout.format is not None:
        if layout.format not in FORMATS:
            problems.stop(f"there is no format {layout.format!r}", f"Formats: {', '.join(FORMATS)}.")
        return layout.format
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = next((s for s in reversed(suffixes) if s != ".gz"), "")
    found = _SUFFIXES.get(suffix) or _format_of_content(path, layout)
    if found == "jsonl" and _is_workbench(path, layout):
        found = "srw"
    if found is None:
        problems.stop(
            "neither its name nor its beginning tells what format it is in",
            f"Name it with --format ({', '.join(FORMATS)}).",
        )
    return found


def check_layout(format: str, layout: FileLayout, problems: Problems) -> None:
    """Stop with a sentence where names of columns are asked for that a file of this format does not take."""
    if format in ("csv", "tsv"):
        if layout.columns is None and not layout.header:
            problems.stop("--no-header needs the columns' names", "Give them as --columns time,query.")
        if layout.columns is not None and layout.header:
            problems.stop(
                "--columns is for a file that does not name its columns", "Give --no-header with it."
            )
    elif layout.columns is not None or not layout.header:
        problems.stop(f"is {format}, where --columns and --no-header have no meaning")


def separator_of(line: str) -> str:
    """The delimiter that Excel's line `sep=;` names; '' of any other line."""
    match = _SEPARATOR.fullmatch(line)
    return match[1] if match else ""


def _format_of_content(path: Path, layout: FileLayout) -> str | None:
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    ignored = Problems(path)  # reading the file reports them
    lines = text_lines(path, layout.encoding, ignored, Counter())
    start = [line.rstrip("\n") for line in islice(lines, 20) if not line.isspace()]
    if not start:
        return "jsonl"
    if sign := separator_of(start[0]):
        return "tsv" if sign == "\t" else "csv"
    if trec.BEGINNING.match(start[0]):
        return "trec"
    if start[0].startswith(".I"):
        return "smart"
    if letor.LINE.fullmatch(start[0]):
        return "letor"
    if start[0].lstrip().startswith(("{", "[")):
        return "jsonl"
    if layout.columns is not None and len(layout.columns) == 1:
        return "tsv"
    if _even(line.count("\t") for line in start):
        return "tsv"
    if all(map(_is_qrel, (line for line in start if not line.startswith("#")))):
        return "qrels"
    return "csv" if _even(len(row) - 1 for row in csv.reader(start)) else None


def _is_workbench(path: Path, layout: FileLayout) -> bool:
    """Whether a file begins as one JSON object of the Search Relevance Workbench, not as lines of objects."""
    lines = text_lines(path, layout.encoding, Problems(path), Counter())
    start = "".join(line[:BEGINNING] for line in islice(lines, 20))[:BEGINNING]
    return workbench.kind_of(start) is not None


def _even(counts: Iterable[int]) -> bool:
    """Whether each line has the same number of delimiters, and at least one."""
    found = set(counts)
    return len(found) == 1 and found != {0}


def _is_qrel(line: str) -> bool:
    cells = line.split()
    return len(cells) == len(QRELS_COLUMNS) and cells[-1].lstrip("-").isdecimal()


def beir_file(path: Path, name: str) -> Path:
    """The file `name` (or `name`.gz) of a BEIR folder; any other path as it is."""
    if not path.is_dir():
        return path
    for candidate in (path / name, path / f"{name}.gz"):
        if candidate.is_file():
            return candidate
    way_out = f"Expected a file, or a BEIR folder with {name} in it."
    return Problems(path).stop(f"is a folder without {name}", way_out)
