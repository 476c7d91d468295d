"""A sign-in through an identity provider: the browser goes there, and comes back with the answer."""

from __future__ import annotations

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.context import project_store, unreadable
from app.signin import oidc
from app.signin.client_info import visit_of
from app.signin.providers import CALLBACK, START, providers
from app.signin.sign_in_page import enter, own_path, sign_in_page
from curation.core.errors import CurationError, RefusedError
from curation.people.identities import sign_in_as


async def start(request: Request) -> Response:
    """GET: send the browser to the provider that `provider` names."""
    name = request.query_params.get("provider", "")
    provider = next((provider for provider in providers() if provider.name == name), None)
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


PROVIDER_ROUTES = [Route(START, start), Route(CALLBACK, callback)]


async def _finish(request: Request, pending: oidc.PendingSignIn) -> Response:
    answer = await oidc.finish(request, pending)
    if answer is None:
        return sign_in_page(pending.target, problem="The sign-in was not completed. Try again.")
    if not (answer.email and answer.verified):
        problem = (
            "Your provider did not say that it verified your e-mail address, so it cannot be trusted here."
        )
        return sign_in_page(pending.target, status=403, problem=problem)
    account = (answer.email, answer.issuer, answer.subject, visit_of(request))
    try:
        sign_in = await to_thread.run_sync(sign_in_as, project_store(), *account)
    except RefusedError as error:
        return sign_in_page(pending.target, status=403, problem=str(error))
    except CurationError as error:
        return sign_in_page(pending.target, status=503, problem=unreadable(error))
    if sign_in is None:
        problem = (
            f"{answer.email} is not known to this project. Ask its lead to add this address: "
            f"`goldgrade annotator identity NAME {answer.email}`."
        )
        return sign_in_page(pending.target, status=403, problem=problem)
    response = enter(request, sign_in, pending.target)
    oidc.remember_provider(response, answer)
    return response
