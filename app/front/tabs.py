"""Limits on a person's open browser tabs: on their number and on their message rate.

Streamlit runs the scripts of all pages in one process, so one person's many requests slow the app for
everybody. When a person opens more than `MAX_TABS_OF_PERSON` tabs, the server ends the person's oldest tab.
The ended tab opens the page `ENDED_ADDRESS`, which explains the reason and sends no more requests. Messages
beyond `RERUNS_PER_SECOND` are delayed, not dropped.
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

from app.signin.pages import build_plain_page

MAX_TABS_OF_PERSON = 8
RERUNS_PER_SECOND, MAX_BURST = 5.0, 20
"""Maximum messages a second from a person's tabs, and maximum size of a burst of messages after a pause."""
TOO_MANY_TABS = 4008
"""The websocket close code of a tab that the server ends; the script `early.js` recognizes the code."""
ENDED_ADDRESS = "/tab-ended"
ENDED_SENTENCE = (
    f"You have more than {MAX_TABS_OF_PERSON} goldgrade pages open, so goldgrade closed this one: it was "
    "the oldest."
)


class MessageRate:
    """The rate limit on messages from a person's browser tabs: when the next message may pass."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def count_message(self, now: float) -> float:
        """Count a message; return how many seconds the message must wait."""
        wait = max(0.0, self._next_at - now)
        self._next_at = max(self._next_at, now - MAX_BURST / RERUNS_PER_SECOND) + 1 / RERUNS_PER_SECOND
        return wait


class Tab:
    """A browser tab's connection, whose messages are delayed by the person's rate limit."""

    def __init__(self, receive: Receive, send: Send, rate: MessageRate) -> None:
        self._receive, self._send, self._rate = receive, send, rate
        self._is_ended = False

    async def receive(self) -> Message:
        """Receive the next message of the tab, delayed by the person's rate limit."""
        message = await self._receive()
        if message["type"] == "websocket.receive" and (wait := self._rate.count_message(time.monotonic())):
            await asyncio.sleep(wait)
        return message

    async def send(self, message: Message) -> None:
        """Send a message to the browser tab, unless the tab has ended."""
        if not self._is_ended:
            await self._send(message)

    async def end(self, code: int, reason: str) -> None:
        """End the connection; the server then tells Streamlit that the tab is gone."""
        self._is_ended = True
        with suppress(Exception):  # the person closed the tab meanwhile
            await self._send({"type": "websocket.close", "code": code, "reason": reason})


class OpenTabs:
    """Each person's open browser tabs, oldest first."""

    def __init__(self) -> None:
        self._open: dict[str, list[Tab]] = defaultdict(list)
        self._rates: dict[str, MessageRate] = defaultdict(MessageRate)

    @asynccontextmanager
    async def open(self, person: str, receive: Receive, send: Send) -> AsyncIterator[Tab]:
        """Register a tab while its connection lasts; end the person's oldest tab if there are too many."""
        tab, tabs = Tab(receive, send, self._rates[person]), self._open[person]
        tabs.append(tab)
        if len(tabs) > MAX_TABS_OF_PERSON:
            await tabs.pop(0).end(TOO_MANY_TABS, "a newer tab")
        try:
            yield tab
        finally:
            if tab in tabs:
                tabs.remove(tab)


async def explain_end(request: Request) -> Response:
    """GET: return the page that explains why a browser tab was ended."""
    return build_plain_page("Closed", ENDED_SENTENCE, '<a class="way" href="/">Continue here</a>', 200)


ROUTE = Route(ENDED_ADDRESS, explain_end)
