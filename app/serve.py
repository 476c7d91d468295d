"""A project's server, which puts the routes and the Streamlit pages behind one sign-in."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.routing import Route

from app import api, api_decisions, manual
from app.context import BACKUP_TO, PROJECT, allow_images_from, project_name, project_store
from app.front import palette, tabs
from app.front.connections import BoundedConnection, open_listening_socket
from app.front.front import Front
from app.front.guard import Guard
from app.front.upload_limits import UploadLimits
from app.index_page import IndexTemplate
from app.monitoring import health
from app.monitoring.descriptors import Admission, raise_descriptor_limit
from app.monitoring.failures import FailureLog
from app.monitoring.heap import frozen_heap
from app.monitoring.minutely import minutely_tasks
from app.signin import routes as signin
from app.signin.auth_settings import auth_settings
from app.signin.cookies import cookie_codec
from app.signin.first_lead import first_lead
from app.views.releases import downloads
from curation.core import log
from curation.operations.jobs import jobs_of
from curation.operations.jobs.files import remove_abandoned_uploads, remove_old_results
from curation.store.project_file import lock_for_serving

READABLE_BY_OTHERS = (
    "Other users of this machine can open {}. The file contains the key that signs the sign-in cookies. Run "
    "`chmod 600` on the file, so that only you can open it."
)
ALREADY_SERVED = (
    "Another app on this machine already serves {}. Both work, but one is enough: stop the other."
)
MAIN_SCRIPT = Path(__file__).with_name("main.py")


def list_routes() -> list[Route]:
    """List the app's routes, without Streamlit's routes."""
    return [
        *signin.ROUTES,
        *api.ROUTES,
        *api_decisions.ROUTES,
        *palette.ROUTES,
        *downloads.ROUTES,
        *manual.ROUTES,
        tabs.ROUTE,
        health.ROUTE,
    ]


def build_application(front: bool = True) -> st.App:
    """Build the ASGI application for the project named by `GOLDGRADE_PROJECT`.

    Raises
    ------
    NotFoundError, StoreError: the project does not exist or cannot be read.
    InputError, RefusedError: the settings of the identity provider are wrong, or Streamlit's index page is
        not the page that goldgrade expects.
    """
    cookie_codec()  # fail now, and not at the first request, if the project cannot be read
    jobs_of(project_store()).keep_spare_process()
    own_routes = list_routes()
    middleware = [Middleware(FailureLog), Middleware(Admission), Middleware(Guard), Middleware(UploadLimits)]
    if front:
        paths = [route.path for route in own_routes]
        middleware.append(Middleware(Front, IndexTemplate(project_name()), paths))
    application = st.App(MAIN_SCRIPT, routes=own_routes, middleware=middleware, on_script_error=_show_failure)
    auth_settings()  # after st.App, which sets the folder from which Streamlit reads its settings once
    return application


def _show_failure(error: Exception) -> bool:
    """Show an unexpected error as a sentence with an id; write the traceback to the log under the same id."""
    request_id = log.make_failure_id()
    log.write(logging.ERROR, "A page failed", error=error, request=request_id, path=st.context.url)
    st.error(
        "This page failed because of a bug in goldgrade. The server's log has the details under "
        f"{request_id}."
    )
    return True


def serve(
    project: Path,
    host: str,
    port: int,
    ready: Callable[[str, str], None],
    images_from: Sequence[str] = (),
    backup_to: Path | None = None,
) -> None:
    """Serve a project until the process is stopped.

    Parameters
    ----------
    ready: a function called once the server listens, with the address and, if no lead can sign in yet, a text
        that explains how to make the first lead's account.
    images_from: the hosts from which browsers may fetch images of documents.
    backup_to: the folder for the backups that leads schedule; None: no scheduled backups.

    Raises
    ------
    RefusedError: the port is taken.
    NotFoundError, StoreError: the project does not exist or cannot be read.
    InputError: the settings of the identity provider are wrong, or an image host is not a host name.
    """
    os.environ[PROJECT] = str(project.resolve())
    log.configure()
    if backup_to is not None:
        os.environ[BACKUP_TO] = str(backup_to.resolve())
    if images_from:
        allow_images_from(images_from)
    raise_descriptor_limit()
    if project.is_file() and project.stat().st_mode & 0o077:
        log.write(logging.WARNING, READABLE_BY_OTHERS.format(project))
    if project.is_file() and not lock_for_serving(project):
        log.write(logging.WARNING, ALREADY_SERVED.format(project))
    application = build_application()
    remove_abandoned_uploads(project)
    remove_old_results()
    listener = open_listening_socket(host, port)
    name = "localhost" if host in {"127.0.0.1", "0.0.0.0", "::"} else host  # noqa: S104 - compared, not bound
    address = f"http://{f'[{name}]' if ':' in name else name}:{listener.getsockname()[1]}"
    ready(address, first_lead().announce(address))
    # The socket listens already: a browser that is faster than the server waits and gets its answer.
    config = uvicorn.Config(
        application,
        http=BoundedConnection,
        ws="websockets-sansio",
        log_level="warning",
        access_log=False,
        backlog=64,  # the server accepts this many connections together, before it can close the first
        timeout_graceful_shutdown=3,
    )
    with suppress(KeyboardInterrupt), sigterm_as_keyboard_interrupt(), frozen_heap(), minutely_tasks():
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def sigterm_as_keyboard_interrupt() -> Iterator[None]:
    """End a `with` block on SIGTERM as if on Ctrl-C, so that the process runs its exit handlers.

    The server uvicorn completes open requests and then raises the signal again for the previous handler.
    """
    signals = (signal.SIGTERM, signal.SIGINT)
    old_handlers = [signal.signal(number, signal.default_int_handler) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, old_handlers, strict=True):
            signal.signal(number, handler)
