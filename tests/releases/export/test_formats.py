"""Formats for other tools: each holds the consensus and nothing else, in the shape its reader expects."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from curation.core.errors import InputError
from curation.releases.export.files import name_splits
from curation.store import Store
from tests.support.freezing import freeze
from tests.support.gold_project import TOPICS, consensus_grades, export, pooled_project
from tests.support.projects import per_module

UNJUDGED = [
    (f"q-{topic}", f"{other}-1") for topic, other in zip(TOPICS, [*TOPICS[1:], TOPICS[0]], strict=True)
]


@per_module
def gold(folder: Path) -> Store:
    store = pooled_project(folder)
    freeze(store, "v1")
    return store


@pytest.mark.slow
def test_pooled_pairs_without_a_grade_are_minus_one_where_they_are_asked_for(
    gold: Store, tmp_path: Path
) -> None:
    export(gold, "v1", "trec", tmp_path / "plain")
    export(gold, "v1", "trec", tmp_path / "pooled", unjudged=True)
    plain = (tmp_path / "plain" / "qrels.txt").read_text().splitlines()
    pooled = (tmp_path / "pooled" / "qrels.txt").read_text().splitlines()
    assert sorted(set(pooled) - set(plain)) == sorted(f"{query} 0 {name} -1" for query, name in UNJUDGED)
    assert set(plain) < set(pooled)
    assert pooled == sorted(pooled)


def test_unjudged_pairs_of_a_part_without_grades_stay_out(gold: Store, tmp_path: Path) -> None:
    export(gold, "v1", "trec", tmp_path / "out", without_grades=["test"], unjudged=True)
    lines = (tmp_path / "out" / "qrels.txt").read_text().splitlines()
    assert len([line for line in lines if line.endswith("-1")]) == 4
    assert len(lines) == 12


def test_only_trec_has_a_place_for_unjudged_pairs(gold: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the format csv cannot contain.*\n.*[Tt]he licence"):
        export(gold, "v1", "csv", tmp_path / "out", unjudged=True, licence="a\nb")


def test_the_hugging_face_folder_names_its_configs_and_holds_the_consensus(
    gold: Store, tmp_path: Path
) -> None:
    export(gold, "v1", "hf", tmp_path / "out", licence="cc-by-4.0")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    matter = yaml.safe_load(text.split("---\n")[1])
    assert matter["license"] == "cc-by-4.0"
    assert matter["task_categories"] == ["text-retrieval"]
    files = {
        config["config_name"]: {file["split"]: file["path"] for file in config["data_files"]}
        for config in matter["configs"]
    }
    assert {name: set(splits) for name, splits in files.items()} == {
        "corpus": {"corpus"},
        "queries": {"queries"},
        "default": {"dev", "test"},
    }
    qrels: dict[str, dict[str, int]] = {}
    for path in files["default"].values():
        for row in pq.read_table(tmp_path / "out" / path).to_pylist():
            qrels.setdefault(row["query-id"], {})[row["corpus-id"]] = row["score"]
    assert qrels == consensus_grades(gold)
    corpus = pq.read_table(tmp_path / "out" / files["corpus"]["corpus"])
    assert corpus.column_names == ["_id", "title", "text"]
    assert corpus.num_rows == 16
    queries = pq.read_table(tmp_path / "out" / files["queries"]["queries"]).to_pylist()
    assert {row["_id"] for row in queries} == set(qrels)
    assert "## Known limits" in text


def test_parquet_and_hugging_face_have_how_a_grade_came_about(gold: Store, tmp_path: Path) -> None:
    for format, name in (("parquet", "qrels.parquet"), ("hf", "qrels")):
        export(gold, "v1", format, tmp_path / format)
        rows = pq.read_table(tmp_path / format / name).to_pylist()
        document = "doc_id" if format == "parquet" else "corpus-id"
        found = {row[document]: (row["how"], row["votes"], row["confidence"]) for row in rows}
        assert found["kettle-2"] == ("adjudicated", '{"0":1,"2":1}', None)
        assert found["kettle-1"] == ("majority", '{"3":2}', None)


def test_a_licence_without_an_identifier_of_the_hub_keeps_its_name(gold: Store, tmp_path: Path) -> None:
    export(gold, "v1", "hf", tmp_path / "out", licence="Ours, ask first")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    matter = yaml.safe_load(text.split("---\n")[1])
    assert (matter["license"], matter["license_name"]) == ("other", "Ours, ask first")


def test_parts_get_names_that_datasets_takes_for_splits_each_its_own() -> None:
    assert name_splits(["dev", "a-b", "a_b"]) == {"dev": "dev", "a-b": "a_b", "a_b": "a_b_"}
