"""Tests without the marker `slow` that take more than half a second, by the JUnit report of `make slow`."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from statistics import fmean

SECONDS = 0.5


def slow_in(report: Path) -> list[str]:
    """The tests of a JUnit report whose cases take more than `SECONDS` on average, set-up included."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for case in ET.parse(report).getroot().iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        seconds[f"{file}::{case.attrib['name'].partition('[')[0]}"].append(float(case.attrib["time"]))
    return sorted(name for name, taken in seconds.items() if fmean(taken) > SECONDS)


if __name__ == "__main__":
    print(*slow_in(Path(sys.argv[1])), sep="\n")
