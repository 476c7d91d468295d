"""Processor seconds of short commands with their start: what somebody waits for who asks a small question.

Next to each is what Python alone takes to start here, so that figures of two machines can be compared.

Usage: python -m benchmarks.bench_start [times, default 5]
Smallest: python -m benchmarks.bench_start 0
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.steps import goldset, python
from tests.support.evaluated_project import evaluated_project
from tests.support.projects import new_project

COMMANDS = ("--version", "release list", "status", "round list")


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    here = times == 0
    with tempfile.TemporaryDirectory() as folder:
        store = evaluated_project(Path(folder)) if times else new_project(Path(folder) / "empty.duckdb")
        store.close()
        runs = range(max(1, times))
        alone = median(python("pass", here=here).processor for _ in runs)
        print(f"python: {alone:.3f} s")
        for command in COMMANDS:
            took = median(goldset(store.path, *command.split(), here=here).processor for _ in runs)
            print(f"goldset {command}: {took:.3f} s, {took / max(alone, 0.001):.0f} times Python alone")


if __name__ == "__main__":
    main()
