"""How alike lists are, against the authors' programs; nothing of it depends on a grade."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from curation.evaluation.comparison.pairs import MOST_PAIRS
from curation.evaluation.comparison.similar_lists import (
    SimilarLists,
    first_places,
    similar_lists,
)
from curation.scoring.metrics.qrels import qrels_from, rank, run_rows

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def compared(
    lists: Mapping[str, Mapping[str, str]], grade: int = 1, baseline: str | None = None
) -> tuple[SimilarLists, ...]:
    """System → query → documents of one letter, the best first."""
    queries = sorted({query for found in lists.values() for query in found} | {"unanswered"})
    qrels = qrels_from({query: {"a": grade, "b": 0} for query in queries})
    rows = {
        system: run_rows(
            {
                query: {letter: -float(rank) for rank, letter in enumerate(text)}
                for query, text in found.items()
            },
            qrels,
        )
        for system, found in lists.items()
    }
    lists = {system: first_places(found, rank(found, qrels)) for system, found in rows.items()}
    return similar_lists(lists, len(queries), baseline)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("karfvodcjmwgzlypebunq", 0.468431),
        ("zhatsimjpnkvcfxwqgoeryubd", 0.364444),
        ("sozxjfdenvqkbgryapc", 0.307626),
        ("zclx", 0.233312),
        ("nxqyk", 0.049050),
        ("f", 0.053090),
    ],
)
def test_rank_biased_overlap_is_that_of_webbers_program(other: str, expected: float) -> None:
    """Values that W. Webber's program gave for lists of other lengths (test data of the crate rbo), p 0.9."""
    (one,) = compared({"first": {"q": ALPHABET}, "second": {"q": other}})
    assert one.rbo == pytest.approx(expected, abs=1e-6)


def test_ap_correlation_by_hand() -> None:
    """b above a: 0 + 1 + 1 of three, from either side. A mistake at the end costs less: 1 + 1 + 2/3."""
    top, bottom = compared({"x": {"q": "abcd"}, "y": {"q": "bacd"}, "z": {"q": "abdc"}})[:2]
    assert top.tau_ap == pytest.approx(2 / 3 * 2 - 1)
    assert bottom.tau_ap == pytest.approx(2 / 3 * (2 + 2 / 3) - 1)


def test_figures_are_means_over_the_queries_that_have_them() -> None:
    """One query is the same, of one a system returns nothing, of one they share a document of two."""
    lists = {"x": {"p": "ab", "q": "ab", "r": "ab"}, "y": {"p": "ab", "r": "cb"}}
    (one,) = compared(lists)
    assert (one.system, one.other, one.n, one.ordered) == ("y", "x", 3, 1)
    assert one.overlap == {10: pytest.approx((1 + 0 + 0.5) / 3), 100: pytest.approx(0.5)}
    assert one.tau_ap == 1.0
    assert compared(lists, grade=0) == compared(lists)


def test_reversed_lists_have_the_same_documents_in_another_order() -> None:
    (one,) = compared({"x": {"q": ALPHABET}, "y": {"q": ALPHABET[::-1]}})
    assert (one.overlap[100], one.tau_ap) == (1.0, pytest.approx(-1.0))


def test_lists_are_compared_with_a_baseline_alone_and_never_for_too_many_pairs() -> None:
    lists = {f"s{number}": {"q": "ab"} for number in range(12)}
    assert len(lists) * (len(lists) - 1) / 2 > MOST_PAIRS
    assert compared(lists) == ()
    assert [one.other for one in compared(lists, baseline="s3")] == ["s3"] * 11
    assert compared({"alone": {"q": "ab"}}) == ()


def test_an_empty_run_has_nothing_in_common() -> None:
    (one,) = compared({"x": {"q": "ab"}, "y": {}})
    assert (one.overlap[10], one.rbo, one.tau_ap) == (0.0, 0.0, None)
