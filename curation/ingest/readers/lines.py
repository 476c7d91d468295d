"""A file's text lines, gzipped or plain, decoded and cleaned of characters that no database can store.

Python decodes a file, and represents undecodable bytes as surrogates. One pass in C then finds the line and
the byte of each undecodable byte; decoding line by line would be ten times slower.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

from curation.ingest.readers.bounds import MAX_BLANK, BoundedGzip, OutOfBoundsError, limit_lines
from curation.ingest.readers.problems import Problems

REPLACEMENT = "\ufffd"
NUL, SURROGATE = "NUL character", "lone surrogate"
BYTES, ZONE = "bytes that are not text", "unknown time zone"
REPLACED_BY = {NUL: "U+FFFD", SURROGATE: "U+FFFD", BYTES: "nothing", ZONE: "UTC"}
"""Replacement for each kind of replaced value, by the beginning of the kind's name."""
DIGITS = "id of more than 15 digits"
"""Kind of ids that are counted as doubtful, because a spreadsheet keeps only 15 digits of a number."""
_SMUGGLED = re.compile("[\udc80-\udcff]")
_UNPRINTABLE = re.compile("[\0\ud800-\udfff]")
_ONE_RECORD = "expected one record on each line"
_UNPACK = (
    "gzip is the only packed format that can be read",
    "Unpack it first. `goldgrade import collection` also reads a packed BEIR folder.",
)
_FETCH = (
    _ONE_RECORD,
    "The file may be a sign-in page. Look at it in an editor, and download the file again.",
)
_AS_CSV = (_ONE_RECORD, "Save the table as CSV.")
_UNREAD = {
    b"pk\x03\x04": ("a zip archive", *_UNPACK),
    b"bzh": ("packed with bzip2", *_UNPACK),
    b"\xfd7zxz": ("packed with xz", *_UNPACK),
    b"\x28\xb5\x2f\xfd": ("packed with zstd", *_UNPACK),
    b"<!doctype html": ("a web page", *_FETCH),
    b"<html": ("a web page", *_FETCH),
    b"%pdf": ("a PDF document", *_AS_CSV),
    b"\x89png": ("a picture", *_AS_CSV),
    b"\xff\xd8\xff": ("a picture", *_AS_CSV),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet or another office document", *_AS_CSV),
}
"""Beginnings of files that cannot be read, in lower case, with the expected format and advice."""
_GZIP = b"\x1f\x8b"
_BLANK = b" \t\r\n\v\f"
_BLANK_READ = 1 << 20
_AGAIN = "Export or download the file again."
_UTF_16 = ("\udcff\udcfe", "\udcfe\udcff")
"""Byte order marks of UTF-16, as decoders of other encodings represent these bytes."""


def clean_text(text: str, replaced: Counter[str]) -> str:
    """Replace and count NUL characters and lone surrogates, which no database can store."""
    if _UNPRINTABLE.search(text) is None:
        return text
    for sign in _UNPRINTABLE.findall(text):
        replaced[NUL if sign == "\0" else SURROGATE] += 1
    return _UNPRINTABLE.sub(REPLACEMENT, text)


def clean_value(value: Any, replaced: Counter[str]) -> Any:
    """Return a record's value with all texts cleaned; bytes inside lists and objects become None."""
    if isinstance(value, str):
        return clean_text(value, replaced)
    if isinstance(value, dict):
        return {clean_text(str(name), replaced): _clean_item(item, replaced) for name, item in value.items()}
    return [_clean_item(item, replaced) for item in value] if isinstance(value, list) else value


def _clean_item(value: Any, replaced: Counter[str]) -> Any:
    if isinstance(value, bytes):  # bytes that Arrow did not declare as text
        replaced[BYTES] += 1
        return None
    return clean_value(value, replaced)


def check_decoded(names: Iterable[str], path: Path, encoding: str, problems: Problems) -> None:
    """Reject a column whose name cannot be decoded, because nobody could choose it."""
    for number, name in enumerate(names, 1):
        if _SMUGGLED.search(name):
            problems.check()  # a short file was read completely, so its problems are known
            shown = _SMUGGLED.sub(REPLACEMENT, name)
            problems.stop(
                f"the name of column {number}, “{shown}”, is not {encoding}", _advise_encoding(path, encoding)
            )


