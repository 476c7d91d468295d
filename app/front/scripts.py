"""Streamlit's scripts and style sheets, compressed once and cached by browsers without expiry.

The scripts of the grading screen have 2.3 MB, and 0.6 MB when compressed. The name of a script contains the
hash of its content, so browsers can cache scripts without expiry. The server compresses a script at the first
request and keeps the compressed script in memory.
"""

from __future__ import annotations

import gzip
import mimetypes
from functools import cache
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response

from app.index_page import STREAMLIT_FOLDER

COMPRESSED_TYPES = frozenset({".js", ".css", ".svg", ".json"})
CACHE_FOREVER = "public, max-age=31536000, immutable"


@cache
def list_scripts() -> dict[str, Path]:
    """Return the files in Streamlit's script folder by the path of their address."""
    files = (path for path in (STREAMLIT_FOLDER / "static").rglob("*") if path.is_file())
    return {f"/{path.relative_to(STREAMLIT_FOLDER).as_posix()}": path for path in files}


@cache
def compress_file(path: Path) -> bytes:
    """Return a file's compressed content; each file is compressed only once."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


async def serve_script(path: str, headers: Headers) -> Response | None:
    """Return a response with a compressed file; None if Streamlit should send the file uncompressed.

    Streamlit itself sends images and fonts, which are compressed already, and all files to browsers without
    gzip.
    """
    file = list_scripts().get(path)
    if file is None:
        return PlainTextResponse("There is no such file.", 404)
    if file.suffix not in COMPRESSED_TYPES or not accepts_gzip(headers) or "range" in headers:
        return None
    etag = f'"{file.name}-gzip"'
    base_headers = {"Cache-Control": CACHE_FOREVER, "ETag": etag, "Vary": "Accept-Encoding"}
    if etag in headers.get("if-none-match", ""):
        return Response(None, 304, base_headers)
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    body = await to_thread.run_sync(compress_file, file)
    return Response(body, 200, {**base_headers, "Content-Encoding": "gzip"}, media_type)


def accepts_gzip(headers: Headers) -> bool:
    """Return whether the browser accepts responses compressed with gzip."""
    encodings = headers.get("accept-encoding", "").replace(" ", "").split(",")
    return any(
        encoding == "gzip" or (encoding.startswith("gzip;q=") and float(encoding[7:] or 0) > 0)
        for encoding in encodings
    )
