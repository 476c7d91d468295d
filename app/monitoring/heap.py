"""Faster garbage collection, which skips the objects of imported modules.

Streamlit runs a garbage collection after every run of a page. A garbage collection that visits the 200,000
objects of imported modules would cost a tenth of a second of processor time at every click.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NEW_MODULES = 100
"""Number of new modules after which the heap, with all objects of open sessions, is frozen again."""


@contextmanager
def frozen_heap() -> Iterator[None]:
    """Freeze, for a `with` block, the objects that survive a full garbage collection after new imports."""
    module_count = 0

    def freeze_new_objects(phase: str, details: dict[str, Any]) -> None:
        nonlocal module_count
        if phase == "stop" and details["generation"] == 2 and len(sys.modules) > module_count + NEW_MODULES:
            module_count = len(sys.modules)
            gc.freeze()

    gc.callbacks.append(freeze_new_objects)
    try:
        gc.collect()
        yield
    finally:
        gc.callbacks.remove(freeze_new_objects)
        gc.unfreeze()  # otherwise DuckDB reports at the end of the process the objects that it could not free
