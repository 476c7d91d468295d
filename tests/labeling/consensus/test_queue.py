"""The reviewer's queue: the next pairs without names, each with one reviewer at a time."""

from __future__ import annotations

import json

import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.guides.guide import current_guide
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus import claims
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.case_views import (
    draw_whole_case,
    make_pair_id,
    read_case_context,
    read_case_view,
)
from curation.labeling.consensus.comments import list_comments
from curation.labeling.consensus.disputes import find_disputes
from curation.labeling.consensus.queue import read_case_queue, read_recent_cases
from curation.labeling.consensus.reviewer_actions import ReviewerAction, submit_actions
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, rows_of

pytestmark = pytest.mark.slow

GRADES = {"far": (0, 3, None), "three ways": (0, 1, 3), "near": (2, 3), "agreed": (2, 2)}
ORDER = ["far", "three ways", "near"]


@built_once
def judged(store: Store) -> Store:
    """One query with three disputed documents, two reviewers and an annotator."""
    add_pairs(store, {"far q": [*GRADES, "unjudged"]})
    said = [
        ImportedJudgment("far q", document, f"rater-{n}", grade, note=f"note {grade}" if n else None)
        for document, grades in GRADES.items()
        for n, grade in enumerate(grades)
    ]
    add_judgments(store, said, "three.csv")
    add_names(store, "grace", "mia", role="reviewer")
    add_names(store, "anna")
    return store


@pytest.fixture(autouse=True)
def no_claims() -> None:
    claims._claims_by_project.clear()


def in_force(store: Store) -> str:
    with store.reading() as cursor:
        return current_guide(cursor).guide_hash


def shown(store: Store, reviewer: str, limit: int = 6, after: tuple[str, ...] = ()) -> list[str]:
    return [one.document_id for one in read_case_queue(store, reviewer, limit, after).cases]


def of(document: str) -> str:
    return make_pair_id("far q", document)


def deciding(document: str, key: str = "key", **more: object) -> ReviewerAction:
    given = {"kind": "decide", "grade": 1, "words": "Because.", **more}
    return ReviewerAction.model_validate(
        {"query_id": "far q", "document_id": document, "client_key": key, **given}
    )


def test_the_next_pairs_come_in_the_order_of_the_list_of_disputes_without_those_on_screen(
    judged: Store,
) -> None:
    assert [one.document_id for one in find_disputes(judged)] == ORDER
    assert shown(judged, "grace", 2) == ORDER[:2]
    assert shown(judged, "grace", 2, (of("far"), of("three ways"))) == ORDER[2:]
    assert read_case_queue(judged, "grace", 0).disputed == 3


def test_a_pair_on_screen_has_its_opinions_in_the_order_of_what_they_say_and_nobodys_name(
    judged: Store,
) -> None:
    case = read_case_queue(judged, "grace", 1).cases[0]
    assert [(one.grade, one.words) for one in case.opinions] == [(0, ""), (3, "note 3"), (None, "note None")]
    assert [(part.text, part.marked) for part in case.title] == [("far", True)]
    assert "rater" not in json.dumps(case)
    assert (case.revision, case.decision, case.has_more) == (0, None, False)


