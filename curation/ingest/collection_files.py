"""The files of a test collection: which of them hold documents, queries and judgments, and in which format. A
zip is read as a folder.

A style is how a field packs a collection: `trec`, `smart`, `beir` or `hf`. A file is recognised by its
beginning, and where that does not suffice by its name: SMART's documents and queries look the same, and
tables are called corpus, queries and qrels. A file that is not recognised is listed with the reason. A file
that could be two things is refused: nothing is guessed.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from curation.core.errors import InputError
from curation.ingest.readers import trec
from curation.ingest.readers.bounds import OutOfBoundsError, open_zip
from curation.ingest.readers.folders import files_below
from curation.ingest.readers.formats import FileLayout, are_qrels, suffix_of
from curation.ingest.readers.lines import text_lines
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Records
from curation.ingest.readers.smart import is_smart_qrels
from curation.ingest.readers.values import whole_number

BEGINNING = 4_096  # characters in which a file shows what it is
STYLES = ("trec", "smart", "beir", "hf")
DOCUMENTS, QUERIES, JUDGMENTS = "documents", "queries", "judgments"
MAX_FILES = 2_000
"""Limit of files in a collection's folder."""
_ABOUT = re.compile(r"(readme|licen[cs]e|copying|notice|citation)\b.*|.*\.(md|py|sh|ya?ml|pdf|html?)", re.I)
_ROLES = {
    **dict.fromkeys(("corpus", "collection", "documents", "docs"), DOCUMENTS),
    **dict.fromkeys(("queries", "query", "topics"), QUERIES),
    **dict.fromkeys(("qrels", "default"), JUDGMENTS),
}
_SMART_ENDINGS = {".all": DOCUMENTS, ".qry": QUERIES, ".que": QUERIES}
_TABLES = {".jsonl": "jsonl", ".tsv": "tsv", ".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_NO_HEADER = FileLayout("tsv", columns=("id", "text"), header=False)


class CollectionFile(NamedTuple):
    """A file of a collection, and what goldgrade took the file for.

    Attributes
    ----------
    style: one of `STYLES`; '' for TREC qrels, which collections of several styles have.
    kind: DOCUMENTS, QUERIES or JUDGMENTS; '' for a file that is passed over.
    found: description of the file, or the reason for which it is passed over.
    """

    path: Path
    found: str
    style: str = ""
    kind: str = ""
    layout: FileLayout = FileLayout()


def find_collection(
    path: Path, style: str | None = None, encoding: str = "utf-8"
) -> tuple[str, list[CollectionFile], list[CollectionFile]]:
    """Return the style of a collection, its files in the order in which they are imported, and those passed
    over.

    Parameters
    ----------
    style: one of `STYLES`, and files of another style are passed over; None finds the style.

    Raises
    ------
    InputError: the style is unknown, the path does not exist, a file could be of two kinds, the files are of
    several styles or of none, or there are too many files.
    """
    if style is not None and style not in STYLES:
        raise InputError(f"there is no format of collections {style!r}; expected one of {', '.join(STYLES)}")
    paths = _files_of_collection(path)
    tables = style if style in ("beir", "hf") else _style_of_tables(path, paths)
    looks = [_recognize_file(file, path, tables, encoding) for file in paths]
    files = [look for look in looks if look.kind]
    passed = [look for look in looks if not look.kind]
    files, others = _of_one_style(path, files, style)
    if not files:
        shown = "; ".join(f"{_shown_name(file.path, path)}: {file.found}" for file in [*passed, *others][:5])
        raise InputError(f"no collection was found there ({shown or 'the folder is empty'})", path=path)
    order = (DOCUMENTS, QUERIES, JUDGMENTS)
    files.sort(key=lambda file: (order.index(file.kind), file.path))
    style_found = style or next((file.style for file in files if file.style), "trec")
    return style_found, files, sorted([*passed, *others])


def _files_of_collection(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError("there is no such file or folder", path=path)
    paths = list(islice(files_below(path, (".",)), MAX_FILES + 1))
    if len(paths) > MAX_FILES:
        raise InputError(
            f"is a folder of more than {MAX_FILES:,} files; expected a collection of at most {MAX_FILES:,}",
            path=path,
            way_out="Put the files of the collection into a separate folder. Text files of TREC's or "
            "SMART's format can be joined first, all packed or none: cat FOLDER/* > documents. Parquet files "
            "and tables cannot.",
        )
    return sorted(paths)


def _of_one_style(
    path: Path, files: Sequence[CollectionFile], style: str | None
) -> tuple[list[CollectionFile], list[CollectionFile]]:
    """Return the files of the wanted style, or of the only style in the folder; and the other files."""
    styles = sorted({file.style for file in files if file.style})
    if style is None and len(styles) > 1:
        examples = [next(file for file in files if file.style == style) for style in styles]
        shown = "; ".join(f"{_shown_name(file.path, path)} is {file.found}" for file in examples)
        raise InputError(
            f"holds files of several formats of collections: {shown}",
            path=path,
            way_out="Say which one is meant.",
            command=f"--format {' or --format '.join(styles)} does.",
        )
    taken = [file for file in files if file.style in ("", style or file.style)]
    others = [CollectionFile(file.path, f"{file.found}, not {style}") for file in files if file not in taken]
    return taken, others


def _recognize_file(path: Path, root: Path, tables: str, encoding: str) -> CollectionFile:
    if _ABOUT.fullmatch(path.name):
        return CollectionFile(path, "a text about the collection, by its name")
    table = _table_file(path, root, tables, encoding)
    if table is not None:
        return table
    start = _beginning_of(path, encoding)
    layout = FileLayout(encoding=encoding)
    if trec.BEGINNING.match(start) and (marked := trec.kind_of(start)) is not None:
        kind = DOCUMENTS if marked == trec.DOCUMENT else QUERIES
        return CollectionFile(path, f"TREC {marked}s", "trec", kind, layout._replace(format="trec"))
    if start.startswith(".I"):
        return _smart_file(path, root, layout)
    return _file_of_columns(path, start, layout)


def _smart_file(path: Path, root: Path, layout: FileLayout) -> CollectionFile:
    """Return SMART's documents or queries, as the file's name says."""
    kind = _SMART_ENDINGS.get(suffix_of(path)) or _kind_by_name(path, root)
    if kind not in (DOCUMENTS, QUERIES):
        raise InputError(
            f"{_shown_name(path, root)} is in SMART's format, and its name does not say whether it holds "
            "documents or queries",
            way_out="Name it as such collections do: .ALL for documents, .QRY for queries, .REL for grades.",
        )
    return CollectionFile(path, f"SMART {kind}", "smart", kind, layout._replace(format="smart"))


def _file_of_columns(path: Path, start: str, layout: FileLayout) -> CollectionFile:
    """Return a file whose lines have columns: qrels, SMART's list of relevant documents, or a run."""
    lines = [line for line in start.splitlines() if line.strip() and not line.startswith("#")][:20]
    rows = [line.split() for line in lines]
    if is_smart_qrels("\n".join(lines)):
        description = "SMART's list of relevant documents"
        return CollectionFile(path, description, "smart", JUDGMENTS, layout._replace(format="smart"))
    if lines and are_qrels(lines):
        return CollectionFile(path, "TREC qrels", "", JUDGMENTS, layout._replace(format="qrels"))
    if rows and all(len(row) >= 6 and whole_number(row[3]) is not None for row in rows):
        return CollectionFile(path, "a run, which is imported by itself")
    return CollectionFile(path, "in no format of collections that is known")


def _table_file(path: Path, root: Path, style: str, encoding: str) -> CollectionFile | None:
    """Return a table of BEIR, Hugging Face or TREC's later tracks, recognized by name and folders."""
    format = _TABLES.get(suffix_of(path))
    kind = format and (_kind_by_name(path, root) or _kind_by_columns(path, FileLayout(format, encoding)))
    if format is None or kind is None:
        return None
    layout = FileLayout(format, encoding)
    if kind == QUERIES and format == "tsv" and _has_two_columns_and_no_header(path, encoding):
        return CollectionFile(
            path, "topics: id and text", "trec", kind, _NO_HEADER._replace(encoding=encoding)
        )
    if kind == JUDGMENTS and format == "tsv":
        start = _beginning_of(path, encoding)
        lines = [line for line in start.splitlines()[:20] if line.strip()]
        if lines and are_qrels(lines):
            return CollectionFile(path, "TREC qrels", "", kind, FileLayout("qrels", encoding))
        if start.startswith("query-id\tcorpus-id"):
            layout = FileLayout("csv", encoding)  # BEIR's qrels quote cells as CSV does
    label = "BEIR" if style == "beir" else "Hugging Face"
    return CollectionFile(path, f"{kind} of a {label} folder", style, kind, layout)


def _kind_by_columns(path: Path, layout: FileLayout) -> str | None:
    """Return JUDGMENTS for a table with the columns of qrels, such as data/test.parquet; None for others."""
    with suppress(InputError):
        return JUDGMENTS if {"query-id", "corpus-id"} <= set(Records(path, layout).columns) else None
    return None


def _kind_by_name(path: Path, root: Path) -> str | None:
    """Return the kind that a file's name says, or the name of its nearest folder below the root.

    Raises
    ------
    InputError: the name says two kinds.
    """
    folders = list(path.relative_to(root).parts[:-1]) if path != root else []
    for name in (path.name, *reversed(folders)):
        words = re.split(r"[^a-z0-9]+", name.lower())
        roles = {_ROLES[word] for word in words if word in _ROLES}
        if JUDGMENTS in roles and "qrels" in words:
            return JUDGMENTS  # as in qrels.queries.tsv
        if len(roles) > 1:
            raise InputError(
                f"{_shown_name(path, root)}: the name says that it holds {' and '.join(sorted(roles))}",
                way_out="Rename it, or import it with the command of its kind (goldgrade import queries).",
            )
        if roles:
            return roles.pop()
    return None


def _style_of_tables(root: Path, paths: Sequence[Path]) -> str:
    """Return the style of tables: 'hf' for Parquet, or JSON lines in folders of configurations;
    else 'beir'.
    """
    if any(path.suffix.lower() in (".parquet", ".pq") for path in paths):
        return "hf"
    inside = [path.relative_to(root).parts for path in paths if path != root]
    folders = {parts[0] for parts in inside if len(parts) > 1}
    qrels = any(parts[0] == "qrels" and ".jsonl" in parts[1] for parts in inside if len(parts) == 2)
    return "hf" if qrels or folders & {"corpus", "queries", "default"} else "beir"


def _has_two_columns_and_no_header(path: Path, encoding: str) -> bool:
    rows = [line.split("\t") for line in _beginning_of(path, encoding).splitlines()[:20] if line]
    named = {"id", "_id", "qid", "query_id", "query-id", "text", "query", "title"}
    return bool(rows) and len(rows[0]) == 2 and not named & {cell.strip().lower() for cell in rows[0]}


def _beginning_of(path: Path, encoding: str) -> str:
    """Return the beginning of a file as far as it is text; the import reports problems of the file."""
    lines: list[str] = []
    with suppress(InputError, OSError):
        for line in islice(text_lines(path, encoding, Problems(path), Counter()), 200):
            lines.append(line[:BEGINNING])
            if sum(map(len, lines)) > BEGINNING:
                break
    return "".join(lines).lstrip()


def _shown_name(path: Path, root: Path) -> str:
    return path.name if path == root else path.relative_to(root).as_posix()


@contextmanager
def opened_collection(path: Path) -> Iterator[Path]:
    """Unpack a zip archive for the duration of the context, and yield its folder; yield other paths as given.

    Raises
    ------
    InputError: the archive cannot be unpacked, or unpacks to more than the bound.
    """
    if not zipfile.is_zipfile(path):
        yield path
        return
    with TemporaryDirectory(prefix="goldgrade-") as folder:
        root = Path(folder, path.stem)
        _unpack_zip(path, root)
        yield root


def _unpack_zip(path: Path, root: Path) -> None:
    try:
        with open_zip(path) as archive:
            archive.extractall(root)
    except (OutOfBoundsError, zipfile.BadZipFile, RuntimeError, OSError, NotImplementedError) as error:
        raise InputError(f"cannot be unpacked: {error}", path=path) from error
