"""The routes of the sign-in pages."""

from __future__ import annotations

from starlette.routing import Route

from app.signin.account_page import end_sign_in, show_account, sign_out
from app.signin.auth_settings import CALLBACK
from app.signin.join_page import JOIN, join
from app.signin.oidc import START
from app.signin.provider_sign_in import return_from_provider, start_at_provider
from app.signin.sign_in_page import sign_in

ROUTES = [
    Route("/sign-in", sign_in, methods=["GET", "POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
    Route("/password", show_account, methods=["GET", "POST"]),
    Route("/sign-ins", end_sign_in, methods=["POST"]),
    Route(JOIN, join, methods=["GET", "POST"]),
    Route(START, start_at_provider),
    Route(CALLBACK, return_from_provider),
]
