"""Bombs: small files that are large once they are read, from an evaluator and from a command line.

An evaluator's run is one packed line of 700 MB, a corpus is 400 packed documents of 8 MB, and one of Parquet
repeats a row 50 million times in some kilobytes. How often is how large: at 100 they have that size, at 10 a
tenth of it. Each is read in a process of its own, whose memory and processor time are counted.

What must hold: it is taken or refused with a sentence, within 1.5 GB of memory and a minute of the processor.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from curation.errors import CurationError
from tests.support import bombs
from tests.support.evaluated_project import evaluated_project
from tests.trials import steps
from tests.trials.forks import in_a_fork
from tests.trials.verdict import Verdict, main

RULE = "A small file that is large once it is read takes bounded memory and time."
DONE = (
    "An evaluator's packed line of 700 MB, 400 packed documents of 8 MB, a row 50 million times in Parquet."
)
BEFORE = "5.8 GB; 10.7 GB; 53 s"
MEGABYTES, SECONDS = 1_500, 60
STOP = 6 << 30
"""Bytes at which a reading is ended that would take the machine."""


class Cost(NamedTuple):
    """The most memory that a reading had, its processor time, and how it ended."""

    megabytes: float
    seconds: float
    ended: str


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """Bombs of so many hundredths of their size."""
    total, path = Verdict(), folder / "project.duckdb"
    in_a_fork(lambda: evaluated_project(folder).close())
    line = bombs.long_line(folder / "run.jsonl.gz", 7 * times)
    corpus = bombs.long_documents(folder / "corpus.jsonl.gz", 4 * times)
    rows = bombs.repeated_rows(folder / "corpus.parquet", 500_000 * times)
    kind, asked = steps.jobs_of(folder)["evaluate v1"]
    readings: list[tuple[str, steps.Work]] = [
        ("an evaluator's run", steps.job(kind, {**asked, "runs": [["near", str(line)]]}, "vera")),
        ("a packed corpus", steps.command(f"import corpus {corpus} --dry-run", folder)),
        ("a corpus in Parquet", steps.command(f"import corpus {rows} --dry-run", folder)),
    ]
    costs = []
    for name, work in readings:
        cost = in_a_fork(lambda work=work: _cost(lambda: work(path, lambda said: None)))
        total.demand(cost.ended in {"taken", "refused"}, f"{name} ended by {cost.ended}")
        total.demand(cost.megabytes < MEGABYTES, f"{name} took {cost.megabytes:,.0f} MB")
        total.demand(cost.seconds < SECONDS, f"{name} took {cost.seconds:.0f} s of the processor")
        total.counts[f"{name}: {cost.ended}"] += 1
        costs.append(f"{cost.megabytes:,.0f} MB, {cost.seconds:.0f} s")
    total.figure = "; ".join(costs)
    return total


def _cost(work: Callable[[], None]) -> Cost:
    resource.setrlimit(resource.RLIMIT_DATA, (STOP, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    ended = "taken"
    try:
        work()
    except CurationError:
        ended = "refused"
    except BaseException as error:
        ended = repr(error)[:200]
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Cost(used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, ended)


if __name__ == "__main__":
    main(trial, RULE, 100)
