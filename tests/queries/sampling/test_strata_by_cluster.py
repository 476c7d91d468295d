"""Samples stratified by the regions of the coverage map: one stratum a query, and weights that add up."""

from __future__ import annotations

import pytest

from curation.core.errors import InputError, RefusedError
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.stored_map import read_current_map_id, rename_cluster
from curation.queries.requests import CoverageRequest
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest, TopUpRequest
from curation.queries.sampling.stored_sample import SampleReport, find_current_sample
from curation.queries.sampling.strata import Stratum
from curation.queries.sampling.top_up import top_up
from curation.store import Store
from tests.support.coverage_project import fill, measured, put_vectors
from tests.support.logged import log
from tests.support.projects import built_once

KINDS = {"tea pot": 9, "ship mast": 6, "sonnets": 3}
"""About what, and how many queries of the log are; two more are about both tea and ships."""
BY_CLUSTER = ("cluster",)


def asked() -> dict[str, int]:
    """Texts of the log that no typing error makes one of another, and how often each was asked."""
    words = ["amber", "bishop", "cotton", "dragon", "ember", "falcon", "garnet", "hollow", "indigo"]
    found = {
        f"{word} {about}": 10 + place
        for about, number in KINDS.items()
        for place, word in enumerate(words[:number])
    }
    return found | {"tea pot green tea ship mast": 5, "tea pot ship mast cargo ship": 4}


def with_log(store: Store) -> Store:
    measured(store)
    log(store, asked().items())
    put_vectors(store, "query", list(asked()))
    return store


project = built_once(with_log)


def by_name(report: SampleReport) -> dict[str, Stratum]:
    """Topic or whole name → stratum."""
    topics = ("tea", "ship", "moon")
    return {next((one for one in topics if one in row.name), row.name): row for row in report.strata}


@pytest.mark.slow
def test_each_query_is_in_the_region_of_most_of_its_entities_and_the_rest_apart(project: Store) -> None:
    strata = by_name(draw_sample(project, DrawRequest(10, 3, BY_CLUSTER)))
    assert {name: row.population for name, row in strata.items()} == {
        "tea": 11,  # the two about both are about more entities of tea
        "ship": 6,
        "moon": 0,  # nobody asks: the stratum is there all the same
        "in no cluster": 3,
    }
    assert sum(row.traffic for row in strata.values()) == sum(asked().values())


def test_the_same_draw_is_the_same_sample_and_names_its_map(project: Store) -> None:
    first, again = (draw_sample(project, DrawRequest(8, 1, BY_CLUSTER)) for _ in range(2))
    assert (first.sample_id, again.drawn_before) == (again.sample_id, True)
    with project.reading() as cursor:
        assert first.parameters["coverage_map"] == read_current_map_id(cursor)
    plain = draw_sample(project, DrawRequest(8, 1))
    assert "coverage_map" not in plain.parameters  # other samples keep their ids


@pytest.mark.slow
def test_a_top_up_keeps_to_the_map_and_the_names_of_its_sample(project: Store) -> None:
    first = draw_sample(project, DrawRequest(6, 2, BY_CLUSTER))
    rename_cluster(project, 0, "Whatever leads say")
    find_coverage(project, CoverageRequest(seed=3, resolution=40.0))  # another map is in force now
    more = top_up(project, TopUpRequest(size=12))
    assert [row.name for row in more.strata] == [row.name for row in first.strata]
    assert all(after.drawn >= before.drawn for before, after in zip(first.strata, more.strata, strict=True))
    stored = find_current_sample(project)
    assert stored is not None
    assert stored.parameters["coverage_map"] == first.parameters["coverage_map"]


def test_without_a_map_of_the_corpus_there_are_no_clusters(store: Store) -> None:
    fill(store)
    log(store, [("green tea", 3)])
    with pytest.raises(RefusedError, match="no coverage map yet"):
        draw_sample(store, DrawRequest(1, 0, BY_CLUSTER))
    with pytest.raises(InputError, match="'clusters' is not a dimension of strata"):
        draw_sample(store, DrawRequest(1, 0, ("clusters",)))
