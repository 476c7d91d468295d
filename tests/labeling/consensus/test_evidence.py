"""Evidence of pairs: what most people marked, disputes on marks, and what a reviewer marked."""

from __future__ import annotations

import duckdb
import pytest

from curation.agreement.report import make_agreement_report
from curation.core.errors import InputError
from curation.core.spans import Spans
from curation.guides.guide_text import parse_guide
from curation.ingest.importers.decision_lines import DecisionLine
from curation.labeling.consensus.adjudication import UNMARKED, decide_pair, import_decisions
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.disputes import find_disputes, read_case
from curation.labeling.consensus.marks import PairMarks, read_marks
from curation.labeling.consensus.queue import read_case_queue
from curation.labeling.consensus.reviewer_actions import ReviewerAction, submit_actions
from curation.labeling.consensus.votes import read_votes
from curation.labeling.judging import JudgmentEvent, Submission, append_events
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.use_guide import use_guide
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.operations.workflow.adjudicating import read_grade_counts
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.marking import GUIDE
from tests.support.projects import add_names, add_pairs, all_rows, built_once, change_text, rows_of

PAIR = ("q", "d")
PEOPLE = ("ada", "ben", "cyd")


@built_once
def opened(store: Store) -> Store:
    """A pair that three people judge; its document is "The body of d."; grades from 2 on take evidence."""
    add_pairs(store, {"q": ["d"]})
    add_names(store, *PEOPLE)
    add_names(store, "rita", role="reviewer")
    use_guide(store, parse_guide(GUIDE.format(ask="optional")))
    open_round(store, RoundRequest("first", PEOPLE, overlap=3, duplicates=0))
    return store


def mark(store: Store, **people: tuple[int, Spans]) -> None:
    for who, (grade, spans) in people.items():
        sql = "SELECT presentation_id FROM presentations WHERE annotator = ?"
        item = str(rows_of(store, sql, who)[0][0])
        (done,) = submit_judgments(
            store, who, [Submission(item, 0, "grade", f"key of {who}", grade=grade, evidence=spans)]
        )
        assert done.status == "saved", done.message


def marks(store: Store) -> PairMarks | None:
    """The marks of the pair, where its grade takes evidence."""
    with store.reading() as cursor:
        (pair,) = compute_consensus(read_votes(cursor)).pairs
        return read_marks(cursor).find_evidence(pair)


def evidence(store: Store) -> Spans:
    found = marks(store)
    return () if found is None else found.consensus


@pytest.mark.parametrize(
    ("people", "found"),
    [
        (
            {"ada": (3, ((0, 8),)), "ben": (3, ((4, 11),)), "cyd": (2, ((9, 14),))},
            [((4, 8), "body"), ((9, 11), "of")],
        ),
        (  # a range may need the quotes of several people
            {"ada": (3, ((0, 8),)), "ben": (3, ((0, 3), (8, 14))), "cyd": (3, ((3, 14),))},
            [((0, 14), "The body of d.")],
        ),
    ],
)
def test_evidence_is_what_more_than_half_of_those_who_marked_marked(
    opened: Store, people: dict[str, tuple[int, Spans]], found: list[tuple[tuple[int, int], str]]
) -> None:
    mark(opened, **people)
    assert evidence(opened) == tuple(span for span, _ in found)
    pair_marks = marks(opened)
    assert pair_marks is not None
    assert pair_marks.locate_evidence(None) == found


def test_no_screen_shows_the_marks_of_another_person_before_the_own_grade(opened: Store) -> None:
    mark(opened, ada=(3, ((4, 8),)))
    waiting = read_queue(opened, "ben")
    assert len(waiting.showings) == 1
    assert "(4, 8)" not in repr(waiting)


def test_marks_are_stored_with_their_judgment_or_not_at_all(opened: Store) -> None:
    mark(opened, ada=(3, ((4, 8),)))
    before = all_rows(opened)
    sql = "SELECT presentation_id, 1, start_at, end_at, quote, quote_hash FROM evidence_marks"
    columns = ", ".join(JudgmentEvent._fields)
    twice = rows_of(opened, f"SELECT {columns} FROM judgment_events")
    with pytest.raises(duckdb.ConstraintException), opened.transaction() as cursor:
        append_events(cursor, [JudgmentEvent._make(row) for row in twice], cursor.execute(sql).fetchall())
    assert all_rows(opened) == before


@pytest.mark.parametrize(
    ("ada", "ben", "expected"),
    [
        ((3, ((0, 3),)), (3, ()), ((0, 3),)),  # who marked nothing has no say
        ((1, ()), (1, ()), ()),
        ((3, ((0, 3),)), (1, ()), ()),  # disputed: no grade, so none that takes evidence
    ],
)
def test_one_person_is_enough_where_the_grade_takes_evidence(
    opened: Store, ada: tuple[int, Spans], ben: tuple[int, Spans], expected: Spans
) -> None:
    mark(opened, ada=ada, ben=ben)
    assert evidence(opened) == expected


