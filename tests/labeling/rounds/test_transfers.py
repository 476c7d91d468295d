"""Transfers: the overlap stays exact, whatever the timing."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.labeling.judging import Submission
from curation.labeling.requests import PracticeRequest, RoundRequest
from curation.labeling.rounds.assignment import CLOSEST_DUPLICATE
from curation.labeling.rounds.create_practice import open_practice
from curation.labeling.rounds.create_round import PRACTISED_BEFORE, open_round
from curation.labeling.rounds.extension import extend_round
from curation.labeling.rounds.leaving import deactivate_annotator
from curation.labeling.rounds.reassignment import PRACTISED, SEEN, reassign
from curation.labeling.rounds.round_states import set_round_state
from curation.labeling.rounds.status import read_round_status
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.people.accounts import activate
from curation.store import Store, append, open_store
from tests.support import examples
from tests.support.projects import (
    add_names,
    add_pairs,
    built_once,
    decide_pairs,
    grade_next,
    grid,
    open_for,
    rows_of,
)

pytestmark = pytest.mark.slow

PEOPLE = ("ada", "grace", "joan", "kay", "mary")


@built_once
def opened(store: Store) -> Store:
    """A round of 12 queries with 5 documents, each for two of ada, grace and joan; kay and mary are free."""
    add_pairs(store, grid(12, 5))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("first", PEOPLE[:3], overlap=2, duplicates=0.1, seed=3))
    return store


def check_overlap(store: Store, overlap: int = 2) -> None:
    """Each pair is for exactly `overlap` people, nobody has it twice, and repeats keep their distance."""
    firsts = rows_of(
        store,
        """
        SELECT query_id, document_id, count(*), count(DISTINCT annotator) FROM live_presentations p
        WHERE duplicate_of IS NULL AND NOT EXISTS (
            FROM known_answers k WHERE (k.round_id, k.query_id, k.document_id)
                                     = (p.round_id, p.query_id, p.document_id))
        GROUP BY query_id, document_id
        """,
    )
    assert {row[2:] for row in firsts} <= {(overlap, overlap)}
    repeats = rows_of(
        store,
        """
        WITH live AS (
            SELECT *, row_number() OVER (PARTITION BY round_id, annotator ORDER BY position) AS place
            FROM live_presentations)
        SELECT again.place - first.place, again.annotator = first.annotator
        FROM live again LEFT JOIN live first ON first.presentation_id = again.duplicate_of
        WHERE again.duplicate_of IS NOT NULL
        """,
    )
    assert all(same and apart >= CLOSEST_DUPLICATE for apart, same in repeats)
    places = rows_of(store, "SELECT round_id, annotator, position FROM presentations")
    assert len(set(places)) == len(places)


def finish(store: Store) -> None:
    for who in PEOPLE:
        while any(outcome.status == "saved" for outcome in grade_next(store, who, 500)):
            pass


def voices(store: Store) -> Counter[int]:
    found = rows_of(store, "SELECT count(*) FROM counted_judgments GROUP BY query_id, document_id")
    return Counter(row[0] for row in found)


def add_candidates(store: Store, number: int) -> None:
    with store.transaction() as cursor:
        append(
            cursor,
            "candidates",
            {"query_id": [f"query {number % 12}"] * 2, "document_id": [f"new {number}.0", f"new {number}.1"]},
        )


STEPS = st.one_of(
    st.tuples(st.just("grade"), st.sampled_from(PEOPLE), st.integers(1, 25)),
    st.tuples(st.just("later"), st.sampled_from(PEOPLE), st.integers(1, 3)),
    st.tuples(st.just("reassign"), st.sampled_from(PEOPLE), st.sets(st.sampled_from(PEOPLE), max_size=2)),
    st.tuples(st.just("extend"), st.sets(st.sampled_from(PEOPLE), max_size=2), st.booleans()),
    st.tuples(st.just("deactivate"), st.sampled_from(PEOPLE), st.none()),
    st.tuples(st.sampled_from(["paused", "open", "closed"]), st.none(), st.none()),
)


def do(store: Store, step: tuple[str, object, object], number: int) -> None:
    kind, one, other = step
    try:
        if kind == "grade":
            grade_next(store, str(one), int(str(other)))
        elif kind == "later":
            items = read_queue(store, str(one), int(str(other))).showings
            actions = [
                Submission(i.presentation_id, i.revision, "later", f"later-{number}-{n}")
                for n, i in enumerate(items)
            ]
            submit_judgments(store, str(one), actions)
        elif kind == "reassign":
            reassign(store, "first", str(one), sorted(other))  # type: ignore[call-overload]
        elif kind == "deactivate":
            deactivate_annotator(store, str(one))
        elif kind == "activate":
            activate(store, str(one))
        elif kind == "extend":
            add_candidates(store, number)
            extend_round(store, "first", sorted(one), bool(other))  # type: ignore[call-overload]
        else:
            set_round_state(store, "first", kind)
    except (RefusedError, InputError):
        pass  # a rule said no; what counts is what stands afterwards


@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=4, max_size=10))
def test_the_overlap_is_exact_whatever_happens_in_which_order(
    empty_project: Path, steps: list[tuple[str, object, object]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(shutil.copy(empty_project, Path(folder) / "project.duckdb")))
        pairs = grid(12, 5)
        add_pairs(store, pairs | {"spare": [f"new {n}.{d}" for n in range(14) for d in range(2)]})
        with store.transaction() as cursor:
            cursor.execute("DELETE FROM candidates WHERE query_id = 'spare'")
        add_names(store, *PEOPLE)
        open_round(store, RoundRequest("first", PEOPLE[:3], overlap=2, duplicates=0.1, seed=len(steps)))
        for number, step in enumerate(steps):
            do(store, step, number)
            check_overlap(store)
        for _ in range(2):  # closed and paused
            do(store, ("open", None, None), 99)
        for who in PEOPLE:
            do(store, ("activate", who, None), 99)
        finish(store)
        status = read_round_status(store, "first")
        assert status.complete == status.candidates
        assert set(voices(store)) == {2}
        store.close()


def test_what_an_absent_person_has_not_touched_is_judged_by_others(opened: Store) -> None:
    grade_next(opened, "ada", 7)
    done = reassign(opened, "first", "ada")
    check_overlap(opened)
    assert set(done.per_annotator) <= {"grace", "joan"}
    finish(opened)
    status = read_round_status(opened, "first")
    assert (status.complete, status.withdrawn) == (60, done.withdrawn)
    assert voices(opened) == {2: 60}
    assert {p.annotator: p.presentations for p in status.annotators}["ada"] == 7


def test_a_pair_that_everyone_else_has_stays_and_is_counted(store: Store) -> None:
    open_for(store, grid(3, 4), "ada", "grace")
    done = reassign(store, "first", "ada")
    assert (done.moved, done.kept) == (0, 12)
    assert done.left_out == {"items stay, because every other annotator already has the pair": 12}
    assert read_queue(store, "ada").total == 12


def test_who_is_named_takes_the_work_even_from_outside_the_round(opened: Store) -> None:
    done = reassign(opened, "first", "ada", ["kay"])
    assert list(done.per_annotator) == ["kay"]
    assert done.kept == 0
    assert read_queue(opened, "ada").total == 0
    check_overlap(opened)


def test_a_query_that_moves_stays_in_one_piece(opened: Store) -> None:
    reassign(opened, "first", "ada", ["kay"])
    order = [
        row[0]
        for row in rows_of(
            opened, "SELECT query_id FROM live_presentations WHERE annotator = 'kay' ORDER BY position"
        )
    ]
    visits = Counter(query for n, query in enumerate(order) if n == 0 or order[n - 1] != query)
    assert max(visits.values()) <= 2


def test_what_was_put_off_was_seen_and_stays(opened: Store) -> None:
    item = read_queue(opened, "ada", 1).showings[0]
    submit_judgments(opened, "ada", [Submission(item.presentation_id, 0, "later", "later-0001")])
    done = reassign(opened, "first", "ada", ["kay"])
    assert done.left_out[SEEN] == 1
    assert [one.presentation_id for one in read_queue(opened, "ada").showings] == [item.presentation_id]


def test_an_answer_and_a_reassignment_at_once_leave_one_judgment(opened: Store) -> None:
    """Either the answer was first and its pair stayed, or the move was and the answer is refused."""
    items = read_queue(opened, "ada", 20).showings
    outcomes: list[str] = []

    def answer() -> None:
        for one in items:
            given = submit_judgments(
                opened, "ada", [Submission(one.presentation_id, 0, "grade", one.presentation_id, grade=1)]
            )
            outcomes.append(given[0].status)

    threads = [
        threading.Thread(target=answer),
        threading.Thread(target=reassign, args=(opened, "first", "ada", ["kay"])),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 20
    check_overlap(opened)
    finish(opened)
    assert voices(opened) == {2: 60}


@pytest.mark.costly("two processes import what they need")
def test_two_processes_that_reassign_at_once_move_each_pair_once(opened: Store) -> None:
    code = (
        "import sys; from pathlib import Path; from curation.store import open_store;"
        "from curation.labeling.rounds.reassignment import reassign\n"
        "from curation.core.errors import RefusedError\n"
        "try: print(reassign(open_store(Path(sys.argv[1])), 'first', 'ada', [sys.argv[2]]).moved)\n"
        "except RefusedError: print(0)"
    )
    opened.close()
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(opened.path), who], stdout=subprocess.PIPE, text=True
        )
        for who in ("kay", "mary")
    ]
    moved = sorted(int(process.communicate(timeout=60)[0]) for process in running)
    assert moved[0] == 0 < moved[1]
    check_overlap(opened)


def practised_on(store: Store, folder: Path, pairs: dict[str, list[str]], *people: str) -> None:
    """People who were shown the expected grade of these pairs."""
    lines = [f"{query},{document},2,why" for query, found in pairs.items() for document in found]
    path = folder / "known.csv"
    path.write_text("\n".join(["query,document,grade,explanation", *lines]), encoding="utf-8")
    open_practice(store, PracticeRequest("welcome", people, queries=len(pairs), file=path))
    set_round_state(store, "welcome", "closed")


def given_to(store: Store, who: str) -> set[tuple[str, str]]:
    sql = """
        SELECT query_id, document_id FROM live_presentations p JOIN rounds r USING (round_id)
        WHERE annotator = ? AND r.kind = 'labeling'
        """
    return set(rows_of(store, sql, who))


def test_nobody_gets_what_they_practised_on(opened: Store, tmp_path: Path) -> None:
    hers = sorted({query for query, _ in given_to(opened, "ada")})
    known = {query: [f"document {query[6:]}.{d}" for d in range(2)] for query in hers[:2]}
    practised_on(opened, tmp_path, known, "kay")
    done = reassign(opened, "first", "ada", ["kay", "mary"])
    pairs = {(query, document) for query, found in known.items() for document in found}
    assert not given_to(opened, "kay") & pairs
    assert done.kept == 0
    check_overlap(opened)


def test_what_only_people_could_take_who_practised_on_it_stays_and_is_counted(
    opened: Store, tmp_path: Path
) -> None:
    query = min(query for query, _ in given_to(opened, "ada"))
    known = {query: [f"document {query[6:]}.{d}" for d in range(3)]}
    practised_on(opened, tmp_path, known, "kay")
    done = reassign(opened, "first", "ada", ["kay"])
    assert (done.kept, done.left_out[PRACTISED]) == (3, 3)
    assert given_to(opened, "ada") == {(query, document) for document in known[query]}
    assert len({found for found in given_to(opened, "kay") if found[0] == query}) == 2, (
        "the others of the query"
    )
    check_overlap(opened)


def test_who_joins_shares_nothing_that_they_practised_on(store: Store, tmp_path: Path) -> None:
    add_pairs(store, grid(40, 5))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("first", ["ada", "grace"], overlap=2, duplicates=0, seed=1))
    known = {f"query {q}": [f"document {q}.0"] for q in range(40)}
    practised_on(store, tmp_path, known, "joan")
    extended = extend_round(store, "first", ["joan", "kay"])
    assert "joan" not in extended.per_annotator
    assert extended.per_annotator["kay"] > 100
    check_overlap(store)


def test_new_candidates_go_to_who_practised_on_them_only_where_nobody_else_is_free(
    opened: Store, tmp_path: Path
) -> None:
    fresh = {"fresh 0": ["f0.0", "f0.1"], "fresh 1": ["f1.0", "f1.1"]}
    add_pairs(opened, fresh)
    practised_on(opened, tmp_path, fresh, "ada")
    extended = extend_round(opened, "first")
    assert set(extended.per_annotator) == {"grace", "joan"}
    assert PRACTISED_BEFORE not in extended.left_out
    add_pairs(opened, {"more": ["m0"]})
    (tmp_path / "more.csv").write_text("query,document,grade,explanation\nmore,m0,2,why\n", encoding="utf-8")
    open_practice(opened, PracticeRequest("again", ["ada", "grace"], file=tmp_path / "more.csv"))
    assert extend_round(opened, "first").left_out[PRACTISED_BEFORE] == 1
    check_overlap(opened)


def test_who_joins_shares_what_nobody_has_touched(store: Store) -> None:
    add_pairs(store, grid(40, 5))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("first", ["ada", "grace"], overlap=2, duplicates=0, seed=1))
    extended = extend_round(store, "first", ["joan", "kay"])
    check_overlap(store)
    loads = {p.annotator: p.presentations for p in read_round_status(store, "first").annotators}
    assert sum(loads.values()) == 400
    assert max(loads.values()) - min(loads.values()) <= 10
    assert (extended.candidates, extended.joined) == (0, ["joan", "kay"])


def test_what_comes_up_next_is_not_shared_out(opened: Store) -> None:
    before = [one.presentation_id for one in read_queue(opened, "ada", 10).showings]
    extend_round(opened, "first", ["kay"])
    assert [one.presentation_id for one in read_queue(opened, "ada", 10).showings] == before


def test_who_comes_back_is_given_nothing_that_they_judged(store: Store) -> None:
    add_pairs(store, grid(12, 5))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("first", ["ada", "grace"], overlap=2, duplicates=0, seed=3))
    grade_next(store, "ada", 30)
    reassign(store, "first", "ada", ["kay"])
    extend_round(store, "first", ["ada", "mary"], candidates=False)
    check_overlap(store)


def test_a_repeat_keeps_its_distance_when_what_lay_between_moves(store: Store) -> None:
    """Kay has half of ada's queries already: they stay, with less between them."""
    add_pairs(store, grid(30, 4))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("first", (*PEOPLE[:2], "kay"), overlap=2, duplicates=0.3, seed=3))
    grade_next(store, "ada", 10)
    done = reassign(store, "first", "ada", ["kay"])
    assert done.moved
    assert done.kept
    check_overlap(store)
    least_distance = read_round_status(store, "first").spacing.least_distance
    assert least_distance is not None
    assert least_distance >= CLOSEST_DUPLICATE


