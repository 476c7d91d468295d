"""One annotator beside the others: bias, drift, pace, and the feedback that comes of them."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from curation.agreement.annotators.bias import (
    ONE_TIME,
    Differences,
    annotator_bias,
    differences_of,
    read_comparable,
)
from curation.agreement.annotators.details import annotator_details, details_of
from curation.agreement.annotators.intra_annotator import intra_agreement
from curation.agreement.annotators.signals import control_item_share
from curation.agreement.report.report import agreement_report
from curation.agreement.report.sections import parts
from curation.labeling.judgments.imported import add_judgments
from curation.labeling.judgments.judging import Submission
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.submit import submit
from curation.sources.imported_judgment import ImportedJudgment
from curation.store import Store
from tests.support.projects import add_names, add_pairs, decide_pairs, grid
from tests.support.repeats import repeats

START = datetime(2026, 3, 2)  # a Monday
NOTHING = control_item_share(0, 0)


def differences(off: np.ndarray, each: int = 5, **more: np.ndarray) -> Differences:
    """`each` grades a query, two queries a day."""
    number = len(off)
    query = np.arange(number) // each
    at = np.asarray([START + timedelta(hours=12 * int(q)) for q in query], dtype="datetime64[us]")
    columns = {
        "right": (off == 0).astype(np.int64),
        "seconds": np.full(number, np.nan),
        "length": np.full(number, 100),
    }
    return Differences("ada", query, at, off.astype(np.float64), **{**columns, **more})


def noise(number: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).choice([-1, 0, 0, 0, 1], size=number).astype(np.float64)


def abouts(found: Differences) -> set[str]:
    own = intra_agreement(repeats("ada", 0, 0, 0, 0, None))
    return {row.about for row in details_of(own, None, annotator_bias(found), NOTHING).feedback}


def test_where_nothing_is_the_matter_there_is_nothing_to_talk_about() -> None:
    found = annotator_bias(differences(noise(300)))
    assert found.low < 0 < found.high
    assert found.trend_p > 0.05
    assert abouts(differences(noise(300))) == set()


def test_a_bias_is_told_in_grades_with_its_interval() -> None:
    found = annotator_bias(differences(noise(300) + 0.5))
    assert found.bias == pytest.approx(0.5, abs=0.1)
    assert 0.35 < found.low < found.bias < found.high < 0.65
    assert abouts(differences(noise(300) + 0.5)) == {"bias"}


def test_a_drift_is_a_move_from_the_first_query_to_the_last() -> None:
    drifting = differences(noise(400) + np.linspace(-0.6, 0.6, 400))
    found = annotator_bias(drifting)
    assert found.trend == pytest.approx(1.2, abs=0.4)
    assert found.trend_p <= 0.002
    assert "drift" in abouts(drifting)


def test_one_strange_week_is_named() -> None:
    off = noise(350)
    off[70:140] -= 1  # seven days of two queries of five grades
    found = annotator_bias(differences(off))
    assert [week.queries for week in found.weeks] == [14] * 5
    strange = min(found.weeks, key=lambda week: week.p)
    assert (strange.monday, strange.bias < -0.7) == (START.date() + timedelta(weeks=1), True)
    assert "week" in abouts(differences(off))


def test_fast_answers_are_set_beside_slow_ones_on_texts_as_long() -> None:
    random = np.random.default_rng(1)
    hurried = random.random(400) < 0.5
    length = random.choice([100, 1_000, 5_000], size=400)
    seconds = np.where(hurried, 2.0, 8.0) * length / 100 + random.random(400)
    right = (random.random(400) < np.where(hurried, 0.55, 0.9)).astype(np.int64)
    given = differences(np.zeros(400), right=right, seconds=seconds, length=length)
    pace = annotator_bias(given).pace
    assert pace is not None
    assert pace.fast < 0.65 < 0.8 < pace.slow
    assert pace.high < 0
    assert "pace" in abouts(given)
    assert annotator_bias(differences(np.zeros(400))).no_pace.startswith("0 timed grades")


def test_too_little_is_said_to_be_too_little() -> None:
    few = annotator_bias(differences(noise(29)))
    assert (few.bias, few.grades) == (None, 29)
    assert "29 grades" in few.undefined
    one_query = annotator_bias(differences(noise(100), each=100))
    assert "1 query " in one_query.undefined


def test_grades_that_came_at_one_time_have_no_order() -> None:
    given = differences(noise(100))
    found = annotator_bias(given._replace(at=np.full(100, given.at[0])))
    assert found.bias is not None
    assert (found.trend, found.no_trend, found.weeks) == (None, ONE_TIME, ())


def test_an_import_without_times_has_no_order_and_so_no_drift(store: Store) -> None:
    """Sorted by grade in the file, everybody would drift, and every pair would be of one week."""
    add_pairs(store, grid(10, 6))
    pairs = [(query, document) for query, found in grid(10, 6).items() for document in found]
    given = [
        ImportedJudgment(*pair, who, min(3, n // 15 + (who == "ben" and n > 30)))
        for who in ("ada", "ben")
        for n, pair in enumerate(pairs)
    ]
    add_judgments(store, given, "sorted.csv")
    ada, ben = annotator_details(store)
    for one in (ada, ben):
        assert one.bias.bias is not None
        assert (one.bias.untimed, one.bias.trend, one.bias.weeks) == (60, None, ())
        assert one.bias.no_trend == "60 of 60 grades were imported without a time; in order are too few"
    report = agreement_report(store, details=True)
    assert (report.details.by.week, report.details.by.untimed) == ((), 60)
    assert "60 pairs are in no week" in parts(report, report.details)["week"].sentence


def test_grades_with_a_time_keep_their_order_beside_imported_ones_without() -> None:
    drifting = differences(noise(400) + np.linspace(-0.6, 0.6, 400))
    at = drifting.at.copy()
    at[:40] = np.datetime64("NaT")
    found = annotator_bias(drifting._replace(at=at))
    assert (found.grades, found.untimed) == (400, 40)
    rest = annotator_bias(Differences("ada", *(column[40:] for column in drifting[1:])))
    assert (found.trend, found.trend_p, found.weeks) == (rest.trend, rest.trend_p, rest.weeks)


def test_a_grade_is_never_compared_with_itself(store: Store) -> None:
    add_pairs(store, {"q": ["a", "b", "c", "d"]})
    rows = {"a": {"ada": 3, "ben": 1}, "b": {"ada": 2, "ben": 1, "cyd": 1}, "c": {"ada": 0}, "d": {"ada": 3}}
    given = [ImportedJudgment("q", d, who, grade) for d, said in rows.items() for who, grade in said.items()]
    add_judgments(store, given, "all.csv")
    decide_pairs(store, {("q", "d"): 1})
    with store.reading() as cursor:
        found = {row.annotator: row for row in differences_of(read_comparable(cursor))}
    ada = sorted(found["ada"].off[~np.isnan(found["ada"].off)].tolist())
    assert ada == [1.0, 2.0, 2.0]  # b: 2 - 1; a: 3 - 1; d: 3 - the decision; c: nobody else
    assert sorted(found["ada"].right.tolist()) == [-1, 0, 0, 0]
    assert sorted(found["ben"].off.tolist()) == [-2.0, -0.5]  # b: 1 - the mean of 2 and 1
    assert sorted(found["ben"].right.tolist()) == [-1, 0]  # 2 and 1 have no majority


def test_details_bring_everything_about_an_annotator_together(store: Store) -> None:
    add_pairs(store, grid(10, 5))
    add_names(store, "ada", "ben")
    open_round(store, "first", ["ada", "ben"], overlap=2, duplicates=0.0, seed=1)
    with store.reading() as cursor:
        rows = cursor.execute("SELECT presentation_id, annotator, document_id FROM presentations").fetchall()
    for who, more in (("ada", 0), ("ben", 1)):
        items = [
            Submission(
                item,
                0,
                "grade",
                f"key-{item}",
                grade=int(document[-1]) % 3 + more,
                shown_at=START,
                active_ms=3_000 + 100 * number,
            )
            for number, (item, name, document) in enumerate(rows)
            if name == who
        ]
        submit(store, who, items)
    ada, ben = annotator_details(store, "first")
    assert (ada.bias.bias, ben.bias.bias) == (-1, 1)
    assert (ada.bias.grades, ada.bias.queries) == (50, 10)
    assert {row.about for row in ben.feedback} >= {"bias"}
    (bias,) = [row for row in ben.feedback if row.about == "bias"]
    assert bias.evidence["grades"] == 50
    assert "1.00 higher" in bias.sentence
    assert ben.control_items == NOTHING
