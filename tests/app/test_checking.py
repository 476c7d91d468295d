"""Passwords are checked one at a time, in a short queue, and only for who is still here."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import anyio
import pytest
from starlette.requests import ClientDisconnect, Request

from app.signin.password_checks import MAX_OF_NETWORK, MAX_QUEUE_LENGTH, PasswordCheckQueue, QueueFullError


def request(gone: anyio.Event) -> Request:
    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    return Request({"type": "http"}, receive)


async def trial(networks: list[str]) -> tuple[list[type[Exception] | None], int]:
    """How each of the requests ended that came at once, all but the first gone while waiting; the checks."""
    lane, gone, go_on, checked = PasswordCheckQueue(), anyio.Event(), threading.Event(), []
    ended: list[type[Exception] | None] = []

    def check(number: int) -> None:
        checked.append(number)
        go_on.wait(10)

    async def ask(number: int, network: str) -> None:
        try:
            await lane.run(request(anyio.Event() if number == 0 else gone), network, partial(check, number))
            ended.append(None)
        except (ClientDisconnect, QueueFullError) as error:
            ended.append(type(error))

    async with anyio.create_task_group() as tasks:
        for number, network in enumerate(networks):
            tasks.start_soon(ask, number, network)
        while len(checked) < 1:
            await anyio.sleep(0.01)
        gone.set()
        await anyio.sleep(0.05)
        go_on.set()
    await lane.run(request(anyio.Event()), "a", int)  # there is room again
    return ended, len(checked)


def in_a_thread(what: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Run it in a loop of its own, also where a browser test has left one in this thread."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(anyio.run, what, *arguments).result()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("networks", "kept"),
    [(["a"] * 200, MAX_OF_NETWORK), ([f"n{number}" for number in range(200)], MAX_QUEUE_LENGTH)],
)
def test_two_hundred_tries_at_once_fill_a_short_queue_and_who_has_gone_is_not_checked(
    networks: list[str], kept: int
) -> None:
    ended, checks = in_a_thread(trial, networks)
    assert ended.count(QueueFullError) == 200 - kept
    assert ended.count(ClientDisconnect) == kept - 1
    assert (ended.count(None), checks) == (1, 1)


def test_what_a_check_says_is_what_its_lane_says() -> None:
    async def ask() -> None:
        await PasswordCheckQueue().run(request(anyio.Event()), "a", partial(int, "no number"))

    with pytest.raises(ValueError, match="no number"):
        in_a_thread(ask)
