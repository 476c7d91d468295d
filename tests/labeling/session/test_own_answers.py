"""Own earlier answers are not shown while anything is open: a session with repeats looks like one without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curation.agreement.intra_annotator import read_repeats
from curation.agreement.own_consistency import estimate_own_consistency
from curation.agreement.own_differences import find_own_differences
from curation.core.errors import RefusedError
from curation.labeling.consensus.case_views import read_case_view
from curation.labeling.consensus.queue import read_case_queue, read_recent_cases
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.session.history import HistoryFilter, HistoryPage, read_history_page
from curation.labeling.session.item_views import read_previous_answer
from curation.labeling.session.queue import read_queue, read_skipped_items
from curation.labeling.session.submit import submit_judgments
from curation.store import Store, utc_now
from tests.support.projects import add_names, add_pairs, decide_pairs, grade_next, grid, new_project, rows_of

pytestmark = pytest.mark.slow


def session(store: Store, put_off: str) -> Iterator[tuple[str, list[Any]]]:
    """Answer all that is open, one item later: before each answer the item, and everything that is shown."""
    step, day = 0, utc_now()
    while (queue := read_queue(store, "ada", 6)).showings:
        item = queue.showings[0]
        title = "".join(text for text, _ in item.title)
        kind = "later" if item.presentation_id == put_off and not item.revision else "grade"
        shown = [
            queue._replace(showings=[]),
            len(queue.showings),
            read_history_page(store, "ada"),
            read_history_page(store, "ada", HistoryFilter(text=title)),
            read_previous_answer(store, "ada"),
            len(read_skipped_items(store, "ada")),
            estimate_own_consistency(store, "ada", day),
            str(find_own_differences(store, "ada", day)),
        ]
        key = f"{step:03}-of-the-session"
        grade = step % 4 if kind == "grade" else None
        sent = Submission(item.presentation_id, item.revision, kind, key, grade, flagged=step % 5 == 0)
        yield item.presentation_id, [*shown, *(one.status for one in submit_judgments(store, "ada", [sent]))]
        step += 1


def bytes_but_the_items(shown: list[Any]) -> str:
    def bare(value: Any) -> Any:
        if isinstance(value, HistoryPage):
            return [bare(list(value)), [bare(one) for one in value.answers]]
        if hasattr(value, "showing"):
            return list(value._replace(showing=None))
        return list(map(bare, value)) if isinstance(value, list | tuple) else value

    return json.dumps(bare(shown), default=list)


def project(path: Path, *, items: int = 0, **options: Any) -> Store:
    """Ada answered 32 pairs in an earlier round; now she gets them again, or so many items that are new."""
    store = new_project(path)
    add_names(store, "ada")
    add_pairs(store, grid(8, 4))
    open_round(store, RoundRequest("earlier", ["ada"], overlap=1, duplicates=0))
    grade_next(store, "ada", 32, grade=3)
    decide_pairs(store, {(f"query {q}", f"document {q}.0"): 1 for q in range(8)})
    set_round_state(store, "earlier", "closed")
    assert len(find_own_differences(store, "ada").differences) == 8
    if items:
        add_pairs(
            store,
            {
                f"new {n // 5}": [f"document of {m:03}" for m in range(n, min(n + 5, items))]
                for n in range(0, items, 5)
            },
        )
    open_round(store, RoundRequest("now", ["ada"], overlap=1, again=not items, **options))
    return store


@pytest.mark.costly("two whole sessions, compared answer by answer")
def test_a_session_with_repeats_and_relabels_is_byte_for_byte_one_without(tmp_path: Path) -> None:
    """But for the items themselves: lists, search, counts, undo and what is known about each answer."""
    repeated = project(tmp_path / "repeated.duckdb", duplicates=0.2)
    repeats = "SELECT presentation_id, duplicate_of FROM presentations WHERE duplicate_of <> ''"
    planted, firsts = map(set, zip(*rows_of(repeated, repeats), strict=True))
    assert len(planted) > 1
    plain = project(tmp_path / "plain.duckdb", items=32 + len(planted), duplicates=0)
    once = [one.presentation_id for one in read_queue(repeated, "ada", 9).showings]
    step = next(place for place, item in enumerate(once) if item not in firsts)
    later = read_queue(plain, "ada", 9).showings[step].presentation_id
    one, two = list(session(repeated, once[step])), list(session(plain, later))
    assert planted <= {item for item, _ in one}
    assert len(one) == len(two)
    for step, ((_, first), (_, second)) in enumerate(zip(one, two, strict=True)):
        assert bytes_but_the_items(first) == bytes_but_the_items(second), f"step {step}"


def test_no_earlier_answer_is_shown_or_chosen_by_until_nothing_is_open(tmp_path: Path) -> None:
    store = project(tmp_path / "project.duckdb", duplicates=0.2)
    grade_next(store, "ada", 12, grade=1)
    page = read_history_page(store, "ada")
    assert page.withheld
    assert {(one.kind, one.grade, one.note, one.guide_hash) for one in page.answers} == {
        (None, None, None, None)
    }
    assert page.grades == []
    with pytest.raises(RefusedError, match="after you finish your open items"):
        read_history_page(store, "ada", HistoryFilter(grade=1))
    last = read_previous_answer(store, "ada")
    assert last is not None
    assert (last.kind, last.grade) == (None, None)
    grade_next(store, "ada", 60, grade=1)
    page = read_history_page(store, "ada")
    assert (page.withheld, page.total, {one.grade for one in page.answers}) == (False, 32, {1})


def put_off_one(store: Store, item: str) -> list[HistoryPage]:
    """Grade all, this item last because it was put off: the history then, and once the round is closed."""
    submit_judgments(store, "ada", [Submission(item, 0, "later", "put-off-0001")])
    grade_next(store, "ada", 60, grade=1)
    assert read_queue(store, "ada", 1).showings == []
    pages = [read_history_page(store, "ada")]
    set_round_state(store, "now", "closed")
    return [*pages, read_history_page(store, "ada")]


def test_what_was_put_off_withholds_answers_while_a_repeat_of_it_could_come(tmp_path: Path) -> None:
    """Answers are withheld without a repeat, too, or the list would show which item has one."""
    repeated = project(tmp_path / "repeated.duckdb", duplicates=0.2)
    firsts = "SELECT duplicate_of FROM presentations WHERE duplicate_of <> '' ORDER BY position"
    ((first,), *_) = rows_of(repeated, firsts)
    plain = project(tmp_path / "plain.duckdb", items=32, duplicates=0)
    some = read_queue(plain, "ada", 1).showings[0].presentation_id
    for store, item in ((repeated, first), (plain, some)):
        after, closed = put_off_one(store, item)
        assert (after.withheld, after.total, {one.grade for one in after.answers}) == (True, 10, {None})
        assert (closed.withheld, None in {one.grade for one in closed.answers}) == (False, False)


@pytest.mark.parametrize("others", [19, 20])
def test_what_was_put_off_withholds_nothing_once_20_other_answers_followed(
    tmp_path: Path, others: int
) -> None:
    store = project(tmp_path / "project.duckdb", items=others + 1, duplicates=0)
    item = read_queue(store, "ada", 1).showings[0].presentation_id
    submit_judgments(store, "ada", [Submission(item, 0, "later", "put-off-0001")])
    submit_judgments(store, "ada", [Submission(item, 1, "grade", "taken-up-001", 2)])
    grade_next(store, "ada", others)
    assert read_queue(store, "ada").showings == []
    assert read_history_page(store, "ada").withheld == (others < 20)


def test_consistency_counts_the_first_answer_as_it_was_when_the_repeat_came(tmp_path: Path) -> None:
    store = project(tmp_path / "project.duckdb", items=32, duplicates=0.2)
    first = dict(
        rows_of(store, "SELECT duplicate_of, presentation_id FROM presentations WHERE duplicate_of <> ''")
    )
    while showings := read_queue(store, "ada", 1).showings:
        item = showings[0].presentation_id
        grade_next(store, "ada", grade=1 if item in first else 3)
    submit_judgments(store, "ada", [Submission(item, 1, "grade", f"copied-{item}", 3) for item in first])
    with store.reading() as cursor:
        [ada] = read_repeats(cursor)
    assert (sum(ada.graded_counts), sum(ada.identical_counts)) == (len(first), 0)


def test_a_reviewer_gets_no_opinions_on_what_they_have_still_to_grade(store: Store) -> None:
    add_pairs(store, grid(1, 2))
    add_names(store, "ada", "ben", "rita")
    add_names(store, "lea", role="lead")
    open_round(store, RoundRequest("first", ["ada", "ben"], overlap=2, duplicates=0))
    grade_next(store, "ada", 2, grade=0)
    grade_next(store, "ben", 2, grade=3)
    assert len(read_case_queue(store, "lea").cases) == 2
    decide_pairs(store, {("query 0", "document 0.0"): 2})
    open_round(store, RoundRequest("again", ["lea"], overlap=1, duplicates=0, again=True))
    assert read_case_queue(store, "lea").cases == read_recent_cases(store, "lea") == []
    with pytest.raises(RefusedError, match="Judge your own open items first"):
        read_case_view(store, "lea", "query 0", "document 0.0")


def test_adjudication_does_not_tell_a_reviewer_who_grades_which_pairs_come_again(tmp_path: Path) -> None:
    """All that was given to them waits until nothing is open: what was left out told each of 4 repeats."""
    store = new_project(tmp_path / "project.duckdb")
    add_names(store, "ada", "ben")
    add_names(store, "rita", role="reviewer")
    add_pairs(store, grid(10, 4))
    open_round(store, RoundRequest("first", ["ada", "ben", "rita"], overlap=3, duplicates=0.2))
    grade_next(store, "ada", 60, grade=0)
    grade_next(store, "ben", 60, grade=3)
    grade_next(store, "rita", 20, grade=1)
    graded = rows_of(
        store,
        """SELECT DISTINCT query_id, document_id FROM presentations JOIN presentation_states s
           USING (presentation_id) WHERE annotator = 'rita' AND s.answered""",
    )
    for pair in graded:
        with pytest.raises(RefusedError, match="Judge your own open items first"):
            read_case_view(store, "rita", *pair)
    assert read_case_queue(store, "rita").cases == []
    grade_next(store, "rita", 60, grade=1)
    assert len(read_case_queue(store, "rita").cases) > 0
    assert read_case_view(store, "rita", *graded[0]).opinions
