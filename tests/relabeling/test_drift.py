"""Old grades against new ones: figures, what had changed, and the share of the whole set that was wrong."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from curation.agreement.coefficients import count_confusion
from curation.core.digests import canonical_json, to_json_value
from curation.core.errors import NotFoundError
from curation.core.statistics.intervals import interpolate_wilson, wilson_interval
from curation.guides.guide_text import parse_guide, read_guide
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.readers.fields import JudgmentFields
from curation.labeling.consensus.disputes import find_disputes
from curation.labeling.imported import add_judgments, import_judgments
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.use_guide import use_guide
from curation.queries.retired_queries import retire_query
from curation.relabeling.fixed_reports import close_round
from curation.relabeling.plan import make_plan
from curation.relabeling.regraded_pairs import (
    DISPUTED_NOW,
    DOCUMENT,
    GUIDE,
    NOT_WHOLE,
    QuarterResult,
    RegradedPair,
)
from curation.relabeling.report import (
    NEITHER,
    compare_rounds,
    compute_drift,
    count_changes,
    make_drift_report,
)
from curation.relabeling.report_sections import list_drift_findings, make_drift_page, recommend_pairs
from curation.relabeling.request import PlanRequest
from curation.relabeling.stored_plans import read_plan_pairs
from curation.relabeling.wrong_labels import estimate_wrong_labels
from curation.store import Store
from tests.support import ROOT
from tests.support.command_line import invoke
from tests.support.projects import decide_pairs
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter, texts_of, write_corpus

pytestmark = pytest.mark.slow

TODAY = date(2026, 11, 22)
SCALE = (0, 1, 2, 3)


def regraded(
    query: str,
    before: int,
    after: int | None,
    *changes: str,
    part: str = "random",
    probability: float | None = 0.1,
    number: int = 0,
) -> RegradedPair:
    why = DISPUTED_NOW if after is None else ""
    return RegradedPair(query, f"d{number}", "tail", (), part, probability, before, after, why, changes)


def result(population: int, *groups: list[RegradedPair]) -> QuarterResult:
    return QuarterResult("2026-Q4", population, tuple(pair for group in groups for pair in group))


def chosen(number: int, changed: int, probability: float | None = 1.0) -> list[RegradedPair]:
    """Pairs that a plan chose by itself."""
    return [
        regraded(f"s{n}", 1, 2 if n < changed else 1, part="stale", probability=probability, number=n)
        for n in range(number)
    ]


def drawn(number: int, changed: int) -> list[RegradedPair]:
    """Pairs of a random part."""
    return [regraded(f"q{n}", 1, 2 if n < changed else 1, number=n) for n in range(number)]


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
    report = compare_rounds(store, f"imported: {first.name}", f"imported: {second.name}")
    assert report.pairs == 484
    assert report.overall.same.value == pytest.approx(0.607, abs=5e-4)
    assert report.overall.kappa.value == pytest.approx(0.385, abs=5e-4)
    assert report.overall.quadratic.value == pytest.approx(0.681, abs=6e-4)
    assert report.overall.kappa.low < 0.385 < (report.overall.kappa.high or 0)
    assert sum(map(sum, report.confusion)) == 484
    assert [(row.name, row.pairs) for row in report.changes][-1] == (NEITHER, 484)


def test_kappas_are_those_of_the_textbook() -> None:
    """Cohen (1960): agreement 0.7 of 0.5 by chance is 0.4; quadratic weights forgive what is near."""
    cells = [(0, 0)] * 35 + [(3, 3)] * 35 + [(0, 3)] * 15 + [(3, 0)] * 15
    pairs = [regraded(f"q{n % 20}", *cell, number=n) for n, cell in enumerate(cells)]
    row = compute_drift("all", pairs, SCALE)
    assert (row.same.value, row.kappa.value, row.quadratic.value) == pytest.approx((0.7, 0.4, 0.4))
    assert row.shift.value == 0
    near = compute_drift("all", [p._replace(after=p.after or 1) for p in pairs], SCALE)
    assert near.quadratic.value > near.kappa.value
    counts = count_confusion(((pair.before, pair.after) for pair in pairs), SCALE)
    assert counts == ((35, 0, 0, 15), (0,) * 4, (0,) * 4, (15, 0, 0, 35))


def test_few_pairs_have_no_figure_and_say_why() -> None:
    row = compute_drift("all", [regraded("q", 1, 2)] * 9, SCALE)
    assert (row.pairs, row.same.value, row.same.why) == (9, None, "fewer than 10 pairs")
    assert compute_drift("all", [regraded("q", 1, 1)] * 12, SCALE).kappa.why == "undefined: no variation"


def test_what_was_judged_counts_as_found_and_the_random_part_estimates_the_rest() -> None:
    """The case of issue 46: 96 of 242 pairs changed, none of the 60 random ones; the set has 1,660."""
    wrong = estimate_wrong_labels([result(1660, chosen(182, 96), drawn(60, 0))])
    assert (wrong.found, wrong.judged, wrong.drawn, wrong.wrong) == (96, 242, 60, 96)
    assert wrong.share == wrong.low == 96 / 1660
    rest = 1418
    assert wrong.high == pytest.approx((96 + rest * wilson_interval(0, 57)[1]) / 1660), "57: 60 less 4 %"
    some = estimate_wrong_labels([result(1660, chosen(182, 96), drawn(60, 6))])
    assert some.share == pytest.approx((102 + rest * 0.1) / 1660)
    assert 102 / 1660 < (some.low or 0) < (some.share or 0) < (some.high or 0)


def test_no_end_of_an_interval_is_below_what_was_found_nor_above_what_can_be() -> None:
    for changed in (0, 20, 40, 80):
        for random in (0, 5, 20):
            for probability in (1.0, None):
                wrong = estimate_wrong_labels(
                    [result(150, chosen(80, changed, probability), drawn(20, random))]
                )
                ends = [wrong.lowest, wrong.low, wrong.share, wrong.high, wrong.highest]
                assert ends == sorted(ends)
                assert (changed + random) / 150 <= ends[0]
                assert ends[-1] <= (changed + random + 50) / 150 + 1e-12
    whole = estimate_wrong_labels([result(100, chosen(80, 8), drawn(20, 2))])
    assert (whole.low, whole.share, whole.high) == (0.1, 0.1, 0.1), "everything was judged"


def test_the_random_part_of_an_older_plan_estimates_the_set_and_never_less_than_was_found() -> None:
    """It was drawn first, from all: what the plan chose anyway is in it, too."""
    wrong = estimate_wrong_labels([result(1000, chosen(100, 30, None), drawn(50, 5))])
    assert wrong.share == pytest.approx(0.1)
    few = estimate_wrong_labels([result(1000, chosen(100, 90, None), drawn(50, 0))])
    assert (few.share, few.low) == (0.09, 0.09)
    assert (few.high or 0) > 0.12


def test_few_random_pairs_have_no_estimate_and_say_what_was_found() -> None:
    wrong = estimate_wrong_labels([result(100, chosen(20, 4), drawn(9, 1))])
    assert (wrong.share, wrong.least, wrong.found) == (None, None, 5)
    more = [regraded("x", 1, None, number=n) for n in range(1)]
    bounds = estimate_wrong_labels([result(100, chosen(20, 4), drawn(9, 1), more)])
    assert (bounds.share, bounds.open) == (None, 1)
    assert (bounds.least, bounds.most) == pytest.approx((0.05 + 0.7 * 0.1, 0.06 + 0.7 * 0.2)), "bounds"


def test_pairs_without_a_new_grade_bound_the_share_from_both_sides() -> None:
    more = [regraded(f"r{n}", 1, None, number=n) for n in range(10)]
    stale = [regraded("y", 1, None, part="stale", probability=1.0, number=n) for n in range(5)]
    wrong = estimate_wrong_labels([result(250, chosen(45, 9), drawn(40, 10), more, stale)])
    assert (wrong.open, wrong.found, wrong.judged) == (15, 19, 85)
    assert wrong.share == pytest.approx((19 + 165 * 0.25) / 250), "what has no grade is one of the rest"
    assert wrong.least == pytest.approx((19 + 150 * 0.2) / 250)
    assert wrong.most == pytest.approx((19 + 15 + 150 * 0.4) / 250)
    assert wrong.lowest < (wrong.low or 0) < (wrong.high or 0) < wrong.highest


def test_quarters_of_a_year_are_pooled_by_the_size_of_the_set() -> None:
    first, second = result(1000, chosen(90, 45), drawn(30, 6)), result(200, chosen(20, 0), drawn(30, 0))
    wrong = estimate_wrong_labels([first, second])
    assert (wrong.population, wrong.judged, wrong.drawn) == (1200, 170, 60)
    assert wrong.share == pytest.approx((51 + 880 * 0.2) / 1200)
    assert (wrong.low or 0) >= 51 / 1200


def test_pairs_of_a_query_that_change_together_widen_the_interval() -> None:
    alone = [regraded(f"q{n}", 1, 2 if n % 4 == 0 else 1, number=n) for n in range(80)]
    together = [pair._replace(query_id=f"q{n % 4}") for n, pair in enumerate(alone)]
    wide, narrow = (estimate_wrong_labels([result(800, pairs)]) for pairs in (together, alone))
    assert wide.share == narrow.share
    assert (wide.low or 0) < (narrow.low or 0)


def test_pairs_by_what_had_changed_have_a_share_with_interval_and_one_sentence_says_what_to_do() -> None:
    texts = [regraded(f"q{n}", 1, 2 if n < 30 else 1, DOCUMENT, number=n) for n in range(40)]
    guide = [regraded(f"g{n}", 1, 1, GUIDE, number=n) for n in range(9)]
    both = [regraded("b", 1, 2, DOCUMENT, GUIDE)]
    rows = count_changes([*texts, *guide, *both, *drawn(60, 3)])
    assert [(row.name, row.pairs, row.changed) for row in rows] == [
        (DOCUMENT, 41, 31),
        (GUIDE, 10, 1),
        (NEITHER, 60, 3),
    ]
    assert (rows[0].share.low, rows[0].share.high) == pytest.approx(wilson_interval(31, 41))
    assert recommend_pairs(rows) == (
        "What to do: judge pairs whose document changed (31 of 41 now have a different grade) before the "
        "other pairs (3 of 60)."
    )
    assert "judge by age and at random" in recommend_pairs(count_changes([*guide, *drawn(60, 3)]))


def test_wilsons_interval_is_itself_at_whole_numbers() -> None:
    assert interpolate_wilson(0.25, 40) == pytest.approx(wilson_interval(10, 40))
    assert wilson_interval(10, 40)[0] < interpolate_wilson(0.26, 40)[0] < wilson_interval(11, 40)[0]


@pytest.fixture
def relabeled(store: Store, tmp_path: Path) -> Store:
    """Sixty pairs; every document with an even number was rewritten, and then has another grade."""
    judged_project(store, tmp_path, queries=20, documents=4)
    changed = {name: f"{text} rewritten" for name, text in texts_of(20, 4).items() if name[-1] in "02"}
    write_corpus(store, tmp_path, texts_of(20, 4) | changed)
    plan = make_plan(store, PlanRequest(0.2, 5), TODAY)
    open_quarter(store, PEOPLE, plan.plan_id)
    return store


def drifting(_who: str, _query: str, document: str) -> int:
    number = int(document[-1])
    return (number + 1) % 4 if number % 2 == 0 else number


def test_the_report_says_what_changed_and_why(relabeled: Store) -> None:
    before = make_drift_report(relabeled)
    assert (before.pairs, before.left_out) == (0, {NOT_WHOLE: 16})
    assert list_drift_findings(before) == [
        "0 of 16 pairs are judged again: 0 comparable, 0 disputed; 16 are not judged yet."
    ]
    answer_round(relabeled, "2026-Q4", drifting)
    report = make_drift_report(relabeled, "2026-Q4")
    assert (report.pairs, report.left_out) == (16, {})
    for pair in report.regraded:
        assert pair.changed == (pair.document_id[-1] in "02")
        assert (DOCUMENT in pair.changes) == pair.changed
    rewritten = sum(pair.changed for pair in report.regraded)
    assert [(row.pairs, row.changed) for row in report.changes] == [
        (rewritten, rewritten),
        (0, 0),
        (16 - rewritten, 0),
    ]
    assert (report.wrong.drawn, report.wrong.population, report.wrong.found) == (4, 80, rewritten)


def test_disputed_pairs_are_said_first_and_come_back_when_decided(relabeled: Store) -> None:
    def grader(who: str, query: str, document: str) -> int:
        return (PEOPLE.index(who) % 2) + 1 if document.endswith("d0") else 3

    answer_round(relabeled, "2026-Q4", grader)
    waiting = [(dispute.query_id, dispute.document_id) for dispute in find_disputes(relabeled)]
    report = make_drift_report(relabeled)
    assert (report.planned, report.judged, report.open) == (16, 16, 0)
    assert (report.pairs, report.disputed) == (16 - len(waiting), len(waiting))
    assert report.left_out == {DISPUTED_NOW: len(waiting)}
    assert list_drift_findings(report)[0] == (
        f"16 of 16 pairs are judged again: {report.pairs} comparable, {report.disputed} disputed (until a "
        "reviewer decides, an old grade counts); 0 are not judged yet."
    )
    assert report.wrong.judged + report.wrong.open == 16
    decide_pairs(relabeled, dict.fromkeys(waiting, 2))
    assert (make_drift_report(relabeled).pairs, make_drift_report(relabeled).disputed) == (16, 0)


def test_a_quarter_says_what_became_of_all_its_pairs_and_keeps_that_when_others_judge_them_later(
    store: Store, tmp_path: Path
) -> None:
    """Half of the pairs have no grade before, and half of all are disputed again, until one is decided."""

    def grader(who: str, query: str, document: str) -> int:
        return PEOPLE.index(who) % 2 if document[-1] in "01" else 2

    judged_project(store, tmp_path, 15, 4, lambda who, _, name: PEOPLE.index(who) * (name[-1] in "02"))
    open_quarter(store, PEOPLE[:2], make_plan(store, PlanRequest(0.2, 5), TODAY).plan_id)
    answer_round(store, "2026-Q4", grader)
    report = make_drift_report(store)
    with store.reading() as cursor:
        planned = read_plan_pairs(cursor, report.plan_id or "")
    apart = [(pair.query_id, pair.document_id) for pair in planned if pair.document_id[-1] in "01"]
    new = [pair for pair in planned if pair.grade is None and pair.document_id[-1] == "2"]
    assert (report.judged, report.disputed, report.newly) == (len(planned), len(apart), len(new))
    assert {pair.grade is None for pair in planned if pair.document_id[-1] in "01"} == {True, False}
    assert report.judged == report.pairs + report.disputed + report.newly
    assert f", {len(new)} newly graded (no grade before); 0 are" in list_drift_findings(report)[0]
    later = [ImportedJudgment(*pair, who, 3) for pair in apart for who in PEOPLE[:3]]
    add_judgments(store, later, "second.csv", round_name="second-pass")
    assert make_drift_report(store) == report, "votes of another round do not count for the quarter"
    decide_pairs(store, dict.fromkeys(apart, 3))
    assert make_drift_report(store).disputed == 0


def shown(store: Store, quarter: str = "2026-Q4") -> tuple[str, str]:
    """A report as JSON and as HTML."""
    report = make_drift_report(store, quarter)
    return canonical_json(to_json_value(report)), make_drift_page(report)


def test_the_report_of_a_closed_quarter_never_changes(relabeled: Store, tmp_path: Path) -> None:
    """Q2's 242 pairs became 194 after queries were retired (issue 46, E.2)."""

    def grader(who: str, query: str, document: str) -> int:
        return PEOPLE.index(who) % 2 if document.endswith("d0") else drifting(who, query, document)

    answer_round(relabeled, "2026-Q4", grader)
    apart = [(dispute.query_id, dispute.document_id) for dispute in find_disputes(relabeled)]
    closed = close_round(relabeled, "2026-Q4")
    assert closed.remark == (
        f"The report of 2026-Q4 is final, with {len(apart)} disputed pairs: reopen the round to count "
        "later answers."
    )
    first = shown(relabeled)
    assert "The quarter is closed, so this report is final." in first[1]
    decide_pairs(relabeled, dict.fromkeys(apart, 3))
    with relabeled.transaction() as cursor:
        for number in range(10):
            retire_query(cursor, f"q{number}", "not asked any more")
    guide = read_guide()
    other = parse_guide(guide.source.replace(guide.scale[3].definition, "Answers all of it."))
    use_guide(relabeled, other, open_rounds="keep")
    write_corpus(relabeled, tmp_path, {name: f"all new: {name}" for name in texts_of(12, 4)})
    with relabeled.transaction() as cursor:
        cursor.execute(
            "INSERT INTO query_tags SELECT query_id, 'new', 0, true, true, 'lee', now() FROM queries"
        )
    assert shown(relabeled) == first
    set_round_state(relabeled, "2026-Q4", "open")
    open_again = make_drift_report(relabeled, "2026-Q4")
    assert (open_again.fixed, open_again.disputed) == (False, 0)
    close_round(relabeled, "2026-Q4")
    assert shown(relabeled) != first
    assert make_drift_report(relabeled, "2026-Q4").disputed == 0


