"""The front: the middleware that serves the app's index page and compressed scripts in front of Streamlit.

For the address of a page, the front returns the index page. For a page of a different role, and for an
unknown address, the front returns a page with an explanation. A person's first page is at `/`, because
Streamlit serves the first page only at this address.

Streamlit's index page is white, has the title "Streamlit", and lacks the app's styles. The index page of the
app has the colors for light and dark, the title, the names of product and project, and the style sheet. The
app's index page takes the names of scripts from Streamlit's index page, because the names change with every
version of Streamlit.

The scripts of the grading screen have 2.3 MB, and 0.6 MB when compressed. The name of a script contains the
hash of its content, so browsers can cache scripts without expiry. The front compresses a script at the first
request and keeps the compressed script in memory.
"""

from __future__ import annotations

import gzip
import mimetypes
import tomllib
from collections.abc import Iterable
from functools import cache, lru_cache
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from urllib.parse import parse_qsl, urlencode

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from app.app_page import AppPage
from app.assets import read_asset
from app.entry import ICON, SCRIPTS, STATIC, entry_tags, script_source
from app.navigation import all_pages, list_pages
from app.signin.pages import page as plain_page
from curation.store import Annotator

STREAMLIT_PATHS = frozenset({"_stcore", "component", "media", "static", "auth", "oauth2callback"})
"""The first parts of the paths that Streamlit answers itself."""
API = "/api/"
MOVED_PAGES = {
    "/answers": "/write?part=Answers",
    "/backup": "/settings?part=Backup",
    "/coverage": "/queries?part=Coverage",
    "/guide": "/settings?part=Guide",
    "/my-consistency": "/label?show=consistency",
    "/people": "/team",
    "/pool": "/queries?part=Pool",
    "/relabel": "/releases?stage=Re-label",
}
"""Old address of a page → new address of the same content; the other parameters of the address stay."""
STYLE_SHEET = 'rel="stylesheet"'
"""A part of style sheet tags, which the index page moves behind its words to show the words at once."""
_THEME = Path(__file__).parents[1] / ".streamlit" / "config.toml"
EARLY = read_asset("front/early.js")
SCRIPT_SOURCES = f"'self' blob: {script_source(EARLY)}"
"""The allowed scripts: Streamlit's files, the index page's, and those of components, which become blobs."""
COMPRESSED_TYPES = frozenset({".js", ".css", ".svg", ".json"})
CACHE_FOREVER = "public, max-age=31536000, immutable"


class Front:
    """ASGI middleware for page addresses and scripts. It runs behind the guard, which identifies the person
    of each request.
    """

    def __init__(self, app: ASGIApp, index: IndexTemplate, route_paths: Iterable[str]) -> None:
        self._app = app
        self._index = index
        route_paths = list(route_paths)
        self._route_patterns = [compile_path(path)[0] for path in route_paths]
        self._passed_on = STREAMLIT_PATHS | {_first_part(path) for path in route_paths}
        self._pages = {f"/{page.address}": page for page in all_pages()}
        self._icon = read_asset("front/favicon.svg")
        self._compress = lru_cache(64)(gzip.compress)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = None
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            response = await self._respond(scope)
        await (response or self._app)(scope, receive, send)

    async def _respond(self, scope: Scope) -> Response | None:
        path, headers = scope["path"], Headers(scope=scope)
        account = scope.get("state", {}).get("account")
        if path.startswith(SCRIPTS):
            return await serve_script(path, headers)
        if path == ICON:
            return Response(self._icon, 200, {"Cache-Control": "max-age=86400"}, "image/svg+xml")
        if account is None:
            return None
        if path.startswith(API) and not any(pattern.match(path) for pattern in self._route_patterns):
            return JSONResponse({"message": f"There is nothing at {path[:80]}."}, 404)
        if _first_part(path) in self._passed_on:
            return None
        return self._respond_to_page(path, scope["query_string"], account, headers)

    def _respond_to_page(self, path: str, query: bytes, account: Annotator, headers: Headers) -> Response:
        first_page, *_ = own_pages = list_pages(account.role)
        if path in MOVED_PAGES:
            path, _, new_query = MOVED_PAGES[path].partition("?")
            parameters = dict(parse_qsl(new_query)) | dict(parse_qsl(query.decode("latin-1")))
            return RedirectResponse(f"{path}?{urlencode(parameters)}", 307)
        page = first_page if path == "/" else self._pages.get(path)
        if page is None:
            return explain_missing_page(path, first_page)
        if page not in own_pages:
            return explain_roles(page, first_page)
        if path != "/" and page is first_page:
            return RedirectResponse(f"/?{query.decode('latin-1')}" if query else "/", 307)
        return self._respond_with_index(self._index.render(f"{page.title} · goldgrade"), headers)

    def _respond_with_index(self, html: bytes, headers: Headers) -> Response:
        etag = f'"{sha256(html).hexdigest()[:16]}"'  # browsers ask with it whether the page has changed
        page_headers = {"Cache-Control": "private, no-cache", "ETag": etag, "Vary": "Accept-Encoding, Cookie"}
        if etag in headers.get("if-none-match", ""):
            return Response(None, 304, page_headers)
        if not accepts_gzip(headers):
            return Response(html, 200, page_headers, "text/html")
        return Response(self._compress(html), 200, {**page_headers, "Content-Encoding": "gzip"}, "text/html")


