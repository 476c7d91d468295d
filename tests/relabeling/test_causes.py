"""Causes of drift: what is compared with what, and who is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest

from curation.relabeling.drift.causes import FEW_PAIRS, CauseRow, drift_causes, named
from curation.relabeling.drift.regraded_pairs import TRAFFIC, NewVote
from curation.releases.freeze.relabeled import ANNOTATORS, DOCUMENT, GUIDE
from curation.statistics.p_values import blocked_p

QUARTERS = ("2026-Q1", "2026-Q2")
PEOPLE = ("ada", "ben", "cyd", "dee")
Causes = Callable[[int, int, int], tuple[str, ...]]


def votes(causes: Causes, shift: Callable[[str, tuple[str, ...], np.random.Generator], int]) -> list[NewVote]:
    """Two quarters of 24 queries with three documents, by two of four people; `causes` by quarter, query and
    document; `shift`: what a person's new grade is more than the old one of 1."""
    random, found = np.random.default_rng(5), []
    for quarter in range(2):
        for query in range(24):
            for document in range(3):
                own = causes(quarter, query, document)
                for who in (PEOPLE[query % 4], PEOPLE[(query + 1 + document) % 4]):
                    after = 1 + shift(who, own, random)
                    found.append(NewVote(QUARTERS[quarter], f"q{query}", f"d{document}", who, 1, after, own))
    return found


def rows_of(given: Sequence[NewVote]) -> dict[str, CauseRow]:
    return {row.cause: row for row in drift_causes(given).rows}


def people_of(given: Iterable[NewVote]) -> set[str]:
    return {row.annotator for row in drift_causes(list(given)).people if named(row)}


def noise(random: np.random.Generator, rate: float) -> int:
    return int(random.random() < rate) * int(random.choice([-1, 1]))


@pytest.mark.parametrize("planted", [DOCUMENT, GUIDE, TRAFFIC])
def test_the_cause_that_changes_grades_is_named_and_those_that_come_with_it_are_not(planted: str) -> None:
    """Half of the rewritten documents are of queries whose traffic moved; the guide is new in the second
    quarter, where all of that happens. No pair is without any cause there."""

    def causes(quarter: int, query: int, document: int) -> tuple[str, ...]:
        has = ((DOCUMENT, document == query % 3), (GUIDE, quarter == 1), (TRAFFIC, query % 3 == 0))
        return tuple(cause for cause, true in has if true and (quarter or cause != GUIDE))

    rows = rows_of(votes(causes, lambda _who, own, random: noise(random, 0.7 if planted in own else 0.1)))
    assert {cause for cause, row in rows.items() if named(row)} == {planted}
    assert rows[planted].others.votes + rows[planted].having.votes == 288, "all pairs without it are compared"
    assert (rows[planted].difference.value or 0) > 0.3


def test_a_cause_that_no_pair_is_without_is_not_tested_and_says_so() -> None:
    def everywhere(_quarter: int, query: int, _document: int) -> tuple[str, ...]:
        return (TRAFFIC, DOCUMENT) if query % 2 else ()

    (row, _) = drift_causes(votes(everywhere, lambda _who, _own, random: noise(random, 0.3))).rows
    assert (row.cause, row.p, row.difference.why) == (DOCUMENT, None, FEW_PAIRS)


def test_who_drifts_is_named_and_those_who_grade_with_them_are_not() -> None:
    def shift(who: str, _own: tuple[str, ...], random: np.random.Generator) -> int:
        return int(who == "dee" and random.random() < 0.7) + noise(random, 0.1)

    def new_people(_quarter: int, query: int, document: int) -> tuple[str, ...]:
        return (ANNOTATORS,) if 3 in (query % 4, (query + 1 + document) % 4) else ()

    given = votes(new_people, shift)
    assert people_of(given) == {"dee"}
    found = drift_causes(given)
    assert (found.apart, [named(row) for row in found.rows]) == (("dee",), [False]), "the cause is one person"


def test_what_moves_everybody_is_nobodys_drift() -> None:
    assert people_of(votes(lambda *_: (), lambda _who, _own, random: int(random.random() < 0.5))) == set()


def test_values_in_blocks_have_the_exact_p_of_strata_of_tables() -> None:
    """Mantel (1963), penicillin in rabbits: cured of 6 at once and of 6 after 1.5 hours at three doses that
    differ: 3 and 0, 6 and 2, 5 and 6. The exact p of both sides is 0.0399 (R, `mantelhaen.test(exact=TRUE)`).
    """
    cured = ((3, 0), (6, 2), (5, 6))
    values = np.concatenate([np.arange(6) < number for dose in cured for number in dose]).astype(float)
    weights, blocks = np.tile(np.repeat([1.0, 0.0], 6), 3), np.repeat(np.arange(3), 12)
    ps = [blocked_p(weights, values, blocks, seed)[0] for seed in range(20)]
    assert np.mean(ps) == pytest.approx(0.0399, abs=0.003)
    _, spread = blocked_p(weights, values, blocks, 0)
    variance = sum(36 * k * (12 - k) / (144 * 11) for k in (3, 8, 11))
    assert spread == pytest.approx(variance**0.5), "the hypergeometric variance of Mantel and Haenszel"
