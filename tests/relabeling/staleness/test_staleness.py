"""A pair is due for what changed since it was judged, and the list of a quarter says how many, and why."""

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
from curation.relabeling.due_list import read_due
from curation.relabeling.due_sentences import describe_rest
from curation.relabeling.judged_pairs import AGE, DOCUMENT, JudgedPair
from curation.relabeling.plan import make_plan
from curation.relabeling.request import PlanRequest
from curation.relabeling.set_state import SetState, read_set_state
from curation.relabeling.text_changes import compare_texts, compute_kept_share
from curation.relabeling.traffic import compute_total_change, has_left, read_traffic
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


def row(found: SetState, document: str) -> JudgedPair:
    return next(pair for pair in found.pairs if pair.document_id == document)


def test_age_counts_quarters_and_an_unknown_time_stays_unknown(judged: Store) -> None:
    status = read_set_state(judged, NOVEMBER)
    assert (row(status, "d0").judged, row(status, "d0").age) == ("2026-Q2", 2)
    assert row(status, "d2").age is None
    assert row(status, "d2").older_than is not None


def test_a_changed_and_a_gone_document_are_told_with_what_changed(judged: Store, tmp_path: Path) -> None:
    write_corpus(judged, tmp_path, {"d0": "one two three five", "d2": "nine ten"})
    status = read_set_state(judged, NOVEMBER)
    changed, gone, same = (row(status, name) for name in ("d0", "d1", "d2"))
    assert (changed.document, changed.reason) == ("changed", DOCUMENT)
    assert (gone.document, gone.reason) == ("gone", ""), "nobody can judge it again"
    assert "d1" not in {pair.document_id for pair in read_due(judged, NOVEMBER).pairs}
    assert (same.document, same.reason) == ("same", "")
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
    assert row(read_set_state(judged, NOVEMBER), "d0").document == "gone"
    write_corpus(judged, tmp_path, TEXTS)
    assert row(read_set_state(judged, NOVEMBER), "d0").document == "same"


def test_nothing_is_due_in_the_quarter_it_was_judged_in(judged: Store, tmp_path: Path) -> None:
    """A changed text makes its pair due at once, and two years do alone."""

    def reasons(today: date) -> dict[str, str]:
        return {pair.document_id: pair.reason for pair in read_set_state(judged, today).pairs}

    assert set(reasons(MAY.date()).values()) == set(reasons(NOVEMBER).values()) == {""}
    assert reasons(date(2028, 5, 1))["d0"] == AGE
    write_corpus(judged, tmp_path, TEXTS | {"d1": "five six"})
    assert reasons(MAY.date())["d1"] == reasons(NOVEMBER)["d1"] == DOCUMENT


def test_a_changed_text_is_due_only_where_the_page_shows_the_change(store: Store, tmp_path: Path) -> None:
    """A long document changed at its end: the passage about `text qa` at its beginning is the same."""
    body = f"This is the text qa asks for. {'Filler words follow here. ' * 80}"
    write_corpus(store, tmp_path, {"d0": f"{body} The end.", "d1": f"{body} The end."})
    judge(store, {("qa", name, "ada"): 2 for name in ("d0", "d1")})
    write_corpus(store, tmp_path, {"d0": f"{body} Another end.", "d1": f"Not the text qa asks. {body}"})
    status = read_set_state(store, NOVEMBER)
    assert {pair.document_id: pair.reason for pair in status.pairs} == {"d0": "", "d1": DOCUMENT}
    assert status.untouched == 1
    plan = make_plan(store, PlanRequest(0.2, 1), NOVEMBER)
    assert "1 pair has a document that changed elsewhere" in " ".join(
        describe_rest({**vars(plan), "left_out": {}})
    )


def test_another_guide_in_force_makes_grades_stale(judged: Store) -> None:
    assert row(read_set_state(judged, NOVEMBER), "d0").guide_behind is False
    with judged.transaction() as cursor:
        cursor.execute("INSERT INTO guides SELECT 'other', title, scale, 'other', added_at FROM guides")
        put_setting(cursor, "guide", "other")
    assert row(read_set_state(judged, NOVEMBER), "d0").guide_behind is True


def test_a_guide_that_changes_no_grade_leaves_labels_fresh(judged: Store) -> None:
    """Only the presentation of documents differs, or a lead says so; what follows is compared with either."""

    def behind(guide: Guide, same_grades: bool = False) -> bool | None:
        stale = compute_guide_effects(judged, guide, same_grades).stale_pairs
        use_guide(judged, guide, open_rounds="keep", same_grades=same_grades)
        status = read_set_state(judged, NOVEMBER)
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


def test_words_count_as_often_as_they_are_there() -> None:
    assert compute_kept_share("a a b", "a b b") == pytest.approx(2 * 2 / 6)
    assert compute_kept_share("", "") is None


