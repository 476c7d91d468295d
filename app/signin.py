"""Signing in and out: by name and password, or by what an identity provider has just vouched for."""

from __future__ import annotations

from html import escape
from urllib.parse import quote, unquote, urlencode

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app import door, oidc
from app.patience import patience
from app.sessions import LASTS, SignIn
from app.workplace import people, project_store, sessions, sign_in_of
from curation.errors import CurationError
from curation.labeling.annotators import authenticate
from curation.labeling.identities import end_sign_in, find_identity, standings

_FORM = door.template("signin.html")
_THIS_BROWSER_ONLY = (
    "This browser is signed out, but the project could not be told that the sign-in has ended."
)


async def sign_in(request: Request) -> Response:
    """GET shows the form, or signs in whom a provider vouched for; POST takes name and password."""
    target = _inside(request.query_params.get("next", "/"))
    if request.method != "POST":
        return await _arrive(request, target)
    if not oidc.passwords_allowed():
        return _page(target, status=403, problem="Names and passwords are not used here.")
    form = await door.form(request)
    if form is None:
        return _page(target, status=413, problem="That is longer than a name and a password.")
    name = form.get("name", "").strip()
    if rest := patience.begin(name):
        problem = f"Too many wrong tries for this name. Try again in {rest} s."
        return _page(target, name, 429, problem, {"Retry-After": str(rest)})
    try:
        known = await to_thread.run_sync(_check, name, form.get("password", ""), limiter=door.hashing())
    except CurationError as error:
        return _page(target, name, 503, str(error))
    if known is None:
        return _page(target, name, 401, "This name and this password do not belong together.")
    patience.succeeded(name)
    return enter(request, known, target)


async def sign_out(request: Request) -> Response:
    """End the sign-in, the provider's too where one was used, and go back to the form.

    A copy of the cookie is worth nothing afterwards.
    """
    by_provider = oidc.known_to_streamlit(request)
    response: Response = RedirectResponse(oidc.LOGOUT if by_provider else "/sign-in", 303)
    found = sign_in_of(request.cookies)
    try:
        if found is not None:
            await to_thread.run_sync(end_sign_in, project_store(), found.name, found.key)
            people().forget()
    except CurationError as error:
        response = _page("/", found.name if found else "", 503, f"{_THIS_BROWSER_ONLY} {error}")
    response.delete_cookie(sessions().cookie, path="/")
    return response


def enter(request: Request, who: SignIn, target: str) -> Response:
    """Set the cookie of a sign-in and go to a page."""
    people().forget()
    response = RedirectResponse(target, 303)
    secure = request.url.scheme == "https"
    value = sessions().issue(who)
    response.set_cookie(
        sessions().cookie, value, max_age=LASTS, path="/", secure=secure, httponly=True, samesite="lax"
    )
    return response


def _check(name: str, password: str) -> SignIn | None:
    store = project_store()
    with store.reading() as cursor:  # before the check: a change meanwhile ends this sign-in as well
        standing = standings(cursor).get(name)
    known = authenticate(store, name, password)
    return SignIn(name, standing.password_revision) if known and standing else None


async def _arrive(request: Request, target: str) -> Response:
    if request.state.annotator:
        return RedirectResponse(target, 303)
    under_way = request.cookies.get(oidc.UNDER_WAY)
    said = oidc.vouched(request)
    if said is None and under_way is None:
        return _page(target)
    target = target if under_way is None else _inside(unquote(under_way))
    response = await _by_provider(request, said, target)
    response.delete_cookie(oidc.UNDER_WAY, path="/sign-in")
    return response


async def _by_provider(request: Request, said: oidc.Identity | None, target: str) -> Response:
    if said is None:
        return _page(target, problem="The sign-in did not come to an end. Try again.")
    problem = "Your provider did not say that it verified your e-mail address, so it cannot be trusted here."
    if said.email and said.verified:
        try:
            known = await to_thread.run_sync(_known_as, said.email)
        except CurationError as error:
            return _page(target, status=503, problem=str(error))
        if known is not None:
            return enter(request, known, target)
        problem = (
            f"{said.email} is not known to this project. Ask its lead to add this address: "
            f"`goldset annotator identity NAME {said.email}`."
        )
    refused = _page(target, status=403, problem=problem)
    oidc.forget(request, refused)
    return refused


def _known_as(email: str) -> SignIn | None:
    with project_store().reading() as cursor:
        found = find_identity(cursor, email)
        standing = standings(cursor).get(found.annotator) if found else None
    return (
        SignIn(standing.annotator.name, standing.password_revision, found.email)
        if found and standing
        else None
    )


def _inside(target: str) -> str:
    """The path to go to after signing in, if it is one of this app's own."""
    inside = target.startswith("/") and not target.startswith(("//", "/\\", "/sign-"))
    return target if inside and target.isprintable() else "/"


def _page(
    target: str, name: str = "", status: int = 200, problem: str = "", headers: dict[str, str] | None = None
) -> Response:
    by_password = oidc.passwords_allowed()
    content = _FORM.substitute(
        name=escape(name),
        problem=door.alert(problem),
        target=escape(quote(target)),
        focus_name="" if name else "autofocus",
        focus_password="autofocus" if name else "",
    )
    ways = "".join(
        f'<a class="way" href="{escape(_start(provider, target))}">Sign in with {escape(provider.label)}</a>'
        for provider in oidc.providers()
    )
    above = f'<div class="ways">{"" if by_password else door.alert(problem)}{ways}</div>' if ways else ""
    help_ = '<p class="help">Accounts are made by the lead of your project.</p>'
    lead = "Sign in to grade search results."
    return door.page("Sign in", lead, above + content * by_password + help_, status, headers)


def _start(provider: oidc.Provider, target: str) -> str:
    return f"{oidc.START}?{urlencode({'provider': provider.section, 'next': target})}"
