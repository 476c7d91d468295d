"""A release knows which documents of a sampled pool were drawn, and with which probability."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curation.pooling.pool import build_pool
from curation.releases.card.card import Card
from curation.releases.diff.diff import diff
from curation.releases.export.export import export
from curation.releases.freeze.freeze import freeze
from curation.releases.verify import load_release, verify
from curation.store import Store
from tests.support.gold_project import frozen_project
from tests.support.sampled_pool import BANDS, DEPTH, QUERIES, sampled_pool_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Store]:
    store = sampled_pool_project(tmp_path)
    yield store
    store.close()


def test_a_release_has_each_querys_drawn_documents_with_their_probability(project: Store) -> None:
    release = load_release(project, "v1")
    rows = release.rows("pool_sample")
    assert [(row["query_id"], row["band"]) for row in rows] == [(q, band) for q in QUERIES for band in (1, 2)]
    judged = {(row["query_id"], row["document_id"]) for row in release.rows("qrels")}
    for row in rows:
        pooled = len(row["drawn"]) + len(row["not_drawn"])
        assert row["inclusion_probability"] == pytest.approx(len(row["drawn"]) / pooled, rel=1e-5)
        assert {(row["query_id"], name) for name in row["drawn"]} <= judged
        assert judged.isdisjoint((row["query_id"], name) for name in row["not_drawn"])
    assert all(row["inclusion_probability"] == 1 for row in rows if row["band"] == 1)
    [pool] = release.rows("pools")
    assert pool["parameters"]["sample"] == {"bands": [[5, 1.0], [30, 0.4]], "budget": None}


def test_it_is_verified_exported_and_compared_as_any_other(project: Store, tmp_path: Path) -> None:
    assert verify(project, "v1").intact
    assert export(project, "v1", "trec", tmp_path / "out", reason="to test it")
    again = freeze(project, "again")
    assert again.release_id == load_release(project, "v1").row.release_id
    build_pool(project, ["run:far"], DEPTH, 0, 8, sample_bands=BANDS)
    other = freeze(project, "other")
    assert other.release_id != again.release_id
    assert other.parts["pool_sample"] == 2 * again.parts["pool_sample"]
    assert diff(project, "v1", "other")


def test_the_card_says_that_a_sample_was_judged_and_at_which_rates(project: Store) -> None:
    text = Card(load_release(project, "v1")).text
    assert "A random sample of the pool was judged." in text
    assert "| 1 to 5 |" in text
    assert "| 6 to 30 |" in text
    assert "Only a random sample of the pool was judged." in text


def test_releases_without_a_sample_have_no_such_part(tmp_path: Path) -> None:
    store = frozen_project(tmp_path)
    assert "pool_sample" not in load_release(store, "v1").texts
    assert "random sample of the pool" not in Card(load_release(store, "v1")).text
    store.close()
