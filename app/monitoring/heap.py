"""The heap of a process that serves: collections leave out what was loaded for good.

Streamlit collects garbage after every run of a page, which looks at each of the 200,000 objects that modules
made: a tenth of a second of processor time for every click, in which nobody else is served.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STEP = 100
"""So many more modules are taken in at once: what else lives then is taken in with them, sessions too."""


@contextmanager
def loaded_for_good() -> Iterator[None]:
    """Within the block, what lives after a collection is left out of later ones, once modules were loaded."""
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
