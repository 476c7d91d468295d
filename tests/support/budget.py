"""The processor time of a run: its slowest files, their sum, and tests that take too much of it or nearly so.

A test may take `SECONDS` of processor, with its child processes that have ended. A longer test says why:
`@pytest.mark.costly("why")`. The set-up of fixtures is not counted, since the first test would pay for all.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from tests.support.scheduling import file_of

SECONDS = 5.0
NEAR = 3.0
SLOWEST = 10
PROPERTY = "processor"


def processor_seconds() -> float:
    """What this process and its ended children have used until now."""
    return sum(os.times()[:4])


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
        if taken > SECONDS and not item.get_closest_marker("costly"):
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