def test_new_candidates_go_to_exactly_the_overlap(opened: Store) -> None:
    add_pairs(opened, {f"fresh {n}": [f"f{n}.{d}" for d in range(3)] for n in range(4)})
    extended = extend_round(opened, "first")
    assert extended.candidates == 12
    check_overlap(opened)
    with pytest.raises(RefusedError, match="No candidates can be added"):
        extend_round(opened, "first")


def test_who_was_replaced_gets_no_new_candidates(opened: Store) -> None:
    reassign(opened, "first", "ada", ["kay"])
    add_pairs(opened, {f"fresh {n}": [f"f{n}.{d}" for d in range(3)] for n in range(4)})
    assert "ada" not in extend_round(opened, "first").per_annotator


def test_who_joins_a_pilot_gets_all_of_it(store: Store) -> None:
    add_pairs(store, grid(6, 3))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("pilot", ["ada", "grace"], pilot=True, queries=4))
    extend_round(store, "pilot", ["joan"])
    given = rows_of(store, "SELECT annotator, count(*) FROM live_presentations GROUP BY ALL ORDER BY ALL")
    assert given == [("ada", 12), ("grace", 12), ("joan", 12)]


def test_control_items_are_planted_again_for_the_new_annotator(store: Store) -> None:
    add_pairs(store, grid(16, 5))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("earlier", ["mary"], overlap=1, duplicates=0))
    decide_pairs(store, {(f"query {q}", f"document {q}.{d}"): 1 for q in range(4) for d in range(5)})
    add_pairs(store, {f"fresh {n}": [f"f{n}.{d}" for d in range(5)] for n in range(12)})
    set_round_state(store, "earlier", "closed")
    opened = open_round(
        store, RoundRequest("first", ["ada", "grace"], overlap=1, duplicates=0, control_items=0.1)
    )
    assert opened.control_items == {"ada": 3, "grace": 3}
    reassign(store, "first", "ada", ["kay"])
    known = {one.annotator: one.planted for one in read_round_status(store, "first").control_items}
    assert known == {"grace": 3, "kay": 3}


