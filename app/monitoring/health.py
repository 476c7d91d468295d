"""The health check: whether the app can read and write its project.

The health check works without a sign-in, so that monitoring systems can call it without an account. Therefore
the response contains no paths and no figures; the log contains both.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.context import explain_unreadable, project_store
from curation.core import log
from curation.core.errors import CurationError
from curation.guides.guide import current_guide
from curation.store import HEALTH_CHECKED, Store, put_setting, utc_now

MIN_FREE_DISK_BYTES = 64_000_000
WRITE_SECONDS = 30.0
"""Seconds between two test writes of the health check, so that frequent checks do not keep the disk busy."""
_lock = threading.Lock()
_last_writes: dict[Path, float] = {}
"""Project → the time of the last test write to the project."""


def check_health(request: Request) -> Response:
    """GET: return `{"status": "ok"}`, or "failing" with a sentence and the HTTP status 503."""
    try:
        is_disk_almost_full = _check_store(project_store())
    except CurationError as error:
        return JSONResponse({"status": "failing", "message": explain_unreadable(error)}, 503)
    if is_disk_almost_full:
        return JSONResponse({"status": "failing", "message": "The disk is almost full."}, 503)
    return JSONResponse({"status": "ok"})


ROUTE = Route("/health", check_health)


def _check_store(store: Store) -> bool:
    """Read from the project and write to it; return whether the disk is almost full."""
    with store.reading() as cursor:
        current_guide(cursor)
    free = shutil.disk_usage(store.path.parent).free
    if free < MIN_FREE_DISK_BYTES:
        log.write(logging.ERROR, "The disk is almost full", free_bytes=free, folder=store.path.parent)
        return True
    with _lock:
        if time.monotonic() - _last_writes.get(store.path, -WRITE_SECONDS) >= WRITE_SECONDS:
            with store.transaction(new_data_version=False) as cursor:
                put_setting(cursor, HEALTH_CHECKED, utc_now().isoformat(timespec="seconds"))
            _last_writes[store.path] = time.monotonic()
    return False
