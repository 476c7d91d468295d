"""The front: the middleware that answers requests for pages and scripts in front of Streamlit.

For the address of a page, the front returns the index page. For a page of a different role, and for an
unknown address, the front returns a page with an explanation. A person's first page is at `/`, because
Streamlit serves the first page only at this address.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from html import escape

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from app.app_page import AppPage
from app.assets import read_asset
from app.front.scripts import accepts_gzip, serve_script
from app.index_page import ICON, SCRIPTS_PATH, IndexTemplate
from app.navigation import all_pages, list_pages
from app.signin.pages import build_plain_page
from curation.store import Annotator

STREAMLIT_PATHS = frozenset({"_stcore", "component", "media", "static", "auth", "oauth2callback"})
"""The first parts of the paths that Streamlit answers itself."""
API = "/api/"


class Front:
    """ASGI middleware that answers requests for pages and scripts, after the guard has identified the
    person."""

    def __init__(self, app: ASGIApp, index: IndexTemplate, route_paths: Iterable[str]) -> None:
        self._app = app
        self._index = index
        route_paths = list(route_paths)
        self._route_patterns = [compile_path(path)[0] for path in route_paths]
        self._streamlit_paths = STREAMLIT_PATHS | {_read_first_segment(path) for path in route_paths}
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
        if path.startswith(SCRIPTS_PATH):
            return await serve_script(path, headers)
        if path == ICON:
            return Response(self._icon, 200, {"Cache-Control": "max-age=86400"}, "image/svg+xml")
        if account is None:
            return None
        if path.startswith(API) and not any(pattern.match(path) for pattern in self._route_patterns):
            return JSONResponse({"message": f"There is nothing at {path[:80]}."}, 404)
        if _read_first_segment(path) in self._streamlit_paths:
            return None
        return self._respond_to_page(path, scope["query_string"], account, headers)

    def _respond_to_page(self, path: str, query: bytes, account: Annotator, headers: Headers) -> Response:
        own_pages = list_pages(account.role)
        first_page = own_pages[0]
        page = first_page if path == "/" else self._pages.get(path)
        if page is None:
            return explain_missing_page(path, first_page)
        if page not in own_pages:
            return explain_roles(page, first_page)
        if path != "/" and page is first_page:  # a requested page is shown even without waiting work
            asked = query.decode("latin-1") or (f"page={page.address}" if page.first_for else "")
            return RedirectResponse(f"/?{asked}" if asked else "/", 307)
        return self._respond_with_index(self._index.render(f"{page.title} · goldgrade"), headers)

    def _respond_with_index(self, html: bytes, headers: Headers) -> Response:
        etag = f'"{sha256(html).hexdigest()[:16]}"'  # by which browsers ask for changes
        page_headers = {"Cache-Control": "private, no-cache", "ETag": etag, "Vary": "Accept-Encoding, Cookie"}
        if etag in headers.get("if-none-match", ""):
            return Response(None, 304, page_headers)
        if not accepts_gzip(headers):
            return Response(html, 200, page_headers, "text/html")
        return Response(self._compress(html), 200, {**page_headers, "Content-Encoding": "gzip"}, "text/html")


def explain_roles(page: AppPage, first_page: AppPage) -> Response:
    """Return a page that says which roles may open an address, with a link to the reader's first page."""
    *other_roles, last_role = [f"{role}s" for role in page.roles]
    readers = f"{', '.join(other_roles)} and {last_role}" if other_roles else last_role
    return build_plain_page(page.title, f"{page.title} is a page for {readers}.", _link_to(first_page), 403)


def explain_missing_page(path: str, first_page: AppPage) -> Response:
    """Return a page saying that an address does not exist, with a link to the reader's first page."""
    return build_plain_page("No such page", f"There is no page at {path[:80]}.", _link_to(first_page), 404)


def _link_to(page: AppPage) -> str:
    return f'<a class="way" href="/">Go to {escape(page.title)}</a>'


def _read_first_segment(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""