def test_one_more_opinion_that_moves_stays_asked_for(opened: Store) -> None:
    item = rows_of(
        opened,
        """
        SELECT presentation_id, query_id, document_id FROM presentations
        WHERE annotator = 'ada' AND duplicate_of IS NULL ORDER BY position LIMIT 1
        """,
    )[0]
    with opened.transaction() as cursor:
        cursor.execute("INSERT INTO opinion_requests VALUES (?, ?, ?, 'rita', now()::TIMESTAMP)", list(item))
    reassign(opened, "first", "ada", ["kay"])
    held = rows_of(
        opened,
        """
        SELECT annotator, p.query_id, p.document_id
        FROM opinion_requests JOIN live_presentations p USING (presentation_id)
        """,
    )
    assert held == [("kay", *item[1:])]


def test_moving_work_is_on_record(opened: Store) -> None:
    with pytest.raises(NotFoundError, match="nobody"):
        reassign(opened, "first", "nobody")
    with pytest.raises(
        InputError, match=r"cannot be reassigned to ada: name a different annotator\. `--to` names"
    ):
        reassign(opened, "first", "ada", ["ada"])
    add_names(opened, "lea", role="lead")
    reassign(opened, "first", "ada", ["kay"], author="lea")
    assert rows_of(opened, "SELECT kind, author, detail->>'from' FROM round_events") == [
        ("reassign", "lea", "ada")
    ]
    assert rows_of(opened, "SELECT DISTINCT reason, author FROM withdrawals") == [("reassign", "lea")]


def test_nothing_moves_in_a_closed_round_or_a_pilot(opened: Store) -> None:
    set_round_state(opened, "first", "closed")
    with pytest.raises(RefusedError, match="goldgrade round set first open"):
        reassign(opened, "first", "ada")
    add_pairs(opened, {"fresh": ["f0", "f1"]})
    open_round(opened, RoundRequest("pilot", ["ada", "grace"], pilot=True))
    with pytest.raises(RefusedError, match="is a pilot round"):
        reassign(opened, "pilot", "ada")
