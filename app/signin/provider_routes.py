"""Signing in through an identity provider: to the provider, and back with its answer."""

from __future__ import annotations

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.context import project_store
from app.signin import oidc
from app.signin.providers import CALLBACK, START, providers
from app.signin.routes import enter, own_path, sign_in_page
from app.signin.sessions import SignIn
from curation.errors import CurationError
from curation.people.identities import find_identity, sign_in_states


async def start(request: Request) -> Response:
    """GET: send the browser to the provider that `provider` names."""
    name = request.query_params.get("provider", "")
    provider = next((found for found in providers() if found.name == name), None)
    if provider is None:
        return RedirectResponse("/sign-in", 303)
    target = own_path(request.query_params.get("next", "/"))
    response = await oidc.begin(request, provider, target)
    problem = f"{provider.label} cannot be reached. Try again later."
    return response or sign_in_page(target, status=503, problem=problem)


async def callback(request: Request) -> Response:
    """GET: the provider's answer. It counts once, and only in the browser that began the sign-in."""
    pending = oidc.pending_sign_in(request) if providers() else None
    if pending is None:  # also after a sign-out at the provider
        return RedirectResponse("/sign-in", 303)
    response = await _finish(request, pending)
    oidc.PENDING.delete(response)
    return response


ROUTES = [Route(START, start), Route(CALLBACK, callback)]


async def _finish(request: Request, pending: oidc.PendingSignIn) -> Response:
    answer = await oidc.finish(request, pending)
    if answer is None:
        return sign_in_page(pending.target, problem="The sign-in was not completed. Try again.")
    if not (answer.email and answer.verified):
        problem = (
            "Your provider did not say that it verified your e-mail address, so it cannot be trusted here."
        )
        return sign_in_page(pending.target, status=403, problem=problem)
    try:
        sign_in = await to_thread.run_sync(_find_sign_in, answer.email)
    except CurationError as error:
        return sign_in_page(pending.target, status=503, problem=str(error))
    if sign_in is None:
        problem = (
            f"{answer.email} is not known to this project. Ask its lead to add this address: "
            f"`goldset annotator identity NAME {answer.email}`."
        )
        return sign_in_page(pending.target, status=403, problem=problem)
    response = enter(request, sign_in, pending.target)
    oidc.remember_provider(response, answer)
    return response


def _find_sign_in(email: str) -> SignIn | None:
    """The sign-in of the annotator whose address it is, or None."""
    with project_store().reading() as cursor:
        identity = find_identity(cursor, email)
        account = sign_in_states(cursor).get(identity.annotator) if identity else None
    if identity is None or account is None:
        return None
    return SignIn(account.annotator.name, account.password_revision, identity.email)
