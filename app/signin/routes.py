"""The routes of all sign-in pages, with the two routes of a sign-in through an identity provider.

The browser goes from the first of these routes to the provider, and returns to the second route with the
provider's response.
"""

from __future__ import annotations

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.context import project_store, unreadable
from app.signin import providers as oidc
from app.signin.account_page import account, end_sign_in
from app.signin.auth_settings import CALLBACK, find_provider, providers
from app.signin.current_user import read_client
from app.signin.join_page import JOIN_ROUTE
from app.signin.sign_in_page import enter, path_in_app, sign_in, sign_in_page, sign_out
from curation.core.errors import CurationError, RefusedError
from curation.people.addresses import sign_in_by_address


async def start_at_provider(request: Request) -> Response:
    """GET: redirect the browser to the identity provider that the parameter `provider` names."""
    provider = find_provider(request.query_params.get("provider", ""))
    if provider is None:
        return RedirectResponse("/sign-in", 303)
    target = path_in_app(request.query_params.get("next", "/"))
    response = await oidc.begin(request, provider, target)
    problem = f"{provider.label} cannot be reached. Try again later."
    return response or sign_in_page(target, status=503, problem=problem)


async def return_from_provider(request: Request) -> Response:
    """GET: accept the provider's response, which is valid once and only in the browser that began the
    sign-in.
    """
    pending = oidc.pending_sign_in(request) if providers() else None
    if pending is None:  # also after a sign-out at the provider
        return RedirectResponse("/sign-in", 303)
    response = await _finish(request, pending)
    oidc.PENDING.delete(response)
    return response


async def _finish(request: Request, pending: oidc.PendingSignIn) -> Response:
    answer = await oidc.finish(request, pending)
    if answer is None:
        return sign_in_page(pending.target, problem="The sign-in was not completed. Try again.")
    if not (answer.email and answer.verified):
        problem = "Your provider did not say that it verified your e-mail address. You need a verified one."
        return sign_in_page(pending.target, status=403, problem=problem)
    account = (answer.email, answer.issuer, answer.subject, read_client(request))
    try:
        signed_in = await to_thread.run_sync(sign_in_by_address, project_store(), *account)
    except RefusedError as error:
        return sign_in_page(pending.target, status=403, problem=str(error))
    except CurationError as error:
        return sign_in_page(pending.target, status=503, problem=unreadable(error))
    if signed_in is None:
        problem = (
            f"{answer.email} is not known to this project. Ask its lead to add this address: "
            f"`goldgrade people set NAME --email {answer.email}`."
        )
        return sign_in_page(pending.target, status=403, problem=problem)
    response = enter(request, signed_in, pending.target)
    oidc.remember_provider(response, answer)
    return response


ROUTES = [
    Route("/sign-in", sign_in, methods=["GET", "POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
    Route("/password", account, methods=["GET", "POST"]),
    Route("/sign-ins", end_sign_in, methods=["POST"]),
    JOIN_ROUTE,
    Route(oidc.START, start_at_provider),
    Route(CALLBACK, return_from_provider),
]