def test_opening_the_next_quarter_closes_the_report_of_the_one_before(relabeled: Store) -> None:
    """Nobody closed its round. Nor does a report of a quarter change by a later one."""
    answer_round(relabeled, "2026-Q4", drifting)
    first = make_drift_report(relabeled, "2026-Q4")
    assert not first.fixed
    plan = make_plan(relabeled, PlanRequest(0.2, 6), date(2027, 2, 1))
    open_quarter(relabeled, PEOPLE, plan.plan_id)
    again = make_drift_report(relabeled, "2026-Q4")
    assert again == replace(first, fixed=True)
    answer_round(relabeled, "2027-Q1", lambda *_: 3)
    assert make_drift_report(relabeled, "2026-Q4") == again
    last = make_drift_report(relabeled)
    assert (last.name, last.pooled_quarters) == ("2027-Q1", 2)
    assert last.pooled.drawn == again.wrong.drawn + last.wrong.drawn == 8
    assert last.pooled.found == again.wrong.found + last.wrong.found
    assert (again.pooled, again.pooled_quarters) == (None, 1), "a later quarter is not in its year"


CLOSES = re.compile(r'\bset_round_state\([^)]*"closed"')


def test_every_page_and_command_closes_rounds_with_their_report() -> None:
    """`set_round_state` alone fixes no report: only `close_round` calls it."""
    files = [path for room in ("app", "curation", "goldgrade") for path in (ROOT / room).rglob("*.py")]
    calls = [path.relative_to(ROOT).as_posix() for path in files if CLOSES.search(path.read_text("utf-8"))]
    assert calls == ["curation/relabeling/fixed_reports.py"]


