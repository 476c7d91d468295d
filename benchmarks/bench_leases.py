"""What it costs to let go of the database file: leases, a connection per action, and holding it for good.

25 threads grade one item each, twice a second, on a project with 20,000 judgments; meanwhile a second
process asks for the file. Each way runs on its own copy of the same project in one run. Written:
median and 95th percentile of an action, errors, the second process's wait, and the ratio of medians.

Usage: python -m benchmarks.bench_leases [seconds per way] [--judgments 20000] [--asks 3]
    [--patience 5]      --asks is how often the second process asks, --patience for how many seconds.
Smallest: python -m benchmarks.bench_leases 0.7 --judgments 100 --asks 1 --patience 0.1
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import duckdb

from curation.core.digests import digest
from curation.operations.project import init_project
from curation.store import Store, append, utc_now

THREADS, RATE = 25, 2.0
INSERT = """INSERT INTO judgment_events
    VALUES (?, 0, 'grade', 1, NULL, NULL, false, 'guide', ?, ?, NULL, ?, NULL, false, true)"""
NEXT = "SELECT count(*) FROM presentation_states WHERE answered"
ASK = """
import sys, time, duckdb
started = time.monotonic()
while True:
    try:
        duckdb.connect(sys.argv[1]).close()
        break
    except duckdb.Error:  # held by another process, or opened while that one lets go of it
        if time.monotonic() - started > float(sys.argv[2]): print(-1); sys.exit()
        time.sleep(0.005)
print(time.monotonic() - started)
"""


class Figures(NamedTuple):
    median_ms: float
    p95_ms: float
    actions: int
    errors: int
    second_process_s: list[float]


def project(folder: Path, name: str, judgments: int) -> Path:
    store = init_project(folder / f"{name}.duckdb")
    with store.transaction() as cursor:
        ids = [digest(name, number) for number in range(judgments)]
        append(
            cursor,
            "judgment_events",
            {
                "presentation_id": ids,
                "revision": [0] * judgments,
                "kind": ["grade"] * judgments,
                "grade": [1] * judgments,
                "flagged": [False] * judgments,
                "guide_hash": ["guide"] * judgments,
                "author": ["ada"] * judgments,
                "client_key": ids,
                "submitted_at": [utc_now()] * judgments,
            },
        )
    store.close()
    return store.path


def act(cursor: duckdb.DuckDBPyConnection, worker: int, count: int) -> None:
    key = f"worker-{worker}-{count}"
    cursor.execute(INSERT, [digest(key), str(worker), key, utc_now()])
    cursor.execute(NEXT).fetchall()


def measure(
    path: Path, once: Callable[[int, int], None], seconds: float, asks: int, patience: float
) -> Figures:
    times: list[float] = []
    errors: list[Exception] = []
    end = time.monotonic() + seconds

    def work(worker: int) -> None:
        time.sleep(worker / THREADS / RATE)
        count = 0
        while time.monotonic() < end:
            started = time.monotonic()
            try:
                once(worker, count)
                times.append(time.monotonic() - started)
            except Exception as error:
                errors.append(error)
            count += 1
            time.sleep(max(0.0, 1 / RATE - (time.monotonic() - started)))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(THREADS)]
    for thread in threads:
        thread.start()
    waits = [
        float(subprocess.check_output([sys.executable, "-c", ASK, str(path), str(patience)]))
        for _ in range(asks)
    ]
    for thread in threads:
        thread.join()
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return Figures(statistics.median(ordered) * 1000, p95 * 1000, len(times), len(errors), waits)


def leases(path: Path) -> Callable[[int, int], None]:
    store = Store(path)

    def once(worker: int, count: int) -> None:
        with store.transaction() as cursor:
            act(cursor, worker, count)

    return once


def connection_each(path: Path) -> Callable[[int, int], None]:
    def once(worker: int, count: int) -> None:
        with duckdb.connect(str(path)) as connection:
            act(connection, worker, count)

    return once


def held(path: Path) -> Callable[[int, int], None]:
    connection = duckdb.connect(str(path))

    def once(worker: int, count: int) -> None:
        cursor = connection.cursor()
        act(cursor, worker, count)
        cursor.close()

    return once


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float, nargs="?", default=15.0)
    parser.add_argument("--judgments", type=int, default=20_000)
    parser.add_argument("--asks", type=int, default=3)
    parser.add_argument("--patience", type=float, default=5.0)
    arguments = parser.parse_args()
    ways = {"leases": leases, "a connection each": connection_each, "held for good": held}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, way in ways.items():
            path = project(Path(folder), name.replace(" ", "-"), arguments.judgments)
            found[name] = measure(path, way(path), arguments.seconds, arguments.asks, arguments.patience)
            figures = found[name]
            waits = ", ".join("never" if wait < 0 else f"{wait:.2f} s" for wait in figures.second_process_s)
            print(
                f"{name:18} median {figures.median_ms:6.1f} ms  p95 {figures.p95_ms:6.1f} ms  "
                f"{figures.actions} actions  {figures.errors} errors  second process waited {waits}"
            )
    ratio = found["a connection each"].median_ms / found["leases"].median_ms
    print(f"ratio: a connection each takes {ratio:.1f} times as long as leases (median)")


if __name__ == "__main__":
    main()
