"""A click that comes again while the page still acts on it, on a page that AppTest runs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from copy import copy
from threading import Event
from types import ModuleType
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner


def twice(page: AppTest, module: ModuleType, act: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """What the page shows at last when the same click comes again while the first run is at its act.

    Streamlit runs the page for the second click in another thread of the same session.
    """
    second, at_it, go_on, second_ended = copy(page), Event(), Event(), Event()
    real, run = getattr(module, act), LocalScriptRunner.run
    runners: list[LocalScriptRunner] = []

    def slow(*given: Any, **named: Any) -> Any:
        if not at_it.is_set():
            at_it.set()
            assert go_on.wait(20)
        return real(*given, **named)

    def ending_last(runner: LocalScriptRunner, *given: Any, **named: Any) -> Any:
        """AppTest puts a runtime in place for a run and takes it away at its end, from other runs as well."""
        runners.append(runner)
        tree = run(runner, *given, **named)
        if runner is runners[0]:
            assert second_ended.wait(20)
        return tree

    with monkeypatch.context() as patch, ThreadPoolExecutor(2) as threads:
        patch.setattr(module, act, slow)
        patch.setattr(LocalScriptRunner, "run", ending_last)
        first = threads.submit(page.run)
        assert at_it.wait(20)
        again = threads.submit(second.run)
        again.add_done_callback(lambda _: second_ended.set())
        wait([again], timeout=1.0)  # as far as it gets beside the first
        go_on.set()
        first.result()
        return again.result()
