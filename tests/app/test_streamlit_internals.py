"""What goldgrade uses of Streamlit that is no part of its interface: pyproject.toml has a ceiling for these.

Where one fails with a new Streamlit, the module that is named in the test needs another way.
"""

from __future__ import annotations

import inspect

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from app.front.guard import RERUN_MESSAGE
from app.front.upload_limits import measure_uploads
from app.index_page import list_entry_tags
from app.monitoring.descriptors import drop_ended_sessions


def test_the_index_page_has_one_script_and_its_styles() -> None:
    """`app.index_page`"""
    assert any(tag.startswith("<script") for tag in list_entry_tags())


def test_ended_sessions_are_where_they_are_dropped() -> None:
    """`app.monitoring.descriptors`"""
    drop_ended_sessions()  # nothing runs here
    MemorySessionStorage()._cache.expire()
    assert "self._session_storage = session_storage" in inspect.getsource(WebsocketSessionManager.__init__)
    assert "self._session_mgr = " in inspect.getsource(Runtime.__init__)


def test_uploads_are_where_they_are_counted() -> None:
    """`app.front.upload_limits`"""
    assert "self._uploaded_file_mgr = config.uploaded_file_manager" in inspect.getsource(Runtime.__init__)
    assert measure_uploads(MemoryUploadedFileManager("/uploads")) == {}


def test_a_page_lets_go_of_an_upload() -> None:
    """`app.views.importing.file_step`"""
    assert get_script_run_ctx(suppress_warning=True) is None
    assert {"session_id", "uploaded_file_mgr"} <= set(inspect.signature(ScriptRunContext).parameters)
    MemoryUploadedFileManager("/uploads").remove_file("session", "file")


def test_a_message_asks_for_a_page_again_and_one_offers_a_file() -> None:
    """`app.front.guard` and `app.front.guard`"""
    assert BackMsg.FromString(RERUN_MESSAGE).WhichOneof("type") == "rerun_script"
    message = ForwardMsg()
    message.delta.new_element.download_button.url = "/media/file"
    assert ForwardMsg.FromString(message.SerializeToString()).delta.new_element.download_button.url
