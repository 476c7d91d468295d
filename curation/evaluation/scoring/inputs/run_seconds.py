"""The seconds that a run's queries took.

They are in a JSON file of the same name next to the run file. `goldgrade run` writes such files. Of any it
reads `seconds.queries` (query id → seconds) or `seconds.mean`, and `file.sha256`: where that is not the run
file's, the times are another run's and are not taken. A JSON file without seconds is no such file.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from curation.core.errors import InputError
from curation.core.text import file_digest

SUFFIX = ".json"
ANOTHER_RUN = "the seconds next to the run file are those of another run"


class RunSeconds(NamedTuple):
    """Seconds a query.

    Attributes
    ----------
    mean, median, p95: None where only a mean is given, or `left_out` says why there is none.
    n: evaluated queries with a time; 0 where only a mean is given.
    """

    mean: float | None
    median: float | None
    p95: float | None
    n: int
    left_out: str | None = None


def read_seconds(path: Path, query_ids: Collection[str]) -> RunSeconds | None:
    """The seconds next to a run file, of these queries; None where there are none.

    Raises
    ------
    InputError: the file next to it has seconds that are no numbers.
    """
    sidecar = seconds_path(path)
    if sidecar is None or not sidecar.is_file():
        return None
    try:
        described: Any = json.loads(sidecar.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    seconds = described.get("seconds") if isinstance(described, dict) else None
    if not isinstance(seconds, dict):
        return None
    if _is_of_another(described, path):
        return RunSeconds(None, None, None, 0, ANOTHER_RUN)
    times = seconds.get("queries")
    if isinstance(times, dict):
        return _of_queries(times, query_ids, sidecar)
    mean = seconds.get("mean")
    if not _is_time(mean):
        raise InputError(f"seconds.mean is {mean!r}; expected a number of seconds", path=sidecar)
    return RunSeconds(mean, None, None, 0)


def _of_queries(times: Mapping[str, Any], query_ids: Collection[str], sidecar: Path) -> RunSeconds:
    wrong = [f"seconds of query {name!r}: {value!r}" for name, value in times.items() if not _is_time(value)]
    if wrong:
        raise InputError(wrong, path=sidecar, way_out="Expected numbers of seconds, 0 or more.")
    known = set(query_ids)
    taken = np.array([float(value) for name, value in sorted(times.items()) if name in known])
    if not len(taken):
        return RunSeconds(None, None, None, 0, "no evaluated query has a time")
    median, p95 = np.quantile(taken, [0.5, 0.95]).tolist()
    return RunSeconds(float(taken.mean()), median, p95, len(taken))


def seconds_path(path: Path) -> Path | None:
    """Where the times of a run file are looked for; None next to a run that is itself a JSON file."""
    stem = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    sidecar = stem.with_suffix(SUFFIX)
    return None if sidecar == stem else sidecar


def _is_of_another(described: Mapping[str, Any], path: Path) -> bool:
    """Whether the sum next to it is another than the run file's; a packed file has one of its own."""
    file = described.get("file")
    recorded = file.get("sha256") if isinstance(file, dict) else None
    if recorded is None or path.suffix.lower() == ".gz":
        return False
    return bool(file_digest(path) != recorded)


def _is_time(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