def check_file(path: Path, problems: Problems) -> None:
    """Reject a path that is not a file, and a file that is empty, blank, or packed in an unknown format."""
    if path.is_dir():
        problems.stop("is a folder; expected a file")
    if not path.exists():
        problems.stop("there is no such file")
    if not path.is_file():
        problems.stop("is not a regular file", "Copy the content into a regular file first.")
    try:
        with path.open("rb") as file:
            beginning = file.read(64)
    except OSError as error:
        problems.stop(f"cannot be read: {error.strerror}")
    if not beginning:
        problems.stop(f"is empty; {_ONE_RECORD}", _AGAIN)
    _refuse_blank(path, problems)
    for signature, (kind, expected, way_out) in _UNREAD.items():
        is_sheet = kind == "a zip archive" and path.suffix.lower() == ".xlsx"
        if beginning.lower().lstrip().startswith(signature) and not is_sheet:
            problems.stop(f"is {kind}; {expected}", way_out)
    if path.suffix.lower() == ".gz" and not beginning.startswith(_GZIP):
        problems.stop("is named .gz but contains no gzip data", "Download the file again, or rename it.")


def _refuse_blank(path: Path, problems: Problems) -> None:
    """Reject a file with only blank lines; its reader reports other problems later."""
    with suppress(OSError, EOFError, zlib.error, OutOfBoundsError), open_unpacked(path) as file:
        chunk = file.read(64)
        in_utf_16 = chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        blank = _BLANK + (codecs.BOM_UTF16 + b"\0" if in_utf_16 else codecs.BOM_UTF8)
        for _ in range(MAX_BLANK // _BLANK_READ):
            if chunk.strip(blank):
                return
            chunk = file.read(_BLANK_READ)
            if not chunk:
                problems.stop(f"has only blank lines; {_ONE_RECORD}", _AGAIN)


def read_lines(
    path: Path, encoding: str, problems: Problems, replaced: Counter[str], newline: str | None = None
) -> Iterator[str]:
    """Yield the lines of a text file, gzip or plain, with line ends; `newline` is as in `io.TextIOWrapper`.

    Raises
    ------
    InputError: the encoding is unknown, or the gzip data is damaged.
    """
    number, bad_lines, first_problem = 0, 0, ""
    try:
        with _open_text(path, encoding, newline) as text:
            for number, line in enumerate(text, 1):
                if not line.isascii() and (undecoded := _SMUGGLED.search(line)):
                    bad_lines += 1
                    first_problem = first_problem or _describe_bad_byte(number, line, undecoded.start())
                    if number == 1 and line.startswith(_UTF_16):
                        problems.stop(f"{first_problem} is not {encoding}", _advise_encoding(path, encoding))
                if "\0" in line:
                    replaced[NUL] += line.count("\0")
                    line = line.replace("\0", REPLACEMENT)
                yield line
    except LookupError:
        problems.stop(f"there is no text encoding {encoding!r}", "Try utf-8, latin-1, cp1252 or utf-16.")
    except OutOfBoundsError as error:
        problems.stop(f"{error} after line {number}", "Expected one record on each line: look at this line.")
    except UnicodeError as error:
        problems.stop(f"is not {encoding} after line {number}: {error}")
    except (EOFError, zlib.error, gzip.BadGzipFile):
        problems.stop(f"the gzip data is cut off or damaged after line {number}", "Fetch the file again.")
    if bad_lines:
        more = f" ({bad_lines:,} lines have undecodable bytes)" if bad_lines > 1 else ""
        problems.add_general(f"{first_problem} is not {encoding}{more}", _advise_encoding(path, encoding))


def _open_text(path: Path, encoding: str, newline: str | None) -> io.TextIOWrapper:
    # utf-8-sig drops the byte order mark that spreadsheets write instead of reading it as a letter.
    name = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    binary = limit_lines(open_unpacked(path))
    try:
        return io.TextIOWrapper(binary, encoding=name, errors="surrogateescape", newline=newline)
    except LookupError:
        binary.close()
        raise


def open_unpacked(path: Path) -> IO[bytes]:
    """Open a file, and unpack gzip data within the size limits."""
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
    return cast(IO[bytes], BoundedGzip(path) if packed else path.open("rb"))


def _describe_bad_byte(number: int, line: str, position: int) -> str:
    byte = ord(line[position]) - 0xDC00
    near = _SMUGGLED.sub(REPLACEMENT, line[max(0, position - 15) : position + 10]).strip()
    return f"line {number}, character {position + 1}: the byte 0x{byte:02X} in “{near}”"


def detect_encoding(path: Path) -> str | None:
    """Return 'utf-16' if a file begins with the byte order mark of UTF-16; else None."""
    with suppress(OSError), path.open("rb") as file:
        return "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else None
    return None


def _advise_encoding(path: Path, encoding: str) -> str:
    if detect_encoding(path):
        return "The file starts like a UTF-16 file: try `--encoding utf-16`."
    return "If the file is in Latin-1, say so with `--encoding latin-1`. Otherwise save it as UTF-8."
