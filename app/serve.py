"""The app as one ASGI application: own routes and Streamlit's pages behind one guard."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import streamlit as st
import uvicorn
from starlette.middleware import Middleware
from starlette.routing import Route

from app import api, api_decisions, manual
from app.context import BACKUP_TO, IMAGES_FROM, PROJECT, project_name, project_store
from app.front import palette, tabs
from app.front.connections import BoundedConnection
from app.front.front import Front, IndexTemplate
from app.front.guard import Guard
from app.front.upload_limits import UploadLimits
from app.monitoring import health
from app.monitoring.descriptors import Admission, raise_descriptor_limit
from app.monitoring.failures import FailureLog
from app.monitoring.heap import frozen_heap
from app.monitoring.minutely import minutely_tasks
from app.signin import routes as signin
from app.signin.current_user import sessions
from app.signin.providers import auth_settings
from app.signin.sign_in_page import first_lead
from app.views.releases import downloads
from curation.core import log
from curation.core.errors import InputError, RefusedError
from curation.operations.jobs import jobs_of
from curation.operations.jobs.files import remove_abandoned, remove_old_results
from curation.store.project_file import lock_for_serving

OTHERS_CAN_READ = (
    "{} can be used by other users of this machine. It holds the key that signs the cookies of sign-ins: "
    "`chmod 600` keeps it to you."
)
SERVED_ALREADY = "{} is served by another app of this machine already. Both work; stop one of them."
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?")
MAIN = Path(__file__).with_name("main.py")


def routes() -> list[Route]:
    """The routes besides Streamlit's own."""
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


def build(front: bool = True) -> st.App:
    """The app of the project that `GOLDGRADE_PROJECT` names; without the front only for comparisons.

    Raises
    ------
    NotFoundError, StoreError: there is no such project, or it cannot be read.
    InputError, RefusedError: the identity provider is not configured as it must be, or Streamlit's index page
        is not built as ours expects.
    """
    sessions()  # fail now, not at the first request, where the project cannot be read
    jobs_of(project_store()).keep_ready()
    own_routes = routes()
    middleware = [Middleware(FailureLog), Middleware(Admission), Middleware(Guard), Middleware(UploadLimits)]
    if front:
        paths = [route.path for route in own_routes]
        middleware.append(Middleware(Front, IndexTemplate(project_name()), paths))
    application = st.App(MAIN, routes=own_routes, middleware=middleware, on_script_error=_show_failure)
    auth_settings()  # only now: st.App sets the folder of Streamlit's settings, which are read once
    return application


def _show_failure(error: Exception) -> bool:
    """Show an unexpected error as a sentence; the traceback goes to the log under the same id."""
    known_by = log.new_id()
    log.write(logging.ERROR, "A page failed", error=error, request=known_by, path=st.context.url)
    st.error(
        "This page failed, and that is a mistake in goldgrade. The log of the server has what happened under "
        f"{known_by}."
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
    """Serve a project until the process is stopped; `ready` gets the address once it listens, and what to do
    where no lead can sign in yet.

    Parameters
    ----------
    images_from: the hosts from which browsers may fetch images of documents.
    backup_to: folder for the backups that leads schedule; None: no scheduled backups.

    Raises
    ------
    RefusedError: the port is taken.
    NotFoundError, StoreError: there is no such project, or it cannot be read.
    InputError: the identity provider's configuration is wrong, or an image host is not a host name.
    """
    os.environ[PROJECT] = str(project.resolve())
    log.set_up()
    if backup_to is not None:
        os.environ[BACKUP_TO] = str(backup_to.resolve())
    if images_from:
        os.environ[IMAGES_FROM] = ",".join(checked_hosts(images_from))
    raise_descriptor_limit()
    if project.is_file() and project.stat().st_mode & 0o077:
        log.write(logging.WARNING, OTHERS_CAN_READ.format(project))
    if project.is_file() and not lock_for_serving(project):
        log.write(logging.WARNING, SERVED_ALREADY.format(project))
    application = build()
    remove_abandoned(project)
    remove_old_results()
    listener = listening_socket(host, port)
    shown = "localhost" if host in {"127.0.0.1", "0.0.0.0", "::"} else host  # noqa: S104 - compared, not bound
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{listener.getsockname()[1]}"
    ready(address, first_lead().announce(address))
    # The socket listens already: a browser that is faster than the server waits and gets its answer.
    settings: dict[str, Any] = {
        "ws": "websockets-sansio",
        "log_level": "warning",
        "access_log": False,
        "http": BoundedConnection,
    }
    settings["backlog"] = 64  # as many are taken at once, before the first of them can be closed
    config = uvicorn.Config(application, timeout_graceful_shutdown=3, **settings)
    with suppress(KeyboardInterrupt), sigterm_as_keyboard_interrupt(), frozen_heap(), minutely_tasks():
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def sigterm_as_keyboard_interrupt() -> Iterator[None]:
    """SIGTERM and Ctrl-C end the block alike, so that what is registered for the end of the process is done.

    uvicorn answers the requests that it has, and raises the signal again for the handler before.
    """
    ends = (signal.SIGTERM, signal.SIGINT)
    former = [signal.signal(number, signal.default_int_handler) for number in ends]
    try:
        yield
    finally:
        for number, handler in zip(ends, former, strict=True):
            signal.signal(number, handler)


def checked_hosts(named: Sequence[str]) -> list[str]:
    """The names of hosts, in lower case.

    Raises
    ------
    InputError: one is no name of a host; all at once.
    """
    wrong = [one for one in named if not _HOST.fullmatch(one.lower())]
    if wrong:
        raise InputError(
            [f"--images-from {one!r}: expected a host such as images.example.org" for one in wrong]
        )
    return sorted({one.lower() for one in named})


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; its connections send what they have at once.

    Raises
    ------
    RefusedError: the port is taken.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise RefusedError(
            f"{host}:{port} cannot be listened on ({error.strerror}). Choose another port with --port; "
            "0 takes any free one."
        ) from error
    # Else the body of an answer waits 40 ms for the acknowledgement of its headers (Nagle's algorithm).
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
