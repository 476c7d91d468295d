"""A click that comes again while the page still acts on it, on a page that AppTest runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from copy import copy
from threading import Event
from types import ModuleType
from typing import Any

import pytest
from streamlit import config
from streamlit.runtime import Runtime
from streamlit.testing.v1 import AppTest


def twice(page: AppTest, module: ModuleType, act: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """What the page shows at last when the same click comes again while the first run is at its act.

    Streamlit runs the page for the second click in another thread of the same session. AppTest takes away the
    runtime at the end of a run, and so keeps neither it nor the options for a run beside it.
    """
    second, at_it, go_on = copy(page), Event(), Event()
    real = getattr(module, act)

    def slow(*given: Any, **named: Any) -> Any:
        if not at_it.is_set():
            runtime = Runtime.instance()
            patch.setattr(Runtime, "instance", lambda: runtime)
            patch.setattr(Runtime, "exists", lambda: True)
            at_it.set()
            assert go_on.wait(20)
        return real(*given, **named)

    with monkeypatch.context() as patch, ThreadPoolExecutor(2) as threads:
        patch.setattr(config, "get_option", config.get_option)  # to be as it was in the end
        patch.setattr(module, act, slow)
        first = threads.submit(page.run)
        assert at_it.wait(20)
        again = threads.submit(second.run)
        wait([again], timeout=1.0)  # as far as it gets beside the first
        go_on.set()
        first.result()
        return again.result()
