"""Lock-out by networks: wrong passwords for one name come from as many IPv6 /64 of one customer.

Then the right password comes from elsewhere, from a browser that is not known. The tries come through a proxy
of this machine that says whose they are.

What must hold: the right password is taken at the first try.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from tests.support.projects import PASSWORD, add_people, new_project
from tests.trials.forks import in_a_fork
from tests.trials.served import get_in, serving, sign_in
from tests.trials.verdict import Verdict, main

RULE = "Wrong passwords from all networks of one customer do not lock a name out for others."
DONE = (
    "So many wrong passwords for one name from as many IPv6 /64 of a /48; then the right one from elsewhere."
)
BEFORE = "the right password refused for 150 s, 30 of 30 times"


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """So many wrong passwords."""
    total, path = Verdict(), folder / "project.duckdb"
    in_a_fork(lambda: _build(path))
    with serving(path) as port:
        statuses = Counter(
            sign_in(port, "ann", "a wrong password", f"2001:db8:5:{number:x}::1").status
            for number in range(times)
        )
        answer, tries, waited = get_in(port, "ann", PASSWORD, f"2001:db8:{chance.randrange(6, 2**16):x}::1")
    total.counts.update({f"answered {status}": number for status, number in statuses.items()})
    total.demand((answer.status, tries) == (303, 1), f"the right password got {answer.status} at try {tries}")
    total.figure = f"taken at try {tries}, after {waited:.1f} s"
    return total


def _build(path: Path) -> None:
    store = new_project(path)
    add_people(store, "ann")
    store.close()


if __name__ == "__main__":
    main(trial, RULE, 100)
