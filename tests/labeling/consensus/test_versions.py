"""Judgments and decisions about an older text do not count beside those about the text of now."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from curation.agreement.grades import read_grades
from curation.agreement.report import make_agreement_report
from curation.agreement.report_findings import list_findings
from curation.core.digests import digest
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.consensus import (
    PairConsensus,
    compute_query_consensus,
    read_consensus,
    read_relevance,
)
from curation.labeling.consensus.decisions import read_current_decisions
from curation.labeling.consensus.disputes import find_disputes, read_case
from curation.labeling.consensus.second_opinions import ask_opinion, read_awaited_opinions
from curation.labeling.consensus.votes import read_query_votes
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.control_items import read_control_items
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.rounds import list_rounds
from curation.store import Store, put_setting, require_setting
from tests.support.projects import add_names, add_pairs, change_text, grade_next, rows_of

pytestmark = pytest.mark.slow

PAIR = ("q", "d")
FIRST, SECOND = digest("d"), digest("d", "second")


@pytest.fixture
def twice(store: Store) -> Store:
    """Two annotators grade a pair 3; then its document gets another text, which nobody has judged."""
    add_pairs(store, {"q": ["d", "e"]})
    judge(store, "old", 3, 3)
    change_text(store, "d")
    return store


def judge(store: Store, who: str, *grades: int | None) -> None:
    rows = [ImportedJudgment(*PAIR, f"{who} {number}", grade) for number, grade in enumerate(grades)]
    add_judgments(store, rows, f"{who}.csv")


def settled_pair(store: Store) -> PairConsensus:
    with store.reading() as cursor:
        (found,) = read_consensus(cursor).pairs
        assert compute_query_consensus(cursor, read_query_votes(cursor, PAIR[0]), PAIR[0]) == [found]
    return found


def versions(store: Store) -> Sequence[tuple[int | None, str | None]]:
    return rows_of(store, "SELECT grade, content_hash FROM adjudications ORDER BY revision")


def test_one_vote_on_the_text_of_now_outweighs_all_votes_on_an_older_one(twice: Store) -> None:
    judge(twice, "new", 0)
    assert settled_pair(twice) == PairConsensus(*PAIR, 0, "single", {0: 1}, 0, 1)


def test_a_cannot_tell_about_the_text_of_now_is_an_answer_about_it(twice: Store) -> None:
    judge(twice, "new", None)
    assert settled_pair(twice) == PairConsensus(*PAIR, None, "unjudgeable", {}, 1, 1)


def test_votes_on_an_older_text_count_and_are_marked_where_there_are_no_others(twice: Store) -> None:
    assert settled_pair(twice) == PairConsensus(*PAIR, 3, "majority", {3: 2}, 0, 2, 1.0, changed=True)


def test_a_document_that_left_the_corpus_is_not_one_that_changed(store: Store) -> None:
    add_pairs(store, {"q": ["d"]})
    judge(store, "old", 3)
    with store.transaction() as cursor:
        put_setting(cursor, "corpus", "another")
    assert not settled_pair(store).changed


def test_a_decision_says_which_text_and_which_guide_were_read(twice: Store) -> None:
    decide_pair(twice, *PAIR, 1, "the first text")
    judge(twice, "new", 0)
    decide_pair(twice, *PAIR, 1, "the first text")
    assert versions(twice) == [(1, FIRST), (1, SECOND)], "another text, another decision"

    decide_pair(twice, *PAIR, 1, "the first text")
    assert len(versions(twice)) == 2
    with twice.reading() as cursor:
        assert read_current_decisions(cursor)[PAIR].guide_hash == require_setting(cursor, "guide", "")


def test_a_screen_decides_on_the_text_that_it_showed(twice: Store) -> None:
    case = read_case(twice, *PAIR)
    judge(twice, "new", 0)
    decide_pair(twice, *PAIR, 2, "what I read", content_hash=case.dispute.content_hash)
    assert versions(twice) == [(2, FIRST)]
    assert settled_pair(twice).grade == 0, "the decision is about a text that is no longer in force"


def test_a_decision_about_an_older_text_counts_until_the_text_of_now_is_judged(twice: Store) -> None:
    decide_pair(twice, *PAIR, 1, "the first text")
    assert settled_pair(twice)[2:4] == (1, "adjudicated")
    assert settled_pair(twice).changed
    judge(twice, "new", 0, 2)
    assert settled_pair(twice)[2:4] == (None, "disputed")
    (found,) = find_disputes(twice)
    assert found.decision_outdated
    assert found.decision is not None
    decide_pair(twice, *PAIR, 2, "the second text", seen_revision=found.decision.revision + 1)
    assert settled_pair(twice)[2:4] == (2, "adjudicated")
    assert not settled_pair(twice).changed


def test_a_dispute_shows_the_text_that_its_opinions_are_about_and_counts_the_older_ones(twice: Store) -> None:
    assert read_case(twice, *PAIR).dispute.remarks == [
        "This document has a newer text that nobody has judged yet."
    ]
    judge(twice, "new", 0, 2)
    case = read_case(twice, *PAIR)
    assert (case.dispute.grades, case.dispute.older, case.dispute.changed) == ((0, 2), 2, False)
    assert case.document.body == "The second body of d."
    assert case.dispute.remarks == ["Judgments of an older text, which do not count and are hidden: 2."]


def test_opinions_about_several_older_texts_are_told_apart(twice: Store) -> None:
    judge(twice, "new", 0)
    change_text(twice, "d", version="third")
    case = read_case(twice, *PAIR)
    assert [(one.grade, one.other_text) for one in case.dispute.opinions] == [
        (0, False),
        (3, True),
        (3, True),
    ]
    assert case.document.body == "The second body of d."


def test_a_second_opinion_is_about_the_text_in_dispute(store: Store) -> None:
    add_pairs(store, {"q": ["d"]})
    add_names(store, "ada", "ben")
    add_names(store, "rita", role="reviewer")
    open_round(store, RoundRequest("first", ["ada", "ben"], overlap=1, duplicates=0))
    for who in ("ada", "ben"):
        grade_next(store, who)
    change_text(store, "d")
    judge(store, "new", 0, 2)
    ask_opinion(store, *PAIR, "rita")
    shown = rows_of(
        store, "SELECT content_hash FROM presentations JOIN opinion_requests USING (presentation_id)"
    )
    assert shown == [(SECOND,)]
    change_text(store, "d", version="third")
    judge(store, "newer", 0, 2)
    with store.reading() as cursor:
        assert read_awaited_opinions(cursor) == {}, (
            "an opinion about an older text would not settle the dispute"
        )


def test_agreement_compares_judgments_of_one_text_and_counts_the_others(twice: Store) -> None:
    judge(twice, "new", 0)
    with twice.reading() as cursor:
        grades = read_grades(cursor)
    assert (grades.grades.tolist(), grades.older) == ([0], 2)
    report = make_agreement_report(twice)
    assert (report.between.units, report.between.older) == (0, 2)
    assert any("2 judgments of an older version" in sentence for sentence in list_findings(report))


def test_a_pair_that_was_decided_on_an_older_text_is_no_control_item(twice: Store) -> None:
    decide_pair(twice, *PAIR, 1, "the first text")
    judge(twice, "new", 0)
    with twice.reading() as cursor:
        pool = read_control_items(cursor)
    assert (pool.items, sum(pool.left_out.values())) == ((), 1)


def test_the_newest_round_counts_when_the_clock_stepped_back_between_two(store: Store) -> None:
    add_pairs(store, {"q": ["d"]})
    add_names(store, "ada")
    for name, grade in (("first", 3), ("second", 1)):
        open_round(store, RoundRequest(name, ["ada"], overlap=1, duplicates=0, again=True))
        grade_next(store, "ada", grade=grade)
    with store.transaction() as cursor:
        cursor.execute("UPDATE rounds SET opened_at = opened_at - INTERVAL 2 HOUR WHERE name = 'second'")
    assert settled_pair(store).grade == 1
    with store.reading() as cursor:
        assert [one.name for one in list_rounds(cursor)] == ["first", "second"]


def test_a_grade_about_an_older_text_refuses_no_document(twice: Store) -> None:
    relevance = read_relevance(twice)
    assert relevance.changed == {PAIR}
    judge(twice, "new", 0)
    assert read_relevance(twice).is_refused(PAIR)