@pytest.mark.parametrize(("now", "left"), [(100, False), (30, False), (0, True)])
def test_a_query_has_left_if_nobody_asks_it_and_the_median_query_is_still_asked(now: int, left: bool) -> None:
    """Twelve texts of 100 searches: all stay but one. Shares would say that all fall where one rises."""
    then, after = np.full(12, 100), np.array([now, *[100] * 11])
    change = compute_total_change(then, after)
    assert [has_left(100, count, change) for count in after.tolist()] == [left, *[False] * 11]


@pytest.mark.parametrize("scatter", [1, 4])
def test_seldom_asked_queries_do_not_leave_by_chance(scatter: int) -> None:
    """36 queries with the noise of counts, and with more where searches come in bursts of four."""
    random, left = np.random.default_rng(1), []
    for _ in range(150):
        rate = random.integers(4, 6000, 36) / scatter
        then, now = scatter * random.poisson(rate), scatter * random.poisson(1.3 * rate)
        change = compute_total_change(then, now)
        left += [has_left(one, other, change) for one, other in zip(then, now, strict=True)]
    assert np.mean(left) < 0.01


def test_traffic_now_is_of_the_logs_after_the_draw(store: Store, tmp_path: Path) -> None:
    write_corpus(store, tmp_path, TEXTS)
    write_log(store, tmp_path, "spring", {"kettle": 60, "violin": 40})
    draw_sample(store, DrawRequest(2, 1))
    ids = dict(rows_of(store, "SELECT normalised, query_id FROM queries"))
    judge(store, {(ids[name], "d0", "ada"): 2 for name in ids})
    before = read_set_state(store, NOVEMBER).traffic
    assert (before.has_new, before.new) == (False, ())
    assert {before.find_traffic(query, name).now for name, query in ids.items()} == {None}
    write_log(store, tmp_path, "autumn", {"violin": 50, "glacier": 30, "router": 20})
    now = read_set_state(store, NOVEMBER).traffic
    traffic = {name: now.find_traffic(query, name) for name, query in ids.items()}
    assert now.new == (("glacier", 30), ("router", 20))
    assert traffic["kettle"] == (60, 0, True)
    assert traffic["violin"] == (40, 50, False)


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
    may = read_due(judged, date(2026, 6, 1))
    assert (may.is_due, may.pairs) == (False, ())
    assert may.sentence == (
        "No pair should be judged again this quarter: 2026-Q2 judged all 2 pairs, and no document or guide "
        "changed since."
    )
    november = read_due(judged, NOVEMBER)
    assert november.is_due
    assert november.sentence.startswith(
        "1 of 2 pairs should be judged again this quarter: 1 not judged for the"
    )


def test_the_list_before_and_after_planning_is_the_same(judged: Store, tmp_path: Path) -> None:
    """Home, the page, the command and the plan say one number: that of the plan."""
    write_corpus(judged, tmp_path, TEXTS | {"d1": "five six"})
    due = read_due(judged, NOVEMBER, PlanRequest(0.2, 7))
    assert due.sentence.startswith(
        "1 of 3 pairs should be judged again this quarter: 1 whose document changed."
    )
    plan = make_plan(judged, PlanRequest(0.2, 7), NOVEMBER)
    found = read_due(judged, NOVEMBER)
    assert (found.sentence, found.report["plan_id"]) == (due.sentence, plan.plan_id)
    assert [pair[:3] for pair in found.pairs] == [pair[:3] for pair in due.pairs]
    assert plan.sentences[0].removeprefix("Planned 2026-Q4: ") in due.sentence


def test_an_empty_set_is_told_and_not_divided_by(store: Store) -> None:
    due = read_due(store, NOVEMBER)
    assert (due.pairs, due.set_pairs, due.is_due) == ((), 0, False)


def test_quarters_count_over_years_and_never_back() -> None:
    quarter = Quarter.of(NOVEMBER)
    assert quarter == "2026-Q4"
    assert Quarter("2026-Q4") == quarter
    assert (quarter.before(5), quarter.before(-1)) == (Quarter("2025-Q3"), Quarter("2027-Q1"))
    assert Quarter("2027-Q2").since(quarter) == 2
    assert quarter.since(Quarter("2027-Q1")) == 0


def test_a_pair_is_due_whose_evidence_or_shown_passage_is_not_in_the_new_text(
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
    status = read_set_state(store, NOVEMBER)
    assert {pair.document_id: (pair.evidence_lost, pair.reason) for pair in status.pairs} == {
        "d0": (False, DOCUMENT),  # the page shows the whole short text
        "d1": (True, DOCUMENT),
        "d2": (False, ""),
    }
