"""Help: the built documentation, for everyone who is signed in.

The documentation site is a folder of files that load only files of this folder. The site's content security
policy is stricter than the app's policy: only scripts of the site run. `make site` builds the folder. If the
folder is missing, the page says so.
"""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from app.signin.pages import build_plain_page

ADDRESS = "/help/"
SITE_FOLDER = Path(__file__).with_name("site")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The security policy of the site, whose theme writes inline styles and whose search is a web worker."""
NOT_BUILT = (
    "The documentation is not built in this copy of goldgrade. Run `make site` in the repository and "
    "reload this page, or read the files in the repository's docs/ folder."
)
_BACK_LINK = '<a class="way" href="/">Go to your first page</a>'


async def serve_page(request: Request) -> Response:
    """GET: return a file of the documentation site; the root address returns its first page."""
    if not (SITE_FOLDER / "index.html").is_file():
        return build_plain_page("Help", NOT_BUILT, _BACK_LINK, 404)
    try:
        response = await StaticFiles(directory=SITE_FOLDER).get_response(
            request.path_params["path"] or "index.html", request.scope
        )
    except HTTPException:
        return build_plain_page(
            "No such page", "The documentation has no page at this address.", _BACK_LINK, 404
        )
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "private, no-cache"
    return response


async def _redirect_to_slash(request: Request) -> Response:
    """GET: redirect to `/help/`, because the pages of the site refer to files relative to this address."""
    return RedirectResponse(ADDRESS, 307)


ROUTES = [Route("/help", _redirect_to_slash), Route(f"{ADDRESS}{{path:path}}", serve_page)]
