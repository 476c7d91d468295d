"""What annotators may know of their own work: pairs with a consensus only, and nothing of anybody else."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import count

import pytest

from curation.agreement.intra_annotator import MINIMUM_REPEATS
from curation.agreement.own_consistency import estimate_own_consistency
from curation.agreement.own_differences import REVIEWER, WAITING, OwnDifferences, find_own_differences
from curation.agreement.released_answers import ANSWERS_PER_BLOCK
from curation.core.digests import digest
from curation.core.statistics.estimate import Estimate
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.consensus.rule import MAJORITY
from curation.labeling.judging import Submission
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.rounds import write_round
from curation.labeling.session.submit import submit_judgments
from curation.store import Cursor, Store, append, require_setting, utc_now
from tests.support.projects import add_names, add_pairs, built_once, rows_of, turn_clock_back

pytestmark = pytest.mark.slow

PEOPLE = ("ada", "ben", "cleo")
DOCUMENTS = ("one", "two", "three", "four", "five")
TWICE = [f"twice {n}" for n in range(12)]


def show(
    store: Store, name: str, showings: list[tuple[str, str, str | None]], kind: str = "labeling"
) -> None:
    """A round whose presentations are given: annotator, document, and the first showing's document."""
    with store.transaction() as cursor:
        write_round(cursor, name, name, kind, require_setting(cursor, "guide", ""), {})
        ids = [ident(name, who, document, bool(again)) for who, document, again in showings]
        append(
            cursor,
            "presentations",
            {
                "presentation_id": ids,
                "round_id": [name] * len(ids),
                "annotator": [who for who, _, _ in showings],
                "query_id": ["q"] * len(ids),
                "document_id": [document for _, document, _ in showings],
                "content_hash": [digest(document) for _, document, _ in showings],
                "position": list(range(len(ids))),
                "duplicate_of": [
                    ident(name, who, again, False) if again else None for who, _, again in showings
                ],
            },
        )


def ident(name: str, who: str, document: str, again: bool) -> str:
    return f"{name} {who} {document} {again}"


def give(
    store: Store,
    who: str,
    document: str,
    grade: int | None,
    name: str = "first",
    again: bool = False,
    revision: int = 0,
) -> None:
    one = ident(name, who, document, again)
    kind = "cannot_tell" if grade is None else "grade"
    (done,) = submit_judgments(store, who, [Submission(one, revision, kind, f"key {one} {revision}", grade)])
    assert done.status == "saved"


def add_documents(cursor: Cursor, *names: str) -> None:
    columns = {"content_hash": [digest(name) for name in names], "document_id": names, "title": names}
    append(cursor, "documents", {**columns, "body": ["text"] * len(names), "metadata": ["{}"] * len(names)})


def work_on(store: Store, who: str) -> None:
    """One more block of answers, on pairs that nobody else has: all earlier ones are in full blocks then."""
    name = next(
        f"filler {n}" for n in count() if not rows_of(store, "FROM rounds WHERE name = ?", f"filler {n}")
    )
    documents = [f"{name} {who} {n}" for n in range(ANSWERS_PER_BLOCK)]
    with store.transaction() as cursor:
        add_documents(cursor, *documents)
    show(store, name, [(who, document, None) for document in documents])
    for document in documents:
        give(store, who, document, 1, name)


def take_back(store: Store, who: str) -> None:
    """What is open to them is not theirs any more: nothing can come to them."""
    with store.transaction() as cursor:
        cursor.execute(
            """INSERT INTO withdrawals SELECT presentation_id, 'no time', '', current_localtimestamp()
               FROM live_presentations JOIN round_states r USING (round_id)
               LEFT JOIN presentation_states s USING (presentation_id)
               WHERE annotator = ? AND NOT r.closed AND NOT coalesce(s.answered, false)""",
            [who],
        )


def tomorrow() -> datetime:
    return utc_now() + timedelta(days=1)


def differences(store: Store, who: str = "ada") -> OwnDifferences:
    """What the annotator reads on the next day, after a full day of work and with no item left."""
    work_on(store, who)
    take_back(store, who)
    return find_own_differences(store, who, tomorrow())


@built_once
def judged(store: Store) -> Store:
    """Three people over one query: everything open."""
    add_pairs(store, {"q": list(DOCUMENTS)})
    add_names(store, *PEOPLE)
    show(store, "first", [(who, document, None) for who in PEOPLE for document in DOCUMENTS])
    return store


def vote(store: Store, document: str, *grades: int | None) -> None:
    for who, grade in zip(PEOPLE, grades, strict=False):
        give(store, who, document, grade)


def told(store: Store, who: str = "ada") -> list[tuple[str, int | None, int | None, str, str | None]]:
    listed = differences(store, who).differences
    return sorted((one.title, one.mine, one.consensus, one.how, one.reason) for one in listed)


