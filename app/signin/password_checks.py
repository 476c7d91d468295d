"""Queues of password checks, each running one check at a time.

A password check takes about 50 ms and 64 MB of memory. Sign-ins from unknown browsers, sign-ins from known
browsers, and password changes have separate queues. The length of a queue is limited, both in total and for
each network. If a queue of password checks is full, the app asks people to try again. If a browser
disconnects while its request waits in the queue, the password is not checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, create_task_group, to_thread
from starlette.requests import ClientDisconnect, Request

from app.context import explain_unreadable
from curation.core.errors import CurationError, RefusedError

MAX_QUEUE_LENGTH, MAX_OF_NETWORK = 16, 8
RETRY_SECONDS = 5
RETRY_HEADERS = {"Retry-After": str(RETRY_SECONDS)}
FULL = f"Too many people are signing in now. Try again in {RETRY_SECONDS} s."
Result = TypeVar("Result")


class QueueFullError(RefusedError):
    """Error: the queue of password checks is full, because too many passwords wait to be checked."""


class PasswordCheckQueue:
    """A queue that runs one password check at a time."""

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None  # needs a running event loop
        self._waiting: Counter[str] = Counter()

    async def run(self, request: Request, network: str, check: Callable[[], Result]) -> Result:
        """Wait in the queue and return the result of `check`; the request's body must be read beforehand.

        Raises
        ------
        QueueFullError: too many checks wait, in all or for this network.
        ClientDisconnect: the client has disconnected, and no password was checked.
        """
        if self._waiting.total() >= MAX_QUEUE_LENGTH or self._waiting[network] >= MAX_OF_NETWORK:
            raise QueueFullError(FULL)
        self._waiting[network] += 1
        try:
            return await self._run_unless_disconnected(request, check)
        finally:
            self._waiting[network] -= 1
            self._waiting += Counter()  # forget networks without a waiting request

    async def _run_unless_disconnected(self, request: Request, check: Callable[[], Result]) -> Result:
        self._limiter = self._limiter or CapacityLimiter(1)
        results: list[Result] = []
        errors: list[Exception] = []  # a task group would wrap an error
        async with create_task_group() as tasks:

            async def cancel_on_disconnect() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(cancel_on_disconnect)
            try:
                results.append(await to_thread.run_sync(check, limiter=self._limiter))
            except Exception as error:
                errors.append(error)
            tasks.cancel_scope.cancel()
        if errors:
            raise errors[0]
        if not results:
            raise ClientDisconnect
        return results[0]


UNKNOWN_BROWSERS, KNOWN_BROWSERS, CHANGES = PasswordCheckQueue(), PasswordCheckQueue(), PasswordCheckQueue()


def explain_unchecked(error: CurationError) -> str:
    """Return a sentence that explains to a person who is not signed in why a password was not checked."""
    return str(error) if isinstance(error, QueueFullError) else explain_unreadable(error)
