"""Several trials one after another, in one process: `python -m tests.trials kills=8 clock=30 --seed 7`."""

from __future__ import annotations

import argparse
import sys

from tests.trials import clock, full_disk, fuzz, kills, proxy, torn, two_servers
from tests.trials.verdict import run

TRIALS = {
    "kills": kills,
    "fuzz": fuzz,
    "two_servers": two_servers,
    "full_disk": full_disk,
    "clock": clock,
    "proxy": proxy,
    "torn": torn,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", nargs="+", metavar="TRIAL=TIMES", help=", ".join(TRIALS))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    broken = 0
    for name, _, times in (one.partition("=") for one in asked.trials):
        trial = TRIALS[name]
        broken += len(run(name, trial.trial, trial.RULE, int(times), asked.seed).broken)
    sys.exit(bool(broken))