def explain_roles(page: AppPage, first_page: AppPage) -> Response:
    """Return a page that says which roles may open an address, with a link to the reader's first page."""
    *roles, last = [f"{role}s" for role in page.roles]
    readers = f"{', '.join(roles)} and {last}" if roles else last
    return plain_page(page.title, f"{page.title} is a page for {readers}.", _link_to(first_page), 403)


def explain_missing_page(path: str, first_page: AppPage) -> Response:
    """Return a page that says that an address does not exist, with a link to the reader's first page."""
    return plain_page("No such page", f"There is no page at {path[:80]}.", _link_to(first_page), 404)


def _link_to(page: AppPage) -> str:
    return f'<a class="way" href="/">Go to {escape(page.title)}</a>'


def _first_part(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""


class IndexTemplate:
    """The index page of a project, for all addresses.

    Raises
    ------
    RefusedError: Streamlit's index page is not the page that the app expects.
    """

    def __init__(self, project: str, static: Path = STATIC) -> None:
        tags = list(entry_tags(static))
        theme = tomllib.loads(_THEME.read_text(encoding="utf-8"))["theme"]
        self._values = {
            "early": EARLY,
            "project": escape(project),
            "brand": f"{0.44 * len(f'goldgrade  {project}'):.2f}",  # as wide as its letters are on average
            "tags": "\n".join(tag for tag in tags if STYLE_SHEET not in tag),
            "styles": "\n".join(tag for tag in tags if STYLE_SHEET in tag),
            "style": read_asset("app.css") + read_asset("document.css"),
            **{f"{scheme}_paper": theme[scheme]["backgroundColor"] for scheme in ("light", "dark")},
            **{f"{scheme}_ink": theme[scheme]["textColor"] for scheme in ("light", "dark")},
        }
        self._template = Template(read_asset("front/index.html"))

    def render(self, title: str) -> bytes:
        """Return the HTML of the index page with the title of the browser tab."""
        return self._template.substitute(self._values, title=escape(title)).encode()


@cache
def list_scripts() -> dict[str, Path]:
    """Return the files in Streamlit's folder of scripts, by the path of their address."""
    files = (path for path in (STATIC / "static").rglob("*") if path.is_file())
    return {f"/{path.relative_to(STATIC).as_posix()}": path for path in files}


@cache
def compress_file(path: Path) -> bytes:
    """Return the compressed content of a file, which is compressed only once."""
    return gzip.compress(path.read_bytes(), 9, mtime=0)


async def serve_script(path: str, headers: Headers) -> Response | None:
    """Return a response with a compressed file; None if Streamlit shall send the uncompressed file.

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
    """Return whether the browser accepts responses that are compressed with gzip."""
    encodings = headers.get("accept-encoding", "").replace(" ", "").split(",")
    return any(
        encoding == "gzip" or (encoding.startswith("gzip;q=") and float(encoding[7:] or 0) > 0)
        for encoding in encodings
    )
