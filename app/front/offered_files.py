"""Which files each person has been offered for download, so that nobody else gets them.

Streamlit serves what pages offer for download at `/media/`, by an address made from the content, to everybody
who is signed in. Its page sends the address through the websocket, where it is noted here.
"""

from __future__ import annotations

from collections import defaultdict, deque

from starlette.types import Message, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from curation.store import Annotator

MEDIA = "/media/"
MOST_KEPT = 1_000
"""Files of one person; beyond them the one offered longest ago is forgotten."""


class OfferedFiles:
    """The addresses that each person has been offered in their role."""

    def __init__(self) -> None:
        self._to: dict[Annotator, deque[str]] = defaultdict(lambda: deque(maxlen=MOST_KEPT))

    def to(self, account: Annotator, path: str) -> bool:
        """Whether this person has been offered the file at this address."""
        return path in self._to[account]

    def watch(self, account: Annotator, send: Send) -> Send:
        """A websocket's `send` that notes the files that a page offers."""

        async def wrapped(message: Message) -> None:
            data = message.get("bytes") or b""
            if MEDIA.encode() in data:
                offer = ForwardMsg.FromString(data)
                deferred = offer.backend_operation_response.deferred_file  # made when its button is pressed
                for address in (offer.delta.new_element.download_button.url, deferred.url):
                    if address and not self.to(account, address):
                        self._to[account].append(address)
            await send(message)

        return wrapped
