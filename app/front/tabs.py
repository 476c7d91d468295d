"""Open tabs: how many one person may have, and how fast they may ask for a page.

Streamlit runs a page's script in the one process of the server, so who asks again and again slows everybody.
A person's tab beyond `MAX_TABS` ends the one opened longest ago; it goes to the page `ENDED`, which says why,
and asks no more. What a person's tabs send beyond `RERUNS_PER_SECOND` waits, and nothing of it is lost.
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
"""Tabs of one person."""
RERUNS_PER_SECOND, MAX_RERUNS_AT_ONCE = 5.0, 20
"""Messages of one person's tabs in a second, and how many may come at once after a rest."""
CLOSED_FOR_OTHERS = 4008
"""The code with which a tab's connection ends; `early.js` knows it."""
ENDED = "/tab-ended"
SENTENCE = (
    f"You have more than {MAX_TABS} pages of goldgrade open. "
    "This one was closed, because it was opened first."
)


class TabPace:
    """When the next message of a person may go on."""

    def __init__(self) -> None:
        self._next = 0.0

    def wait(self, now: float) -> float:
        """Count a message; returns the seconds for which it waits."""
        wait = max(0.0, self._next - now)
        self._next = max(self._next, now - MAX_RERUNS_AT_ONCE / RERUNS_PER_SECOND) + 1 / RERUNS_PER_SECOND
        return wait


class Tab:
    """The connection of one tab, at its person's pace, until it ends for a newer one."""

    def __init__(self, receive: Receive, send: Send, pace: TabPace) -> None:
        self._receive, self._send, self._pace = receive, send, pace
        self._is_ended = False

    async def receive(self) -> Message:
        """The next message of the tab, not before its turn."""
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
        with suppress(Exception):  # it went by itself meanwhile
            await self._send({"type": "websocket.close", "code": code, "reason": reason})


class OpenTabs:
    """The open tabs of each person, the one opened longest ago first."""

    def __init__(self) -> None:
        self._open: dict[str, list[Tab]] = defaultdict(list)
        self._paces: dict[str, TabPace] = defaultdict(TabPace)

    @asynccontextmanager
    async def open(self, person: str, receive: Receive, send: Send) -> AsyncIterator[Tab]:
        """A new tab while its connection lasts; ends the person's oldest one where there are too many."""
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
    """The page of a tab that was ended."""
    return page("Closed", SENTENCE, '<a class="way" href="/">Go on here</a>', 200)


ROUTE = Route(ENDED, ended)
