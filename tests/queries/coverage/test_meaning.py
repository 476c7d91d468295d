"""Coverage with the real model: a query that names no entity is about the region near it in meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.queries.coverage.coverage_map import MapSettings
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.stored_map import map_in_force, read_map, read_texts
from curation.store import Store
from tests.support.pool_project import put_texts

TEXTS = {
    "t1": "Green tea is brewed in a tea pot.",
    "t2": "Black tea is brewed longer than green tea.",
    "t3": "A tea pot keeps black tea warm.",
    "s1": "The cargo ship left the sea port.",
    "s2": "A sea port needs a harbour pilot.",
    "s3": "The harbour pilot boards the cargo ship.",
}


@pytest.mark.usefixtures("embedding_model")
def test_a_query_that_names_nothing_is_matched_by_meaning(store: Store, tmp_path: Path) -> None:
    put_texts(store, tmp_path, TEXTS, {"q": "oolong teapots", "r": "?!"})
    report = find_coverage(store, MapSettings(seed=0, resolution=1.0, least_documents=3))
    regions = {cluster.name: cluster for cluster in report.clusters if cluster.is_region}
    assert sorted((("tea" in name), found.documents, found.queries) for name, found in regions.items()) == [
        (False, 3, 0),
        (True, 3, 1),
    ]
    with store.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
        match = read_texts(cursor, found.map_id)["oolong teapots"]
    assert match.by_phrase == ()
    assert {"tea" in found.entities[place].name for place in match.by_meaning} == {True}
