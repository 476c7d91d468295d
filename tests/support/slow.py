"""What `make check` leaves out, as each takes more than half a second: read from a run, kept in a file.

`make slow` runs all tests that need no browser and no embedding model, and writes the file.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path
from statistics import fmean

LIST = Path(__file__).with_name("slow.txt")
SECONDS = 0.5


def slow_tests() -> frozenset[str]:
    """The listed tests, as `file::function`: all cases of a function."""
    return frozenset(LIST.read_text().splitlines())


def slow_in(report: Path) -> list[str]:
    """The tests of a JUnit report whose cases take more than `SECONDS` on average, set-up included."""
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for case in ET.parse(report).getroot().iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        seconds[f"{file}::{case.attrib['name'].partition('[')[0]}"].append(float(case.attrib["time"]))
    return sorted(name for name, taken in seconds.items() if fmean(taken) > SECONDS)


if __name__ == "__main__":
    LIST.write_text("".join(f"{name}\n" for name in slow_in(Path(sys.argv[1]))))
