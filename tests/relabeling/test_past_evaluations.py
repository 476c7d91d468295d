"""The same runs on the release before a plan and on the one after: kept with the plan, part of its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from curation.core.errors import CurationError, InputError
from curation.core.progress import silent
from curation.core.text import canonical_json, plain
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.operations.registry import OPERATIONS
from curation.relabeling.drift.past_evaluations import compare_releases, stored_orders
from curation.relabeling.drift.report import drift_report
from curation.relabeling.drift.sections import drift_findings, drift_page, drift_sections
from curation.relabeling.plan.plan import make_plan
from curation.releases.freeze.freeze import freeze
from curation.store import Store
from tests.support.evaluated_project import document_ids, evaluated_project, sealed_queries, write_run
from tests.support.projects import decide_pairs, rows_of


@pytest.fixture
def turned(tmp_path: Path) -> Store:
    """Two releases; in the newer one the first and the last judged document of each query changed places."""
    store = evaluated_project(tmp_path)
    make_plan(store, 0.1, 1)
    ids = {number: document_ids(number) for number in range(60)}
    decide_pairs(
        store, {(f"q{n}", one): grade for n in ids for one, grade in zip(ids[n], (0, 2, 1, 3), strict=False)}
    )
    freeze(store, "v2", override="decided for a test")
    return store


@pytest.fixture
def runs(tmp_path: Path) -> list[RunSource]:
    """One system has the documents in their order, the other one the last judged one first."""
    orders = {"first": (0, 1, 2, 3), "last": (3, 1, 2, 0)}
    return [
        RunSource(
            name,
            write_run(tmp_path / name, {f"q{n}": [document_ids(n)[k] for k in order] for n in range(60)}),
        )
        for name, order in orders.items()
    ]


def test_an_order_that_turned_is_kept_with_the_plan_and_told_on_page_and_html(
    turned: Store, runs: list[RunSource]
) -> None:
    found = compare_releases(turned, None, "v1", "v2", runs, author="lee")
    headline = found[0]
    assert (headline.measure, headline.kept) == ("ndcg_exp@10", False)
    assert headline.swapped == (("first", "last"),)
    assert headline.parts == ("dev",)
    report = drift_report(turned)
    assert report.orders == found
    assert any(
        "The order of the systems is the same on both releases by" in told for told in drift_findings(report)
    )
    section = next(one for one in drift_sections(report) if one.heading == "Past evaluations")
    assert section.sentence == "The same runs on v1 and on v2, queries of dev."
    assert "turned: first and last" in drift_page(report)
    assert rows_of(turned, "SELECT actor FROM events WHERE action = 'compare releases'") == [("lee",)]
    (evaluations,) = rows_of(turned, "SELECT count(*) FROM sealed_evaluations")[0]
    assert evaluations == 0, "no sealed part is scored unless that is asked for"


def test_an_evaluation_on_the_old_release_stays_what_it_was(
    turned: Store, runs: list[RunSource], tmp_path: Path
) -> None:
    folder = tmp_path / "untouched"
    folder.mkdir()
    untouched = evaluated_project(folder)
    alone, succeeded = (evaluate_runs(one, "v1", runs) for one in (untouched, turned))
    assert succeeded.age is not None
    assert succeeded.age.successor == "v2"
    before, after = (canonical_json(plain(replace(one, age=None))) for one in (alone, succeeded))
    assert before == after
    untouched.close()


def test_the_last_comparison_counts_and_refusals_keep_nothing(turned: Store, runs: list[RunSource]) -> None:
    with pytest.raises(InputError, match="named twice"):
        compare_releases(turned, None, "v1", "v1", runs)
    with pytest.raises(CurationError, match="lead"):
        compare_releases(turned, None, "v1", "v2", runs, author="anna")
    assert rows_of(turned, "SELECT * FROM relabeling_orders") == []
    compare_releases(turned, None, "v1", "v2", runs)
    again = compare_releases(turned, None, "v2", "v1", runs[:1])
    with turned.reading() as cursor:
        ((plan_id,),) = cursor.execute("SELECT plan_id FROM relabeling_plans").fetchall()
        assert stored_orders(cursor, plan_id) == again
    report = drift_report(turned)
    assert not any("order of the systems" in told for told in drift_findings(report))  # one has none
    section = next(one for one in drift_sections(report) if one.heading == "Past evaluations")
    assert {row[1] for row in section.tables[0].rows} == {"–"}
    assert sealed_queries(turned)


def test_the_job_removes_the_uploads(turned: Store, runs: list[RunSource], tmp_path: Path) -> None:
    folder = tmp_path / "uploads"
    folder.mkdir()
    asked = {
        "plan": None,
        "old": "v1",
        "new": "v2",
        "part": None,
        "reason": None,
        "runs": [[run.name, str(run.path)] for run in runs],
        "folder": str(folder),
    }
    said = OPERATIONS["past evaluations"].work(turned, asked, silent, "lee")
    assert said.startswith("Compared 2 runs on v1 and v2: ")
    assert not folder.exists()
