"""The health check: whether the app can read and write its project, and whether there is room on the disk.

Anybody may ask, so that a monitor needs no account. So the response has no paths and no figures; the log has
them.
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

from app.context import project_store, unreadable
from curation.core import log
from curation.core.errors import CurationError
from curation.guides.guide import current_guide
from curation.store import HEALTH_CHECKED, Store, put_setting, utc_now

MIN_FREE = 64_000_000
"""Free bytes of the disk below which the check fails."""
WRITTEN_EVERY = 30.0
"""Seconds between two writes, so that a monitor that asks every second does not keep the disk busy."""


_lock = threading.Lock()
_written: dict[Path, float] = {}
"""Project → the time of the last write that checked whether the project can be written."""


def health(request: Request) -> Response:
    """GET: `{"status": "ok"}`, or "failing" with a sentence and the status 503."""
    try:
        little_room = _check_store(project_store())
    except CurationError as error:
        return JSONResponse({"status": "failing", "message": unreadable(error)}, 503)
    if little_room:
        return JSONResponse({"status": "failing", "message": "The disk is almost full."}, 503)
    return JSONResponse({"status": "ok"})


ROUTE = Route("/health", health)


def _check_store(store: Store) -> bool:
    """Read from the project and write to it; return whether the disk is almost full."""
    with store.reading() as cursor:
        current_guide(cursor)
    free = shutil.disk_usage(store.path.parent).free
    if free < MIN_FREE:
        log.write(logging.ERROR, "The disk is almost full", free_bytes=free, folder=store.path.parent)
        return True
    with _lock:
        if time.monotonic() - _written.get(store.path, -WRITTEN_EVERY) >= WRITTEN_EVERY:
            with store.transaction(new_data_version=False) as cursor:
                put_setting(cursor, HEALTH_CHECKED, utc_now().isoformat(timespec="seconds"))
            _written[store.path] = time.monotonic()
    return False