def test_the_command_reports_as_tables_json_and_one_html_file(relabeled: Store, tmp_path: Path) -> None:
    answer_round(relabeled, "2026-Q4", drifting)
    command = ["--project", str(relabeled.path), "relabel", "report"]
    page = tmp_path / "drift.html"
    done = invoke([*command, "--html", str(page)])
    assert done.exit_code == 0, done.stderr
    assert "pairs now have a different grade" in done.stdout
    html = page.read_text()
    assert "<script" not in html
    assert make_drift_page(make_drift_report(relabeled)) == html
    answer = json.loads(invoke([*command, "2026-Q4", "--json"]).stdout)
    assert (answer["pairs"], len(answer["confusion"])) == (16, 4)
    assert invoke([*command, "2031-Q1"]).exit_code == 1
    assert invoke([*command, "2026-Q4", "--rounds", "first.csv", "2026-Q4"]).exit_code == 1
    with pytest.raises(NotFoundError):
        compare_rounds(relabeled, "none", "2026-Q4")


PACE = '"hourly": 60.0, "annotators": 2, "rounds": [], "slowest": 50.0, "fastest": 70.0, "decided": null'
GUIDE_WORK = '"stale": 20, "reworded": 5, "taken": 4, "taken_reworded": 2, "quarters": 3'
AS_BEFORE = f"""
UPDATE relabeling_plans SET report = json_merge_patch(report, '{{"graded_pairs": null, "hours": 3.5,
    "reasons": null, "parts": {{"random": 4, "control": 12}}, "duplicates": 2, "decisions": 1,
    "pace": {{{PACE}}}, "guide": {{{GUIDE_WORK}}}, "moved": []}}');
UPDATE relabeling_pairs SET inclusion_probability = if(part = 'random', 0.05, NULL),
    part = if(part = 'stale', 'control', part), reason = NULL;
"""


def test_a_plan_of_an_earlier_version_is_shown_opened_and_reported(store: Store, tmp_path: Path) -> None:
    judged_project(store, tmp_path, queries=20, documents=4)
    write_corpus(store, tmp_path, {name: f"{text} rewritten" for name, text in texts_of(20, 4).items()})
    plan = make_plan(store, PlanRequest(0.2, 5), TODAY)
    with store.transaction() as cursor:
        cursor.execute(AS_BEFORE)
    done = invoke(["--project", str(store.path), "relabel", "plan", "2026-Q4"])
    assert "16 pairs: 4 by chance to see how much is wrong, 12 that did not change, by" in done.stdout
    open_quarter(store, PEOPLE, plan.plan_id)
    answer_round(store, "2026-Q4", drifting)
    report = make_drift_report(store)
    assert (report.pairs, report.wrong.population, report.wrong.found) == (16, 80, report.changed)
    close_round(store, "2026-Q4")
    assert make_drift_report(store) == replace(report, fixed=True)
