"""A clock that jumps: between any two looks at it, the server's time may be years back or ahead.

Two people grade, change, undo and look back by turns, and browsers send times of their own, from year 1 to
year 9999.

What must hold: every answer is saved; what counts is what was answered last, by order of writing and not by
time; history lists the answers in the order in which they were first written; once the clock is right, the
doctor has no problem.
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from curation.labeling.judgments.judging import Submission
from curation.labeling.session.history import LAST_ITEMS, HistoryFilter, history_page
from curation.labeling.session.showings import next_showings
from curation.labeling.session.submit import submit
from curation.operations.doctor import examine
from curation.store import Store, database, open_store
from tests.support.projects import rows_of
from tests.trials.forks import in_a_fork
from tests.trials.kills import PEOPLE, build_graded
from tests.trials.verdict import Verdict, main

RULE = "Whatever the clock says, every answer is kept, and the last one counts."
DONE = "The server's clock jumps by up to 900 days, and browsers send times from year 1 to 9999."
BEFORE = "times of year 1 and 9999 answered with 500"
MOST = 300
"""Answers to one project."""


def let_the_clock_jump(chance: Random) -> None:
    """Replace the clock in every module of goldset that has it."""
    real = database.utc_now

    def jumping() -> datetime:
        return real() + timedelta(seconds=chance.choice((0, -1, 3600, -7200, 86_400 * 400, -86_400 * 900)))

    for name, module in list(sys.modules.items()):
        if name.startswith("curation") and getattr(module, "utc_now", None) is real:
            module.utc_now = jumping


def clocks_of_browsers(chance: Random) -> datetime | None:
    """A time as the API hands it on: UTC without a zone."""
    return chance.choice((None, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59), database.utc_now()))


class Worker:
    """A person, and what they answered: presentation → grade, in order; None where it was undone."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self.grades: dict[str, int | None] = {}
        self.revisions: dict[str, int] = {}

    def act(self, chance: Random, number: int, found: Verdict) -> None:
        given = [presentation for presentation, grade in self.grades.items() if grade is not None]
        kind = chance.choice(("new", "new", "change", "undo")) if given else "new"
        if kind == "new":
            showings = next_showings(self.store, self.name, 1).showings
            if not showings:
                return
            presentation, revision = showings[0].presentation_id, showings[0].revision
        else:
            presentation = chance.choice(given)
            revision = self.revisions[presentation]
        grade = None if kind == "undo" else chance.randrange(3)
        asked = Submission(
            presentation,
            revision,
            "undo" if kind == "undo" else "grade",
            f"answer {number} of {self.name}",
            grade,
            shown_at=clocks_of_browsers(chance),
            submitted_at=clocks_of_browsers(chance),
            active_ms=chance.choice((None, -5, 400, 10**9)),
        )
        (outcome,) = submit(self.store, self.name, [asked])
        found.counts[kind] += 1
        found.demand(outcome.status == "saved", f"{kind} {presentation}: {outcome.status}, {outcome.message}")
        self.grades[presentation] = grade
        self.revisions[presentation] = outcome.revision


def work(path: Path, times: int, chance: Random) -> Verdict:
    """Answer so often, and compare what is stored with what was said."""
    found, store = Verdict(), open_store(path)
    people = [Worker(store, name) for name in PEOPLE]
    for one in people:
        next_showings(store, one.name, 1)
    let_the_clock_jump(chance)
    for number in range(times):
        chance.choice(people).act(chance, number, found)
    for one in people:
        compare(store, one, found)
    store.close()
    return found


def ask_the_doctor(path: Path) -> Verdict:
    """With the right clock again: a doctor whose clock is behind would rightly say so."""
    found = Verdict()
    for finding in examine(path).findings:
        found.demand(finding.level != "problem", f"the doctor: {finding.sentence}")
    return found


def compare(store: Store, one: Worker, found: Verdict) -> None:
    sql = "SELECT presentation_id, grade FROM current_judgments WHERE annotator = ?"
    stored: dict[str, Any] = dict(rows_of(store, sql, one.name))
    said = {presentation: grade for presentation, grade in one.grades.items() if grade is not None}
    found.demand(stored == said, f"{one.name}: {len(set(stored.items()) ^ set(said.items()))} grades differ")
    pages = range(history_page(store, one.name).pages)
    answers = [
        answer for page in pages for answer in history_page(store, one.name, HistoryFilter(page=page)).answers
    ]
    listed = [answer.showing.presentation_id for answer in answers]
    expected = [presentation for presentation in reversed(one.grades) if presentation in said]
    if history_page(store, one.name).withheld:
        expected = expected[:LAST_ITEMS]
    found.demand(listed == expected, f"{one.name}: the history is not in the order of answers")


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """So many answers, at most `MOST` to one project."""
    total = Verdict()
    in_a_fork(lambda: build_graded(folder / "template.duckdb"))
    for start in range(0, times, MOST):
        path, seed = folder / f"project-{start}.duckdb", chance.random()
        path.write_bytes((folder / "template.duckdb").read_bytes())
        path.chmod(0o600)
        size = min(MOST, times - start)
        total.add(in_a_fork(lambda path=path, size=size, seed=seed: work(path, size, Random(seed))))
        total.add(in_a_fork(lambda path=path: ask_the_doctor(path)))
    return total


if __name__ == "__main__":
    main(trial, RULE, 300)
