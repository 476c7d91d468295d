"""The text of PDF and Word files, as read by pypdf and mammoth.

Both packages are optional. Without its package a file is left out, and the reason names the package.
"""

from __future__ import annotations

import io
import logging
import zipfile
from collections.abc import Callable
from importlib import import_module
from typing import Any

from curation.ingest.readers.bounds import MAX_RECORD_LENGTH, MAX_TIMES, MAX_UNPACKED


class UnreadDocumentError(Exception):
    """Error: a file is left out; the message is the reason, such as "damaged PDF files"."""


def read_pdf(content: bytes) -> str:
    """Return a PDF's text, with an empty line between pages.

    Raises
    ------
    UnreadDocumentError: pypdf is not installed, or the file is damaged, encrypted, or holds only pictures.
    """
    pypdf = _import_reader("pypdf", "PDF")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # a damaged file is counted; pypdf would print it

    def read() -> str:
        document = pypdf.PdfReader(io.BytesIO(content), strict=False)
        if document.is_encrypted:
            raise UnreadDocumentError("encrypted PDF files")
        pages, length = [], 0
        for page in document.pages:
            pages.append(page.extract_text().strip())
            length += len(pages[-1])
            if length > MAX_RECORD_LENGTH:
                raise UnreadDocumentError("PDF files of more than 16 MB of text")
        return "\n\n".join(filter(None, pages))

    text = _guard(read, "damaged PDF files")
    if not text:
        raise UnreadDocumentError("PDF files that contain only pictures")
    return text


def read_docx(content: bytes) -> str:
    """Return a Word file's text as HTML, without pictures.

    Raises
    ------
    UnreadDocumentError: mammoth is not installed, or the file is damaged or unpacks to too much.
    """
    mammoth = _import_reader("mammoth", "Word")

    def read() -> str:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(part.file_size for part in archive.infolist()) > max(
                MAX_UNPACKED, MAX_TIMES * len(content)
            ):
                raise UnreadDocumentError("Word files that unpack to more than 64 MB")
        no_image = mammoth.images.img_element(lambda image: {"src": ""})
        return str(mammoth.convert_to_html(io.BytesIO(content), convert_image=no_image).value)

    return _guard(read, "damaged Word files")


def _import_reader(package: str, kind: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        reason = f"{kind} files, which need the package {package} (pip install {package})"
        raise UnreadDocumentError(reason) from error


def _guard(read: Callable[[], str], reason: str) -> str:
    """Call `read`, and leave the file out on any error, because the packages raise errors of many classes."""
    try:
        return read()
    except UnreadDocumentError:
        raise
    except Exception as error:
        raise UnreadDocumentError(reason) from error
