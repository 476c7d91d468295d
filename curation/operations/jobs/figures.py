"""The cache of the figures that pages show, which are computed once for each state of the project.

A figure is the return value of a function for a project. In a large project a figure takes seconds of
processor time and of the lease on the file, which the process that serves annotators cannot spare, and DuckDB
gives the file to one process at a time. So a separate process (`operations.jobs.figure_process`) computes the
figures of a large project.

`DataState` describes a state of the project. In a large project the grades and decisions of annotators and
reviewers make a new state once a minute; all other changes, and grades of leads, make a new state at once.

    figures = figures_of(store)
    state = figures.state()
    figures.figure(state, make_agreement_report, "round 1")
"""

from __future__ import annotations

import atexit
import logging
import pickle
import threading
import time
from collections.abc import Callable, Hashable
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from curation.agreement.fingerprint import TABLES, read_fingerprint, read_set_fingerprint
from curation.core import log
from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.operations.jobs.figure_process import FigureProcess
from curation.store import Cursor, Store, utc_now

T = TypeVar("T")

MIN_LARGE_JUDGMENTS = 20_000
"""The number of judgments from which a project counts as large; smaller ones have no figure process."""
MAX_STATE_AGE = 60.0
"""The seconds for which a state may lack the newest grades."""
GRADE_TABLES = ("judgment_events", "adjudications")
_LEAD_ACTIVITY = """
SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM job_endings),
       (SELECT count(*) FROM (SELECT author AS name FROM judgment_events
                              UNION ALL SELECT reviewer FROM adjudications)
        WHERE name IN (SELECT name FROM annotators WHERE role = 'lead'))
"""
_NOT_COMPUTED = (
    "The figures could not be computed: the process was ended, or its copy of the project ({:,} MB) could "
    "not be written. Memory or disk space may have run out. People can keep grading. Reload the page to "
    "try again."
)


class DataState(NamedTuple):
    """The state of a project's data at the time `at`, for which figures are computed.

    Attributes
    ----------
    key: differs after each change of the data.
    large: whether newer grades may be missing, because the project is large.
    """

    key: str
    at: datetime
    large: bool


class FigureCache:
    """The figures of one project, cached for all threads of this process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock, self._state_lock = threading.Lock(), threading.Lock()
        self._last_state: tuple[DataState, str, float] | None = None
        self._cache: tuple[str, dict[Hashable, Any]] = "", {}
        self._process: FigureProcess | None = None

    def state(self) -> DataState:
        """Return the state of the project for which figures are computed now."""
        with self._state_lock, self._store.reading() as cursor:
            state, other_key = _read_state(cursor)
            now = time.monotonic()
            if state.large and self._last_state is not None:
                last_state, last_other_key, read_at = self._last_state
                only_grades_changed = last_state.key != state.key and last_other_key == other_key
                if only_grades_changed and now - read_at < MAX_STATE_AGE:
                    return last_state
            self._last_state = state, other_key, now
            return state

    def figure(self, state: DataState, function: Callable[..., T], *arguments: Hashable) -> T:
        """Return the figure that a function computes for a state; it is computed once for all threads.

        Raises
        ------
        CurationError: the function raises it; or the process of a large project was ended.
        """
        call = function, arguments
        key, cache = self._cache
        if key != state.key or call not in cache:
            with self._lock:
                if self._cache[0] != state.key:
                    self._cache = state.key, {}
                cache = self._cache[1]
                if call not in cache:
                    compute = self._compute_in_process if state.large else self._compute_directly
                    cache[call] = compute(function, arguments)
        return cache[call]  # type: ignore[no-any-return]

    def now(self, function: Callable[..., T], *arguments: Hashable) -> T:
        """Return the figure that a function computes for the current state of the project."""
        return self.figure(self.state(), function, *arguments)

    def close(self) -> None:
        """End the process that computes figures, and remove its copy of the project."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _compute_directly(self, function: Callable[..., T], arguments: tuple[Hashable, ...]) -> T:
        return function(self._store, *arguments)

    def _compute_in_process(self, function: Callable[..., T], arguments: tuple[Hashable, ...]) -> T:
        for _ in range(2):  # an earlier process may have ended meanwhile
            try:
                self._process = self._process or FigureProcess(self._store)
                figure, error = self._process.compute(self._cache[0], (function, arguments))
            except (EOFError, OSError, pickle.UnpicklingError) as ended:
                log.write(logging.WARNING, f"The process of figures was ended: {ended!r}")
                self.close()
            else:
                if error is not None:
                    raise error
                return figure  # type: ignore[no-any-return]
        raise RefusedError(_NOT_COMPUTED.format(self._store.path.stat().st_size // 10**6))


def _read_state(cursor: Cursor) -> tuple[DataState, str]:
    """Read the current state, and a key of all its data except the grades of annotators and reviewers."""
    other_tables = {name: TABLES[name] for name in TABLES if name not in GRADE_TABLES}
    activity = cursor.execute(_LEAD_ACTIVITY).fetchall()
    other_key = digest(read_fingerprint(cursor, other_tables), str(activity))
    ((judgment_count,),) = cursor.execute("SELECT count(*) FROM judgment_events").fetchall()
    key = digest(read_set_fingerprint(cursor), other_key)
    return DataState(key, utc_now(), judgment_count >= MIN_LARGE_JUDGMENTS), other_key


_figures: dict[Path, FigureCache] = {}
_figures_lock = threading.Lock()


def figures_of(store: Store) -> FigureCache:
    """Return the cache of figures for a project; a process has one cache for each project file."""
    with _figures_lock:
        if store.path not in _figures:
            _figures[store.path] = FigureCache(store)
            atexit.register(_figures[store.path].close)
        return _figures[store.path]
