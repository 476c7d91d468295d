"""A Streamlit session as its browser side speaks it, without a browser: asked, and every message back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.DownloadButton_pb2 import DownloadButton
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect


class Session:
    """One open websocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._id = ""

    def ask(
        self, page_hash: str = "", query: str = "", widgets: dict[str, Any] | None = None
    ) -> list[ForwardMsg]:
        """Ask for a run of the script and return all messages until it has ended."""
        message = BackMsg()
        rerun = message.rerun_script
        rerun.page_script_hash, rerun.query_string = page_hash, query
        for name, value in (widgets or {}).items():
            state = rerun.widget_states.widgets.add()
            state.id = name
            setattr(state, "string_value" if isinstance(value, str) else "trigger_value", value)
        self._connection.send(message.SerializeToString())
        messages = []
        while not messages or messages[-1].WhichOneof("type") != "script_finished":
            messages.append(self._received())
            self._id = messages[-1].new_session.initialize.session_id or self._id
        return messages

    def press(self, button: DownloadButton) -> str:
        """The address of what a download button gives; of a deferred file, once the server has made it."""
        if not button.deferred_file_id:
            return button.url
        message = BackMsg()
        message.backend_operation_request.request_id = button.id
        message.backend_operation_request.session_id = self._id
        message.backend_operation_request.deferred_file.file_id = button.deferred_file_id
        self._connection.send(message.SerializeToString())
        while (answer := self._received()).WhichOneof("type") != "backend_operation_response":
            pass
        made = answer.backend_operation_response
        assert not made.error_msg, made.error_msg
        return made.deferred_file.url

    def _received(self) -> ForwardMsg:
        return ForwardMsg.FromString(self._connection.recv(timeout=40))


@contextmanager
def session(url: str, cookie: str | None, origin: str | None = None) -> Iterator[Session]:
    """A websocket with a Cookie header and the Origin that a browser would send."""
    headers = {} if cookie is None else {"Cookie": cookie}
    address = url.replace("http://", "ws://") + "/_stcore/stream"
    with connect(
        address,
        additional_headers=headers,
        origin=origin or url,  # type: ignore[arg-type]
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_size=None,
        open_timeout=30,
    ) as connection:
        yield Session(connection)


def pages(messages: list[ForwardMsg]) -> dict[str, str]:
    """The pages that were offered: address and hash."""
    found = [one.navigation for one in messages if one.WhichOneof("type") == "navigation"]
    return {page.url_pathname: page.page_script_hash for page in found[-1].app_pages}


def strings(message: Message) -> Iterator[str]:
    """All texts in a message."""
    for field, value in message.ListFields():
        repeated = value if hasattr(value, "__len__") and not isinstance(value, str | bytes) else [value]
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            repeated = [*value.keys(), *value.values()]
        for one in repeated:
            if isinstance(one, Message):
                yield from strings(one)
            elif isinstance(one, str | bytes):
                yield one if isinstance(one, str) else one.decode("utf-8", "replace")
