"""Query-writing tasks: shared out over the gaps, written once, passed on, and checked where unanswerable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import read_queue
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.state import read_state
from curation.queries.coverage.writing.coverage_queries import ORIGIN, UNANSWERABLE, list_queries
from curation.queries.coverage.writing.task_progress import count_tasks_by_cluster, read_batches
from curation.queries.coverage.writing.tasks import FILLED, distribute_tasks, open_tasks
from curation.queries.coverage.writing.writing_queue import (
    WritingTask,
    check_task_text,
    pass_task,
    read_writing_queue,
    write_task,
)
from curation.queries.unanswerable import check_written_queries
from curation.store import Store
from tests.support.coverage_project import COARSE, QUERIES, TEXTS, gaps_of, measured, put_vectors
from tests.support.pool_project import put_texts
from tests.support.projects import add_names, built_once, rows_of


def fill(store: Store) -> Store:
    measured(store)
    add_names(store, "anna", "ben")
    add_names(store, "lee", role="lead")
    return store


project = built_once(fill)


def task_of(store: Store, writer: str = "anna") -> WritingTask:
    with store.reading() as cursor:
        task = read_writing_queue(cursor, writer).task
    assert task is not None
    return task


@given(
    st.dictionaries(st.integers(0, 5), st.lists(st.integers(0, 9).map(str), unique=True)), st.integers(1, 20)
)
def test_no_document_comes_twice_and_no_region_gets_more_while_another_has_fewer(
    free: dict[int, list[str]], queries: int
) -> None:
    planned = distribute_tasks(free, {}, queries)
    documents = list(planned)
    assert len(planned) == min(queries, len({one for held in free.values() for one in held}))
    counts = {number: list(planned.values()).count(number) for number in free}
    for number, held in free.items():
        if set(held) - set(documents):
            assert counts[number] >= max(counts.values()) - 1


@pytest.mark.slow
def test_tasks_are_shared_out_over_the_gaps_and_the_writers_by_seed(project: Store) -> None:
    opened = open_tasks(project, 6, ["anna", "ben"], seed=5, author="lee")
    assert (opened.tasks, opened.regions, opened.of_writers) == (6, 2, {"anna": 3, "ben": 3})
    rows = rows_of(project, "SELECT cluster, document_id, style FROM writing_tasks ORDER BY position")
    gaps = {gap.number: gap.documents for gap in gaps_of(project)}
    assert all(document in gaps[cluster] for cluster, document, _ in rows)
    assert [cluster for cluster, *_ in rows[:2]] == list(gaps)
    assert len({style for *_, style in rows}) == 6
    [(actor,)] = rows_of(project, "SELECT actor FROM events WHERE action = 'writing tasks'")
    assert actor == "lee"


def test_regions_of_few_queries_are_filled_to_five_the_largest_first(project: Store) -> None:
    with project.reading() as cursor:
        [tea] = [one for one in read_state(cursor).clusters if one.queries]
    missing = 5 - tea.queries
    opened = open_tasks(project, 2, ["anna"], seed=5, fill=True)
    more = open_tasks(project, 9, ["ben"], seed=5, fill=True)
    assert (opened.tasks, more.tasks) == (2, missing - 2)  # those that are open count
    assert more.left_out == {FILLED: 9 - more.tasks}
    rows = rows_of(project, "SELECT DISTINCT cluster FROM writing_tasks")
    assert rows == [(tea.number,)]
    with pytest.raises(RefusedError, match="Every document"):
        open_tasks(project, 1, ["anna"], seed=5, fill=True)
    with pytest.raises(InputError, match="--region"):
        open_tasks(project, 1, ["anna"], seed=5, fill=True, region=tea.number)


def test_a_text_without_a_word_of_its_document_is_warned_of_unless_it_is_near_in_meaning(
    project: Store,
) -> None:
    open_tasks(project, 1, ["anna"], seed=5)
    task = task_of(project)
    assert check_task_text(project, task.task_id, task.document.body.split()[0], "anna").elsewhere is False
    assert check_task_text(project, task.task_id, "sonnets", "anna").elsewhere
    put_vectors(project, "document", [task.document.text])
    near, far = ("moons by day", "a drink") if "moon" in task.document.text else ("steamships", "a drink")
    put_vectors(project, "query", [near, far])
    assert check_task_text(project, task.task_id, far, "anna").elsewhere
    assert not check_task_text(project, task.task_id, near, "anna").elsewhere


def test_a_second_batch_asks_about_other_documents_until_none_is_left(project: Store) -> None:
    open_tasks(project, 6, ["anna"], seed=5)
    rest = open_tasks(project, 10, ["ben"], seed=5)
    assert (rest.tasks, list(rest.left_out.values())) == (6, [4])
    assert rows_of(project, "SELECT count(DISTINCT document_id) FROM writing_tasks") == [(12,)]
    with pytest.raises(RefusedError, match="Every document of these regions"):
        open_tasks(project, 1, ["anna"], seed=5)


def test_a_batch_is_refused_whole_with_the_reason(project: Store) -> None:
    for queries, writers, error, words in (
        (0, [], InputError, "0 queries were requested.*\nNo writer is named"),
        (1, ["anna", "anna"], InputError, "named twice: anna"),
        (1, ["zoe"], NotFoundError, "zoe"),
    ):
        with pytest.raises(error, match=words):
            open_tasks(project, queries, writers, seed=1)
    with pytest.raises(RefusedError, match="needs the role lead"):
        open_tasks(project, 1, ["anna"], seed=1, author="anna")
    assert rows_of(project, "SELECT count(*) FROM writing_batches") == [(0,)]


def test_tasks_wait_for_queries_that_were_not_measured_yet(
    project: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    put_texts(project, tmp_path_factory.mktemp("more"), TEXTS, {"q4": "cargo ship"})
    with pytest.raises(RefusedError, match="1 query was added since"):
        open_tasks(project, 1, ["anna"], seed=1)
    put_vectors(project, "query", ["cargo ship"])
    find_coverage(project, COARSE)
    open_tasks(project, 1, ["anna"], seed=1)
    assert task_of(project).document.document_id.startswith("moon")


def test_a_written_query_is_one_of_the_projects_with_its_source_and_counts_once(project: Store) -> None:
    open_tasks(project, 2, ["anna"], seed=5)
    task = task_of(project)
    written = write_task(project, task.task_id, "Thing nobody asks", "anna")
    assert write_task(project, task.task_id, "thing  nobody asks", "anna") == written
    with project.reading() as cursor:
        [query] = list_queries(cursor)
        queue = read_writing_queue(cursor, "anna")
        state = read_state(cursor)
    assert (query.query_id, query.source, query.writer, query.purpose) == (written, "written", "anna", "gap")
    assert (query.document_id, query.style) == (task.document.document_id, task.style.name)
    assert json.loads(query.detail)["task"] == task.task_id
    assert (queue.open, [own.text for own in queue.written]) == (1, ["Thing nobody asks"])
    assert [one.query_id for one in state.unmatched] == [written]
    proposed = rows_of(project, "SELECT query_id, document_id, system FROM candidate_sources")
    assert proposed == [(written, task.document.document_id, ORIGIN)]
    with pytest.raises(RefusedError, match="already done"):
        write_task(project, task.task_id, "something else", "anna")


def test_a_query_that_the_project_has_is_refused_and_the_task_stays(project: Store) -> None:
    open_tasks(project, 1, ["anna"], seed=5)
    task = task_of(project)
    assert check_task_text(project, task.task_id, "green teas", "anna").alike == ("green tea",)
    for text, words in (
        ("Green tea", "already has this query"),
        ("  ", "empty"),
        ("a@example.com", "personal"),
    ):
        with pytest.raises(InputError, match=words):
            write_task(project, task.task_id, text, "anna")
    with pytest.raises(NotFoundError, match="You have no task with this id"):
        write_task(project, task.task_id, "a ship", "ben")
    assert task_of(project) == task


@pytest.mark.slow
def test_passing_on_brings_another_document_of_the_gap_in_the_same_style(project: Store) -> None:
    open_tasks(project, 1, ["anna"], seed=5)
    seen = []
    for _ in range(6):
        task = task_of(project)
        seen.append(task.document.document_id)
        more = pass_task(project, task.task_id, "anna")
        assert pass_task(project, task.task_id, "anna")  # a second click does nothing
    assert (len(set(seen)), more) == (6, False)
    with project.reading() as cursor:
        queue, [batch] = read_writing_queue(cursor, "anna"), read_batches(cursor)
        [counts] = count_tasks_by_cluster(cursor, read_state(cursor).map.map_id).values()
    assert (queue.task, queue.open, queue.passed) == (None, 0, 6)
    assert (batch.passed, counts) == (6, (0, 0, 6))


def test_a_task_waits_while_its_document_is_not_as_it_was(
    project: Store, tmp_path_factory: pytest.TempPathFactory
) -> None:
    open_tasks(project, 1, ["anna"], seed=5)
    document = task_of(project).document.document_id
    put_texts(project, tmp_path_factory.mktemp("changed"), TEXTS | {document: "another text"}, QUERIES)
    with project.reading() as cursor:
        assert read_writing_queue(cursor, "anna")[:4] == (None, 0, 0, 1)


@pytest.mark.slow
def test_an_unanswerable_query_is_checked_by_pooling_and_by_people(project: Store) -> None:
    open_tasks(project, 3, ["anna"], seed=5, kind=UNANSWERABLE)
    assert {cluster for (cluster,) in rows_of(project, "SELECT cluster FROM writing_tasks")} == {0, 1, 2}
    task = task_of(project)
    assert len(task.entities) > 2
    write_task(project, task.task_id, "tea from the moon", "anna")

    def verdict() -> str:
        with project.reading() as cursor:
            [check] = check_written_queries(cursor)
        return check.verdict

    assert verdict() == "not pooled"
    build_pool(project, PoolRequest(["bm25"], depth=3, random_negatives=0, seed=1))
    assert verdict() == "not judged"
    open_round(project, RoundRequest("may", ["anna", "ben", "lee"], overlap=3, duplicates=0, ask_from=1))
    for writer, answer, then in (
        ("anna", "no", "confirmed"),
        ("ben", "yes", "undecided"),
        ("lee", "partly", "answered"),
    ):
        items = [one for one in read_queue(project, writer, 99).showings if one.query == "tea from the moon"]
        assert items[-1].asks_about_query
        answer_query(project, writer, items[-1].presentation_id, answer, f"{writer} says so")
        assert verdict() == then


def test_the_commands_open_tasks_and_list_what_was_written(project: Store, goldgrade: Any) -> None:
    opened = goldgrade("queries", "write", "--queries", "2", "--annotators", "anna, ben", "--seed", "3")
    assert "Opened 2 query-writing tasks in 2 regions: anna 1, ben 1." in opened
    write_task(project, task_of(project).task_id, "harbour", "anna")
    assert "harbour" in goldgrade("queries", "write")
    found = json.loads(goldgrade("queries", "write", "--json"))
    assert [(one["text"], one["source"]) for one in found["queries"]] == [("harbour", "written")]
