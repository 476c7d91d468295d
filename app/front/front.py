"""The front: what answers a browser's requests for pages and their scripts, before Streamlit does.

The address of a page is answered with the index page; that of another role's page, and one that is nobody's,
with a sentence. The own first page is at `/`, because Streamlit has it nowhere else.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from app.app_page import AppPage
from app.entry import ICON, SCRIPTS
from app.front.assets import asset, takes_gzip
from app.front.index import IndexTemplate
from app.navigation import all_pages, pages_of
from app.signin.pages import page as plain_page
from curation.store import Annotator

STREAMLITS = frozenset({"_stcore", "component", "media", "static", "auth", "oauth2callback"})
"""How the paths begin that Streamlit answers itself."""
API = "/api/"
MOVED = {
    "/curate": {
        "": "/queries",
        "Queries": "/queries?part=All+queries",
        "Pool": "/pool",
        "Round": "/rounds?part=Open+a+round",
    }
}
"""Pages of earlier versions: address → step → where it is now; "" for any other step."""


class Front:
    """ASGI middleware behind the guard, which says who asks."""

    def __init__(self, app: ASGIApp, index: IndexTemplate, own_paths: Iterable[str]) -> None:
        self._app = app
        self._index = index
        own_paths = list(own_paths)
        self._own = [compile_path(path)[0] for path in own_paths]
        self._others = STREAMLITS | {_beginning(path) for path in own_paths}
        self._pages = {f"/{page.address}": page for page in all_pages()}
        self._icon = files("app.front").joinpath("favicon.svg").read_bytes()
        self._body = lru_cache(64)(gzip.compress)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = None
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            response = await self._answer(scope)
        await (response or self._app)(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response | None:
        path, headers = scope["path"], Headers(scope=scope)
        account = scope.get("state", {}).get("account")
        if path.startswith(SCRIPTS):
            return await asset(path, headers)
        if path == ICON:
            return Response(
                self._icon, media_type="image/svg+xml", headers={"Cache-Control": "max-age=86400"}
            )
        if account is None:
            return None
        if path.startswith(API) and not any(own.match(path) for own in self._own):
            return JSONResponse({"message": f"There is nothing at {path[:80]}."}, 404)
        if _beginning(path) in self._others:
            return None
        return self._page(path, scope["query_string"], account, headers)

    def _page(self, path: str, query: bytes, account: Annotator, headers: Headers) -> Response:
        first, *_ = own = pages_of(account.role)
        if path in MOVED:
            chosen = parse_qs(query.decode("latin-1")).get("step", [""])[0]
            return RedirectResponse(MOVED[path].get(chosen, MOVED[path][""]), 307)
        asked = first if path == "/" else self._pages.get(path)
        if asked is None:
            return nobodys_page(path, first)
        if asked not in own:
            return others_page(asked, first)
        if path != "/" and asked is first:
            return RedirectResponse(f"/?{query.decode('latin-1')}" if query else "/", 307)
        return self._index_page(self._index.page(f"{asked.title} · goldgrade"), headers)

    def _index_page(self, page: bytes, headers: Headers) -> Response:
        etag = f'"{sha256(page).hexdigest()[:16]}"'  # by which a browser asks whether it has changed
        fixed = {"Cache-Control": "private, no-cache", "ETag": etag, "Vary": "Accept-Encoding, Cookie"}
        if etag in headers.get("if-none-match", ""):
            return Response(None, 304, fixed)
        if not takes_gzip(headers):
            return Response(page, 200, fixed, "text/html")
        return Response(self._body(page), 200, {**fixed, "Content-Encoding": "gzip"}, "text/html")


def others_page(page: AppPage, first: AppPage) -> Response:
    """The sentence that says whose page it is, with the way to the reader's own first page."""
    *roles, last = [f"{role}s" for role in page.roles]
    whose = f"{', '.join(roles)} and {last}" if roles else last
    return plain_page(page.title, f"{page.title} is a page for {whose}.", _way_to(first), 403)


def nobodys_page(path: str, first: AppPage) -> Response:
    """The sentence that says that there is no such page, with the way to the reader's own first page."""
    return plain_page("No such page", f"There is no page at {path[:80]}.", _way_to(first), 404)


def _way_to(page: AppPage) -> str:
    return f'<a class="way" href="/">Go to {escape(page.title)}</a>'


def _beginning(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""
