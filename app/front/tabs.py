"""Open tabs: limits on the number of a person's tabs, and on the rate of their messages.

Streamlit runs the scripts of all pages in one process, so a person who asks again and again slows everybody.
A tab beyond `MAX_TABS` ends the person's oldest tab. The ended tab goes to the page `ENDED`, which explains
this and asks no more. Messages beyond `RERUNS_PER_SECOND` wait, and none of them is lost.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Message, Receive, Send

from app.signin.pages import page

MAX_TABS = 8
"""Open tabs of a person, at most."""
RERUNS_PER_SECOND, MAX_RERUNS_AT_ONCE = 5.0, 20
"""Messages of a person's tabs in a second, and messages at once after a rest."""
CLOSED_FOR_OTHERS = 4008
"""The code with which a tab's connection ends; `early.js` knows it."""
ENDED = "/tab-ended"
SENTENCE = (
    f"You have more than {MAX_TABS} pages of goldgrade open. This page was closed, because it was the oldest."
)


class TabPace:
    """The pace of a person's messages: the time at which the next message may pass."""

    def __init__(self) -> None:
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Count a message; return the seconds that it must wait."""
        wait = max(0.0, self._next - now)
        self._next = max(self._next, now - MAX_RERUNS_AT_ONCE / RERUNS_PER_SECOND) + 1 / RERUNS_PER_SECOND
        return wait


class Tab:
    """The connection of a tab, at the pace of its person, until a newer tab ends it."""

    def __init__(self, receive: Receive, send: Send, pace: TabPace) -> None:
        self._receive, self._send, self._pace = receive, send, pace
        self._is_ended = False

    async def receive(self) -> Message:
        """Receive the next message of the tab, at the pace of its person."""
        message = await self._receive()
        if message["type"] == "websocket.receive" and (wait := self._pace.wait(time.monotonic())):
            await asyncio.sleep(wait)
        return message

    async def send(self, message: Message) -> None:
        """Send to the tab, unless it has ended."""
        if not self._is_ended:
            await self._send(message)

    async def end(self, code: int, reason: str) -> None:
        """End the connection; the server then tells Streamlit that the tab is gone."""
        self._is_ended = True
        with suppress(Exception):  # the tab was closed meanwhile
            await self._send({"type": "websocket.close", "code": code, "reason": reason})


class OpenTabs:
    """The open tabs of each person, the oldest tab first."""

    def __init__(self) -> None:
        self._open: dict[str, list[Tab]] = defaultdict(list)
        self._paces: dict[str, TabPace] = defaultdict(TabPace)

    @asynccontextmanager
    async def open(self, person: str, receive: Receive, send: Send) -> AsyncIterator[Tab]:
        """Keep a new tab while its connection lasts; end the person's oldest tab if there are too many."""
        tab, tabs = Tab(receive, send, self._paces[person]), self._open[person]
        tabs.append(tab)
        if len(tabs) > MAX_TABS:
            await tabs.pop(0).end(CLOSED_FOR_OTHERS, "a newer tab")
        try:
            yield tab
        finally:
            if tab in tabs:
                tabs.remove(tab)


async def ended(request: Request) -> Response:
    """GET: the page of an ended tab."""
    return page("Closed", SENTENCE, '<a class="way" href="/">Go on here</a>', 200)


ROUTE = Route(ENDED, ended)
