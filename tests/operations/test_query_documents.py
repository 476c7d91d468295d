"""What the page of a query reads of its documents, and what it does not: what is sealed, or one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import NotFoundError, RefusedError
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.operations.query_documents import (
    HARD_NEGATIVE_MARK,
    QueryDocument,
    list_sealing_releases,
    read_documents,
)
from curation.people.seal_access import unseal
from curation.store import Store
from curation.store.row_types import Annotator
from tests.support.freezing import freeze
from tests.support.gold_project import DISPUTE, pooled_project
from tests.support.projects import add_names, add_pairs, grade_next, grid, rows_of

pytestmark = pytest.mark.slow

LEE, ROSA = Annotator("lee", "lead", False), Annotator("rosa", "reviewer", False)


@pytest.fixture
def pooled(tmp_path: Path) -> Store:
    store = pooled_project(tmp_path)
    add_names(store, "lee", role="lead")
    return store


def by_id(store: Store, query_id: str, reader: Annotator = LEE) -> dict[str, QueryDocument]:
    found = read_documents(store, query_id, reader)
    return {one.document.document_id: one for one in found.documents}


def test_documents_come_best_ranked_first_with_grades_votes_and_marks(pooled: Store) -> None:
    found = read_documents(pooled, DISPUTE[0], LEE)
    places = [next(iter(one.ranks.values())) for one in found.documents]
    assert places == sorted(places, key=lambda rank: rank or 99)
    [refused] = [one for one in by_id(pooled, "q-router").values() if one.mark == HARD_NEGATIVE_MARK]
    assert refused.pair.grade == 0
    decided = by_id(pooled, DISPUTE[0])[DISPUTE[1]]
    assert (decided.decision.grade, decided.decision.reason) == (1, "only the title fits")
    assert {vote.annotator for vote in decided.votes} == {"zoe.miller", "abe.jones"}


def test_a_reviewer_reads_what_was_said_but_not_who_said_it(pooled: Store) -> None:
    votes = by_id(pooled, DISPUTE[0], ROSA)[DISPUTE[1]].votes
    assert len(votes) == 2
    assert {vote.annotator for vote in votes} == {None}


def test_an_annotator_reads_nothing_and_an_unknown_query_has_a_sentence(pooled: Store) -> None:
    with pytest.raises(RefusedError, match="reviewer or lead"):
        read_documents(pooled, DISPUTE[0], Annotator("zoe.miller", "annotator", False))
    with pytest.raises(NotFoundError, match="no query with the id 'nothing'"):
        read_documents(pooled, "nothing", LEE)


def test_what_a_lead_has_still_to_grade_is_in_no_figure_and_shows_no_rank_and_no_vote(store: Store) -> None:
    add_pairs(store, grid(1, 4))
    add_names(store, "ann", "ben")
    add_names(store, "lee", role="lead")
    open_round(store, RoundRequest("one", ["ann", "lee"], overlap=2, duplicates=0.0))
    grade_next(store, "ann", 4, grade=3)
    grade_next(store, "lee", 1, grade=3)
    found = read_documents(store, "query 0", LEE)
    assert (len(found.documents), found.open, found.judged, found.relevant) == (4, (), (), 0)
    assert {(one.is_withheld, one.pair, one.votes, one.mark, len(one.ranks)) for one in found.documents} == {
        (True, None, (), "", 0)
    }
    grade_next(store, "lee", 3, grade=1)
    assert len(read_documents(store, "query 0", LEE).judged) == 4


def test_a_sealed_query_shows_its_grades_only_to_who_said_why_and_the_log_has_it(pooled: Store) -> None:
    freeze(pooled, "v1")
    sql = "SELECT query_id FROM split_assignments WHERE part = 'test' ORDER BY query_id"
    query_id = rows_of(pooled, sql)[0][0]
    assert list_sealing_releases(pooled, query_id) == ("v1",)
    shut = read_documents(pooled, query_id, LEE)
    assert (shut.is_sealed, shut.judged, {one.decision for one in shut.documents}) == (True, (), {None})
    with pytest.raises(RefusedError):
        unseal(pooled, "read the query", "curious", "zoe.miller", {query_id})
    access = unseal(pooled, "read the query", "A system fails here.", "lee", {query_id})
    assert read_documents(pooled, query_id, LEE, access).judged