def test_a_majority_is_told_once_everybody_has_judged_the_pair(judged: Store) -> None:
    vote(judged, "one", 0, 2)
    assert told(judged) == []
    give(judged, "cleo", "one", 2)
    assert told(judged) == [("one", 0, 2, MAJORITY, None)]
    assert told(judged, "ben") == []


def test_in_a_closed_round_those_who_judged_decide(judged: Store) -> None:
    vote(judged, "one", 0, 2)
    give(judged, "cleo", "one", 2)
    vote(judged, "two", 1)
    set_round_state(judged, "first", "closed")
    assert told(judged) == [("one", 0, 2, MAJORITY, None)]
    mine = differences(judged, "ada")
    assert (mine.compared, mine.equal) == (1, 0), "what only ada judged is graded by nobody else"


def test_a_dispute_is_not_told_before_the_reviewer_decides_and_then_with_the_reason(judged: Store) -> None:
    vote(judged, "one", 0, 2, 3)
    assert told(judged) == []
    decide_pair(judged, "q", "one", 3, "It is the whole answer")
    assert told(judged) == [("one", 0, 3, REVIEWER, "It is the whole answer")]
    decide_pair(judged, "q", "one", None, "The document is cut off")
    assert told(judged) == [("one", 0, None, REVIEWER, "The document is cut off")]
    assert differences(judged, "cleo").differences[0].consensus is None


def test_cannot_tell_differs_from_every_grade(judged: Store) -> None:
    vote(judged, "one", None, 2, 2)
    assert told(judged) == [("one", None, 2, MAJORITY, None)]


def test_one_others_grade_is_not_told_as_settled(judged: Store) -> None:
    vote(judged, "one", None, None, 2)
    assert told(judged) == []


def test_blocks_and_the_list_are_in_the_order_of_writing_whatever_the_clock_said(judged: Store) -> None:
    """By the clock, the answers of the last block, which is not full, would come first."""
    for document in ("one", "two"):
        vote(judged, document, 0, 2, 2)
    work_on(judged, "ada")
    vote(judged, "three", 0, 2, 2)
    take_back(judged, "ada")
    turn_clock_back(judged)
    listed = find_own_differences(judged, "ada", tomorrow()).differences
    assert [one.title for one in listed] == ["two", "one"]


def test_nothing_tells_who_else_graded_or_how_many(judged: Store) -> None:
    vote(judged, "one", 0, 2, 2)
    decide_pair(judged, "q", "one", 2, "why")
    mine = differences(judged, "ada")
    assert not {"ben", "cleo"} & set(str(asdict(mine)).replace("'", " ").split())
    fields = {"query", "title", "mine", "consensus", "how", "reason", "answered_at"}
    assert set(mine.differences[0]._fields) == fields


def test_settled_pairs_wait_alike_for_a_relabel_and_for_a_new_item(judged: Store) -> None:
    vote(judged, "one", 0, 2, 2)
    vote(judged, "two", 1, 1, 1)
    decide_pair(judged, "q", "one", 2, "why")
    assert told(judged) == [("one", 0, 2, REVIEWER, "why")]
    assert differences(judged).compared == 2
    for name, again in (("more", "one"), ("other", "five")):
        show(judged, name, [("ada", again, None)])
        assert find_own_differences(judged, "ada", tomorrow()) == WAITING
        give(judged, "ada", again, 0, name)
    assert told(judged) == [("one", 0, 2, REVIEWER, "why")], "once, by the newest round"


def test_pilot_practice_and_known_answers_are_not_among_them(judged: Store) -> None:
    for kind in ("pilot", "practice"):
        show(judged, kind, [("ada", "five", None)], kind)
        give(judged, "ada", "five", 0, kind)
    give(judged, "ben", "five", 3)
    give(judged, "ada", "four", 0)
    for document in ("four", "five"):
        give(judged, "cleo", document, 3)
        decide_pair(judged, "q", document, 3, "why")
    with judged.transaction() as cursor:
        cursor.execute("INSERT INTO known_answers VALUES ('first', 'q', 'four', 3, '')")
    assert told(judged) == []


def test_a_share_needs_ten_settled_pairs(judged: Store) -> None:
    for document in DOCUMENTS:
        vote(judged, document, 1, 1, 1)
    mine = differences(judged, "ada")
    assert (mine.equal, mine.compared, mine.share) == (5, 5, Estimate(n=5))
    names = [f"more {n}" for n in range(2)]
    for name in names:
        new = [f"{name} {document}" for document in DOCUMENTS]
        with judged.transaction() as cursor:
            add_documents(cursor, *new)
        show(judged, name, [(who, document, None) for who in PEOPLE for document in new])
        for who in PEOPLE:
            for document in new:
                give(judged, who, document, 2 if (who, name) == ("ada", "more 0") else 1, name)
    mine = differences(judged, "ada")
    assert (mine.equal, mine.compared, mine.share.value) == (10, 15, pytest.approx(2 / 3))
    assert mine.share.low < 2 / 3