def test_of_two_reviewers_each_gets_other_pairs_until_the_first_lets_them_go(
    judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(judged, "grace", 2) == ORDER[:2]
    upcoming = read_case_queue(judged, "mia")
    assert [one.document_id for one in upcoming.cases] == ["near"]
    assert (upcoming.disputed, upcoming.claimed) == (3, 2)
    assert shown(judged, "grace", 6, (of("far"),)) == ["three ways"], "what the other has is not hers"
    monkeypatch.setattr(claims, "CLAIM_SECONDS", -1.0)
    shown(judged, "grace", 2)  # held for no time any more
    assert shown(judged, "mia") == ORDER


def test_adjudication_is_the_reviewers_whatever_screen_asks(judged: Store) -> None:
    for refused in (
        lambda: read_case_queue(judged, "anna"),
        lambda: read_recent_cases(judged, "anna"),
        lambda: read_case_view(judged, "anna", "far q", "far"),
        lambda: draw_whole_case(judged, "anna", "far q", "far"),
    ):
        with pytest.raises(RefusedError, match="reviewer or lead"):
            refused()
    outcome = submit_actions(judged, "anna", [deciding("far")])[0]
    assert (outcome.status, "reviewer or lead" in outcome.message) == ("refused", True)
    assert rows_of(judged, "FROM adjudications") == []


def test_the_whole_document_is_that_of_a_judged_pair_only(judged: Store) -> None:
    text = draw_whole_case(judged, "grace", "far q", "far")
    assert [(part.text, part.marked) for part in text] == [
        ("The body of ", False),
        ("far", True),
        (".", False),
    ]
    with pytest.raises(NotFoundError, match="unjudged"):
        draw_whole_case(judged, "grace", "far q", "unjudged")


def test_a_decision_that_is_sent_again_is_saved_and_written_once_even_after_a_later_one(
    judged: Store,
) -> None:
    first, second = deciding("far"), deciding("far", "other", grade=2, revision=1)
    outcomes = submit_actions(judged, "grace", [first, first, second, first])
    assert [one.status for one in outcomes] == ["saved"] * 4
    assert rows_of(judged, "SELECT revision, grade FROM adjudications ORDER BY 1") == [(0, 1), (1, 2)]


def test_a_pair_that_another_decided_meanwhile_is_stale_and_says_by_whom_and_why(judged: Store) -> None:
    decide_pair(judged, "far q", "far", 3, "All of it", "mia")
    stale, saved = submit_actions(judged, "grace", [deciding("far"), deciding("near", "other")])
    assert (stale.status, saved.status) == ("stale", "saved")
    assert (
        "mia decided this pair while you had it open. "
        "The decision is grade 3, because “All of it”" in stale.message
    )
    decided = (3, "All of it", "mia", False, in_force(judged), ())
    assert read_case_view(judged, "grace", "far q", "far").decision == decided


def test_a_decision_of_ones_own_other_tab_counts(judged: Store) -> None:
    decide_pair(judged, "far q", "far", 3, "All of it", "grace")
    outcome = submit_actions(judged, "grace", [deciding("far")])[0]
    assert (outcome.status, "another tab" in outcome.message) == ("stale", True)
    assert rows_of(judged, "SELECT grade FROM adjudications") == [(3,)]


@pytest.mark.parametrize(
    ("submission", "words"),
    [
        (deciding("unjudged"), "Nobody has judged"),
        (deciding("far", grade=9), "9"),
        (deciding("far", words=" "), "A decision needs a reason"),
        (deciding("far", kind="opinion"), "so it is in no round"),
        (deciding("far", kind="unclear", words=""), "Enter in a few words"),
    ],
    ids=["unjudged", "grade", "reason", "opinion", "question"],
)
def test_what_cannot_be_taken_is_refused_with_the_reason(
    judged: Store, submission: ReviewerAction, words: str
) -> None:
    outcome = submit_actions(judged, "grace", [submission])[0]
    assert (outcome.client_key, outcome.status) == ("key", "refused")
    assert words in outcome.message
    assert "`" not in outcome.message, "a page names no commands"
    assert rows_of(judged, "FROM adjudications") == []


def test_a_pair_has_the_decided_documents_of_its_query_as_anchors(judged: Store) -> None:
    assert read_case_context(judged, "grace", "far q", "far")[0] == []
    decide_pair(judged, "far q", "near", 3, "It is what was asked for.", "mia")
    decide_pair(judged, "far q", "agreed", 1, "Only the subject.", "mia")
    decide_pair(judged, "far q", "three ways", None, "It is cut off.", "mia")
    found = read_case_context(judged, "grace", "far q", "far")[0]
    assert [(one.document_id, one.grade, one.reason) for one in found] == [
        ("near", 3, "It is what was asked for."),
        ("agreed", 1, "Only the subject."),
    ]
    assert [one.document_id for one in read_case_context(judged, "mia", "far q", "near")[0]] == ["agreed"]
    with pytest.raises(RefusedError):
        read_case_context(judged, "anna", "far q", "far")


def test_reviewers_comment_on_a_pair_and_what_is_sent_again_is_written_once(judged: Store) -> None:
    said = {"kind": "comment", "words": " Does a part count? "}
    for _ in range(2):
        assert submit_actions(judged, "grace", [deciding("far", "key-00001", **said)])[0].status == "saved"
    submit_actions(judged, "mia", [deciding("far", "key-00002", kind="comment", words="Yes, as 1.")])
    submit_actions(judged, "mia", [deciding("near", "key-00003", kind="comment", words="This, too.")])
    found = read_case_context(judged, "mia", "far q", "far")[1]
    assert [(one.author, one.words) for one in found] == [
        ("grace", "Does a part count?"),
        ("mia", "Yes, as 1."),
    ]
    with judged.reading() as cursor:
        assert [one.document_id for one in list_comments(cursor, "mia", "far q")] == ["far", "far", "near"]
        with pytest.raises(RefusedError):
            list_comments(cursor, "anna", "far q")
    trail = rows_of(judged, "SELECT actor FROM events WHERE action = 'comment on a dispute' ORDER BY rowid")
    assert trail == [("grace",), ("mia",), ("mia",)]
    refused = submit_actions(
        judged,
        "mia",
        [
            deciding("far", "key-00004", kind="comment", words=" "),
            deciding("unjudged", "key-00005", kind="comment", words="Nobody has judged it."),
        ],
    )
    assert [one.status for one in refused] == ["refused", "refused"]


def test_who_has_still_to_grade_a_pair_reads_neither_its_comments_nor_it_as_an_anchor(judged: Store) -> None:
    decide_pair(judged, "far q", "near", 3, "It is what was asked for.", "grace")
    submit_actions(judged, "grace", [deciding("near", "key-00001", kind="comment", words="A clear 3.")])
    open_round(judged, RoundRequest("first", ["mia"], overlap=1, duplicates=0, again=True))
    with judged.transaction() as cursor:
        cursor.execute("DELETE FROM presentations WHERE document_id = 'far' AND annotator = 'mia'")
    assert read_case_context(judged, "mia", "far q", "far") == ([], [])
    with judged.reading() as cursor:
        assert list_comments(cursor, "mia", "far q") == []
    again = submit_actions(judged, "mia", [deciding("near", "key-00002", kind="comment", words="Why?")])
    assert again[0].status == "refused"
