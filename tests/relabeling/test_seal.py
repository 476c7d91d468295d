"""Re-labeling keeps the seal of a release."""

from __future__ import annotations

import json
from datetime import date
from typing import Any, NamedTuple

import pytest

from curation.labeling.consensus.consensus import read_consensus
from curation.people.seal_access import read_sealed_queries
from curation.relabeling.due_list import read_due
from curation.relabeling.plan import make_plan
from curation.relabeling.regraded_pairs import SEALED, RegradedPair, read_plan_result
from curation.relabeling.report import make_drift_report
from curation.relabeling.report_sections import list_drift_findings, make_drift_page
from curation.relabeling.request import PlanRequest
from curation.relabeling.stored_plans import find_plan, read_plan_pairs
from curation.splits.request import SplitRequest
from curation.splits.rules import Rules
from curation.splits.split import make_split
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.projects import built_once
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter

pytestmark = pytest.mark.slow

SHOW, DUE = ("plan", "2026-Q4"), ("plan", "--due")
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
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, APART))
    freeze(store, "v1")
    open_quarter(store, PEOPLE, make_plan(store, PlanRequest(0.2, 5), TODAY).plan_id, duplicates=0.0)
    answer_round(store, "2026-Q4", other_grade)
    make_split(store, SplitRequest((("dev", 0.5), ("test", 0.5)), 1, APART))
    freeze(store, "v2")
    return store


@pytest.fixture
def relabeled(project: Store) -> Relabeled:
    with project.reading() as cursor:
        return Relabeled(project, frozenset(read_sealed_queries(cursor)))


def test_no_grade_of_a_sealed_pair_is_named_and_all_are_counted(relabeled: Relabeled) -> None:
    with relabeled.store.reading() as cursor:
        planned = read_plan_pairs(cursor, find_plan(cursor).plan_id)
    hidden = sum(pair.query_id in relabeled.sealed for pair in planned)
    assert 0 < hidden < len(planned)

    shown = relabeled.answer(*SHOW)
    assert (len(shown["pairs"]), shown["sealed"]) == (len(planned), hidden)
    for pair in shown["pairs"]:
        assert (pair["query_id"] in relabeled.sealed) == (pair["grade"] is None) == (pair["how"] == "sealed")
        assert (pair["how"] == "sealed") == (pair["part"] == "sealed")

    later = relabeled.answer(*DUE, "--today", "2027-01-04")
    for pair in later["pairs"]:
        closed = pair["query_id"] in relabeled.sealed
        assert closed == (pair["grade"] is None) == (pair["how"] == "sealed") == (pair["reason"] == "sealed")
    assert later["sealed"] == sum(pair["query_id"] in relabeled.sealed for pair in later["pairs"]) > 0

    for command in (SHOW, DUE):
        told = invoke(relabeled.command(*command)).stdout
        assert "pairs are in parts that a release seals: their grades and reasons are hidden." in told


def test_what_is_listed_does_not_tell_how_the_votes_of_a_sealed_pair_fell(relabeled: Relabeled) -> None:
    """In the next quarter, so that nothing is fresh; figures of the whole set may differ."""

    def listed() -> tuple[str, ...]:
        tables = repr(read_due(relabeled.store, date(2027, 1, 4)).tables)
        shown = [relabeled.answer(*DUE, "--today", "2027-01-04"), relabeled.answer(*SHOW)]
        return json.dumps([(showing["pairs"], showing.get("queries")) for showing in shown]), tables

    before = listed()
    query = min(relabeled.sealed)
    changed = """
        UPDATE judgment_events SET grade = (grade + 2) % 4 WHERE presentation_id IN (
            SELECT presentation_id FROM presentations WHERE annotator = 'ada' AND query_id = ?)
    """
    with relabeled.store.transaction() as cursor:
        cursor.execute(changed, [query])
    with relabeled.store.reading() as cursor:
        found = [pair.how for pair in read_consensus(cursor).pairs if pair.query_id == query]
    assert "disputed" in found
    assert listed() == before


def test_the_report_counts_sealed_pairs_in_its_figures_and_does_not_list_them(relabeled: Relabeled) -> None:
    report = make_drift_report(relabeled.store)
    pairs = regraded(relabeled.store)
    hidden = [pair for pair in pairs if pair.query_id in relabeled.sealed]
    assert any(pair.changed for pair in hidden)
    assert (report.pairs, report.sealed) == (len(pairs), len(hidden))
    assert report.changed == sum(pair.changed for pair in pairs)
    assert sum(map(sum, report.confusion)) == len(pairs)
    assert set(report.regraded) == set(pairs) - set(hidden)
    page = make_drift_page(report)
    assert not [pair for pair in hidden if f"{pair.query_id}<" in page or pair.document_id in page]
    assert f"{len(hidden)} of the pairs are in parts that a release seals" in list_drift_findings(report)[-1]


def test_two_rounds_are_compared_without_sealed_pairs(relabeled: Relabeled) -> None:
    """A round of one guess would read a grade in any figure that counts it."""
    report = relabeled.answer("report", "--rounds", "imported: first.csv", "2026-Q4")
    hidden = sum(pair.query_id in relabeled.sealed for pair in regraded(relabeled.store))
    assert report["left_out"] == {SEALED: hidden}
    assert hidden > 0
    assert report["pairs"] == len(report["regraded"]) == sum(map(sum, report["confusion"]))
    assert report["planned"] == report["pairs"] + hidden
    assert {row["pairs"] for row in report["changes"]} <= set(range(report["pairs"] + 1))
    assert not {pair["query_id"] for pair in report["regraded"]} & relabeled.sealed
