"""A release knows which documents of a sampled pool were drawn, and with which probability."""

from __future__ import annotations

import pytest

from curation.releases.card import write_card
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.support.projects import per_test
from tests.support.sampled_pool import QUERIES, sampled_pool_project

pytestmark = pytest.mark.slow
project = per_test(sampled_pool_project)


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


def test_the_card_says_that_a_sample_was_judged(project: Store) -> None:
    text = write_card(load_release(project, "v1"))
    assert "Only a random sample of the pool was judged." in text
