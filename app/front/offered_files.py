"""Files that pages offer for download, each only to the people whose pages offer it.

Streamlit serves downloads at `/media/`, at an address that it computes from the content of the file. The app
records the download addresses that each person's pages offer, and refuses the files to everybody else.
"""

from __future__ import annotations

from collections import defaultdict, deque

from starlette.types import Message, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from curation.store import Annotator

MEDIA = "/media/"
MAX_ADDRESSES = 1_000
"""Maximum number of download addresses that are kept for a person; the oldest address is dropped first."""


class OfferedFiles:
    """The addresses of downloads that pages have offered, by person."""

    def __init__(self) -> None:
        self._addresses: dict[Annotator, deque[str]] = defaultdict(lambda: deque(maxlen=MAX_ADDRESSES))

    def has_offered(self, account: Annotator, address: str) -> bool:
        """Return whether a page offered this person the file at this address."""
        return address in self._addresses[account]

    def watch(self, account: Annotator, send: Send) -> Send:
        """Wrap a websocket's `send` function so that the guard records the files offered by a page."""

        async def send_watched(message: Message) -> None:
            data = message.get("bytes") or b""
            if MEDIA.encode() in data:
                offer = ForwardMsg.FromString(data)
                # A deferred file is made when its button is pressed.
                deferred = offer.backend_operation_response.deferred_file
                for address in (offer.delta.new_element.download_button.url, deferred.url):
                    if address and not self.has_offered(account, address):
                        self._addresses[account].append(address)
            await send(message)

        return send_watched
