"""Coverage of a small project from its documents to the printed gaps, with vectors given by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.queries.coverage.matching import ALTERNATIVES
from curation.queries.coverage.report import NO_ENTITY, find_coverage
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.queries.requests import CoverageRequest
from curation.store import Store
from tests.support.coverage_project import COARSE, TEXTS, TOPICS, fill, gaps_of, put_vectors
from tests.support.logged import log
from tests.support.pool_project import put_texts
from tests.support.projects import built_once, rows_of

pytestmark = pytest.mark.slow

project = built_once(fill)


def test_the_topics_are_the_regions_and_the_queries_cover_one(project: Store) -> None:
    report = find_coverage(project, COARSE)
    regions = [cluster for cluster in report.clusters if cluster.is_region]
    assert sorted((c.documents, c.queries) for c in regions) == [(6, 0), (6, 0), (6, 2)]
    assert (report.msc, report.scc, report.zqc) == (1 / 3, 0.0, 2)
    assert all(any(topic in region.name for topic in TOPICS) for region in regions)
    assert report.left_out == {NO_ENTITY: 1}  # sonnets
    assert [region.searches for region in regions] == [None] * 3
    assert report.traffic_counted is report.regions.msc_by_traffic is None


def test_the_figures_are_given_by_each_rule_and_their_range_over_all(project: Store, tmp_path: Path) -> None:
    put_texts(project, tmp_path, TEXTS, {"q4": "shipyard"})  # near the ships, and names none
    put_vectors(project, "query", ["shipyard"])
    report = find_coverage(project, COARSE)
    *each, every = report.rules
    assert [one.rule for one in each] == [rule.name for rule in ALTERNATIVES]
    assert [one.zqc for one in each] == [(2, 2), (1, 1), (1, 1), (1, 1)]
    assert (every.msc, every.zqc) == ((1 / 3, 2 / 3), (1, 2))
    assert report.method_tables[1].rows[-1][1] == "33\u00a0% to 67\u00a0%"
    assert "Documents in no region: 0 (0\u00a0%). " in report.details


def test_documents_in_no_region_are_counted_with_the_first_ids(project: Store) -> None:
    outside = find_coverage(project, CoverageRequest(seed=3, resolution=1.0, least_documents=7)).outside
    assert outside == (18, 1.0, tuple(sorted(TEXTS)[:10]))


def test_the_stored_map_is_the_one_that_was_made_and_made_once(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_coverage(project, COARSE)
    with project.reading() as cursor:
        stored = read_map(cursor, read_current_map_id(cursor))
    assert stored.map_id == first.map_id
    monkeypatch.setattr("curation.queries.coverage.stored_map.make_map", None)  # a second map would fail
    assert find_coverage(project, COARSE) == first
    assert rows_of(project, "SELECT count(*) FROM coverage_maps") == [(1,)]
    assert rows_of(project, "SELECT count(*) FROM events WHERE action = 'coverage map'") == [(1,)]


def test_without_a_resolution_the_rule_chooses_one_of_those_on_the_curve(project: Store) -> None:
    report = find_coverage(project, CoverageRequest(seed=3))
    assert report.chosen == "by rule"
    step = next(step for step in report.curve if step.resolution == report.resolution)
    assert step.regions.low is not None
    assert step.regions.low <= report.regions.clusters <= (step.regions.high or 0)
    assert [step.resolution for step in report.curve] == [1, 2, 5, 10, 15, 25, 40, 60]


def test_gaps_come_in_the_order_of_searches_times_documents(project: Store) -> None:
    find_coverage(project, COARSE)
    by_size = gaps_of(project)
    assert [gap.searches for gap in by_size] == [None, None]
    log(project, [("half moon", 7), ("cargo ship", 30), ("sonnets", 99)])
    put_vectors(project, "query", ["half moon", "cargo ship"])
    report = find_coverage(project, COARSE)
    gaps = report.gaps
    assert [(gap.searches, gap.documents[0]) for gap in gaps] == [(30.0, "ship0"), (7.0, "moon0")]
    assert report.regions.msc_by_traffic == 0
    assert report.traffic_counted == 1


def test_gaps_need_a_map_of_the_corpus_in_force(project: Store, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="no coverage map yet"):
        gaps_of(project)
    find_coverage(project, COARSE)
    changed = tmp_path / "changed.jsonl"
    changed.write_text(json.dumps({"id": "tea0", "text": "tea"}))
    import_corpus(project, changed)
    with pytest.raises(RefusedError, match="an older corpus"):
        gaps_of(project)


def test_a_corpus_without_words_has_unknown_coverage(store: Store, tmp_path: Path) -> None:
    put_texts(store, tmp_path, {"d": "1 2 3"}, {"q": "tea"})
    report = find_coverage(store, CoverageRequest(seed=0))
    assert (report.msc, report.scc, report.zqc, report.clusters) == (None, None, 0, [])


def test_the_command_prints_the_measures_and_the_gaps(project: Store, goldgrade: Any) -> None:
    found = json.loads(goldgrade("coverage", "--seed", "3", "--json"))
    assert found["chosen"] == "by rule"
    assert {"msc", "scc", "zqc", "clusters"} <= found.keys()
    shown = goldgrade("coverage", "--seed", "3")
    assert "of 3 regions, 67\u00a0% of the documents, have no query." in shown
    assert "MSC" not in shown
    shown = goldgrade("coverage", "--seed", "3", "--method")
    assert "Coverage by the queries" in shown
    assert "queries that mention none of" in shown
    find_coverage(project, COARSE)
    assert "without a query" in goldgrade("coverage", "--seed", "3", "--limit", "1")
    assert found["gaps"][0]["titles"]


def test_the_command_writes_the_map_and_refuses_runs_without_a_release(
    project: Store, tmp_path: Path, goldgrade: Any
) -> None:
    find_coverage(project, COARSE)
    page = tmp_path / "map.html"
    with pytest.raises(InputError, match="give both --release and --run"):
        goldgrade("coverage", "--html", page, "--run", "some.trec")
    assert not page.exists()
    assert "Wrote" in goldgrade("coverage", "--html", page)
    assert "2 of 3 regions, 67\u00a0% of the documents, have no query." in page.read_text()


def test_a_region_that_is_no_topic_is_no_gap_until_the_dismissal_is_undone(
    project: Store, goldgrade: Any
) -> None:
    find_coverage(project, COARSE)
    before = gaps_of(project)
    assert all(len(gap.titles) == 3 for gap in before)
    number = before[0].number
    assert "is dismissed as no topic" in goldgrade("coverage", "--dismiss", number)
    assert [gap.number for gap in gaps_of(project)] == [before[1].number]
    report = find_coverage(project, COARSE)
    assert (
        report.sentence == "1 of 2 regions, 50\u00a0% of the documents, have no query. 1 more are no topic."
    )
    assert report.zqc == 2, "the measures of the method count each region"
    goldgrade("coverage", "--keep", number)
    assert gaps_of(project) == before
    with pytest.raises(NotFoundError, match="no cluster 99"):
        goldgrade("coverage", "--dismiss", 99)