def test_marks_without_a_common_character_are_a_dispute_until_a_reviewer_decides(opened: Store) -> None:
    mark(opened, ada=(3, ((0, 3),)), ben=(3, ((4, 8),)))
    (found,) = find_disputes(opened)
    assert (len(set(found.grades)), [one.evidence for one in found.opinions]) == (1, [((0, 3),), ((4, 8),)])
    with opened.reading() as cursor:
        assert read_grade_counts(cursor).disputed == 1
    assert make_agreement_report(opened).disputed == 1
    listed = invoke(["--project", str(opened.path), "disputes"]).stdout
    assert "1 of these disputes are only about evidence: the grades agree" in listed
    (case,) = read_case_queue(opened, "rita").cases
    assert [one.evidence for one in case.opinions] == [((0, 3),), ((4, 8),)]
    assert case.remarks == ["The grades agree, but annotators marked different passages. Mark the evidence."]
    sent = {"query_id": "q", "document_id": "d", "kind": "decide", "client_key": "key of rita", "grade": 3}
    sent |= {"words": "The body says it", "evidence": [[4, 6], [5, 8]]}
    (done,) = submit_actions(opened, "rita", [ReviewerAction.model_validate(sent)])
    assert done.status == "saved", done.message
    assert (find_disputes(opened), evidence(opened)) == ([], ((4, 8),))
    assert read_case(opened, *PAIR).dispute.evidence == ((4, 8),)


def test_a_decision_without_marks_ends_the_dispute_and_leaves_what_most_marked(opened: Store) -> None:
    mark(opened, ada=(3, ((0, 8),)), ben=(2, ((4, 14),)))
    decide_pair(opened, *PAIR, 3, "It says so", "rita")
    assert evidence(opened) == ((4, 8),)
    decide_pair(opened, *PAIR, 0, "It does not", "rita")
    assert evidence(opened) == ()


def test_a_file_of_decisions_settles_marks_without_a_common_character(opened: Store) -> None:
    mark(opened, ada=(3, ((0, 3),)), ben=(3, ((4, 8),)))
    line = DecisionLine(2, "q", "d", "3", "Both say it")
    assert import_decisions(opened, [line], "rita").decided == 1


def test_a_guide_that_requires_evidence_needs_marks_where_those_of_people_are_apart(opened: Store) -> None:
    use_guide(opened, parse_guide(GUIDE.format(ask="required")), open_rounds="switch")
    mark(opened, ada=(3, ((0, 3),)), ben=(3, ((4, 8),)))
    command = ["--project", str(opened.path)]
    assert "different evidence" in invoke([*command, "disputes"]).stdout
    with pytest.raises(
        InputError, match="grade 3 needs evidence: mark the passage of the document that shows it"
    ):
        decide_pair(opened, *PAIR, 3, "Both say it", "rita")
    found = import_decisions(opened, [DecisionLine(2, "q", "d", "3", "Both say it")], "rita")
    assert found.left_out == {UNMARKED: 1}
    decided = [*command, "decide", *PAIR, "--grade", "3", "--reason", "Ben has it", "--evidence"]
    refused = invoke([*decided, "nowhere"])
    assert "the quote “nowhere” is not in the text" in str(refused.exception)
    assert invoke([*decided, "The", "--evidence", "body  of"]).exit_code == 0
    assert evidence(opened) == ((0, 3), (4, 11))
    assert decide_pair(opened, *PAIR, 0, "It does not", "rita").grade == 0


def test_other_marks_are_another_decision_and_the_same_ones_again_are_not(opened: Store) -> None:
    mark(opened, ada=(3, ((0, 3),)))
    for place, spans in enumerate([((0, 3),), ((0, 3),), ((0, 8),), ()]):
        made = decide_pair(opened, *PAIR, 3, "It says so", "rita", evidence=spans)
        assert made.revision == [0, 0, 1, 2][place]
    assert rows_of(opened, "SELECT revision, quote FROM decision_marks ORDER BY 1") == [
        (0, "The"),
        (1, "The body"),
    ]


def test_a_decisions_marks_must_be_in_the_text_and_at_a_grade_that_takes_some(opened: Store) -> None:
    mark(opened, ada=(3, ()))
    with pytest.raises(InputError, match="evidence from 4 to 99 lies outside the document, which has 14"):
        decide_pair(opened, *PAIR, 3, "It says so", "rita", evidence=((4, 99),))
    with pytest.raises(
        InputError,
        match="grade 1 cannot have evidence: in this guide, only grades of 2 or more take evidence",
    ):
        decide_pair(opened, *PAIR, 1, "It says so", "rita", evidence=((4, 8),))
    assert rows_of(opened, "SELECT 1 FROM adjudications") == []


def test_marks_on_another_version_have_no_say_beside_those_of_the_version_in_force(opened: Store) -> None:
    mark(opened, ada=(3, ((0, 3),)))
    change_text(opened, "d")
    assert evidence(opened) == ((0, 3),)
    open_round(opened, RoundRequest("again", ["ben"], overlap=1, duplicates=0, again=True))
    sql = "SELECT presentation_id FROM presentations WHERE annotator = 'ben' ORDER BY rowid DESC LIMIT 1"
    item = str(rows_of(opened, sql)[0][0])
    submit_judgments(opened, "ben", [Submission(item, 0, "grade", "once more", grade=3, evidence=((4, 10),))])
    assert evidence(opened) == ((4, 10),)
