"""Streamlit's scripts and style sheets, compressed: for Label they are 2.3 MB, and compressed 0.6 MB.

Their names have the hash of their content in them, so that a browser keeps them for good. Each is compressed
when it is first asked for, and kept; all together are some 6 MB.
"""

from __future__ import annotations

import gzip
import mimetypes
from functools import cache
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response

from app.entry import STATIC

KINDS = frozenset({".js", ".css", ".svg", ".json"})
FOR_GOOD = "public, max-age=31536000, immutable"


@cache
def known_assets() -> dict[str, Path]:
    """Streamlit's files below its folder of scripts, by the path of their address."""
    files = (path for path in (STATIC / "static").rglob("*") if path.is_file())
    return {f"/{path.relative_to(STATIC).as_posix()}": path for path in files}


@cache
def packed(path: Path) -> bytes:
    """A file, compressed once."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


async def asset(path: str, headers: Headers) -> Response | None:
    """The answer with a file, compressed.

    None where Streamlit answers it as it is: images and fonts, which are compressed already, and what a
    browser wants otherwise.
    """
    file = known_assets().get(path)
    if file is None:
        return PlainTextResponse("There is no such file.", 404)
    if file.suffix not in KINDS or not takes_gzip(headers) or "range" in headers:
        return None
    etag = f'"{file.name}-gzip"'
    fixed = {"Cache-Control": FOR_GOOD, "ETag": etag, "Vary": "Accept-Encoding"}
    if etag in headers.get("if-none-match", ""):
        return Response(None, 304, fixed)
    media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    body = await to_thread.run_sync(packed, file)
    return Response(body, 200, {**fixed, "Content-Encoding": "gzip"}, media_type)


def takes_gzip(headers: Headers) -> bool:
    """Whether the browser takes answers that gzip has compressed."""
    offered = headers.get("accept-encoding", "").replace(" ", "").split(",")
    return any(one == "gzip" or (one.startswith("gzip;q=") and float(one[7:] or 0) > 0) for one in offered)
