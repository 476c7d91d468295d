"""Two years of quarters: corpora and traffic drift, annotators too, and the set stays true.

Texts are rewritten and removed, queries leave the traffic and come, one annotator begins to grade too high,
and a clock steps back an hour. What a lead reads each quarter, before the round and after it, is in
`quarters.txt` beside this file; `GOLDGRADE_REWRITE=1` writes it anew. Larger repetitions are in
`benchmarks/bench_relabeling.py`, with their figures in `docs/relabeling.md`.
"""

from __future__ import annotations

import os
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from curation.core.progress import silent
from curation.evaluation.evaluate import submit
from curation.evaluation.request import EvaluateRequest
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.people.accounts import add_annotator
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.relabeling.calendar import Quarter
from curation.relabeling.due_list import read_due
from curation.relabeling.judged_pairs import read_pairs
from curation.relabeling.plan import make_plan
from curation.relabeling.report import DriftReport, make_drift_report
from curation.relabeling.report_sections import list_drift_findings
from curation.relabeling.request import PlanRequest
from curation.relabeling.set_state import read_set_state
from curation.relabeling.system_figures import describe_moves
from curation.releases.diff import compare_releases
from curation.releases.freeze.relabeled_pairs import DOCUMENT_CHANGED
from curation.releases.frozen_release import load_release
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.freezing import freeze
from tests.support.projects import add_names, rows_of
from tests.support.relabeled import PEOPLE, answer_round, open_quarter, write_corpus, write_log

TOPICS, DOCUMENTS, QUARTERS = 24, 13, 8
DRIFTS_FROM = 5
"""The quarter from which `dee` grades one higher."""
SHARED = Rules(query=None, paraphrase=None, document=None)
WORDS = "kettle violin glacier tractor router passport origami lantern harbour meadow".split()
DRAFT = "one vote a pair, for a test"
QUARTERS_READ = Path(__file__).with_name("quarters.txt")


