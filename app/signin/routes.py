"""The routes of signing in, signing out, the account and invitations."""

from __future__ import annotations

from starlette.routing import Route

from app.signin import account_page, sign_in_page
from app.signin.join_page import JOIN_ROUTE
from app.signin.provider_sign_in import PROVIDER_ROUTES

ROUTES = [
    Route("/sign-in", sign_in_page.sign_in, methods=["GET", "POST"]),
    Route("/sign-out", sign_in_page.sign_out, methods=["POST"]),
    Route("/password", account_page.password, methods=["GET", "POST"]),
    Route("/sign-ins", account_page.end, methods=["POST"]),
    JOIN_ROUTE,
    *PROVIDER_ROUTES,
]
