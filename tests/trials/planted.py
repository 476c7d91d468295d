"""Trials of the trials: each is run on a goldset with one planted fault, and must say that its rule broke.

`python -m tests.trials.planted` takes a minute or two. It ends with status 1 if a trial misses its fault.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

from curation.errors import CurationError
from curation.labeling.session import history, submit
from curation.store import Store, files
from tests.trials import clock, full_disk, fuzz, kills, proxy, two_servers
from tests.trials.verdict import Trial


class Fault(NamedTuple):
    """What is wrong, the trial that must find it in so many times, and how it is planted."""

    sentence: str
    trial: Trial
    times: int
    plant: Callable[[], AbstractContextManager[Any]]


def acknowledged_early() -> AbstractContextManager[Any]:
    real, held = kills.submit, []

    def early(store: Store, who: str, asked: Sequence[Any]) -> list[Any]:
        held.append((store, who, asked))
        if len(held) >= 5:
            for one in held:
                real(*one)
            held.clear()
        return [SimpleNamespace(status="saved") for _ in asked]

    return patch.object(kills, "submit", early)


def export_without_staging() -> AbstractContextManager[Any]:
    """Under its final name, an export is there before it is whole."""
    real = kills.export

    def straight(store: Store, release: str, form: str, target: Path) -> None:
        target.mkdir(parents=True)
        real(store, release, form, target / "later")
        for path in (target / "later").iterdir():
            path.rename(target / path.name)

    return patch.object(kills, "export", straight)


def log_not_looked_at() -> AbstractContextManager[Any]:
    return patch.object(files, "log_damage", lambda log: "")


def keys_not_looked_up() -> AbstractContextManager[Any]:
    return patch.object(submit, "_used_keys", lambda cursor, submissions: {})


def rows_without_rollback() -> AbstractContextManager[Any]:
    """What a rehearsal writes stays."""
    return patch("curation.imports.importing.Rehearsal", lambda store: store)


def history_by_time() -> AbstractContextManager[Any]:
    by_time = history._PAGE.replace("min(rowid) AS written", "min(submitted_at) AS written")
    return patch.object(history, "_PAGE", by_time)


@contextmanager
def refusals_swallowed() -> Iterator[None]:
    """What could not be written is acknowledged."""
    real = kills.submit

    def careless(store: Store, who: str, asked: Sequence[Any]) -> list[Any]:
        try:
            return real(store, who, asked)
        except CurationError:
            return [SimpleNamespace(status="saved") for _ in asked]

    with patch.object(kills, "submit", careless):
        yield


FAULTS = (
    Fault("grades are acknowledged before they are written", kills.trial, 20, acknowledged_early),
    Fault("exports are written under their final name", kills.trial, 40, export_without_staging),
    Fault("the log beside the project is not looked at", fuzz.trial, 500, log_not_looked_at),
    Fault("a rehearsed import is not undone", fuzz.trial, 100, rows_without_rollback),
    Fault("client keys are not looked up", proxy.trial, 60, keys_not_looked_up),
    Fault("client keys are not looked up", two_servers.trial, 60, keys_not_looked_up),
    Fault("the history is ordered by time", clock.trial, 100, history_by_time),
    Fault("a failed write is acknowledged", full_disk.trial, 20, refusals_swallowed),
)


def main() -> None:
    missed = 0
    for fault in FAULTS:
        with tempfile.TemporaryDirectory(prefix="goldset-trial-") as folder, fault.plant():
            found = fault.trial(Path(folder), fault.times, Random(1)).broken
        missed += not found
        name = fault.trial.__module__.rpartition(".")[2]
        print(f"{name}: {fault.sentence}: {f'found {len(found)} times' if found else 'MISSED'}", flush=True)
        for sentence in found[:1]:
            print(f"  {sentence[:200]}")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