class World:
    """What is true: each document's text and grade, and what is asked."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(11)
        self.versions = {f"t{t:02}-{d}": 1 for t in range(TOPICS) for d in range(DOCUMENTS)}
        self.grades = {name: int(self.random.integers(4)) for name in self.versions}
        self.gone: set[str] = set()
        self.quarter = 0

    def texts(self) -> dict[str, str]:
        named = ((name, version) for name, version in self.versions.items() if name not in self.gone)
        return {name: f"{topic_of(name)} {WORDS[v % 10]} {name} in version {v}" for name, v in named}

    def log(self) -> dict[str, int]:
        """Two topics of the sample leave the traffic each year, and two others begin."""
        left = {topic_text(t) for t in range(self.quarter // 4 * 2)}
        came = {topic_text(TOPICS - 1 - t) for t in range(4 - self.quarter // 4 * 2)}
        return {topic_text(t): 40 for t in range(TOPICS) if topic_text(t) not in left | came}

    def drift(self) -> None:
        """A quarter: a twelfth of the texts is rewritten, most with another grade, and two are
        removed.
        """
        self.quarter += 1
        alive = sorted(self.versions.keys() - self.gone)
        for name in self.random.choice(alive, 26, replace=False).tolist():
            self.versions[name] += 1
            if self.random.random() < 0.7:
                self.grades[name] = (self.grades[name] + int(self.random.integers(1, 4))) % 4
        self.gone.update(self.random.choice(alive, 2, replace=False).tolist())
        if self.quarter == 4:
            self.gone.remove(min(self.gone))  # a document comes back

    def judge(self, who: str, _query: str, document: str) -> int:
        late = who == "dee" and self.quarter >= DRIFTS_FROM
        return min(3, self.grades[document] + late)


class Lived(NamedTuple):
    """What two years left: the store, the reports, the true share of
    wrong labels before each quarter, the oldest ages, the share that would be wrong now had nothing been
    judged again, and the sentences that a lead reads."""

    store: Store
    reports: list[DriftReport]
    truth: list[float]
    ages: list[int]
    untouched: float
    read: list[str]


def topic_of(document: str) -> str:
    return f"topic{document[1:3]}"


def topic_text(number: int) -> str:
    return f"topic{number:02}"


def begin(store: Store, folder: Path, world: World) -> None:
    """A corpus, a log, a sample, the first grades in the winter of 2025, a split and v1."""
    write_corpus(store, folder, world.texts())
    add_names(store, *PEOPLE)
    write_log(store, folder, "log 0", world.log())
    draw_sample(store, DrawRequest(len(world.log()), 1))
    ids = dict(rows_of(store, "SELECT normalised, query_id FROM queries"))
    given = [
        ImportedJudgment(ids[topic_of(name)], name, who, grade, submitted_at=datetime(2025, 11, 3, 9, 0))
        for name, grade in world.grades.items()
        if topic_of(name) in ids
        for who in PEOPLE[:1]
    ]
    add_judgments(store, given, "first.csv", [])
    make_split(store, SplitRequest((("dev", 0.7), ("test", 0.3)), 1, SHARED))
    freeze(store, "v0", override=DRAFT)


def wrong_now(store: Store, world: World) -> float:
    """The true share of grades that are not what a judge without error would give now."""
    with store.reading() as cursor:
        alive = [one for one in read_pairs(cursor) if one.now_hash is not None]
    return float(np.mean([one.grade != world.grades[one.pair[1]] for one in alive]))


def evaluate(store: Store, folder: Path, release: str, first: dict[str, int], world: World) -> None:
    """Two systems on a release: one ranks as the first grades say, the other as the grades of today say."""
    runs = []
    for name, grades in {"of-then": first, "of-today": world.grades}.items():
        lines = []
        for query_id, text in rows_of(store, "SELECT query_id, normalised FROM queries ORDER BY ALL"):
            documents = [name for name in grades if topic_of(name) == text and name not in world.gone]
            ranked = sorted(documents, key=lambda name: (-grades[name], name))
            lines += [f"{query_id} Q0 {name} {n} {99 - n} x\n" for n, name in enumerate(ranked, 1)]
        (folder / f"{name}.trec").write_text("".join(lines))
        runs.append((name, str(folder / f"{name}.trec")))
    submit(store, EvaluateRequest(release, part="dev", runs=tuple(runs)), "lee", silent)


def live(store: Store, folder: Path) -> Lived:
    world, reports, truth, ages, read = World(), [], [], [], []
    first = dict(world.grades)
    begin(store, folder, world)
    add_annotator(store, "lee", "lead", "correct horse battery")
    evaluate(store, folder, "v0", first, world)
    for number in range(1, QUARTERS + 1):
        world.drift()
        quarter = Quarter("2025-Q4").before(-number)
        today = date(int(quarter[:4]), 3 * int(quarter[-1]) - 1, 15)
        write_corpus(store, folder, world.texts())
        if number != 3:  # a quarter without a log
            write_log(store, folder, f"log {number}", world.log())
        due = read_due(store, today, PlanRequest(0.2, number, 1))
        plan = make_plan(store, PlanRequest(0.2, number, 1), today)
        assert read_due(store, today).sentence == due.sentence
        truth.append(wrong_now(store, world))
        open_quarter(store, PEOPLE, plan.plan_id, systems=("bm25",), depth=5, duplicates=0.0)
        at = datetime(today.year, today.month, 16, 12, 0)
        answer_round(store, quarter, world.judge, at, most=20)
        answer_round(store, quarter, world.judge, at - timedelta(hours=1))  # the clock steps back
        reports.append(make_drift_report(store, quarter))
        read += [quarter, *due.sentences, "Afterwards:", *list_drift_findings(reports[-1]), ""]
        now = read_set_state(store, today).pairs
        ages.append(max(pair.age or 0 for pair in now if pair.document != "gone"))
        if number % 4 == 0:
            make_split(store, SplitRequest((("dev", 0.7), ("test", 0.3)), 1, SHARED))
            freeze(store, f"v{number // 4}", override=DRAFT)
            evaluate(store, folder, f"v{number // 4}", first, world)
    untouched = np.mean([first[name] != world.grades[name] for name in world.texts()])
    read += ["After v2:", *filter(None, [describe_moves(make_drift_report(store).systems)]), ""]
    return Lived(store, reports, truth, ages, float(untouched), read)


@pytest.mark.costly("eight quarters of a simulated project")
def test_a_set_that_is_relabeled_for_two_years_stays_true(store: Store, tmp_path: Path) -> None:
    lived = live(store, tmp_path)
    the_random_part_estimates_the_share_of_wrong_labels(lived)
    what_had_changed_is_told(lived)
    assert max(lived.ages) <= QUARTERS, "everything is judged again within two years"
    no_split_side_changes(lived.store)
    the_next_release_names_its_parent_and_what_had_changed(lived.store)
    text = "\n".join(lived.read)
    if os.environ.get("GOLDGRADE_REWRITE"):
        QUARTERS_READ.write_text(text, encoding="utf-8")
    assert text == QUARTERS_READ.read_text(encoding="utf-8")
    moves = {row.system: row.has_moved for row in make_drift_report(lived.store).systems}
    assert moves["of-then"], "the grades moved away from what was true at first"


def the_random_part_estimates_the_share_of_wrong_labels(lived: Lived) -> None:
    """Until an annotator drifts, who judges again without error finds what is wrong."""
    held = [
        report.wrong is not None
        and report.wrong.low is not None
        and report.wrong.high is not None
        and report.wrong.low <= truth <= report.wrong.high
        for report, truth in zip(lived.reports, lived.truth, strict=True)
    ]
    assert sum(held[: DRIFTS_FROM - 1]) >= DRIFTS_FROM - 2, held
    assert max(lived.truth) < 0.15
    assert lived.untouched > 0.3, "without re-labeling a third of the set were wrong"


def what_had_changed_is_told(lived: Lived) -> None:
    """Rewritten texts have another grade more often than others, in each quarter with enough of them."""
    rows = [report.changes for report in lived.reports[: DRIFTS_FROM - 1]]
    shares = [(texts.share.value, neither.share.value) for texts, _, neither in rows]
    assert all(text > other for text, other in shares if text is not None and other is not None), shares
    assert any(text is not None for text, _ in shares)


def no_split_side_changes(store: Store) -> None:
    parts: dict[str, str] = {}
    for name in ("v0", "v1", "v2"):
        for row in load_release(store, name).rows("queries"):
            assert parts.setdefault(row["query_id"], row["part"]) == row["part"]
    assert len(parts) > len(load_release(store, "v0").rows("queries")), "queries joined"


def the_next_release_names_its_parent_and_what_had_changed(store: Store) -> None:
    ids = {name: load_release(store, name).row.release_id for name in ("v0", "v1", "v2")}
    assert load_release(store, "v1").header["parent"] == ids["v0"]
    assert load_release(store, "v2").header["parent"] == ids["v1"]
    assert "parent" not in load_release(store, "v0").header
    assert freeze(store, "again", override=DRAFT).release_id == ids["v2"], "the same content has the same id"
    found = compare_releases(store, "v0", "v2")
    assert found.changes[f"re-labeled: {DOCUMENT_CHANGED}"] > 20
    assert found.moves == []
    retired = [query for query in found.queries_out if query["reason"]]
    assert {query["text"] for query in retired} >= {"topic00", "topic01"}
