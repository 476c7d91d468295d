"""The coverage that a release carries: by hand on eighteen documents, and never a reason for another id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import RefusedError
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.stored_map import read_current_map_id, rename_cluster
from curation.releases.card import write_card
from curation.releases.diff import compare_releases
from curation.releases.frozen_release import load_release
from curation.releases.verify import verify
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.coverage_project import COARSE, TOPICS
from tests.support.covered_release import ABOUT, FEW_TIES, covered_project, labelled, relevant
from tests.support.freezing import freeze
from tests.support.projects import change_text

pytestmark = pytest.mark.slow


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return covered_project(tmp_path)


def query_rows(store: Store, name: str = "v1") -> dict[str, dict[str, Any]]:
    return {row["query_id"]: row for row in load_release(store, name).rows("query_coverage")}


def topics(store: Store) -> dict[int, str]:
    """Number of a region → its topic, from its name."""
    [row] = load_release(store, "v1").rows("coverage")
    regions = {one["number"]: one["name"] for one in row["clusters"] if one["region"]}
    return {number: next(topic for topic in TOPICS if topic in name) for number, name in regions.items()}


def test_a_release_has_the_clusters_of_its_queries_and_their_dispersion_and_alignment(store: Store) -> None:
    topic = topics(store)
    assert sorted(topic.values()) == ["moon", "ship", "tea"]
    for query_id, row in query_rows(store).items():
        about = {part.split()[0] for part in ABOUT[query_id]} - {"sonnets"}
        assert {topic[number] for number in row["clusters"]} == about
        documents = [name.rstrip("0123456789") for name in relevant(query_id)]  # each is in one cluster
        spread = len(set(documents)) / len(documents) if len(documents) > 1 else None
        assert row["dispersion"] == pytest.approx(spread, abs=1e-6)
        both, either = about & set(documents), about | set(documents)
        assert row["alignment"] == pytest.approx(len(both) / len(either), abs=1e-6)
    assert query_rows(store)["none"]["alignment"] == 0


def test_the_boundaries_are_stored_and_say_the_cell_of_each_query(store: Store) -> None:
    [row] = load_release(store, "v1").rows("coverage")
    with store.reading() as cursor:
        assert row["map_id"] == read_current_map_id(cursor)
    assert (row["parameters"]["resolution"], row["parameters"]["seed"], row["relevant_grade"]) == (1.0, 3, 1)
    for one in query_rows(store).values():
        for place, figure in enumerate(("dispersion", "alignment")):
            cuts, value = row[figure], one[figure]
            third = None if value is None else (value > cuts["lower"]) + (value > cuts["upper"])
            assert one["cell"][place] == third


def test_freezing_again_has_the_same_id_and_the_release_verifies(store: Store) -> None:
    again = freeze(store, "again")
    assert again.release_id == load_release(store, "v1").row.release_id
    assert verify(store, "v1").intact
    assert "29 of 30 queries are in a cluster, 3 of 3 regions have a query" in again.coverage
    assert again.coverage.endswith("and 30 queries fall in a cell of the grid.")


def test_without_a_map_nothing_is_added_so_that_older_releases_keep_their_ids(tmp_path: Path) -> None:
    store = labelled(tmp_path)
    make_split(store, SplitRequest((("dev", 1.0),), 1, FEW_TIES))
    before = freeze(store, "before")
    assert before.coverage is None
    assert {"coverage", "query_coverage"}.isdisjoint(before.parts)
    find_coverage(store, COARSE)
    after = freeze(store, "after")
    assert set(after.parts) - set(before.parts) == {"coverage", "query_coverage"}
    both = [load_release(store, name).texts for name in ("before", "after")]
    assert all(both[1][part].sums == text.sums for part, text in both[0].items())
    assert verify(store, "before").intact
    told = compare_releases(store, "before", "after").settings
    assert told["coverage: map"] == (None, load_release(store, "after").rows("coverage")[0]["map_id"])


def test_a_map_of_an_older_corpus_is_not_frozen_and_that_is_said(store: Store) -> None:
    change_text(store, "moon5")
    frozen = freeze(store, "v2")
    assert frozen.coverage is not None
    assert "query_coverage" not in frozen.parts
    shown = invoke(["--project", str(store.path), "freeze", "v2"]).stdout
    assert "The release has no clusters of its queries: The coverage map belongs to an older corpus." in shown


def test_queries_that_were_not_matched_need_the_model_of_the_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = labelled(tmp_path)
    find_coverage(store, COARSE)
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM coverage_texts")
        cursor.execute("DELETE FROM embeddings WHERE text_hash IN (SELECT max(text_hash) FROM embeddings)")
    make_split(store, SplitRequest((("dev", 1.0),), 1, FEW_TIES))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RefusedError, match=r"its model all-MiniLM-L6-v2 can add them: Dense retrieval"):
        freeze(store, "v1")


def test_the_name_that_a_lead_gave_a_cluster_is_in_the_next_release(store: Store) -> None:
    rename_cluster(store, 0, "Hot drinks")
    freeze(store, "named")
    [row] = load_release(store, "named").rows("coverage")
    assert row["clusters"][0]["name"] == "Hot drinks"


def test_the_card_says_which_regions_have_no_query_and_where_the_grid_is_cut(store: Store) -> None:
    card = write_card(load_release(store, "v1"))
    assert "3 of 3 regions of the corpus have a query" in card
    assert "Thirds end at Δ 0.500" in card
    change_text(store, "moon5")
    freeze(store, "plain")
    assert "No coverage map" in write_card(load_release(store, "plain"))
