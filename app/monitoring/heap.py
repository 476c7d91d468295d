"""The Python heap: garbage collections skip the objects of imported modules.

Streamlit runs a garbage collection after every run of a page. A garbage collection that visits the 200,000
objects of imported modules would cost a tenth of a second of processor time at every click.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STEP = 100
"""Number of newly imported modules after which the heap is frozen again; objects of open sessions are frozen,
too.
"""


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Exclude from garbage collection, within the block, objects that survive a collection after new
    imports.
    """
    known = 0

    def take_in(phase: str, about: dict[str, Any]) -> None:
        nonlocal known
        if phase == "stop" and about["generation"] == 2 and len(sys.modules) > known + STEP:
            known = len(sys.modules)
            gc.freeze()

    gc.callbacks.append(take_in)
    try:
        gc.collect()
        yield
    finally:
        gc.callbacks.remove(take_in)
        gc.unfreeze()  # else DuckDB reports at the end of the process what it could not free
