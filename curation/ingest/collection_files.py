"""A test collection's files, each recognized by its kind (documents, queries or judgments).

A zip archive is read as a folder.

A style is a usual layout of the files of a test collection: `trec`, `beir` or `hf`. The kind and the format
of a file are recognized from the beginning of the file. If the beginning does not suffice, the file's name
decides: tables are called corpus, queries and qrels. A file that is not recognized is listed with the reason.
A file that could be of two kinds is refused, because goldgrade does not guess the kind of a file.
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
from curation.ingest.readers.folders import walk_files
from curation.ingest.readers.formats import FileLayout, find_suffix, look_like_qrels
from curation.ingest.readers.lines import read_lines
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import parse_whole_number

BEGINNING = 4_096  # characters from which the kind of a file is recognized
STYLES = ("trec", "beir", "hf")
DOCUMENTS, QUERIES, JUDGMENTS = "documents", "queries", "judgments"
MAX_FILES = 2_000
"""Greatest number of files in the folder of a collection."""
_README_NAME = re.compile(
    r"(readme|licen[cs]e|copying|notice|citation)\b.*|.*\.(md|py|sh|ya?ml|pdf|html?)", re.I
)
_KIND_BY_WORD = {
    **dict.fromkeys(("corpus", "collection", "documents", "docs"), DOCUMENTS),
    **dict.fromkeys(("queries", "query", "topics"), QUERIES),
    **dict.fromkeys(("qrels", "default"), JUDGMENTS),
}
_FORMAT_BY_SUFFIX = {".jsonl": "jsonl", ".tsv": "tsv", ".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_HEADERLESS_TOPICS = FileLayout("tsv", columns=("id", "text"), header=False)


class CollectionFile(NamedTuple):
    """A file of a test collection, with its recognized style and kind.

    Attributes
    ----------
    style: one of `STYLES`; '' for TREC qrels, which are part of collections of several styles.
    kind: DOCUMENTS, QUERIES or JUDGMENTS; '' for a file that is not imported.
    found: description of the file, or the reason for which the file is not imported.
    """

    path: Path
    found: str
    style: str = ""
    kind: str = ""
    layout: FileLayout = FileLayout()


class CollectionFiles(NamedTuple):
    """Files of a test collection, in the order of import.

    Attributes
    ----------
    style: one of `STYLES`.
    not_imported: files of the folder that are not imported, each with the reason.
    """

    style: str
    files: list[CollectionFile]
    not_imported: list[CollectionFile]


def find_collection(path: Path, style: str | None = None, encoding: str = "utf-8") -> CollectionFiles:
    """Recognize a test collection's files.

    Parameters
    ----------
    style: one of `STYLES`; files of other styles are not imported. With None, the style is found from the
    files.

    Raises
    ------
    InputError: the style is unknown, the path does not exist, a file could be of two kinds, the files have
    several styles or no known style, or there are too many files.
    """
    if style is not None and style not in STYLES:
        raise InputError(f"{style!r} is not a collection format; expected one of {', '.join(STYLES)}")
    paths = _list_files(path)
    table_style = style if style in ("beir", "hf") else _find_table_style(path, paths)
    recognized = [_recognize_file(file, path, table_style, encoding) for file in paths]
    files = [file for file in recognized if file.kind]
    not_imported = [file for file in recognized if not file.kind]
    files, other_styles = _select_style(path, files, style)
    if not files:
        other_files = [*not_imported, *other_styles][:5]
        shown = "; ".join(f"{_format_name(file.path, path)}: {file.found}" for file in other_files)
        raise InputError(f"no test collection was found ({shown or 'the folder is empty'})", path=path)
    kind_order = (DOCUMENTS, QUERIES, JUDGMENTS)
    files.sort(key=lambda file: (kind_order.index(file.kind), file.path))
    found_style = style or next((file.style for file in files if file.style), "trec")
    return CollectionFiles(found_style, files, sorted([*not_imported, *other_styles]))


def _list_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError("there is no such file or folder", path=path)
    paths = list(islice(walk_files(path, (".",)), MAX_FILES + 1))
    if len(paths) > MAX_FILES:
        raise InputError(
            f"is a folder with more than {MAX_FILES:,} files; expected a collection of at most "
            f"{MAX_FILES:,} files",
            path=path,
            way_out="Put the files of the collection into a folder of their own. You can join text files in "
            "TREC's format into one file, if all or none of them are packed: cat FOLDER/* > documents. "
            "Parquet files and tables cannot be joined.",
        )
    return sorted(paths)


def _select_style(
    path: Path, files: Sequence[CollectionFile], style: str | None
) -> tuple[list[CollectionFile], list[CollectionFile]]:
    """Return a collection's files of the wanted style, or of the folder's only style, and the other files."""
    styles = sorted({file.style for file in files if file.style})
    if style is None and len(styles) > 1:
        examples = [next(file for file in files if file.style == style) for style in styles]
        examples_text = "; ".join(f"{_format_name(file.path, path)} is {file.found}" for file in examples)
        raise InputError(
            f"contains files of several collection formats: {examples_text}",
            path=path,
            way_out="Choose one format.",
            command=f"--format {' or --format '.join(styles)} chooses a format.",
        )
    chosen = [file for file in files if file.style in ("", style or file.style)]
    others = [CollectionFile(file.path, f"{file.found}, not {style}") for file in files if file not in chosen]
    return chosen, others


def _recognize_file(path: Path, root: Path, table_style: str, encoding: str) -> CollectionFile:
    if _README_NAME.fullmatch(path.name):
        return CollectionFile(path, "a description of the collection, by its name")
    table_file = _recognize_table(path, root, table_style, encoding)
    if table_file is not None:
        return table_file
    beginning = _read_beginning(path, encoding)
    layout = FileLayout(encoding=encoding)
    if trec.BEGINNING.match(beginning) and (block_kind := trec.find_block_kind(beginning)) is not None:
        kind = DOCUMENTS if block_kind == trec.DOCUMENT else QUERIES
        return CollectionFile(path, f"TREC {block_kind}s", "trec", kind, layout._replace(format="trec"))
    return _recognize_columns(path, beginning, layout)


def _recognize_columns(path: Path, beginning: str, layout: FileLayout) -> CollectionFile:
    """Recognize a file whose lines have columns: qrels, or a run."""
    lines = [line for line in beginning.splitlines() if line.strip() and not line.startswith("#")][:20]
    rows = [line.split() for line in lines]
    if lines and look_like_qrels(lines):
        return CollectionFile(path, "TREC qrels", "", JUDGMENTS, layout._replace(format="qrels"))
    if rows and all(len(row) >= 6 and parse_whole_number(row[3]) is not None for row in rows):
        return CollectionFile(path, "a run (import runs separately)")
    return CollectionFile(path, "not in a known format of test collections")


def _recognize_table(path: Path, root: Path, style: str, encoding: str) -> CollectionFile | None:
    """Recognize a table of BEIR, Hugging Face or TREC's later tracks by the names of the file and its
    folders."""
    format = _FORMAT_BY_SUFFIX.get(find_suffix(path))
    if format is None:
        return None
    layout = FileLayout(format, encoding)
    kind = _find_kind_by_name(path, root) or _find_kind_by_columns(path, layout)
    if kind is None:
        return None
    if kind == QUERIES and format == "tsv" and _has_two_columns_and_no_header(path, encoding):
        layout = _HEADERLESS_TOPICS._replace(encoding=encoding)
        return CollectionFile(path, "topics: id and text", "trec", kind, layout)
    if kind == JUDGMENTS and format == "tsv":
        beginning = _read_beginning(path, encoding)
        lines = [line for line in beginning.splitlines()[:20] if line.strip()]
        if lines and look_like_qrels(lines):
            return CollectionFile(path, "TREC qrels", "", kind, FileLayout("qrels", encoding))
        if beginning.startswith("query-id\tcorpus-id"):
            layout = FileLayout("csv", encoding)  # BEIR's qrels quote cells as CSV does
    label = "BEIR" if style == "beir" else "Hugging Face"
    return CollectionFile(path, f"{kind} of a {label} folder", style, kind, layout)


def _find_kind_by_columns(path: Path, layout: FileLayout) -> str | None:
    """Return JUDGMENTS for a table with the columns of qrels; None for other tables."""
    with suppress(InputError):
        return JUDGMENTS if {"query-id", "corpus-id"} <= set(Records(path, layout).columns) else None
    return None


def _find_kind_by_name(path: Path, root: Path) -> str | None:
    """Return the kind named in a file's name, or in the name of the nearest enclosing folder.

    Raises
    ------
    InputError: the name has words for two kinds.
    """
    folders = list(path.relative_to(root).parts[:-1]) if path != root else []
    for name in (path.name, *reversed(folders)):
        words = re.split(r"[^a-z0-9]+", name.lower())
        kinds = {_KIND_BY_WORD[word] for word in words if word in _KIND_BY_WORD}
        if JUDGMENTS in kinds and "qrels" in words:
            return JUDGMENTS  # as in qrels.queries.tsv
        if len(kinds) > 1:
            raise InputError(
                f"{_format_name(path, root)}: the name could mean {' and '.join(sorted(kinds))}",
                way_out="Rename the file, or import it with the command for its kind, such as goldgrade "
                "import queries.",
            )
        if kinds:
            return kinds.pop()
    return None


def _find_table_style(root: Path, paths: Sequence[Path]) -> str:
    """Return the tables' style: 'hf' for Parquet and for JSON lines in config folders, otherwise 'beir'."""
    if any(path.suffix.lower() in (".parquet", ".pq") for path in paths):
        return "hf"
    inner = [path.relative_to(root).parts for path in paths if path != root]
    folders = {parts[0] for parts in inner if len(parts) > 1}
    has_json_qrels = any(parts[0] == "qrels" and ".jsonl" in parts[1] for parts in inner if len(parts) == 2)
    return "hf" if has_json_qrels or folders & {"corpus", "queries", "default"} else "beir"


