"""Rows of documents in files of their own: one row per file, with the fields of its front matter.

The id of a document is the address that its front matter or its canonical link names, else the path of the
file without the ending. The title is the title of the front matter or of the page, else the first heading,
else the file's name. A file without a text has its description as text. The field `markup` says how the text
is written, so one corpus may mix kinds of files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from curation.ingest.readers.document_files.front_matter import split_front_matter
from curation.ingest.readers.document_files.html_pages import read_html_page
from curation.ingest.readers.document_files.listing import HTML, MARKDOWN, DocumentFile, open_listing
from curation.ingest.readers.document_files.packed import UnreadDocumentError, read_docx, read_pdf
from curation.ingest.readers.problems import Problems

_ADDRESS_NAMES = ("canonical", "canonicalUrl", "canonical_url", "url", "permalink")
_DATE_NAMES = ("date", "lastmod", "last_modified_at", "updated", "last_update", "published")
_INDEX_NAMES = ("index", "_index", "readme")
"""Names of files that are about their folder."""
_MARKDOWN_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$|^(\S.*)\n(?:=+|-+)[ \t]*$", re.MULTILINE)
_TEXT_HEADING = re.compile(r"^(\S.*)\n([=\-~^\"'`#*+])\2{2,}[ \t]*$", re.MULTILINE)
"""Pattern of a reStructuredText heading, underlined by a row of one repeated character."""
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?([\w-]+)", re.IGNORECASE)
_FENCE = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)
_BINARY_LENGTH = 8_000
_HEADING_LENGTH = 20_000


@dataclass
class FolderRemarks:
    """Remarks on a folder or an archive of documents: the files left out, and file names that look alike.

    Attributes
    ----------
    left_out: number of files that hold no document, by reason.
    alike: names that differ from another name only by case or by Unicode form.
    names: name of each row's file, by the number of the row.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    alike: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)


class _FileText(NamedTuple):
    """A file's text, with its markup and the fields of its front matter."""

    markup: str
    text: str
    fields: dict[str, Any]


def read_document_rows(
    path: Path, problems: Problems, remarks: FolderRemarks
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the fields of each document in a folder, an archive or a single file.

    Raises
    ------
    InputError: see `curation.ingest.readers.document_files.listing.open_listing`.
    """
    with open_listing(path, problems) as listing:
        remarks.left_out.update(listing.left_out)
        remarks.alike += listing.alike
        count_of_stem = Counter(_remove_ending(file.name) for file in listing.files)
        for number, file in enumerate(listing.files, 1):
            remarks.names[number] = file.name
            try:
                content = _read_file(file)
            except UnreadDocumentError as error:
                remarks.left_out[str(error)] += 1
                continue
            stem = _remove_ending(file.name)
            yield number, _make_row(content, file.name, stem if count_of_stem[stem] == 1 else file.name)


def _make_row(content: _FileText, name: str, path_id: str) -> dict[str, Any]:
    stated = content.fields
    address = next((str(stated[key]) for key in _ADDRESS_NAMES if stated.get(key)), "")
    date = next((stated[key] for key in _DATE_NAMES if stated.get(key)), None)
    title = str(stated.get("title") or "").strip() or _find_heading(content) or _title_of_file(name)
    text = content.text if content.text.strip() else str(stated.get("description") or "")
    row = {"id": address or path_id, "title": title, "text": text, "url": address or None}
    others = {key: value for key, value in stated.items() if key not in (*row, *_ADDRESS_NAMES)}
    return row | {"date": date, "markup": content.markup, "file": name} | others | {"date": date}


def _read_file(file: DocumentFile) -> _FileText:
    ending = PurePosixPath(file.name).suffix.lower()
    content = file.read()
    if ending == ".pdf":
        return _FileText("plain", read_pdf(content), {})
    if ending == ".docx":
        return _FileText("html", read_docx(content), {})
    text = _decode(content)
    fields, text = split_front_matter(text)
    if ending in HTML:
        page = read_html_page(text)
        fields = {"canonical": page.address, "title": page.title, "date": page.date, **fields}
        if page.description:
            fields.setdefault("description", page.description)
        return _FileText("html", page.body, {key: value for key, value in fields.items() if value != ""})
    return _FileText("markdown" if ending in MARKDOWN else "plain", text.strip("\r\n"), fields)


def _decode(content: bytes) -> str:
    """Decode a file's text as UTF-8 or UTF-16, otherwise as the charset that a page names, otherwise as
    cp1252."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\0" in content[:_BINARY_LENGTH]:
        raise UnreadDocumentError("binary files")
    charset = _CHARSET.search(content[:_BINARY_LENGTH])
    for encoding in ("utf-8-sig", charset[1].decode() if charset else "cp1252"):
        try:
            return content.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return content.decode("cp1252", errors="replace")


def _find_heading(content: _FileText) -> str:
    """Return the first heading of a Markdown or reStructuredText file; '' if it has no heading."""
    start = content.text[:_HEADING_LENGTH]
    if content.markup == "markdown":
        start = _FENCE.sub("", start)
    pattern = _MARKDOWN_HEADING if content.markup == "markdown" else _TEXT_HEADING
    heading = pattern.search(start) if content.markup != "html" else None
    return re.sub(r"[*_`]|\{#[^}]*\}", "", heading[1] or heading[2] or "").strip() if heading else ""


def _title_of_file(name: str) -> str:
    """Return a title made from a file's name, or from the folder's name for a folder's index."""
    path = PurePosixPath(name)
    is_index = path.stem.lower() in _INDEX_NAMES and path.parent.name
    words = " ".join(re.split(r"[-_\s]+", path.parent.name if is_index else path.stem)).strip()
    return words[:1].upper() + words[1:]


def _remove_ending(name: str) -> str:
    path = PurePosixPath(name)
    return path.with_suffix("").as_posix() if path.stem else name
