"""Consistency in detail: what two showings of one pair tell beyond the identical share."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import numpy as np
import pytest

from curation.agreement.annotators.intra_annotator import (
    ONE_GRADE,
    Showings,
    read_repeats,
    read_showings,
    self_consistency,
    weighted_kappa,
)
from curation.labeling.judgments.judging import Submission
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.submit import submit
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import PASSWORD, add_pairs, add_people, built_once, grid

SCALE = (0, 1, 2, 3)


def showings(first: list[int], again: list[int], distance: list[int] | None = None) -> Showings:
    """One repeat an hour."""
    start = datetime(2026, 3, 2, 9)
    at = np.asarray([start + timedelta(hours=hour) for hour in range(len(first))], dtype="datetime64[us]")
    apart = np.asarray(distance or [30] * len(first))
    return Showings("ada", np.asarray(first), np.asarray(again), apart, at)


def test_the_distance_in_grades_and_the_shift_of_the_second_time_are_told_apart() -> None:
    found = self_consistency(showings([0, 1, 2, 3] * 5, [1, 0, 3, 2] * 5), SCALE)
    assert (found.off, found.shift) == (1.0, 0.0)
    assert (found.off_low, found.off_high) == (1.0, 1.0)
    assert found.shift_low < 0 < found.shift_high
    higher = self_consistency(showings([0, 1, 2, 2] * 5, [1, 2, 3, 2] * 5), SCALE)
    assert higher.off == higher.shift == 0.75
    assert higher.shift_low > 0.5


def test_weighted_kappa_of_a_published_table() -> None:
    """Cohen (1968), Psychological Bulletin 70, states that with squared distances kappa weighs like this:
    one minus the observed over the expected mean squared difference. Here by hand: 2 of 8 are off by one.
    """
    first, again = np.asarray([0, 0, 1, 1, 2, 2, 3, 3]), np.asarray([0, 0, 1, 2, 2, 2, 3, 2])
    expected = sum((a - b) ** 2 for a in first for b in again) / 64
    assert weighted_kappa(first, again, SCALE) == pytest.approx(1 - (2 / 8) / expected)
    assert weighted_kappa(first, first, SCALE) == 1
    assert weighted_kappa(first, 3 - first, SCALE) < 0


def test_kappa_without_variation_is_undefined_with_a_reason() -> None:
    found = self_consistency(showings([2] * 12, [2] * 12), SCALE)
    assert (found.kappa, found.no_kappa) == (None, ONE_GRADE)
    assert found.off == 0


def test_the_nearer_half_is_set_beside_the_farther_one() -> None:
    near_alike = showings([1] * 40, [1] * 20 + [2] * 20, [20] * 20 + [60] * 20)
    found = self_consistency(near_alike, SCALE)
    assert found.near is not None
    assert found.far is not None
    assert (found.near.share, found.near.n, found.far.share, found.far.n) == (1.0, 20, 0.0, 20)
    assert (found.near.farthest, found.far.nearest) == (20, 60)
    assert found.near_far_p < 1e-6
    same_distance = self_consistency(showings([1] * 40, [1] * 40), SCALE)
    assert same_distance.near is same_distance.near_far_p is None


@built_once
def repeated(store: Store) -> Store:
    """A round with blind duplicates; ada answers all, each second showing one grade higher."""
    add_pairs(store, grid(20, 5))
    add_people(store, "ada", "ben")
    open_round(store, "first", ["ada", "ben"], overlap=2, duplicates=0.15, seed=1)
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT presentation_id, document_id, duplicate_of IS NOT NULL FROM presentations "
            "WHERE annotator = 'ada' ORDER BY position"
        ).fetchall()
    items = [
        Submission(item, 0, "grade", f"key-{item}", grade=int(document[-1]) % 3 + again)
        for item, document, again in rows
    ]
    submit(store, "ada", items)
    return store


def test_repeats_are_read_with_both_grades_and_their_distance(repeated: Store) -> None:
    with repeated.reading() as cursor:
        (mine,) = read_showings(cursor)
        counted = {row.annotator: row for row in read_repeats(cursor)}
        assert [row.annotator for row in read_showings(cursor, "no such round")] == []
    assert (mine.annotator, len(mine.first)) == ("ada", sum(counted["ada"].graded))
    assert (mine.again - mine.first).tolist() == [1] * len(mine.first)
    assert mine.distance.mean() == pytest.approx(counted["ada"].distance)


def test_the_command_tells_what_there_is_to_talk_about(repeated: Store) -> None:
    project = ["--project", str(repeated.path), "consistency"]
    printed = json.loads(invoke([*project, "--round", "first", "--json"]).stdout)
    ada, ben = printed["annotators"]
    assert ada["repeats"]["off"] == 1
    assert {point["about"] for point in ada["feedback"]} == {"consistency", "second time"}
    assert (ben["repeats"], ben["feedback"]) == (None, [])
    text = invoke([*project, "--annotator", "ada"]).stdout
    assert "No change of ada's share of identical grades" in text
    assert "0\u00a0% of 15 pairs that came again got the same grade" in text
    missing = invoke([*project, "--annotator", "zoe"])
    assert "Those with items: ada, ben" in str(missing.exception)
    assert PASSWORD not in text
