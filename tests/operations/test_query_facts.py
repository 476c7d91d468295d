"""The need and the notes of a query: appended, logged, refused where somebody else wrote meanwhile."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, RefusedError
from curation.operations.query_facts import EditedTexts, edit_texts, read_facts
from curation.store import Store
from curation.store.row_types import Annotator
from tests.support.projects import add_names, add_pairs, grid, rows_of

LEE = Annotator("lee", "lead", False)
EMPTY = EditedTexts("", "")


@pytest.fixture
def project(store: Store) -> Store:
    add_pairs(store, grid(1, 2))
    add_names(store, "lee", "mia", role="lead")
    add_names(store, "ann")
    return store


def words(store: Store) -> EditedTexts:
    with store.reading() as cursor:
        return read_facts(cursor, "query 0", LEE).texts


def test_need_and_notes_are_appended_and_annotators_read_the_need(project: Store) -> None:
    first, second = EditedTexts("A cheap one.", "See the log."), EditedTexts("A cheap one.", "")
    edit_texts(project, "query 0", EMPTY, first, "lee")
    edit_texts(project, "query 0", first, second, "mia")
    edit_texts(project, "query 0", second, second, "lee")
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
    edit_texts(project, "query 0", EMPTY, EditedTexts("", "Mine."), "lee")
    with pytest.raises(RefusedError, match="lee has changed"):
        edit_texts(project, "query 0", EMPTY, EditedTexts("", "Theirs."), "mia")
    assert words(project).note == "Mine."


def test_personal_data_and_other_people_are_refused(project: Store) -> None:
    with pytest.raises(InputError, match="note contains personal data"):
        edit_texts(project, "query 0", EMPTY, EditedTexts("", "Ask jane@example.org"), "lee")
    with pytest.raises(RefusedError):
        edit_texts(project, "query 0", EMPTY, EditedTexts("", "Mine."), "ann")
