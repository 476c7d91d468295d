"""Evaluations query by query: two runs against each other, their lists, and what a seal keeps out of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.evaluation.by_query import compare_by_query, read_query_kinds
from curation.evaluation.evaluate import submit
from curation.evaluation.report.query_sections import QueryValues
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.result_lists import Passage, read_chunk_lists, read_result_lists
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.store import Annotator, Store
from tests.evaluation.answers.test_evaluate_answers import part
from tests.support.evaluated_project import document_ids, evaluated_project, ranked, sealed_queries, write_run
from tests.support.marking import CHUNKS, evaluated_chunks
from tests.support.projects import per_test

pytestmark = pytest.mark.slow

VERA, WALT, LEE = (
    Annotator("vera", "evaluator", False),
    Annotator("walt", "evaluator", False),
    Annotator("lee", "lead", False),
)


project = per_test(evaluated_project)


def evaluated(
    store: Store, folder: Path, *names: str, part: str = "dev", by: str = "vera", release: str = "v1"
) -> str:
    runs = tuple((name, str(write_run(folder / f"{name}.trec", ranked(name)))) for name in names)
    evaluation_id = submit(store, EvaluateRequest(release, part, runs=runs, reason="May"), by).evaluation_id
    assert evaluation_id is not None
    return evaluation_id


def test_queries_are_in_the_order_of_their_difference_with_what_became_of_them(
    project: Store, tmp_path: Path
) -> None:
    one = evaluated(project, tmp_path, "a", "b")
    other = evaluated(project, tmp_path, "b")
    with project.reading() as cursor:
        compared = compare_by_query(cursor, [(one, "a"), (one, "b")], VERA)
        across = compare_by_query(cursor, [(one, "a"), (other, "b")], VERA)
        kinds = read_query_kinds(cursor, compared.release_id)
    assert compared == across, "of two evaluations as of one"
    assert len(compared.rows) == 30
    assert [row.difference for row in compared.rows] == sorted(row.difference for row in compared.rows)
    assert {row.result for row in compared.rows} <= {"won", "lost", "tied"}
    assert QueryValues("q", "text", 0.0, 0.0).result == "zero"
    assert {"source: imported", "source: written"} <= set(kinds)


def test_two_lists_of_a_query_have_grades_and_say_where_the_other_list_has_a_document(
    project: Store, tmp_path: Path
) -> None:
    one = evaluated(project, tmp_path, "a", "b")
    runs = [(one, "a"), (one, "b")]
    with project.reading() as cursor:
        query = compare_by_query(cursor, runs, VERA).rows[0]
        lists = read_result_lists(cursor, runs, query, VERA)
        alone = read_result_lists(cursor, runs[:1], query, VERA)
    for name, found, other in zip("ab", lists, reversed(lists), strict=True):
        assert [place.document_id for place in found] == ranked(name)[query.query_id]
        ranks = {place.document_id: place.rank for place in other}
        assert [place.other_rank for place in found] == [ranks[place.document_id] for place in found]
        number = query.query_id[1:]
        assert {place.document_id: place.grade for place in found} == {
            f"d{number}.{place}": (3, 2, 1, 0, None, None)[place] for place in range(6)
        }
    assert {place.other_rank for place in alone[0]} == {0}


def test_chunks_of_a_query_say_which_evidence_they_hold_and_what_no_chunk_brought(tmp_path: Path) -> None:
    """In each TOPIC-1, "All about the TOPIC.", the characters 4 to 9 are evidence."""
    store, evaluation_id = evaluated_chunks(tmp_path)
    dev, test = part(store, "dev"), part(store, "test")
    asked = [(evaluation_id, name) for name in CHUNKS]
    query = QueryValues(f"q-{dev[0]}", f"best {dev[0]}", 0.0, 1.0)
    secret = query._replace(query_id=f"q-{test[0]}")
    with store.reading() as cursor:
        found = [one for one in read_chunk_lists(cursor, asked, query, LEE) if one is not None]
        with pytest.raises(NotFoundError):
            read_chunk_lists(cursor, asked, query, WALT)
        with pytest.raises(RefusedError):
            read_chunk_lists(cursor, asked, secret, LEE)
    store.close()
    near, far, whole = found
    title = f"{dev[0].title()} number 1"
    assert near[0] == Passage(f"{dev[0]}-1", title, 0, 6, "All ab", ((4, 6),), 1, 0.4, 2)
    assert [(one.rank, one.evidence, one.recall, one.words) for one in near[1:]] == [(2, ((6, 9),), 1.0, 2)]
    assert [(one.rank, one.evidence, one.recall) for one in far[:2]] == [(1, (), 0.0), (2, (), 0.0)]
    assert [(one.rank, one.start, one.end, one.text) for one in far[2:]] == [(None, 4, 9, "about")]
    assert whole[0].recall == 1
    assert None not in {one.rank for one in whole}


def test_a_document_that_was_judged_says_why_it_has_no_grade_but_not_to_who_has_it_to_grade(
    project: Store, tmp_path: Path
) -> None:
    runs = [(evaluated(project, tmp_path, "a", by="lee"), "a")]
    with project.reading() as cursor:
        first = compare_by_query(cursor, runs, LEE).rows[0]
    *_, disputed, unjudged = document_ids(int(first.query_id[1:]))
    given = [
        ImportedJudgment(first.query_id, disputed, who, grade) for who, grade in (("ada", 0), ("ben", 3))
    ]
    add_judgments(project, given, "more.csv")

    def lacking() -> dict[str, tuple[str, bool]]:
        with project.reading() as cursor:
            (found,) = read_result_lists(cursor, runs, first, LEE)
        return {
            one.document_id: (one.reason_without_grade, one.is_unjudged) for one in found if one.grade is None
        }

    assert lacking() == {disputed: ("disputed", False), unjudged: ("not judged", True)}
    pairs = {(first.query_id, disputed): ""}
    open_round(project, RoundRequest("own", ["lee"], overlap=1, duplicates=0.0, again=True), pairs=pairs)
    assert lacking()[disputed] == ("not judged", True)


def test_there_is_nothing_by_query_of_a_sealed_part_nor_of_a_query_that_was_sealed_since(
    project: Store, tmp_path: Path
) -> None:
    sealed = evaluated(project, tmp_path, "a", part="test", by="lee")
    everything = evaluated(project, tmp_path, "a", part="all", by="lee")
    open_part = evaluated(project, tmp_path, "a", by="vera")
    secret = QueryValues(sealed_queries(project)[0], "text", 0.0, 0.0)
    with project.reading() as cursor:
        for evaluation in (sealed, everything):
            runs = [(evaluation, "a")]
            with pytest.raises(RefusedError, match="a sealed part shows no values for individual queries"):
                compare_by_query(cursor, runs, LEE)
            with pytest.raises(RefusedError):
                read_result_lists(cursor, runs, secret, LEE)
        rows = cursor.execute("SELECT DISTINCT evaluation_id FROM evaluation_lists").fetchall()
        assert rows == [(open_part,)], "not even stored"
        with pytest.raises(RefusedError, match="seals the grades of the query"):
            read_result_lists(cursor, [(open_part, "a")], secret, LEE)
        with pytest.raises(NotFoundError):
            compare_by_query(cursor, [(open_part, "a")], WALT)
    with project.transaction() as cursor:  # as a release would that seals all of v1's queries
        cursor.execute(
            "INSERT INTO releases SELECT 'v2', 'broken', manifest, frozen_at, frozen_by FROM releases"
        )
    with project.reading() as cursor:
        compared = compare_by_query(cursor, [(open_part, "a")], VERA)
    assert compared.rows == ()
    assert compared.remark.startswith("30 queries are sealed by a release")
