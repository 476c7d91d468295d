"""The trials one after another, in one process, and the table of `docs/performance.md`.

python -m tests.trials                      # all of them, each so often as `TRIALS` says
python -m tests.trials kills=8 torn=24 --seed 7
"""

from __future__ import annotations

import argparse
import sys
from types import ModuleType

from tests.trials import full_disk, kills, starved, torn
from tests.trials.verdict import Verdict, run

TRIALS: dict[str, tuple[ModuleType, int]] = {
    "kills": (kills, 200),
    "torn": (torn, 200),
    "full_disk": (full_disk, 40),
    "starved": (starved, 200),
}
"""Name → the trial, and how often where nobody says."""
HEAD = "| trial | what the trial does | figure before | figure now |\n|---|---|---|---|"


def row(name: str, now: str) -> str:
    """The trial's line of the table."""
    trial, _ = TRIALS[name]
    return f"| `{name}` | {trial.DONE} | {trial.BEFORE} | {now} |"


def figure(found: Verdict, times: int) -> str:
    """What the table says of a run."""
    if found.skipped:
        return f"not tried: {found.skipped}"
    return "; ".join(filter(None, (f"{times:,}: {len(found.broken)} broken", found.figure)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("trials", nargs="*", metavar="TRIAL=TIMES", help=", ".join(TRIALS))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    broken, rows = 0, [HEAD]
    for one in asked.trials or TRIALS:
        name, _, said = one.partition("=")
        trial, usual = TRIALS[name]
        times = int(said or usual)
        found = run(name, trial.trial, trial.RULE, times, asked.seed)
        broken += len(found.broken)
        rows.append(row(name, figure(found, times)))
    print("\n".join(rows))
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
