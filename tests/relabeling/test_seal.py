"""Re-labeling keeps the seal of a release, and says what it does to past evaluations."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from curation.labeling.consensus.consensus import consensus
from curation.people.seal_access import sealed_queries
from curation.relabeling.drift.regraded_pairs import SEALED, RegradedPair, read_plan_result
from curation.relabeling.drift.report import drift_report
from curation.relabeling.drift.sections import drift_findings, drift_page
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.plan.stored import find_plan, plan_pairs
from curation.relabeling.staleness.staleness import staleness
from curation.relabeling.staleness.tables import pair_table, query_table
from curation.releases.freeze.freeze import freeze
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.evaluated_project import write_run
from tests.support.projects import built_once, rows_of
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter

TODAY = date(2026, 11, 22)
APART = Rules(query=None, paraphrase=None, document=None)
QUERIES, DOCUMENTS = 30, 4
QUERY_IDS = [f"q{number}" for number in range(QUERIES)]


class Relabeled(NamedTuple):
    """A project with its sealed queries."""

    store: Store
    sealed: frozenset[str]

    def command(self, *command: str) -> list[str]:
        return ["--project", str(self.store.path), "relabel", *command]

    def answer(self, *command: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(invoke([*self.command(*command), "--json"]).stdout)
        return found


def regraded(store: Store) -> list[RegradedPair]:
    with store.reading() as cursor:
        return read_plan_result(cursor, find_plan(cursor)).comparable


def other_grade(_who: str, _query: str, document: str) -> int:
    """The best document is not relevant any more; the second is what people want."""
    return {"3": 0, "2": 3}.get(document[-1], 1)


@built_once
def project(store: Store) -> Store:
    """v1 is frozen, a fifth is judged again with other grades, and v2 is frozen."""
    judged_project(store, store.path.parent, QUERIES, DOCUMENTS)
    make_split(store, {"dev": 0.5, "test": 0.5}, 1, APART)
    freeze(store, "v1")
    open_quarter(store, PEOPLE, make_plan(store, 0.2, 5, TODAY).plan_id, duplicates=0.0)
    answer_round(store, "2026-Q4", other_grade)
    make_split(store, {"dev": 0.5, "test": 0.5}, 1, APART)
    freeze(store, "v2")
    return store


@pytest.fixture
def relabeled(project: Store) -> Relabeled:
    with project.reading() as cursor:
        return Relabeled(project, frozenset(sealed_queries(cursor)))


def test_no_grade_of_a_sealed_pair_is_named_and_all_are_counted(relabeled: Relabeled) -> None:
    with relabeled.store.reading() as cursor:
        planned = plan_pairs(cursor, find_plan(cursor).plan_id)
    hidden = sum(pair.query_id in relabeled.sealed for pair in planned)
    assert 0 < hidden < len(planned)

    shown = relabeled.answer("show")
    assert (len(shown["pairs"]), shown["sealed"]) == (len(planned), hidden)
    for pair in shown["pairs"]:
        assert (pair["query_id"] in relabeled.sealed) == (pair["grade"] is None) == (pair["how"] == "sealed")
        assert (pair["how"] == "sealed") == (pair["part"] == "sealed")

    status = relabeled.answer("status", "--today", "2026-11-22")
    assert (len(status["pairs"]), status["sealed"]) == (
        QUERIES * DOCUMENTS,
        len(relabeled.sealed) * DOCUMENTS,
    )
    for pair in status["pairs"]:
        closed = pair["query_id"] in relabeled.sealed
        assert closed == (pair["grade"] is None) == (pair["how"] == "sealed") == (pair["votes"] == {})
        assert closed == (pair["parts"]["guide"] is None) == (pair["guide_behind"] is None)
        assert pair["score"] is not None, "a lead who plans sees how stale it is"

    for name in ("show", "status"):
        told = invoke(relabeled.command(name)).stdout
        assert "pairs are of parts that a release seals: their grades are not named." in told


def test_what_is_listed_does_not_tell_how_the_votes_of_a_sealed_pair_fell(relabeled: Relabeled) -> None:
    """In the next quarter, so that nothing is fresh; figures of the whole set may differ."""

    def listed() -> tuple[str, ...]:
        status = staleness(relabeled.store, date(2027, 1, 4))
        tables = query_table(status, 1_000), pair_table(status, 1_000)
        shown = [relabeled.answer("status", "--today", "2027-01-04"), relabeled.answer("show")]
        lists = [(found["pairs"], found.get("queries")) for found in shown]
        return json.dumps(lists), repr(tables), str([one.is_stale for one in status.pairs])

    before = listed()
    query = min(relabeled.sealed)
    changed = """
        UPDATE judgment_events SET grade = (grade + 2) % 4 WHERE presentation_id IN (
            SELECT presentation_id FROM presentations WHERE annotator = 'ada' AND query_id = ?)
    """
    with relabeled.store.transaction() as cursor:
        cursor.execute(changed, [query])
    with relabeled.store.reading() as cursor:
        found = [one.how for one in consensus(cursor).pairs if one.query_id == query]
    assert "disputed" in found
    assert listed() == before


def test_the_report_counts_sealed_pairs_in_its_figures_and_does_not_list_them(relabeled: Relabeled) -> None:
    report = drift_report(relabeled.store)
    pairs = regraded(relabeled.store)
    hidden = [pair for pair in pairs if pair.query_id in relabeled.sealed]
    assert any(pair.changed for pair in hidden)
    assert (report.pairs, report.sealed) == (len(pairs), len(hidden))
    assert report.changed == sum(pair.changed for pair in pairs)
    assert sum(map(sum, report.confusion)) == len(pairs)
    assert set(report.regraded) == set(pairs) - set(hidden)
    page = drift_page(report)
    assert not [pair for pair in hidden if f"{pair.query_id}<" in page or pair.document_id in page]
    assert f"{len(hidden)} of the pairs are of parts that a release seals" in drift_findings(report)[-1]


def test_two_rounds_are_compared_without_sealed_pairs(relabeled: Relabeled) -> None:
    """A round of one guess would read a grade in any figure that counts it."""
    report = relabeled.answer("report", "--old-round", "imported: first.csv", "--new-round", "2026-Q4")
    hidden = sum(pair.query_id in relabeled.sealed for pair in regraded(relabeled.store))
    assert report["left_out"] == {SEALED: hidden}
    assert hidden > 0
    assert report["pairs"] == len(report["regraded"]) == sum(map(sum, report["confusion"]))
    assert report["planned"] == report["pairs"] + hidden
    assert {row["pairs"] for row in report["changes"]} <= set(range(report["pairs"] + 1))
    assert not {pair["query_id"] for pair in report["regraded"]} & relabeled.sealed


@pytest.fixture
def runs(relabeled: Relabeled, tmp_path: Path) -> list[str]:
    """The order that is ideal by the old grades, the one that is by the new, and the worst first."""
    pairs = regraded(relabeled.store)
    fallen = {pair.query_id for pair in pairs if pair.document_id.endswith("d3")}
    orders = {
        "then": dict.fromkeys(QUERY_IDS, "3210"),
        "now": {query: "2103" if query in fallen else "3210" for query in QUERY_IDS},
        "last": dict.fromkeys(QUERY_IDS, "0123"),
    }
    options = []
    for name, order in orders.items():
        lists = {query: [f"{query}-d{place}" for place in order[query]] for query in QUERY_IDS}
        options += ["--run", f"{name}={write_run(tmp_path / f'{name}.trec', lists)}"]
    return options


def test_the_same_runs_are_evaluated_on_the_old_and_the_new_release(
    relabeled: Relabeled, runs: list[str], tmp_path: Path
) -> None:
    page = tmp_path / "drift.html"
    command = ["report", "--old-release", "v1", "--new-release", "v2", *runs, "--html", str(page)]
    found = {one["measure"]: one for one in relabeled.answer(*command)["orders"]}["ndcg_exp@10"]
    means = {one["system"]: (one["before"], one["after"]) for one in found["systems"]}
    assert list(means) == ["then", "now", "last"]
    assert (means["then"][0], means["now"][1]) == pytest.approx((1.0, 1.0)), "each is ideal by its grades"
    assert means["now"][0] < 1
    assert means["then"][1] < 1
    assert max(means["last"]) < min(*means["then"], *means["now"])
    assert (found["kept"], found["swapped"]) == (False, [["then", "now"]])
    assert "turned: then and now" in page.read_text(encoding="utf-8")
    assert not sealed_evaluations(relabeled.store), "by default, sealed parts are not scored"


def test_sealed_parts_are_scored_with_a_reason_only_and_that_is_logged(
    relabeled: Relabeled, runs: list[str]
) -> None:
    command = ["report", "--old-release", "v1", "--new-release", "v2", *runs, "--part", "test"]
    refused = invoke(relabeled.command(*command))
    assert refused.exit_code == 1
    assert "--reason" in str(refused.exception)
    done = invoke(relabeled.command(*command, "--reason", "the report of autumn"))
    assert done.exit_code == 0, done.stderr
    assert "The order of the systems is the same on both releases by" in done.stdout
    told = sealed_evaluations(relabeled.store)
    assert {(name, system) for name, system, _ in told} == {
        (name, system) for name in ("v1", "v2") for system in ("then", "now", "last")
    }
    assert {reason for *_, reason in told} == {"the report of autumn"}
    assert invoke(relabeled.command("report", "--part", "test")).exit_code == 1, "without runs"


def sealed_evaluations(store: Store) -> list[tuple[str, str, str]]:
    sql = "SELECT name, system, reason FROM sealed_evaluations WHERE refused IS NULL ORDER BY ALL"
    return rows_of(store, sql)
