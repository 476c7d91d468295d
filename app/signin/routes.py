"""Signing in by name and password, and signing out."""

from __future__ import annotations

from html import escape
from urllib.parse import quote, urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import project_store
from app.signin import oidc, pages
from app.signin.current_user import accounts, sessions, sign_in_of
from app.signin.providers import START, IdentityProvider, auth_settings, providers
from app.signin.sessions import LASTS, SignIn
from app.signin.throttle import login_throttle
from curation.errors import CurationError
from curation.people.annotators import authenticate
from curation.people.identities import end_sign_in, sign_in_states

_FORM = pages.template("signin.html")
_THIS_BROWSER_ONLY = (
    "This browser is signed out, but the project could not record that the sign-in has ended."
)


async def sign_in(request: Request) -> Response:
    """GET shows the form; POST takes name and password."""
    target = own_path(request.query_params.get("next", "/"))
    if request.method != "POST":
        return RedirectResponse(target, 303) if request.state.annotator else sign_in_page(target)
    if not auth_settings().passwords:
        return sign_in_page(target, status=403, problem="Names and passwords are not used here.")
    form = await pages.form(request)
    if form is None:
        return sign_in_page(target, status=413, problem="That is longer than a name and a password.")
    name = form.get("name", "").strip()
    if wait := login_throttle.attempt(name):
        problem = f"Too many wrong tries for this name. Try again in {wait} s."
        return sign_in_page(target, name, 429, problem, {"Retry-After": str(wait)})
    try:
        found = await to_thread.run_sync(_check, name, form.get("password", ""), limiter=pages.hashing())
    except CurationError as error:
        return sign_in_page(target, name, 503, str(error))
    if found is None:
        return sign_in_page(target, name, 401, "The name or the password is wrong.")
    login_throttle.succeeded(name)
    return enter(request, found, target)


async def sign_out(request: Request) -> Response:
    """End the sign-in, the provider's too where one was used, and go back to the form.

    Copies of the cookie are no longer valid afterwards.
    """
    response: Response = RedirectResponse(await oidc.sign_out_address(request) or "/sign-in", 303)
    found = sign_in_of(request.cookies)
    try:
        if found is not None:
            await to_thread.run_sync(end_sign_in, project_store(), found.name, found.key, found.expires)
            accounts().expire()
    except CurationError as error:
        response = sign_in_page("/", found.name if found else "", 503, f"{_THIS_BROWSER_ONLY} {error}")
    response.delete_cookie(sessions().cookie, path="/")
    oidc.SIGNED_IN_BY.delete(response)
    return response


def enter(request: Request, sign_in: SignIn, target: str) -> Response:
    """Set the cookie of a sign-in and go to a page."""
    accounts().expire()
    response = RedirectResponse(target, 303)
    response.set_cookie(
        sessions().cookie,
        sessions().issue(sign_in),
        max_age=LASTS,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return response


def own_path(target: str) -> str:
    """The path to go to after signing in, if it is one of this app's own; else '/'."""
    own = target.startswith("/") and not target.startswith(("//", "/\\", "/sign-"))
    return target if own and target.isprintable() else "/"


def sign_in_page(
    target: str, name: str = "", status: int = 200, problem: str = "", headers: dict[str, str] | None = None
) -> Response:
    """The sign-in page: a link for each identity provider, and the form unless passwords are not used."""
    by_password = auth_settings().passwords
    form = _FORM.substitute(
        name=escape(name),
        problem=pages.alert(problem),
        target=escape(quote(target)),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
    )
    links = "".join(_link(provider, target) for provider in providers())
    above = f'<div class="ways">{"" if by_password else pages.alert(problem)}{links}</div>' if links else ""
    help_ = '<p class="help">Accounts are made by the lead of your project.</p>'
    content = f"{above}{form if by_password else ''}{help_}"
    return pages.page("Sign in", "Sign in to grade search results.", content, status, headers)


def _check(name: str, password: str) -> SignIn | None:
    store = project_store()
    with store.reading() as cursor:  # before the check: a change meanwhile ends this sign-in as well
        account = sign_in_states(cursor).get(name)
    annotator = authenticate(store, name, password)
    return SignIn(name, account.password_revision) if annotator and account else None


def _link(provider: IdentityProvider, target: str) -> str:
    address = f"{START}?{urlencode({'provider': provider.name, 'next': target})}"
    return f'<a class="way" href="{escape(address)}">Sign in with {escape(provider.label)}</a>'
