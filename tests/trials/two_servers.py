"""Two servers: two processes write one project at the same time, and a browser sends to either of them.

Each process grades through `submit`, as an app does, with a session cache of its own. Two people's answers
go to one process or the other at random. One answer in five is sent to both, as after a lost connection.
DuckDB gives the file to one process at a time, so that each waits for the other; one that waits for too
long says so, and the answer is sent again.

What must hold: every answer that a process acknowledged is there; none is there twice, under one client key
or at one revision; nothing else than "busy" is ever refused for the other process's sake.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from pathlib import Path
from random import Random

from curation.errors import StoreBusyError
from curation.labeling.judgments.judging import Submission
from curation.labeling.session.submit import submit
from curation.operations.doctor import examine
from curation.store import open_store
from curation.store.database import load_arrow
from tests.support.projects import rows_of
from tests.trials.forks import in_a_fork
from tests.trials.kills import build_graded
from tests.trials.verdict import Verdict, main

RULE = "Of two processes that write one project, neither loses or doubles what the other was told is saved."
DONE = "Two processes grade on one project; one answer in five goes to both."
BEFORE = "none lost or doubled"
SHOWINGS = "SELECT annotator, presentation_id FROM presentations ORDER BY 1, 2"
MOST = 700
"""Answers to one project: it has 800 showings."""


def plan(path: Path, times: int, chance: Random) -> list[list[tuple[str, str]]]:
    """What each of two processes is sent: (annotator, presentation), one in five to both."""

    def read() -> list[tuple[str, str]]:
        store = open_store(path)
        rows = rows_of(store, SHOWINGS)
        store.close()
        return rows

    sent: list[list[tuple[str, str]]] = [[], []]
    showings = in_a_fork(read)
    for showing in chance.sample(showings, min(times, len(showings))):
        for process in (0, 1) if chance.random() < 0.2 else (chance.randrange(2),):
            sent[process].append(showing)
    return sent


def serve(path: Path, showings: list[tuple[str, str]]) -> tuple[set[str], Counter[str]]:
    """Submit them one after another; what was acknowledged, and how often each outcome was met."""
    store, acknowledged, counts = open_store(path), set(), Counter[str]()
    load_arrow()
    for name, presentation in showings:
        asked = Submission(presentation, 0, "grade", f"key {presentation}", len(presentation) % 3)
        while True:
            try:
                (outcome,) = submit(store, name, [asked])
                break
            except StoreBusyError:
                counts["busy, sent again"] += 1
        counts[outcome.status] += 1
        if outcome.status in {"saved", "repeated"}:
            acknowledged.add(presentation)
    store.close()
    return acknowledged, counts


def side_by_side(path: Path, sent: list[list[tuple[str, str]]]) -> list[tuple[set[str], Counter[str]]]:
    """Both processes at once: this fork's own forks."""
    found: list[tuple[set[str], Counter[str]]] = []
    reading, writing = os.pipe()
    other = os.fork()
    if not other:
        with os.fdopen(writing, "wb") as out:
            pickle.dump(in_a_fork(lambda: serve(path, sent[1])), out)
        os._exit(0)
    os.close(writing)
    found.append(in_a_fork(lambda: serve(path, sent[0])))
    with os.fdopen(reading, "rb") as answers:
        found.append(pickle.load(answers))
    os.waitpid(other, 0)
    return found


def look(path: Path, acknowledged: set[str]) -> Verdict:
    found, store = Verdict(), open_store(path)
    stored = Counter(row[0] for row in rows_of(store, "SELECT presentation_id FROM judgment_events"))
    found.demand(
        acknowledged <= set(stored), f"{len(acknowledged - set(stored))} acknowledged answers are lost"
    )
    found.demand(
        max(stored.values(), default=1) == 1, f"{sum(n > 1 for n in stored.values())} answers are there twice"
    )
    found.demand(set(stored) == acknowledged, "an answer is there that nobody was told of")
    for finding in examine(path).findings:
        found.demand(finding.level != "problem", f"the doctor: {finding.sentence}")
    store.close()
    return found


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """So many answers, at most `MOST` to one project."""
    total = Verdict()
    load_arrow()
    in_a_fork(lambda: build_graded(folder / "template.duckdb"))
    for start in range(0, times, MOST):
        path = folder / f"project-{start}.duckdb"
        path.write_bytes((folder / "template.duckdb").read_bytes())
        path.chmod(0o600)
        sent = plan(path, min(MOST, times - start), chance)
        acknowledged: set[str] = set()
        for said, counts in side_by_side(path, sent):
            acknowledged |= said
            total.counts.update(counts)
            total.demand(
                set(counts) <= {"saved", "repeated", "busy, sent again"}, f"outcomes: {dict(counts)}"
            )
        total.counts["answers"] += len(acknowledged)
        total.add(in_a_fork(lambda path=path, said=acknowledged: look(path, said)))
    return total


if __name__ == "__main__":
    main(trial, RULE, 700)
