"""Does the report of a re-labeling name the cause that was planted, and no other one?

A project of 24 queries with 12 documents each lives through quarters: real corpora, logs, guides, plans and
rounds, by the functions of the product. In every world documents are rewritten each quarter, traffic moves,
the guide is reworded once, and four of six people judge, other ones each quarter, two a pair, one vote in ten
off by one; a reviewer decides the disputed pairs. In each world one of these changes grades, from the second
quarter on; in one world none does. The first quarter has no cause: its alarms are false, too.

Usage: python -m benchmarks.bench_causes [quarters with the cause, 8] [world or all, all] [seed, 0]
Smallest: python -m benchmarks.bench_causes 0 none
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

import numpy as np

from curation.files.fields import TrafficFields
from curation.guides.guide import parse_guide, read_guide
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.rounds.lifecycle import KEEP, put_in_force
from curation.project import init_project
from curation.relabeling.drift.causes import named
from curation.relabeling.drift.regraded_pairs import DISPUTED, TRAFFIC
from curation.relabeling.drift.report import DriftReport, drift_report
from curation.relabeling.opening import open_plan
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.request import QuarterRequest
from curation.relabeling.staleness.calendar import Quarter, read_pairs
from curation.releases.freeze.relabeled import DOCUMENT, GUIDE
from curation.sampling.sample import draw_sample
from curation.settling.adjudication import decide
from curation.sources.judgments import ImportedJudgment
from curation.sources.traffic.cleaning import CleaningRules
from curation.sources.traffic.traffic_import import import_traffic
from curation.store import Store
from tests.support.projects import add_names, rows_of
from tests.support.relabeled import answer_round, write_corpus

QUERIES, DOCUMENTS, ASKED = 24, 12, 4000
PEOPLE = ("ada", "ben", "cyd", "dee", "eve", "fay")
DRIFTER = "dee"
NONE = "none"
WORLDS = (DOCUMENT, GUIDE, DRIFTER, TRAFFIC, NONE)
NOISE, EFFECT = 0.1, 0.6
REWORDED = 4
"""The quarter in which the guide is reworded; where it is the cause, in the first one."""


class World:
    """What is true, and what moves each quarter; only `planted` changes grades."""

    def __init__(self, planted: str, seed: int) -> None:
        self.planted, self.quarter = planted, 0
        self.random = np.random.default_rng([seed, WORLDS.index(planted)])
        self.versions = {f"t{t:02}-{d}": 1 for t in range(QUERIES) for d in range(DOCUMENTS)}
        self.grades = {name: int(self.random.integers(4)) for name in self.versions}
        self.asked = {f"topic{t:02}": ASKED for t in range(QUERIES)}

    def texts(self) -> dict[str, str]:
        return {
            name: f"topic{name[1:3]} text {name} version {number}" for name, number in self.versions.items()
        }

    def write_log(self, store: Store, folder: Path) -> None:
        """Each quarter asks for the same texts, so that its rows look like those of the quarter before."""
        path = folder / f"log {self.quarter}.csv"
        rows = (f"{text},{times}\n" for text, times in self.asked.items())
        path.write_text(f"query,count\n{''.join(rows)}", encoding="utf-8")
        import_traffic(
            store, path, TrafficFields("query", count="count"), rules=CleaningRules(known_rows=True)
        )

    def pass_quarter(self, store: Store) -> None:
        """A tenth of the texts is rewritten, two queries rise, two fall, and once the guide is reworded."""
        self.quarter += 1
        rewritten = self.random.choice(sorted(self.versions), len(self.versions) // 10, replace=False)
        for name in rewritten.tolist():
            self.versions[name] += 1
        moved = self.random.choice(sorted(self.asked), 4, replace=False).tolist()
        for text, times in zip(moved, (1.5, 1.5, 0.5, 0.5), strict=True):
            self.asked[text] = int(self.asked[text] * times)
        own = self.planted == GUIDE
        reworded = self.quarter == (1 if own else REWORDED)
        if reworded:
            guide = parse_guide(read_guide().source + f"Reworded in quarter {self.quarter}.\n")
            put_in_force(store, guide, open_rounds=KEEP)
        if self.planted == DOCUMENT:
            self._regrade(rewritten.tolist())
        elif self.planted == TRAFFIC:
            self._regrade([name for name in sorted(self.versions) if f"topic{name[1:3]}" in moved])
        elif own and reworded:
            self._regrade([name for name, grade in sorted(self.grades.items()) if grade], -1)

    def _regrade(self, names: list[str], by: int = 0) -> None:
        for name in names:
            if self.random.random() < EFFECT:
                self.grades[name] = (self.grades[name] + (by or int(self.random.integers(1, 4)))) % 4

    def judge(self, who: str, _query: str, document: str) -> int:
        grade = self.grades[document]
        if self.random.random() < NOISE:
            grade += int(self.random.choice([-1, 1]))
        if self.planted == who and self.quarter and self.random.random() < EFFECT:
            grade += 1
        return min(3, max(0, grade))

    def people(self) -> list[str]:
        """Four of six, other ones each quarter; the one who drifts is always there."""
        first = [DRIFTER] if self.planted == DRIFTER else []
        rest = self.random.permutation([who for who in PEOPLE if who not in first]).tolist()
        return sorted([*first, *rest][:4])


def begin(store: Store, folder: Path, world: World) -> None:
    """The corpus, the log, all queries, and grades of two people each."""
    write_corpus(store, folder, world.texts())
    add_names(store, *PEOPLE)
    world.write_log(store, folder)
    draw_sample(store, QUERIES, 1)
    ids = dict(rows_of(store, "SELECT normalised, query_id FROM queries"))
    given = [
        ImportedJudgment(query, name, who, world.judge(who, query, name), submitted_at=datetime(2025, 11, 3))
        for name in world.grades
        for query in [ids[f"topic{name[1:3]}"]]
        for who in PEOPLE[:2]
    ]
    add_judgments(store, given, "first.csv", [])
    review(store, world.grades)


def review(store: Store, grades: Mapping[str, int]) -> None:
    """Decide what is disputed."""
    with store.reading() as cursor:
        open_pairs = [one.pair for one in read_pairs(cursor) if one.consensus.how == DISPUTED]
    for query, document in open_pairs:
        decide(store, query, document, grades[document], "read again")


def lived(store: Store, folder: Path, planted: str, quarters: int, seed: int) -> list[DriftReport]:
    """The report of each quarter."""
    world, found = World(planted, seed), []
    begin(store, folder, world)
    for number in range(1, quarters + 2):
        quarter = Quarter(2025, 4).before(-number)
        today = date(quarter.year, 3 * quarter.number - 1, 15)
        if number > 1:
            world.pass_quarter(store)
        write_corpus(store, folder, world.texts())
        world.write_log(store, folder)
        plan = make_plan(store, 0.2, 100 * seed + number, today)
        open_plan(store, QuarterRequest(tuple(world.people()), plan.plan_id, duplicates=0.0))
        answer_round(store, quarter.name, world.judge, datetime(today.year, today.month, 16, 12, 0))
        review(store, world.grades)
        found.append(drift_report(store, quarter.name))
    return found


def found_by(report: DriftReport) -> set[str]:
    return {row.cause for row in report.causes.rows if named(row)} | {
        person.annotator for person in report.causes.people if named(person)
    }


def main() -> None:
    quarters = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for planted in WORLDS if sys.argv[2:3] in ([], ["all"]) else sys.argv[2:3]:
        with tempfile.TemporaryDirectory() as folder:
            store = init_project(Path(folder) / "p.duckdb").store
            reports = lived(store, Path(folder), planted, quarters, seed)
        names = [found_by(report) for report in reports]
        hits = sum(planted in found for found in names[1:])
        wrong = [found - {planted} if place else found for place, found in enumerate(names)]
        print(
            f"{planted}: named in {hits} of {quarters}, another in {sum(map(bool, wrong))} of {quarters + 1}"
        )
        for report, found in zip(reports, names, strict=True):
            rows = [(row.cause, row.having, row.others, row.p) for row in report.causes.rows]
            people = [(one.annotator, one.others.value, one.old.value, one.p) for one in report.causes.people]
            print(
                f"  {report.name}: {report.pairs} pairs, named {sorted(found)}; {rows} {people}", flush=True
            )


if __name__ == "__main__":
    main()
