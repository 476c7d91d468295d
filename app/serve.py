"""The app as one ASGI application: own routes and Streamlit's pages behind one door."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Route

from app import api, oidc, signin
from app.guard import Guard
from app.password import password
from app.workplace import PROJECT, sessions
from curation.errors import RefusedError

MAIN = Path(__file__).with_name("main.py")


def build() -> st.App:
    """The app of the project that `GOLDSET_PROJECT` names.

    Raises
    ------
    NotFoundError, StoreError: there is no such project, or it cannot be read.
    InputError, RefusedError: the identity provider is not configured as it must be.
    """
    sessions()  # a project that cannot be read is told now, not at the first request
    routes = [
        Route("/sign-in", signin.sign_in, methods=["GET", "POST"]),
        Route(oidc.START, oidc.start),
        Route("/sign-out", signin.sign_out, methods=["POST"]),
        Route("/password", password, methods=["GET", "POST"]),
        Route("/label", RedirectResponse("/", 307)),  # the page is Streamlit's first, which has no other name
        *api.ROUTES,
    ]
    application = st.App(MAIN, routes=routes, middleware=[Middleware(Guard)], on_script_error=_tell)
    oidc.require_configured()  # after: st.App says where Streamlit's settings lie, read once
    return application


def _tell(error: Exception) -> bool:
    """Show an error that nobody foresaw as a sentence; where it came from goes to the log."""
    logging.getLogger("goldset").error("A page failed", exc_info=error)
    st.error("This page failed, and that is a mistake in goldset. What happened is in the log of the server.")
    return True


def serve(project: Path, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve a project until the process is told to stop; `ready` is told the address once it listens.

    Raises
    ------
    RefusedError: the port is taken.
    NotFoundError, StoreError: there is no such project, or it cannot be read.
    InputError: the identity provider is not configured as it must be.
    """
    os.environ[PROJECT] = str(project.resolve())
    application = build()
    listener = _listen(host, port)
    shown = "localhost" if host in {"127.0.0.1", "0.0.0.0", "::"} else host  # noqa: S104 - compared, not bound
    ready(f"http://{shown}:{listener.getsockname()[1]}")
    # The socket listens already: a browser that is quicker than the server waits, and is answered.
    settings: dict[str, Any] = {"ws": "websockets-sansio", "log_level": "warning", "access_log": False}
    config = uvicorn.Config(application, timeout_graceful_shutdown=3, **settings)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise RefusedError(
            f"{host}:{port} cannot be listened on ({error.strerror}). Choose another port with --port; "
            "0 takes any free one."
        ) from error
