"""The map with results: means by hand, one HTML file, and nothing of sealed parts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from curation.core.errors import RefusedError
from curation.evaluation.by_query import EvaluatedValues, choose_values
from curation.evaluation.coverage_report import average_by_region, write_coverage_page
from curation.queries.coverage.state import CoverageState, read_state
from curation.store import Annotator, Store
from tests.support.coverage_project import measured
from tests.support.projects import built_once

project = built_once(measured)
LEE = Annotator("lee", "lead", False)


def state_of(store: Store) -> CoverageState:
    with store.reading() as cursor:
        return read_state(cursor)


def region_of(state: CoverageState, document: str) -> int:
    return next(one.number for one in state.map.clusters if one.is_region and document in one.documents)


def values(first: float | None, second: float | None) -> EvaluatedValues:
    """q1 and q2 are about tea; q3 about nothing."""
    return EvaluatedValues("v1, test", "ndcg@10", {"bm25": {"q1": first, "q2": second, "q3": 1.0}})


def test_a_regions_figure_is_the_mean_of_its_queries_and_unknown_without_any(project: Store) -> None:
    state = state_of(project)
    tea, ship = region_of(state, "tea0"), region_of(state, "ship0")
    means = average_by_region(state, values(0.25, 0.75).systems["bm25"])
    assert (means[tea], means[ship]) == (0.5, None)
    assert average_by_region(state, values(0.25, None).systems["bm25"])[tea] == 0.25


def test_the_page_is_one_file_whose_regions_link_to_what_is_said_of_them(project: Store) -> None:
    page = write_coverage_page(project, values(0.2, 0.9))
    state = state_of(project)
    for number in state.map.regions:
        assert f'href="#region-{number}"' in page
        assert f'<section id="region-{number}">' in page
    assert "2 of 3 regions, 67\u00a0% of the documents, have no query." in page
    assert "queries write --region" in page
    assert "<script" not in page
    assert "https:" not in page
    assert "http:" not in page
    assert page == write_coverage_page(project, values(0.2, 0.9))
    assert "No run was chosen" in write_coverage_page(project)


def evaluation(per_query: Any) -> Any:
    return SimpleNamespace(
        release="v1",
        parts=["test"],
        measures=["mrr@10", "ndcg_exp@10"],
        query_ids=None if per_query is None else ["q1"],
        runs=[SimpleNamespace(name="bm25", per_query=per_query)],
    )


def test_an_evaluation_gives_ndcg() -> None:
    chosen = choose_values(evaluation({"mrr@10": [1.0], "ndcg_exp@10": [0.5]}))
    assert chosen == EvaluatedValues("v1, test", "ndcg_exp@10", {"bm25": {"q1": 0.5}})


def test_a_sealed_part_colours_nothing() -> None:
    with pytest.raises(RefusedError, match="sealed part"):
        choose_values(evaluation(None))
