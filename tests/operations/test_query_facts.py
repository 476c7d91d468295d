"""The need and the notes of a query: appended, logged, refused where somebody else wrote meanwhile."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, RefusedError
from curation.operations.query_facts import QueryWords, edit_words, read_facts
from curation.store import Store
from curation.store.rows import Annotator
from tests.support.projects import add_names, add_pairs, grid, rows_of

LEE = Annotator("lee", "lead", False)
EMPTY = QueryWords("", "")


@pytest.fixture
def project(store: Store) -> Store:
    add_pairs(store, grid(1, 2))
    add_names(store, "lee", "mia", role="lead")
    add_names(store, "ann")
    return store


def words(store: Store) -> QueryWords:
    with store.reading() as cursor:
        return read_facts(cursor, "query 0", LEE).words


def test_need_and_notes_are_appended_and_annotators_read_the_need(project: Store) -> None:
    first, second = QueryWords("A cheap one.", "See the log."), QueryWords("A cheap one.", "")
    edit_words(project, "query 0", EMPTY, first, "lee")
    edit_words(project, "query 0", first, second, "mia")
    edit_words(project, "query 0", second, second, "lee")
    assert words(project) == second
    assert rows_of(project, "SELECT information_need FROM queries") == [("A cheap one.",)]
    assert rows_of(project, "SELECT revision, note, author FROM query_notes ORDER BY ALL") == [
        (0, "See the log.", "lee"),
        (1, "", "mia"),
    ]
    assert rows_of(project, "SELECT actor FROM events WHERE action = 'edit query' ORDER BY rowid") == [
        ("lee",),
        ("mia",),
    ]


def test_who_saw_older_words_is_refused_and_nothing_is_saved(project: Store) -> None:
    edit_words(project, "query 0", EMPTY, QueryWords("", "Mine."), "lee")
    with pytest.raises(RefusedError, match="lee has changed"):
        edit_words(project, "query 0", EMPTY, QueryWords("", "Theirs."), "mia")
    assert words(project).note == "Mine."


def test_personal_data_and_other_people_are_refused(project: Store) -> None:
    with pytest.raises(InputError, match="note holds personal data"):
        edit_words(project, "query 0", EMPTY, QueryWords("", "Ask jane@example.org"), "lee")
    with pytest.raises(RefusedError):
        edit_words(project, "query 0", EMPTY, QueryWords("", "Mine."), "ann")
