"""One more opinion: blind for everybody, asked for once, and the dispute rests until it is in."""

from __future__ import annotations

import json

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.guides.guide import current_guide
from curation.guides.questions import ask_about_pair, list_questions
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.disputes import find_disputes, read_case
from curation.labeling.consensus.second_opinions import ask_opinion, read_awaited_opinions
from curation.labeling.imported import add_judgments
from curation.labeling.judging import Submission
from curation.labeling.rounds.reassignment import reassign
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import add_names, add_pairs, built_once, open_for, rows_of

pytestmark = pytest.mark.slow

PEOPLE = ("ada", "ben", "cleo", "dora")
PAIRS = {f"q{n}": ["one", "two"] for n in range(4)}
PAIR = ("q0", "one")


def answer(store: Store, who: str, grade: int, only: tuple[str, str] | None = None) -> int:
    """Answer what somebody has open, or one pair of it; how many that was."""
    rows = rows_of(
        store,
        """
        SELECT p.presentation_id, p.query_id, p.document_id
        FROM live_presentations p LEFT JOIN presentation_states s USING (presentation_id)
        WHERE p.annotator = ? AND NOT coalesce(s.answered, false)
        """,
        who,
    )
    mine = [row[0] for row in rows if only is None or row[1:] == only]
    done = submit_judgments(store, who, [Submission(one, 0, "grade", f"key of {one}", grade) for one in mine])
    assert {outcome.status for outcome in done} <= {"saved"}
    return len(done)


def holders(store: Store) -> dict[str, int]:
    sql = """
        SELECT annotator, count(*) FROM live_presentations
        WHERE query_id = ? AND document_id = ? GROUP BY annotator
        """
    return dict(rows_of(store, sql, *PAIR))


@built_once
def disputed(store: Store) -> Store:
    """A round of four people, two for each pair, in which `PAIR` is disputed and nothing else answered."""
    add_names(store, "rosa", role="reviewer")
    open_for(store, PAIRS, *PEOPLE, overlap=2, seed=1)
    for grade, who in zip((0, 3), sorted(holders(store)), strict=True):
        assert answer(store, who, grade, PAIR) == 1
    assert [(item.query_id, item.document_id) for item in find_disputes(store)] == [PAIR]
    return store


def asked_of(store: Store) -> str:
    """Ask for one more opinion; who it is asked of."""
    before = holders(store)
    ask_opinion(store, *PAIR, "rosa")
    (new,) = set(holders(store)) - set(before)
    return new


def test_an_opinion_goes_to_somebody_who_never_had_the_pair(disputed: Store) -> None:
    before = holders(disputed)
    asked = ask_opinion(disputed, *PAIR, "rosa")
    assert asked[0] == "first"
    (new,) = set(holders(disputed)) - set(before)
    assert new in PEOPLE
    assert all(count == 1 for count in holders(disputed).values())
    assert not set(PEOPLE) & set(map(str, asked)), "the reviewer is not told who"


@pytest.mark.parametrize(("opinion", "still_disputed"), [(1, True), (3, False)])
def test_the_dispute_rests_until_the_opinion_is_in_and_ends_where_that_settles_it(
    disputed: Store, opinion: int, still_disputed: bool
) -> None:
    new = asked_of(disputed)
    assert find_disputes(disputed) == []
    with disputed.reading() as cursor:
        assert list(read_awaited_opinions(cursor)) == [PAIR]
    answer(disputed, new, opinion, PAIR)
    assert read_case(disputed, *PAIR).dispute.grades == tuple(sorted((0, 3, opinion)))
    assert bool(find_disputes(disputed)) == still_disputed


def test_the_annotators_item_looks_like_any_other(disputed: Store) -> None:
    new = asked_of(disputed)
    showings = read_queue(disputed, new, 100).showings
    item = showings[-1]
    assert (item.query, item.kind, item.revision) == (PAIR[0], "work", 0)
    assert len(item.presentation_id) == len(showings[0].presentation_id)
    assert "opinion" not in str(item)


def test_asking_again_while_it_is_awaited_changes_nothing(disputed: Store) -> None:
    first = ask_opinion(disputed, *PAIR, "rosa")
    assert ask_opinion(disputed, *PAIR, "rosa") == first
    assert sum(holders(disputed).values()) == 3