def test_somebody_without_items_has_no_consistency(store: Store) -> None:
    assert estimate_own_consistency(store, "nobody") is None
    assert find_own_differences(store, "nobody").compared == 0


@pytest.fixture
def repeated(judged: Store) -> Store:
    """Ada is shown twelve pairs twice; they were settled with another grade than hers. Eleven came back."""
    with judged.transaction() as cursor:
        add_documents(cursor, *TWICE)
    twice = [("ada", document, None) for document in TWICE] + [
        ("ada", document, document) for document in TWICE
    ]
    others = [(who, document, None) for who in ("ben", "cleo") for document in TWICE]
    show(judged, "repeats", twice)
    show(judged, "others", others)
    for document in TWICE:
        give(judged, "ada", document, 2, "repeats")
        for who in ("ben", "cleo"):
            give(judged, who, document, 0, "others")
    for document in TWICE[:11]:
        give(judged, "ada", document, 1, "repeats", again=True)
    return judged


def page(store: Store, now: datetime) -> tuple[Estimate | None, OwnDifferences]:
    """What the page says of ada, less her pace."""
    return estimate_own_consistency(store, "ada", now), find_own_differences(store, "ada", now)


def test_no_answer_changes_what_the_page_says_be_it_a_repeat_or_not(repeated: Store) -> None:
    work_on(repeated, "ada")
    today, then = utc_now(), tomorrow()
    before = page(repeated, today), page(repeated, then)
    assert before[0] != before[1], "there is something to tell on the next day"
    assert before[1][1] == WAITING
    give(repeated, "ada", "one", 3)
    give(repeated, "ada", TWICE[11], 1, "repeats", again=True)
    # changes, from the list of the last
    give(repeated, "ada", TWICE[0], 2, "repeats", again=True, revision=1)
    give(repeated, "ada", TWICE[1], 0, "repeats", revision=1)
    assert (page(repeated, today), page(repeated, then)) == before
    take_back(repeated, "ada")
    after = page(repeated, today), page(repeated, then)
    assert after[1][1].compared == 12
    give(repeated, "ada", TWICE[2], 0, "repeats", revision=1)
    give(repeated, "ada", "one", 1, revision=1)
    assert (page(repeated, today), page(repeated, then)) == after


def test_what_a_day_brought_is_told_on_the_next_in_full_blocks(repeated: Store) -> None:
    answered = 12 + 11
    assert page(repeated, tomorrow())[0] == Estimate(), f"{answered} are no full block"
    work_on(repeated, "ada")
    take_back(repeated, "ada")
    assert page(repeated, utc_now())[0] == Estimate(), "the day is not over"
    consistency, found = page(repeated, tomorrow())
    assert (consistency.n, consistency.value) == (11, 0.0)
    assert sorted(difference.title for difference in found.differences) == sorted(TWICE)


def test_a_slip_that_was_mended_at_once_is_no_inconsistency(repeated: Store) -> None:
    give(repeated, "ada", TWICE[0], 2, "repeats", again=True, revision=1)
    work_on(repeated, "ada")
    consistency = page(repeated, tomorrow())[0]
    assert (consistency.n, consistency.value) == (11, pytest.approx(1 / 11))


def test_a_closed_round_is_told_as_it_was_closed(repeated: Store) -> None:
    set_round_state(repeated, "repeats", "closed")
    set_round_state(repeated, "others", "closed")
    take_back(repeated, "ada")
    before = page(repeated, utc_now())
    assert before[0].n == 11
    assert before[1].compared == 12
    give(repeated, "ada", TWICE[11], 2, "repeats", again=True)  # late
    give(repeated, "ada", TWICE[0], 2, "repeats", again=True, revision=1)
    assert page(repeated, utc_now()) == before
    set_round_state(repeated, "repeats", "open")
    assert page(repeated, utc_now())[0] == Estimate()


def test_a_share_of_few_repeats_is_not_told_and_neither_is_their_number(repeated: Store) -> None:
    with repeated.transaction() as cursor:
        ids = [ident("repeats", "ada", document, True) for document in TWICE[MINIMUM_REPEATS - 1 :]]
        cursor.execute(
            "DELETE FROM judgment_events WHERE presentation_id IN (SELECT unnest(?::TEXT[]))", [ids]
        )
    set_round_state(repeated, "repeats", "closed")
    assert page(repeated, utc_now())[0] == Estimate()
