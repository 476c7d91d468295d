"""Queries written for coverage: the project's like any others, with their source; and names of clusters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.queries import read_active_queries
from curation.queries.coverage.stored_map import (
    read_cluster_names,
    read_current_map_id,
    read_map,
    rename_cluster,
)
from curation.queries.coverage.writing.coverage_queries import QueryOrigin, add_coverage_query, list_queries
from curation.queries.coverage.writing.styles import STYLES, draw_styles
from curation.store import Store
from tests.support.coverage_project import gaps_of, measured
from tests.support.projects import add_names, built_once, rows_of

project = built_once(measured)


def origin(store: Store, writer: str = "anna") -> QueryOrigin:
    with store.reading() as cursor:
        map_id = read_current_map_id(cursor)
    return QueryOrigin("gap", writer, map_id, 1, "ship0", "hash", "short names", {"warnings": []})


@pytest.mark.slow
def test_a_query_of_a_person_and_one_of_a_model_are_told_apart_by_their_source(project: Store) -> None:
    by_person, by_model = origin(project), origin(project, "some-model")
    with project.transaction() as cursor:
        add_coverage_query(cursor, "Titanic", by_person)
        add_coverage_query(cursor, "Queen Mary", by_model, "synthetic", "lee")
    with project.reading() as cursor:
        found = list_queries(cursor)
        sources = {query.text: query.source for query in read_active_queries(cursor)}
    assert [(one.text, one.source, one.writer, one.cluster) for one in found] == [
        ("Titanic", "written", "anna", 1),
        ("Queen Mary", "synthetic", "some-model", 1),
    ]
    assert sources["Titanic"] == "written"
    assert sources["Queen Mary"] == "synthetic"
    actors = rows_of(project, "SELECT actor FROM events WHERE action = 'coverage query' ORDER BY rowid")
    assert actors == [("anna",), ("lee",)]


def test_a_known_text_and_an_unknown_style_are_refused_and_nothing_is_written(project: Store) -> None:
    right = origin(project)
    for text, change, error in (
        ("Green  TEA", {}, RefusedError),
        ("cargo", {"style": "sonnet"}, InputError),
        ("call 030 1234567 or mail ann@example.com", {}, InputError),
    ):
        with pytest.raises(error), project.transaction() as cursor:
            add_coverage_query(cursor, text, right._replace(**change))
    assert rows_of(project, "SELECT count(*) FROM coverage_queries") == [(0,)]


def test_each_run_of_six_tasks_has_each_style_once_by_seed() -> None:
    drawn = draw_styles(15, seed=4)
    assert sorted(drawn[:6]) == sorted(drawn[6:12]) == sorted(STYLES)
    assert drawn == draw_styles(15, seed=4) != draw_styles(15, seed=5)


def test_a_question_has_three_words_or_more_and_a_short_query_two_at_most() -> None:
    assert STYLES["short names"].matches("HMS Victory")
    assert STYLES["short names"].matches("os.path.join byte-compile")
    assert not STYLES["short names"].matches("where is HMS Victory")
    assert STYLES["question generic"].matches("where is the old ship")


def test_a_new_name_of_a_cluster_is_in_the_map_and_the_old_one_in_the_trail(project: Store) -> None:
    add_names(project, "lee", role="lead")
    add_names(project, "anna")
    [gap, *_] = gaps_of(project)
    rename_cluster(project, gap.number, "Ships", "lee")
    rename_cluster(project, gap.number, " Ships at   sea ", "lee")
    rename_cluster(project, gap.number, "Ships at sea", "lee")  # as it is called: nothing to store
    with project.reading() as cursor:
        found = read_map(cursor, read_current_map_id(cursor))
        [named] = read_cluster_names(cursor, found.map_id)
    assert (found.clusters[gap.number].name, named.revision) == ("Ships at sea", 1)
    trail = rows_of(project, "SELECT detail FROM events WHERE action = 'rename cluster' ORDER BY rowid")
    assert [json.loads(detail)["before"] for (detail,) in trail] == [gap.name, "Ships"]
    with pytest.raises(RefusedError, match="needs the role lead"):
        rename_cluster(project, gap.number, "Boats", "anna")


def test_a_name_that_says_nothing_or_is_taken_is_refused(project: Store) -> None:
    other = gaps_of(project)[1]
    with pytest.raises(InputError, match=f"Cluster {other.number} is called"):
        rename_cluster(project, 0, other.name)
    with pytest.raises(InputError, match="empty"):
        rename_cluster(project, 0, "  ")
    with pytest.raises(InputError, match="81 characters"):
        rename_cluster(project, 0, "x" * 81)
    with pytest.raises(NotFoundError, match="no cluster 99"):
        rename_cluster(project, 99, "Boats")


def test_the_command_renames_a_cluster_and_the_gaps_have_its_name(project: Store, goldgrade: Any) -> None:
    number = str(gaps_of(project)[0].number)
    assert "is now called 'Ships'" in goldgrade("coverage", "--rename", f"{number}=Ships")
    assert gaps_of(project)[0].name == "Ships"
