"""Which tests start first, and which share a process, when a run has several.

A file is a process's at a time. The longest start first, so that no process ends long before the others; a
file's length is how many of its tests are slow. The browser's files are for two processes, which wait while
others compute: one has the pages and stories of leads, the other what people do at the items of a round. The
embedding model is loaded by one process: to import what it needs takes seven seconds of processor time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.support import ROOT

FIRST = ("browser", "pipeline")
"""Folders whose tests are long without the marker `slow`."""
BROWSER = "tests/browser/"
OF_LEADS = ("_page.py", "_story.py", "_hour.py")
"""How the names of some of the browser's files end, which take about half of its time."""


def longest_first(items: list[pytest.Item]) -> None:
    """Put the files with most slow tests first, after the folders that are longest."""
    weights: Counter[str] = Counter()
    for item in items:
        weights[file_of(item.nodeid)] += 10 if item.get_closest_marker("slow") else 1

    def place(item: pytest.Item) -> tuple[int, int]:
        folder = next((at for at, name in enumerate(FIRST) if name in item.path.parts), len(FIRST))
        return folder, -weights[file_of(item.nodeid)]

    items.sort(key=place)


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


@cache
def scope_of(file: str) -> str:
    """What goes to one process as a whole."""
    if file.startswith(BROWSER):
        return f"{BROWSER}{file.endswith(OF_LEADS)}"
    return "dense" if "embedding_model" in (ROOT / file).read_text(encoding="utf-8") else file


def scheduler(config: pytest.Config, log: Callable[..., None]) -> Any:
    """pytest-xdist's own by files, with our scopes."""
    from xdist.scheduler import LoadFileScheduling  # not among what reads exports back

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(file_of(nodeid))

    return Scheduling(config, log)
