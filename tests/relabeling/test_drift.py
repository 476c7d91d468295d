"""Old grades against new ones: figures, causes, and the share of the whole set that is wrong."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pytest

from curation.errors import NotFoundError
from curation.files.fields import JudgmentFields
from curation.labeling.judgments.imported import add_judgments, import_judgments
from curation.relabeling.drift.causes import VoteCount
from curation.relabeling.drift.figures import confusion_of, drift_row, wilson_share, wrong_labels
from curation.relabeling.drift.past_evaluations import order_change
from curation.relabeling.drift.regraded_pairs import DISPUTED_NOW, NOT_WHOLE, RegradedPair
from curation.relabeling.drift.report import campaign_report, drift_report
from curation.relabeling.drift.sections import drift_findings, drift_page
from curation.relabeling.plan.plan import make_plan
from curation.relabeling.plan.stored import plan_pairs
from curation.releases.freeze.relabeled import ANNOTATORS, DOCUMENT
from curation.settling.disputes import disputes
from curation.sources.judgments import ImportedJudgment
from curation.statistics.intervals import wilson
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import decide_pairs
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter, texts_of, write_corpus

TODAY = date(2026, 11, 22)
SCALE = (0, 1, 2, 3)


def regraded(
    query: str, before: int, after: int, *causes: str, probability: float | None = None, number: int = 0
) -> RegradedPair:
    return RegradedPair(query, f"d{number}", "tail", (), "random", probability, before, after, causes)


@pytest.mark.slow
def test_the_second_icecat_campaign_as_a_relabeling_of_the_first(
    store: Store, tmp_path: Path, shared: Path
) -> None:
    """The published figures: 484 common pairs, agreement 60.7 %, kappa 0.385, quadratic kappa 0.681."""
    folder = shared / "chorus_icecat"
    first = folder / "Broad_Query_Set_individual_ratings.csv"
    second = folder / "campaign_2" / "judgements_long.csv"
    documents = set()
    for path, field in ((first, "docid"), (second, "doc_id")):
        with path.open(encoding="utf-8", newline="") as file:
            documents |= {row[field] for row in csv.DictReader(file)}
    write_corpus(store, tmp_path, {name: name for name in sorted(documents)})
    rated = JudgmentFields("query", "docid", grade="final_rating", annotator_name="final rating")
    import_judgments(store, first, rated)
    import_judgments(store, second, JudgmentFields(cannot_tell="unrateable"))
    report = campaign_report(store, f"imported: {first.name}", f"imported: {second.name}")
    assert report.pairs == 484
    assert report.overall.same.value == pytest.approx(0.607, abs=5e-4)
    assert report.overall.kappa.value == pytest.approx(0.385, abs=5e-4)
    assert report.overall.quadratic.value == pytest.approx(0.681, abs=6e-4)
    assert report.overall.kappa.low is not None
    assert report.overall.kappa.low < 0.385 < (report.overall.kappa.high or 0)
    assert sum(map(sum, report.confusion)) == 484
    assert [(row.cause, row.p) for row in report.causes.rows] == [(ANNOTATORS, None)], "all pairs have it"
    assert report.passes is not None
    assert (report.passes.changes.regraded, report.passes.people) == (report.changed, ()), "by other people"
    assert [one.settled for one in report.passes.passes] == [report.passes.pairs, 484]


def test_kappas_are_those_of_the_textbook() -> None:
    """Cohen (1960): agreement 0.7 of 0.5 by chance is 0.4; quadratic weights forgive what is near."""
    cells = [(0, 0)] * 35 + [(3, 3)] * 35 + [(0, 3)] * 15 + [(3, 0)] * 15
    pairs = [regraded(f"q{n % 20}", *cell, number=n) for n, cell in enumerate(cells)]
    row = drift_row("all", pairs, SCALE)
    assert (row.same.value, row.kappa.value, row.quadratic.value) == pytest.approx((0.7, 0.4, 0.4))
    assert row.shift.value == 0
    near = drift_row("all", [p._replace(after=p.after or 1) for p in pairs], SCALE)
    assert near.quadratic.value is not None
    assert near.kappa.value is not None
    assert near.quadratic.value > near.kappa.value
    assert confusion_of(pairs, SCALE) == ((35, 0, 0, 15), (0,) * 4, (0,) * 4, (15, 0, 0, 35))


def test_few_pairs_have_no_figure_and_say_why() -> None:
    row = drift_row("all", [regraded("q", 1, 2)] * 9, SCALE)
    assert (row.pairs, row.same.value, row.same.why) == (9, None, "fewer than 10 pairs")
    assert drift_row("all", [regraded("q", 1, 1)] * 12, SCALE).kappa.why == "undefined: no variation"


def test_the_share_of_wrong_labels_weighs_each_pair_by_its_probability() -> None:
    likely = [regraded(f"q{n}", 1, 2, probability=0.5, number=n) for n in range(20)]
    rare = [regraded(f"r{n}", 1, 1, probability=0.25, number=n) for n in range(20)]
    found = wrong_labels([*likely, *rare, regraded("x", 1, 2)], 120)
    assert found.share == pytest.approx(40 / 120)
    assert (found.pairs, found.changed, found.wrong) == (40, 20, 40)
    assert found.effective == pytest.approx(120**2 / (20 * 4 + 20 * 16))
    few, more = wrong_labels(likely[:9], 120), [one._replace(after=one.before) for one in likely[9:10]]
    assert (few.share, few.least) == (None, None)
    few = wrong_labels(likely[:9], 120, more)
    assert (few.share, few.least, few.most) == (None, pytest.approx(0.9), 1.0), "bounds need no new grade"


def test_pairs_without_a_new_grade_bound_the_share_from_both_sides() -> None:
    drawn = [regraded(f"q{n}", 1, 2 if n < 10 else 1, probability=0.2, number=n) for n in range(40)]
    more = [regraded(f"r{n}", 1, 1, probability=0.2, number=n) for n in range(10)]
    found = wrong_labels(drawn, 250, [*more, regraded("x", 1, 1)])
    assert (found.share, found.pairs, found.open) == (pytest.approx(0.25), 40, 10)
    assert (found.least, found.most) == (pytest.approx(10 / 50), pytest.approx(20 / 50))
    assert (found.lowest, found.highest) == pytest.approx((wilson(10, 50)[0], wilson(20, 50)[1]))
    whole = wrong_labels(drawn, 250)
    assert (found.low, found.high) == (whole.low, whole.high) == (whole.lowest, whole.highest)


def test_pairs_of_a_query_that_change_together_widen_the_interval() -> None:
    alone = [regraded(f"q{n}", 1, 2 if n % 4 == 0 else 1, probability=0.1, number=n) for n in range(80)]
    together = [p._replace(query_id=f"q{n % 4}") for n, p in enumerate(alone)]
    wide, narrow = wrong_labels(together, 800), wrong_labels(alone, 800)
    assert wide.share == narrow.share
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low


def test_wilsons_interval_is_itself_at_whole_numbers() -> None:
    assert wilson_share(0.25, 40) == pytest.approx(wilson(10, 40))
    assert wilson(10, 40)[0] < wilson_share(0.26, 40)[0] < wilson(11, 40)[0]


def test_an_order_turns_only_where_means_cross() -> None:
    change = order_change(
        "ndcg@10", "v1", "v2", {"a": 0.5, "b": 0.4, "c": 0.4}, {"a": 0.3, "b": 0.4, "c": 0.2}
    )
    assert (change.kept, change.swapped) == (False, (("a", "b"),))
    assert [system.system for system in change.systems] == ["a", "b", "c"]
    assert order_change("m", "v1", "v2", {"a": 0.5, "b": 0.4}, {"a": 0.6, "b": 0.5}).kept


@pytest.fixture
def relabeled(store: Store, tmp_path: Path) -> Store:
    """Sixty pairs; every document with an even number was rewritten, and then has another grade."""
    judged_project(store, tmp_path, queries=20, documents=4)
    changed = {name: f"{text} rewritten" for name, text in texts_of(20, 4).items() if name[-1] in "02"}
    write_corpus(store, tmp_path, texts_of(20, 4) | changed)
    plan = make_plan(store, 0.2, 5, TODAY)
    open_quarter(store, PEOPLE, plan.plan_id)
    return store


def drifting(_who: str, _query: str, document: str) -> int:
    number = int(document[-1])
    return (number + 1) % 4 if number % 2 == 0 else number


def test_the_report_says_what_changed_and_why(relabeled: Store) -> None:
    before = drift_report(relabeled)
    assert (before.pairs, before.left_out) == (0, {NOT_WHOLE: 16})
    assert drift_findings(before) == [
        "Of 16 pairs, 0 are judged again: 0 comparable, 0 disputed; 16 are not judged yet."
    ]
    answer_round(relabeled, "2026-Q4", drifting)
    report = drift_report(relabeled, "2026-Q4")
    assert (report.pairs, report.left_out) == (16, {})
    for pair in report.regraded:
        assert pair.changed == (pair.document_id[-1] in "02")
        assert (DOCUMENT in pair.causes) == pair.changed
    rewritten = sum(pair.changed for pair in report.regraded)
    row = next(row for row in report.causes.rows if row.cause == DOCUMENT)
    assert (row.pairs, row.having, row.others) == (
        *(rewritten, VoteCount(2 * rewritten, 2 * rewritten)),
        VoteCount(0, 2 * (16 - rewritten)),
    )
    assert report.wrong is not None
    assert (report.wrong.pairs, report.wrong.population) == (4, 80)
    assert report.passes is not None
    assert (report.passes.pairs, report.passes.changes) == (16 - rewritten, (0, 0, 0)), "about the same text"


def test_disputed_pairs_are_said_first_and_come_back_when_decided(relabeled: Store) -> None:
    def grader(who: str, query: str, document: str) -> int:
        return (PEOPLE.index(who) % 2) + 1 if document.endswith("d0") else 3

    answer_round(relabeled, "2026-Q4", grader)
    waiting = [(one.query_id, one.document_id) for one in disputes(relabeled)]
    report = drift_report(relabeled)
    assert (report.planned, report.judged, report.open) == (16, 16, 0)
    assert (report.pairs, report.disputed) == (16 - len(waiting), len(waiting))
    assert report.left_out == {DISPUTED_NOW: len(waiting)}
    assert drift_findings(report)[0] == (
        f"Of 16 pairs, 16 are judged again: {report.pairs} comparable, {report.disputed} disputed (until a "
        "reviewer decides, an old grade counts); 0 are not judged yet."
    )
    assert report.wrong is not None
    assert report.wrong.pairs + report.wrong.open == 4
    decide_pairs(relabeled, dict.fromkeys(waiting, 2))
    assert (drift_report(relabeled).pairs, drift_report(relabeled).disputed) == (16, 0)


def test_a_quarter_says_what_became_of_all_its_pairs_and_keeps_that_when_others_judge_them_later(
    store: Store, tmp_path: Path
) -> None:
    """Half of the pairs have no grade before, and half of all are disputed again, until one is decided."""

    def grader(who: str, query: str, document: str) -> int:
        return PEOPLE.index(who) % 2 if document[-1] in "01" else 2

    judged_project(store, tmp_path, 15, 4, lambda who, _, name: PEOPLE.index(who) * (name[-1] in "02"))
    open_quarter(store, PEOPLE[:2], make_plan(store, 0.2, 5, TODAY).plan_id)
    answer_round(store, "2026-Q4", grader)
    report = drift_report(store)
    with store.reading() as cursor:
        planned = plan_pairs(cursor, report.plan_id or "")
    apart = [(one.query_id, one.document_id) for one in planned if one.document_id[-1] in "01"]
    new = [one for one in planned if one.grade is None and one.document_id[-1] == "2"]
    assert (report.judged, report.disputed, report.newly) == (len(planned), len(apart), len(new))
    assert {one.grade is None for one in planned if one.document_id[-1] in "01"} == {True, False}
    assert report.judged == report.pairs + report.disputed + report.newly
    assert f", {len(new)} newly graded (no grade before); 0 are" in drift_findings(report)[0]
    later = [ImportedJudgment(*pair, who, 3) for pair in apart for who in PEOPLE[:3]]
    add_judgments(store, later, "second.csv", round_name="second-pass")
    assert drift_report(store) == report, "votes of another round are none of the quarter's"
    decide_pairs(store, dict.fromkeys(apart, 3))
    assert drift_report(store).disputed == 0


def test_a_report_of_an_older_quarter_keeps_its_grades(relabeled: Store) -> None:
    answer_round(relabeled, "2026-Q4", drifting)
    first = drift_report(relabeled, "2026-Q4")
    plan = make_plan(relabeled, 0.2, 6, date(2027, 2, 1))
    open_quarter(relabeled, PEOPLE, plan.plan_id)
    answer_round(relabeled, "2027-Q1", lambda *_: 3)
    again = drift_report(relabeled, "2026-Q4")
    assert [(p.document_id, p.before, p.after) for p in again.regraded] == [
        (p.document_id, p.before, p.after) for p in first.regraded
    ]
    last = drift_report(relabeled)
    assert (last.name, last.pooled_quarters) == ("2027-Q1", 2)
    assert again.wrong is not None
    assert last.wrong is not None
    assert last.pooled is not None
    assert last.pooled.pairs == again.wrong.pairs + last.wrong.pairs == 8
    assert last.pooled.changed == again.wrong.changed + last.wrong.changed
    assert (again.pooled, again.pooled_quarters) == (None, 1), "a later quarter is none of its year"


def test_the_command_reports_as_tables_json_and_one_html_file(relabeled: Store, tmp_path: Path) -> None:
    answer_round(relabeled, "2026-Q4", drifting)
    command = ["--project", str(relabeled.path), "relabel", "report"]
    page = tmp_path / "drift.html"
    told = invoke([*command, "--html", str(page)])
    assert told.exit_code == 0, told.stderr
    assert "pairs have another grade" in told.stdout
    html = page.read_text()
    assert "<svg" in html
    assert "<script" not in html
    assert drift_page(drift_report(relabeled)) == html
    answer = json.loads(invoke([*command, "2026-Q4", "--json"]).stdout)
    assert (answer["pairs"], len(answer["confusion"])) == (16, 4)
    assert invoke([*command, "2031-Q1"]).exit_code == 1
    assert invoke([*command, "--old-round", "first.csv"]).exit_code == 1
    with pytest.raises(NotFoundError):
        campaign_report(relabeled, "none", "2026-Q4")
