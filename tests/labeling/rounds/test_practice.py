"""Practice: known queries first, explained; who passes goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import InputError, RefusedError
from curation.labeling.judging import Submission
from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import PRACTISED_BEFORE, open_round
from curation.labeling.rounds.practice import practise_again, read_feedback, waive_practice
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.session.history import read_history_page
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.store import Store
from tests.support.projects import add_names, add_pairs, built_once, decide_pairs, grade_next, grid, rows_of

DECIDED = {(f"query {q}", f"document {q}.{d}"): 1 for q in range(6) for d in range(3)}


@built_once
def decided(store: Store) -> Store:
    """Six decided queries with three documents, judged by mary, and a round for ada over two fresh ones."""
    add_pairs(store, grid(6, 3))
    add_names(store, "ada", "grace", "mary")
    open_round(store, RoundRequest("earlier", ["mary"], overlap=1, duplicates=0))
    grade_next(store, "mary", 18)
    decide_pairs(store, DECIDED)
    add_pairs(store, {"fresh 1": ["f1", "f2"], "fresh 2": ["f3", "f4"]})
    open_round(store, RoundRequest("real", ["ada"], overlap=1, duplicates=0))
    return store


def practise(store: Store, right: int, wrong: int) -> None:
    grade_next(store, "ada", right, grade=1)
    grade_next(store, "ada", wrong, grade=3)


@pytest.mark.slow
def test_practice_comes_before_the_real_queue(decided: Store) -> None:
    opened = open_practice(decided, PracticeRequest("welcome", ["ada", "grace"], queries=2))
    assert opened.per_annotator == {"ada": 6, "grace": 6}
    queue = read_queue(decided, "ada", 20)
    assert {one.kind for one in queue.showings} == {"practice"}
    assert (queue.done, queue.total) == (0, 6)
    assert queue.practice == (0, 6, 0, 0.8, None)


def test_who_passes_goes_on_to_the_real_queue(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=2))
    practise(decided, 5, 1)
    queue = read_queue(decided, "ada", 20)
    assert [one.kind for one in queue.showings] == ["work"] * 4
    assert queue.practice == (6, 6, 5, 0.8, True)
    assert (queue.done, queue.total) == (0, 4)


def test_who_does_not_pass_learns_it_and_waits(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=2))
    practise(decided, 4, 2)
    queue = read_queue(decided, "ada", 20)
    assert (queue.showings, queue.practice) == ([], (6, 6, 4, 0.8, False))
    assert "4 of 6 times; to pass, you need 80\u00a0%" in queue.message


def test_practising_again_brings_other_queries_and_only_those_count(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=2))
    practise(decided, 0, 6)
    first = {row[0] for row in rows_of(decided, PRACTISED)}
    standing = practise_again(decided, "welcome", "ada")
    assert standing.state == (0, 6, 0, 0.8, None)
    assert not first & {one.query for one in read_queue(decided, "ada", 6).showings}
    practise(decided, 6, 0)
    assert {one.kind for one in read_queue(decided, "ada").showings} == {"work"}


def test_the_lead_lets_somebody_pass_with_a_reason(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=1))
    practise(decided, 0, 3)
    with pytest.raises(InputError, match=r"Give a reason .* Give the reason with `--reason`"):
        waive_practice(decided, "welcome", "ada", " ")
    assert waive_practice(decided, "welcome", "ada", "we talked it through").waived
    assert {one.kind for one in read_queue(decided, "ada").showings} == {"work"}
    with pytest.raises(RefusedError, match="has already passed welcome"):
        practise_again(decided, "welcome", "ada")


def test_who_is_in_the_middle_of_it_gets_no_other_set(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=1))
    practise(decided, 1, 0)
    with pytest.raises(RefusedError, match="1 of 3 are answered"):
        practise_again(decided, "welcome", "ada")


def test_a_closed_practice_need_not_be_passed(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=1))
    set_round_state(decided, "welcome", "closed")
    assert {one.kind for one in read_queue(decided, "ada").showings} == {"work"}


def test_the_expected_grade_is_shown_only_after_the_annotators_own_answer(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada", "grace"], queries=1))
    items = [one.presentation_id for one in read_queue(decided, "ada").showings]
    assert read_feedback(decided, "ada", items) == []
    submit_judgments(decided, "ada", [Submission(items[0], 0, "grade", "press-0001", grade=3)])
    (told,) = read_feedback(decided, "ada", items)
    assert (told.presentation_id, told.expected, told.given, told.right) == (items[0], 1, 3, False)
    assert (told.explanation or "").startswith("because of document")
    assert read_feedback(decided, "grace", items) == []


def test_real_work_has_no_feedback(decided: Store) -> None:
    items = [one.presentation_id for one in read_queue(decided, "ada").showings]
    grade_next(decided, "ada", 2)
    assert read_feedback(decided, "ada", items) == []


def test_a_practice_answer_cannot_change_once_explained(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=1))
    item = read_queue(decided, "ada").showings[0].presentation_id
    submit_judgments(decided, "ada", [Submission(item, 0, "grade", "press-0001", grade=3)])
    for kind, grade in (("grade", 1), ("undo", None), ("cannot_tell", None)):
        outcome = submit_judgments(decided, "ada", [Submission(item, 1, kind, f"again-{kind}", grade=grade)])[
            0
        ]
        assert outcome.status == "refused"
    assert read_history_page(decided, "ada").answers == []


def test_within_one_step_is_right_where_the_lead_says_so(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=1, within=1))
    grade_next(decided, "ada", 3, grade=2)
    assert read_queue(decided, "ada").practice == (3, 3, 3, 0.8, True)


def test_cannot_tell_is_not_right(decided: Store) -> None:
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=1, pass_mark=0.3))
    for n, one in enumerate(read_queue(decided, "ada").showings):
        submit_judgments(decided, "ada", [Submission(one.presentation_id, 0, "cannot_tell", f"cannot-{n}")])
    assert read_queue(decided, "ada").practice == (3, 3, 0, 0.3, False)


def test_practice_counts_as_no_judgment(decided: Store) -> None:
    before = rows_of(decided, "SELECT count(*) FROM counted_judgments")
    open_practice(decided, PracticeRequest("welcome", ["ada"], queries=2))
    practise(decided, 6, 0)
    assert rows_of(decided, "SELECT count(*) FROM counted_judgments") == before


def test_nobody_practises_on_what_they_have_judged(decided: Store) -> None:
    with pytest.raises(RefusedError, match="mary has already judged every known pair"):
        open_practice(decided, PracticeRequest("welcome", ["mary"]))


def test_without_decisions_or_a_file_there_is_nothing_to_practise_on(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    add_names(store, "ada")
    with pytest.raises(RefusedError, match=r"no known pairs.*--file"):
        open_practice(store, PracticeRequest("welcome", ["ada"]))


def test_known_pairs_come_from_a_file_with_their_explanations(decided: Store, tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_text("query,document,grade,explanation\nfresh 1,f1,2,It names the part.\n", encoding="utf-8")
    with pytest.raises(RefusedError, match="ada has already judged every known pair"):
        open_practice(decided, PracticeRequest("welcome", ["ada"], file=path))
    opened = open_practice(decided, PracticeRequest("welcome", ["grace"], file=path))
    assert (opened.known, opened.left_out) == (
        1,
        {"practice queries are missing: fewer queries have known grades than requested": 9},
    )
    item = read_queue(decided, "grace").showings[0].presentation_id
    grade_next(decided, "grace", 1)
    assert read_feedback(decided, "grace", [item])[0].explanation == "It names the part."


def test_who_was_shown_a_grade_judges_the_pair_only_where_nobody_else_is_free(
    decided: Store, tmp_path: Path
) -> None:
    add_pairs(decided, {"later": ["l1", "l2"]})
    path = tmp_path / "known.csv"
    path.write_text("query,document,grade,explanation\nlater,l1,2,It names the part.\n", encoding="utf-8")
    open_practice(decided, PracticeRequest("welcome", ["ada", "grace"], file=path))
    opened = open_round(decided, RoundRequest("free", ["ada", "grace", "mary"], overlap=1, duplicates=0))
    assert (opened.per_annotator, opened.left_out.get(PRACTISED_BEFORE)) == ({"mary": 2}, None)
    both = open_round(
        decided, RoundRequest("not free", ["ada", "grace", "mary"], overlap=2, duplicates=0, again=True)
    )
    assert both.left_out[PRACTISED_BEFORE] == 1


def test_all_problems_of_a_file_are_reported_at_once_with_their_lines(decided: Store, tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    lines = ["query,document,grade,explanation", "nowhere,f1,2,why", "fresh 1,gone,2,why", "fresh 1,f1,7,why"]
    lines += ["fresh 1,f1,two,why", "fresh 1,f1,2,", "fresh 1,f2,1,why", "fresh 1,f2,2,why"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        open_practice(decided, PracticeRequest("welcome", ["grace"], file=path))
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        f"line {n}" for n in (2, 3, 4, 5, 6, 8)
    ]
    assert "the project has no query 'nowhere'" in caught.value.problems[0]
    assert "practice pair needs an explanation" in caught.value.problems[4]


def test_numbers_that_make_no_practice_are_refused_together(decided: Store) -> None:
    with pytest.raises(InputError) as caught:
        open_practice(decided, PracticeRequest(" ", [], queries=0, pass_mark=1.5, within=-1))
    assert len(caught.value.problems) == 5


PRACTISED = """
SELECT DISTINCT query_id FROM presentations p JOIN rounds r USING (round_id)
WHERE r.kind = 'practice' AND p.annotator = 'ada'
"""
