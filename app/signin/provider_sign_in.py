"""Sign-in through an identity provider, from the link on the sign-in page to the return from the provider.

The browser goes from the first address to the provider, and returns to the second address with the provider's
response.
"""

from __future__ import annotations

from functools import partial

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.context import explain_unreadable, project_store
from app.signin import oidc
from app.signin.auth_settings import find_provider, list_providers
from app.signin.client_info import read_client
from app.signin.current_user import open_session
from app.signin.sign_in_page import build_sign_in_page, find_path_in_app
from curation.core.errors import CurationError, RefusedError
from curation.people.addresses import sign_in_by_address


async def start_at_provider(request: Request) -> Response:
    """GET: redirect the browser to the identity provider named by the parameter `provider`."""
    provider = find_provider(request.query_params.get("provider", ""))
    if provider is None:
        return RedirectResponse("/sign-in", 303)
    target = find_path_in_app(request.query_params.get("next", "/"))
    response = await oidc.redirect_to_provider(request, provider, target)
    if response is None:
        problem = f"{provider.label} cannot be reached. Try again later."
        return build_sign_in_page(target, status=503, problem=problem)
    return response


async def return_from_provider(request: Request) -> Response:
    """GET: accept the provider's response, once and only in the browser that began the sign-in."""
    pending = oidc.read_pending_sign_in(request) if list_providers() else None
    if pending is None:  # also after a sign-out at the provider
        return RedirectResponse("/sign-in", 303)
    response = await _complete_sign_in(request, pending)
    oidc.PENDING_COOKIE.delete(response)
    return response


async def _complete_sign_in(request: Request, pending: oidc.PendingSignIn) -> Response:
    identity = await oidc.verify_response(request, pending)
    if identity is None:
        return build_sign_in_page(pending.target, problem="The sign-in was not completed. Try again.")
    if not (identity.email and identity.is_email_verified):
        problem = (
            "Your identity provider has not verified your e-mail address. Sign in with a verified address."
        )
        return build_sign_in_page(pending.target, status=403, problem=problem)
    try:
        sign_in = partial(
            sign_in_by_address,
            project_store(),
            identity.email,
            identity.issuer,
            identity.subject,
            read_client(request),
        )
        sign_in_key = await to_thread.run_sync(sign_in)
    except RefusedError as error:
        return build_sign_in_page(pending.target, status=403, problem=str(error))
    except CurationError as error:
        return build_sign_in_page(pending.target, status=503, problem=explain_unreadable(error))
    if sign_in_key is None:
        problem = (
            f"{identity.email} is not known to this project. Ask its lead to add this address: "
            f"`goldgrade people set NAME --email {identity.email}`."
        )
        return build_sign_in_page(pending.target, status=403, problem=problem)
    response = open_session(request, sign_in_key, pending.target)
    oidc.remember_provider(response, identity)
    return response
