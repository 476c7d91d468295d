"""The processor time of a run: its slowest files, their sum, and tests that take too much of it or nearly so.

A test may take `SECONDS` of processor, with its child processes that have ended. A longer test says why:
`@pytest.mark.costly("why")`. The set-up of fixtures is not counted, since the first test would pay for all.

The seconds are those of a machine that does nothing else. A loaded machine takes up to four times as much
processor for the same work, so a test that took too long is judged by what a fixed work takes at that moment.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import duckdb
import pytest

from tests.support.scheduling import file_of

SECONDS = 5.0
NEAR = 3.0
SLOWEST = 10
PROPERTY = "processor"
REFERENCE_SECONDS = 0.12
"""Processor time of `_reference_work` on a machine of two cores that does nothing else."""
REFERENCE_SQL = """
SELECT k, count(*), list(n ORDER BY n DESC) FROM range(20000) AS numbers(n), range(7) AS keys(k)
WHERE n % 7 = k GROUP BY k ORDER BY k
"""


def processor_seconds() -> float:
    """What this process and its ended children have used until now."""
    return sum(os.times()[:4])


def slowness() -> float:
    """How many times as much processor the machine takes now as when it does nothing else; at least 1."""
    before = processor_seconds()
    _reference_work()
    return max(1.0, (processor_seconds() - before) / REFERENCE_SECONDS)


def _reference_work() -> None:
    for _ in range(5):
        with duckdb.connect(config={"threads": 1}) as engine:
            engine.execute(REFERENCE_SQL).fetchall()


class Budget:
    """A plugin of pytest: each report carries what its phase took, and the end of the run adds them up."""

    def __init__(self) -> None:
        self.by_file: Counter[str] = Counter()
        self.near: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        before = processor_seconds()
        result = yield
        taken = processor_seconds() - before
        if taken > SECONDS and not item.get_closest_marker("costly") and taken / slowness() > SECONDS:
            pytest.fail(f"took {taken:.1f} s of processor; {SECONDS:.0f} s are allowed ({__name__})", False)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.last = processor_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        report = yield
        now = processor_seconds()
        report.user_properties = [*report.user_properties, (PROPERTY, now - self.last)]
        self.last = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        seconds = dict(report.user_properties).get(PROPERTY, 0)
        self.by_file[file_of(report.nodeid)] += seconds
        if report.when == "call" and seconds > NEAR and "costly" not in report.keywords:
            self.near[report.nodeid] = seconds

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section(f"processor: {sum(self.by_file.values()):.0f} s")
        for file, seconds in self.by_file.most_common(SLOWEST):
            terminalreporter.write_line(f"{seconds:6.1f} s  {file}")
        for test, seconds in self.near.most_common():
            terminalreporter.write_line(f"{seconds:6.1f} s of {SECONDS:.0f}  {test}")