def _has_two_columns_and_no_header(path: Path, encoding: str) -> bool:
    rows = [line.split("\t") for line in _read_beginning(path, encoding).splitlines()[:20] if line]
    header_names = {"id", "_id", "qid", "query_id", "query-id", "text", "query", "title"}
    return bool(rows) and len(rows[0]) == 2 and not header_names & {cell.strip().lower() for cell in rows[0]}


def _read_beginning(path: Path, encoding: str) -> str:
    """Return the beginning of a file, up to the first bytes that are not text."""
    lines: list[str] = []
    with suppress(InputError, OSError):
        for line in islice(read_lines(path, encoding, Problems(path), Counter()), 200):
            lines.append(line[:BEGINNING])
            if sum(map(len, lines)) > BEGINNING:
                break
    return "".join(lines).lstrip()


def _format_name(path: Path, root: Path) -> str:
    return path.name if path == root else path.relative_to(root).as_posix()


@contextmanager
def open_collection(path: Path) -> Iterator[Path]:
    """Unpack a zip archive for the duration of the context; yield the unpacked folder, or any other path
    unchanged.

    Raises
    ------
    InputError: the archive cannot be unpacked, or unpacks to more bytes than the limit.
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
    except (OutOfBoundsError, zipfile.BadZipFile, RuntimeError, OSError) as error:
        raise InputError(f"cannot be unpacked: {error}", path=path) from error
