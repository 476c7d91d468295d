"""The health check: whether the app can read and write its project, and whether there is room on the disk.

Anybody may ask, so that a monitor needs no account. So it says neither paths nor figures; the log has them.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.context import project_store, unreadable
from curation.core import log
from curation.core.errors import CurationError
from curation.guides.guide import current_guide
from curation.store import HEALTH_CHECKED, Store, put_setting, utc_now

MIN_FREE = 64_000_000
"""Bytes of the disk below which the app is failing."""
WRITTEN_EVERY = 30.0
"""Seconds between two writes: a monitor that asks every second must not keep the disk busy."""


class _Writes:
    """When a project was last written to see whether it can be."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at: dict[Path, float] = {}

    def once_in_a_while(self, store: Store) -> None:
        with self._lock:
            if time.monotonic() - self._at.get(store.path, -WRITTEN_EVERY) < WRITTEN_EVERY:
                return
            with store.transaction(new_data_version=False) as cursor:
                put_setting(cursor, HEALTH_CHECKED, utc_now().isoformat(timespec="seconds"))
            self._at[store.path] = time.monotonic()


_writes = _Writes()


async def health(request: Request) -> Response:
    """GET: `{"status": "ok"}`, or "failing" with a sentence and the status 503."""
    try:
        little_room = await run_in_threadpool(_look)
    except CurationError as error:
        return JSONResponse({"status": "failing", "message": unreadable(error)}, 503)
    if little_room:
        return JSONResponse({"status": "failing", "message": "The disk is almost full."}, 503)
    return JSONResponse({"status": "ok"})


ROUTE = Route("/health", health)


def _look() -> bool:
    """Read and write something; True where the disk is almost full."""
    store = project_store()
    with store.reading() as cursor:
        current_guide(cursor)
    free = shutil.disk_usage(store.path.parent).free
    if free < MIN_FREE:
        log.write(logging.ERROR, "The disk is almost full", free_bytes=free, folder=store.path.parent)
        return True
    _writes.once_in_a_while(store)
    return False