def test_when_nobody_is_left_it_is_refused_with_a_way_out(disputed: Store) -> None:
    for grade in (1, 2):
        answer(disputed, asked_of(disputed), grade, PAIR)
    with pytest.raises(RefusedError, match="No member of first can judge this pair"):
        ask_opinion(disputed, *PAIR, "rosa")
    assert len(find_disputes(disputed)) == 1


def test_who_has_fewest_open_items_is_asked(disputed: Store) -> None:
    free = sorted(set(PEOPLE) - set(holders(disputed)))
    answer(disputed, free[-1], 2)
    ask_opinion(disputed, *PAIR, "rosa")
    assert free[-1] in holders(disputed)


def test_a_closed_round_brings_no_opinion(disputed: Store) -> None:
    set_round_state(disputed, "first", "closed")
    with pytest.raises(RefusedError, match="first is closed"):
        ask_opinion(disputed, *PAIR, "rosa")


def test_a_dispute_returns_when_the_round_is_closed_without_the_opinion(disputed: Store) -> None:
    ask_opinion(disputed, *PAIR, "rosa")
    set_round_state(disputed, "first", "closed")
    assert len(find_disputes(disputed)) == 1


def test_an_opinion_that_was_reassigned_is_still_awaited(disputed: Store) -> None:
    new = asked_of(disputed)
    (other,) = set(PEOPLE) - set(holders(disputed))
    reassign(disputed, "first", new, [other])
    assert other in holders(disputed)
    assert find_disputes(disputed) == []
    answer(disputed, other, 3, PAIR)
    with disputed.reading() as cursor:
        assert read_awaited_opinions(cursor) == {}


def test_a_pair_with_an_opinion_to_come_is_not_complete(disputed: Store) -> None:
    assert read_round_status(disputed, "first").complete == 1
    ask_opinion(disputed, *PAIR, "rosa")
    status = read_round_status(disputed, "first")
    assert (status.complete, status.candidates) == (0, 8)


def test_only_judged_undecided_pairs_are_sent_back(disputed: Store) -> None:
    with pytest.raises(NotFoundError, match="Nobody has judged"):
        ask_opinion(disputed, "q1", "one", "rosa")
    decide_pair(disputed, *PAIR, 2, "why", "rosa")
    with pytest.raises(RefusedError, match="This pair is already decided"):
        ask_opinion(disputed, *PAIR, "rosa")
    assert sum(holders(disputed).values()) == 2


def test_imported_disputes_are_nobodys_to_be_shown(store: Store) -> None:
    add_pairs(store, {"q": ["one"]})
    rows = [ImportedJudgment("q", "one", f"rater-{grade}", grade) for grade in (0, 3)]
    add_judgments(store, rows, "two.csv")
    with pytest.raises(RefusedError, match="imported, so it is in no round"):
        ask_opinion(store, "q", "one")


def test_a_question_about_the_guide_is_kept_once_with_its_version(disputed: Store) -> None:
    first = ask_about_pair(disputed, *PAIR, "  Do parts   count? ", "rosa")
    assert ask_about_pair(disputed, *PAIR, "Do parts count?", "rosa") == first
    with disputed.reading() as cursor:
        (kept,) = list_questions(cursor)
        assert kept.guide_hash == current_guide(cursor).guide_hash
    assert (kept.words, kept.query, kept.title, kept.author, kept.in_force) == (
        "Do parts count?",
        "q0",
        "one",
        "rosa",
        True,
    )


def test_a_question_needs_words_and_a_pair_that_was_shown(disputed: Store) -> None:
    with pytest.raises(InputError, match="enter in a few words"):
        ask_about_pair(disputed, *PAIR, "  ", "rosa")
    with pytest.raises(NotFoundError, match="No round has shown"):
        ask_about_pair(disputed, "q0", "nowhere", "why", "rosa")


def test_the_commands_send_back_and_list_questions(disputed: Store) -> None:

    def goldgrade(*words: str) -> dict:
        result = invoke(["--project", str(disputed.path), *words, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    assert goldgrade("decide", *PAIR, "--second-opinion")["round"] == "first"
    assert goldgrade("disputes")["total"] == 0
    question = goldgrade("decide", *PAIR, "--unclear", "Do parts count?")
    (listed,) = goldgrade("guide", "show", "--questions")["questions"]
    assert (listed["question_id"], listed["author"]) == (question["question_id"], "command line")
