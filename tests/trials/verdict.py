"""What a trial found, and how it is run and printed."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random


@dataclass
class Verdict:
    """Counts of what happened; `broken` has a sentence for each time that the rule did not hold.

    figure: what the table says of it beside how often it was broken.
    skipped: why nothing could be tried; '' where it was.
    """

    counts: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    figure: str = ""
    skipped: str = ""

    def demand(self, holds: bool, sentence: str) -> None:
        """Note a sentence where something that must hold does not."""
        if not holds:
            self.broken.append(sentence)

    def add(self, other: Verdict) -> None:
        self.counts.update(other.counts)
        self.broken += other.broken


Trial = Callable[[Path, int, Random], Verdict]
"""A folder of its own, how many times, and where chance comes from."""


def run(name: str, trial: Trial, rule: str, times: int, seed: int) -> Verdict:
    """Run a trial in a folder of its own; print its counts as JSON, and whether the rule held."""
    os.umask(0o077)  # as every process of goldgrade has it
    began, usual = time.monotonic(), tempfile.gettempdir()
    with tempfile.TemporaryDirectory(prefix="goldgrade-trial-") as folder:
        # Results of jobs, too: to a server whose clock jumps, the results of others would be old.
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        found = trial(Path(folder), times, Random(seed))
    tempfile.tempdir = os.environ["TMPDIR"] = usual
    if found.skipped:
        print(json.dumps({"trial": name, "times": 0, "seed": seed, "skipped": found.skipped}), flush=True)
        return found
    said = {"trial": name, "times": times, "seed": seed, **found.counts}
    said |= {"figure": found.figure} if found.figure else {}
    said |= {"broken": len(found.broken), "seconds": round(time.monotonic() - began, 1)}
    print(json.dumps(said))
    for sentence in found.broken[:20]:
        print(f"broken: {sentence}")
    print(f"{rule} {'This did not hold.' if found.broken else 'This held.'}", flush=True)
    return found
