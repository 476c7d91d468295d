"""The plan: how many doubly judged pairs an interval takes, and whether that is true."""

from __future__ import annotations

import json

import numpy as np
import pytest

from curation.agreement.between.grades import Grades, grades_of
from curation.agreement.between.overlap_plan import FEW, SAME, overlap_plan
from curation.core.errors import InputError
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.judgments.imported import add_judgments
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import add_pairs, grid

SCALE = (0, 1, 2, 3)


def project(queries: int, documents: int = 4, seed: int = 0, noise: float = 0.25) -> Grades:
    """Two annotators; queries differ in how hard they are."""
    random = np.random.default_rng(seed)
    rows: list[tuple[str, str, str, int | None]] = []
    for query in range(queries):
        hard = random.random() * 2 * noise
        for document in range(documents):
            true = int(random.choice(4, p=[0.4, 0.3, 0.2, 0.1]))
            for who in ("ada", "ben"):
                other = int(random.integers(4))
                rows.append(
                    (f"q{query}", f"d{query}.{document}", who, other if random.random() < hard else true)
                )
    return grades_of(rows)


def test_half_the_width_takes_four_times_the_pairs() -> None:
    now = overlap_plan(project(60), SCALE, 0.05)
    assert now.half_width is not None
    finer = overlap_plan(project(60), SCALE, now.half_width / 2)
    assert (finer.units, finer.units_needed, finer.more) == (240, 960, 720)
    assert finer.queries_needed == 240
    assert overlap_plan(project(60), SCALE, 0.4).more == 0


def test_the_plan_holds_for_projects_of_the_planned_size() -> None:
    """Simulated anew: not from the queries that the plan was made of."""
    planned = overlap_plan(project(80), SCALE, 0.04)
    assert planned.queries_needed is not None
    widths = [
        overlap_plan(project(planned.queries_needed, seed=seed), SCALE, 0.5).half_width for seed in (1, 2, 3)
    ]
    assert np.mean([width or 0 for width in widths]) == pytest.approx(0.04, rel=0.3)
    assert planned.simulated == pytest.approx(0.04, rel=0.15)


def test_without_an_interval_there_is_no_plan_and_the_reason_is_told() -> None:
    few = overlap_plan(project(3), SCALE, 0.05, open_pairs=10)
    assert (few.undefined, few.units_needed, few.more) == (FEW, None, None)
    assert [one.judgments for one in few.overlaps] == [10, 20, 30]
    assert overlap_plan(grades_of([]), SCALE, 0.05).undefined == FEW
    assert overlap_plan(project(10, noise=0.0), SCALE, 0.05).undefined == SAME


def test_overlap_costs_judgments_and_time_and_brings_pairs() -> None:
    found = overlap_plan(project(60), SCALE, 0.05, open_pairs=240, seconds=15.0)
    once, twice, thrice = found.overlaps
    assert [one.judgments for one in found.overlaps] == [240, 480, 720]
    assert (once.hours, twice.hours) == (1.0, 2.0)
    assert (once.doubly_judged, twice.doubly_judged, thrice.doubly_judged) == (240, 480, 480)
    assert once.half_width == found.half_width
    assert twice.half_width == pytest.approx(found.half_width * 0.5**0.5)


def test_the_command_plans_and_refuses_what_no_plan_can_reach(store: Store) -> None:
    add_pairs(store, grid(12, 4))
    rows = [
        ImportedJudgment(f"query {q}", f"document {q}.{d}", who, (q + d) % 4 if who == "ada" else (q * d) % 4)
        for q in range(8)
        for d in range(4)
        for who in ("ada", "ben")
    ]
    add_judgments(store, rows, "both.csv")
    command = ["--project", str(store.path), "plan-overlap"]
    printed = json.loads(invoke([*command, "--half-width", "0.1", "--json"]).stdout)
    assert (printed["units"], printed["queries"], printed["open_pairs"]) == (32, 8, 16)
    assert printed["more"] > 0
    assert "Judging the 16 pairs" in invoke(command).stdout
    assert isinstance(invoke([*command, "--half-width", "0"]).exception, InputError)
