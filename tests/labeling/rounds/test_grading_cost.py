"""Cost before commitment: grades, hours of each person, and what the hours are based on."""

from __future__ import annotations

import pytest

from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.grading_cost import describe_round_cost, forecast_pool, read_pace
from curation.pooling.request import PoolRequest
from curation.store import Store
from tests.support.projects import add_names, add_pairs, grid


@pytest.fixture
def project(store: Store) -> Store:
    add_names(store, "ada", "ben", "cleo")
    add_pairs(store, grid(6, 5))
    return store


def plan(store: Store, **options: object) -> str:
    request = RoundRequest("r", ["ada", "ben", "cleo"], **options)  # type: ignore[arg-type]
    planned = open_round(store, request, dry_run=True)
    with store.reading() as cursor:
        return describe_round_cost(read_pace(cursor), planned)


def test_a_round_costs_grades_and_time_by_a_stated_default(project: Store) -> None:
    assert plan(project, overlap=3, duplicates=0.0) == (
        "6 queries × 5 documents × 3 people = 90 grades, about 8 min each. "
        "The estimate assumes 15 s for each grade, until 10 grades have been timed."
    )
    assert "2 people = 60 grades, about 5 min for each of 3 people" in plan(project, duplicates=0.0)


def test_blind_duplicates_cost_time_too(project: Store) -> None:
    assert "3 people = 90 grades + 6 blind duplicates, about" in plan(project, overlap=3, duplicates=0.07)


def test_the_median_of_the_projects_own_answers_counts_without_what_nobody_can_read(project: Store) -> None:
    open_round(project, RoundRequest("r", ["ada", "ben"], duplicates=0.0))
    with project.transaction() as cursor:
        cursor.execute(
            """
            INSERT INTO judgment_events (presentation_id, revision, kind, grade, flagged, guide_hash, author,
                                         client_key, submitted_at, active_ms)
            SELECT presentation_id, 0, 'grade', 1, false, 'g', annotator, presentation_id, now(),
                   CASE WHEN position < 10 THEN 100 ELSE 40000 END
            FROM presentations
            """
        )
    with project.reading() as cursor:
        pace = read_pace(cursor)
    assert pace.basis == "Based on the median time of 40 grades in this project: 40.0 s."
    assert pace.describe_time(180) == "about 2.0 h"


def test_a_pool_costs_at_most_what_its_systems_and_its_budget_give(project: Store) -> None:
    with project.reading() as cursor:
        (forecast,) = forecast_pool(cursor, PoolRequest(["bm25", "run:shop"], depth=4, random_negatives=2))
        (limited,) = forecast_pool(cursor, PoolRequest(["bm25"], depth=9, random_negatives=0, budget=12))
    assert "6 queries × at most 10 documents × 2 people = at most 120 grades" in forecast
    assert "= at most 24 grades" in limited
