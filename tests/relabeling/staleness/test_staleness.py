"""Staleness says of each pair what may have made its grade wrong, and the calendar what is due."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest

from curation.core.errors import InputError
from curation.guides.guide import Guide, PresentationTemplate
from curation.guides.guide_editing import replace_presentation
from curation.guides.guide_text import parse_guide, read_guide
from curation.ingest.importers.evidence_cells import StatedEvidence
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.rounds.use_guide import compute_guide_effects, use_guide
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from curation.relabeling.calendar import Quarter
from curation.relabeling.judged_pairs import SCORE_WEIGHTS, JudgedPair, compute_score
from curation.relabeling.plan import make_plan
from curation.relabeling.planning_sections import list_due, make_stale_pair_table
from curation.relabeling.request import PlanRequest
from curation.relabeling.staleness import SetStaleness, compute_staleness
from curation.relabeling.text_changes import compare_texts, compute_kept_share
from curation.relabeling.traffic import compute_total_change, find_trend, read_traffic
from curation.store import Store, put_setting
from curation.store.row_types import Query
from tests.support.marking import GUIDE
from tests.support.projects import rows_of
from tests.support.relabeled import write_corpus, write_log

pytestmark = pytest.mark.slow

NOVEMBER = date(2026, 11, 22)
MAY = datetime(2026, 5, 4, 9, 0)
TEXTS = {"d0": "one two three four", "d1": "five six seven eight", "d2": "nine ten"}
QUERIES = [Query(name, f"text {name}", f"text {name}", "imported") for name in ("qa", "qb")]


def judge(store: Store, grades: dict[tuple[str, str, str], int], at: datetime | None = MAY) -> None:
    rows = [ImportedJudgment(q, d, who, grade, submitted_at=at) for (q, d, who), grade in grades.items()]
    add_judgments(store, rows, f"{len(grades)} {at}.csv", QUERIES)


@pytest.fixture
def judged(store: Store, tmp_path: Path) -> Store:
    """Two judges agree on d0, disagree on d1; d2 has one vote without a time."""
    write_corpus(store, tmp_path, TEXTS)
    both = {("qa", "d0", who): 2 for who in ("ada", "ben")} | {("qa", "d1", "ada"): 0, ("qa", "d1", "ben"): 3}
    judge(store, both)
    judge(store, {("qb", "d2", "ada"): 1}, None)
    return store


def row(found: SetStaleness, document: str) -> JudgedPair:
    return next(pair for pair in found.pairs if pair.document_id == document)


def test_age_counts_quarters_and_an_unknown_time_stays_unknown(judged: Store) -> None:
    status = compute_staleness(judged, NOVEMBER)
    assert (row(status, "d0").judged, row(status, "d0").age) == ("2026-Q2", 2)
    assert (row(status, "d2").age, row(status, "d2").parts["age"]) == (None, None)
    assert row(status, "d2").older_than is not None
    assert status.calendar.unknown == 1


def test_a_changed_and_a_gone_document_are_told_with_what_changed(judged: Store, tmp_path: Path) -> None:
    write_corpus(judged, tmp_path, {"d0": "one two three five", "d2": "nine ten"})
    status = compute_staleness(judged, NOVEMBER)
    changed, gone, same = (row(status, name) for name in ("d0", "d1", "d2"))
    assert (changed.document, changed.changed_share) == ("changed", pytest.approx(0.2))  # one of five words
    assert changed.parts["document"] == pytest.approx(0.6)
    assert (gone.document, gone.parts["document"]) == ("gone", 1.0)
    assert not gone.is_stale  # nobody can judge it again
    assert "d1" not in {cell for row in make_stale_pair_table(status, 20).rows for cell in row}
    assert status.stale == sum(pair.is_stale for pair in status.pairs)
    assert (same.document, same.parts["document"]) == ("same", 0.0)
    assert changed.read_hash
    assert changed.now_hash
    difference = compare_texts(judged, changed.read_hash, changed.now_hash)
    assert [tuple(block) for block in difference.body] == [
        ("same", "one two three"),
        ("removed", "four"),
        ("added", "five"),
    ]


def test_a_document_that_comes_back_is_as_it_was(judged: Store, tmp_path: Path) -> None:
    write_corpus(judged, tmp_path, {"d2": "nine ten"})
    assert row(compute_staleness(judged, NOVEMBER), "d0").document == "gone"
    write_corpus(judged, tmp_path, TEXTS)
    assert row(compute_staleness(judged, NOVEMBER), "d0").document == "same"


def test_nothing_is_out_of_date_in_the_quarter_it_was_judged_in(judged: Store, tmp_path: Path) -> None:
    """A changed text makes its pair stale at once, and two years do alone."""
    status = compute_staleness(judged, MAY.date())
    assert (status.stale, list_due(status.calendar)[0]) == (0, "No pair is out of date.")
    assert compute_staleness(judged, NOVEMBER).stale == 0, (
        "a dispute waits for a decision, not for a re-labeling"
    )
    assert row(compute_staleness(judged, date(2028, 5, 1)), "d0").is_stale
    write_corpus(judged, tmp_path, TEXTS | {"d1": "five six"})
    assert row(compute_staleness(judged, MAY.date()), "d1").is_stale
    assert row(compute_staleness(judged, NOVEMBER), "d1").is_stale


def test_another_guide_in_force_makes_grades_stale(judged: Store) -> None:
    assert row(compute_staleness(judged, NOVEMBER), "d0").guide_behind is False
    with judged.transaction() as cursor:
        cursor.execute("INSERT INTO guides SELECT 'other', title, scale, 'other', added_at FROM guides")
        put_setting(cursor, "guide", "other")
    assert row(compute_staleness(judged, NOVEMBER), "d0").guide_behind is True


def test_a_guide_that_changes_no_grade_leaves_labels_fresh(judged: Store) -> None:
    """Only the presentation of documents differs, or a lead says so; what follows is compared with either."""

    def behind(guide: Guide, same_grades: bool = False) -> bool | None:
        stale = compute_guide_effects(judged, guide, same_grades).stale_pairs
        use_guide(judged, guide, open_rounds="keep", same_grades=same_grades)
        status = compute_staleness(judged, NOVEMBER)
        assert stale == sum(bool(pair.guide_behind) for pair in status.pairs)
        return row(status, "d0").guide_behind

    guide = read_guide()
    shown = replace_presentation(guide, PresentationTemplate(body="html"))
    reworded = parse_guide(shown.source + "A word more.\n")
    assert behind(shown) is False
    assert behind(reworded, same_grades=True) is False
    assert behind(guide) is False
    assert behind(parse_guide(reworded.source + "Another word.\n")) is True
    with pytest.raises(InputError, match="different scale"):
        use_guide(judged, read_guide(Path("binary")), open_rounds="keep", same_grades=True)


def test_unknown_parts_have_no_say() -> None:
    assert sum(SCORE_WEIGHTS.values()) == pytest.approx(1)
    assert compute_score({"document": 1.0, "guide": 0.0, "age": None}) == pytest.approx(0.5 / 0.75)
    assert compute_score(dict.fromkeys(SCORE_WEIGHTS)) == 0.0


def test_words_count_as_often_as_they_are_there() -> None:
    assert compute_kept_share("a a b", "a b b") == pytest.approx(2 * 2 / 6)
    assert compute_kept_share("", "") is None


@pytest.mark.parametrize(
    ("now", "trend"), [(100, "steady"), (115, "steady"), (300, "rising"), (30, "falling"), (0, "gone")]
)
def test_a_query_is_compared_with_its_own_past_and_with_what_the_median_query_did(
    now: int, trend: str
) -> None:
    """Twelve texts of 100 searches: all stay but one. Shares would say that all fall where one rises."""
    then, after = np.full(12, 100), np.array([now, *[100] * 11])
    change = compute_total_change(then, after)
    assert [find_trend(100, count, change) for count in after.tolist()] == [trend, *["steady"] * 11]
    twice = compute_total_change(then, 2 * after)
    assert find_trend(100, 2 * now, twice) == ("gone" if not now else trend), "the total doubled"


def test_of_three_queries_one_that_triples_rises_and_the_others_stay() -> None:
    then, now = np.array([10_000] * 3), np.array([30_000, 10_000, 10_000])
    change = compute_total_change(then, now)
    assert [find_trend(10_000, count, change) for count in now.tolist()] == ["rising", "steady", "steady"]
    pair = compute_total_change(then[:2], now[:2])
    assert find_trend(10_000, 30_000, pair) == "unknown", "of two nobody can say which one moved"


@pytest.mark.parametrize(("scatter", "moved"), [(1, 0.0), (1, 0.17), (4, 0.17)])
def test_queries_that_did_not_move_are_flagged_in_at_most_one_case_in_twenty(
    scatter: int, moved: float
) -> None:
    """36 queries as in ../shared/cases/figures/traffic_bystanders.py, with the noise of counts, and with more
    where searches come in bursts of four. The total grows by 30 %."""
    random, flagged, found = np.random.default_rng(1), [], []
    for _ in range(150):
        rate = random.integers(800, 6000, 36) / scatter
        grows = np.full(36, 1.3)
        others = random.choice(36, round(36 * moved), replace=False)
        grows[others] *= np.where(np.arange(len(others)) % 2, 2.2, 0.45)
        then, now = scatter * random.poisson(rate), scatter * random.poisson(rate * grows)
        change = compute_total_change(then, now)
        trends = [find_trend(one, other, change) != "steady" for one, other in zip(then, now, strict=True)]
        flagged.append(np.mean(np.delete(trends, others)))
        found += [trends[place] for place in others]
    assert np.mean(flagged) < 0.05
    assert np.mean(found or [1]) > 0.95


def test_traffic_now_is_of_the_logs_after_the_draw(store: Store, tmp_path: Path) -> None:
    write_corpus(store, tmp_path, TEXTS)
    write_log(store, tmp_path, "spring", {"kettle": 60, "violin": 40})
    draw_sample(store, DrawRequest(2, 1))
    ids = dict(rows_of(store, "SELECT normalised, query_id FROM queries"))
    judge(store, {(ids[name], "d0", "ada"): 2 for name in ids})
    before = compute_staleness(store, NOVEMBER)
    assert (before.has_new_traffic, before.new_queries) == (False, ())
    assert {query.traffic.trend for query in before.queries} == {"unknown"}
    write_log(store, tmp_path, "autumn", {"violin": 50, "glacier": 30, "router": 20})
    status = compute_staleness(store, NOVEMBER)
    traffic = {query.text: query.traffic for query in status.queries}
    assert status.new_queries == (("glacier", 30), ("router", 20))
    assert traffic["kettle"].trend == "gone"
    assert traffic["violin"].trend == "unknown", "one query has no others to be compared with"
    assert (traffic["kettle"].then, traffic["kettle"].now) == (60, 0)
    assert status.calendar.reasons["queries that no longer occur in the traffic"] == 1


@pytest.mark.parametrize(
    ("grouped", "kettle", "new"),
    [(True, 40, {"glacier": 24, "router": 6}), (False, 0, {"electric kettles": 25, "electric ketle": 15})],
)
def test_other_spellings_count_for_the_query_where_the_sample_groups_them(
    store: Store, tmp_path: Path, grouped: bool, kettle: int, new: dict[str, int]
) -> None:
    write_log(store, tmp_path, "spring", {"electric kettle": 60, "violin": 40})
    draw_sample(store, DrawRequest(2, 1, group_spellings=grouped))
    spellings = {"electric kettles": 25, "electric ketle": 15, "glacier": 20, "glaciers": 4}
    write_log(store, tmp_path, "autumn", {**spellings, "violin": 30, "router": 6})
    with store.reading() as cursor:
        traffic = read_traffic(cursor)
    assert traffic.counts["electric kettle"] == (60, kettle)
    assert traffic.totals == (100, 100)
    told = dict(traffic.new)
    assert new.items() <= told.items()
    assert ("glaciers" in told) != grouped


def test_what_was_judged_this_quarter_and_is_as_it_was_is_not_due(judged: Store) -> None:
    with judged.transaction() as cursor:
        cursor.execute("DELETE FROM queries WHERE query_id = 'qb'")  # its time is unknown
    may = compute_staleness(judged, date(2026, 6, 1))
    assert (may.calendar.is_due, may.calendar.reasons) == (False, {})
    november = compute_staleness(judged, NOVEMBER)
    assert november.calendar.is_due
    assert november.calendar.reasons == {"pairs last judged in an earlier quarter": 2}


def test_what_is_out_of_date_and_what_is_due_are_said_together(judged: Store, tmp_path: Path) -> None:
    write_corpus(judged, tmp_path, TEXTS | {"d1": "five six"})
    due = compute_staleness(judged, NOVEMBER).calendar
    assert due.stale == compute_staleness(judged, NOVEMBER).stale == 1
    assert due.stale_sentence == "1 pair is out of date; 2026-Q4 has no plan yet."
    make_plan(judged, PlanRequest(0.2, 7), NOVEMBER)
    found = compute_staleness(judged, NOVEMBER).calendar
    assert 0 < found.planned <= due.stale
    said = f"the plan of 2026-Q4 renews {found.planned} of these pairs."
    assert list_due(compute_staleness(judged, NOVEMBER).calendar)[0].endswith(said)


def test_the_calendar_counts_every_pair_once(judged: Store) -> None:
    calendar = compute_staleness(judged, date(2060, 1, 1)).calendar
    shown = sum(judged for _, judged, _ in calendar.quarters)
    assert (len(calendar.quarters), shown, calendar.older, calendar.unknown) == (9, 0, 2, 1)
    assert (calendar.renewed, calendar.renewed_share) == (0, 0.0)
    must = "pairs last judged two years ago or earlier"
    assert calendar.reasons[must] == 3


def test_an_empty_set_is_told_and_not_divided_by(store: Store) -> None:
    status = compute_staleness(store, NOVEMBER)
    assert (status.pairs, status.calendar.renewed_share, status.calendar.is_due) == ((), None, False)


def test_quarters_count_over_years_and_never_back() -> None:
    quarter = Quarter.of(NOVEMBER)
    assert quarter == "2026-Q4"
    assert Quarter("2026-Q4") == quarter
    assert (quarter.before(5), quarter.before(-1)) == (Quarter("2025-Q3"), Quarter("2027-Q1"))
    assert Quarter("2027-Q2").since(quarter) == 2
    assert quarter.since(Quarter("2027-Q1")) == 0


def test_a_pair_whose_evidence_is_not_in_the_new_text_is_due_for_a_reason_of_its_own(
    store: Store, tmp_path: Path
) -> None:
    write_corpus(store, tmp_path, TEXTS)
    use_guide(store, parse_guide(GUIDE.format(ask="optional")))
    marks = {"d0": "two three", "d1": "six seven", "d2": "nine ten"}
    rows = [
        ImportedJudgment("qa", name, "ada", 3, evidence=(StatedEvidence(None, None, quote),))
        for name, quote in marks.items()
    ]
    add_judgments(store, rows, "ada.csv", QUERIES)
    write_corpus(store, tmp_path, {**TEXTS, "d0": "zero one two three", "d1": "five and eight"})
    status = compute_staleness(store, NOVEMBER)
    assert status.calendar.reasons["pairs whose document changed"] == 2
    assert status.calendar.reasons["pairs whose evidence is not in the new text"] == 1
    assert {pair.document_id: pair.parts["document"] == 1 for pair in status.pairs} == {
        "d0": False,
        "d1": True,
        "d2": False,
    }
