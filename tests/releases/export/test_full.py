"""The full export: all that was frozen, in tables that give the release's very lines back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.releases.checksums import compute_release_id
from curation.releases.frozen_release import load_release
from curation.releases.part_tables import read_batch_rows, write_part
from curation.store import Store
from curation.store.release_parts import PartText
from tests.support.covered_release import covered_project
from tests.support.evaluated_project import evaluated_project, sealed_queries
from tests.support.freezing import export
from tests.support.gold_project import frozen_project
from tests.support.projects import per_module

project = per_module(evaluated_project)
SAID = ("qrels", "judgments", "adjudications", "candidates", "edges")
"""Parts with rows about what was said of pairs."""


def text_of(folder: Path, part: str) -> PartText:
    path = folder / f"{part}.parquet"
    batches = pq.ParquetFile(path).iter_batches() if path.exists() else []
    return PartText.of_rows(row for batch in batches for row in read_batch_rows(batch))


@pytest.mark.slow
@pytest.mark.parametrize("build", [frozen_project, evaluated_project, covered_project])
def test_the_release_id_follows_from_the_tables_of_a_full_export(
    build: Callable[[Path], Store], tmp_path: Path
) -> None:
    store = build(tmp_path)
    release = load_release(store, "v1")
    export(store, "v1", "full", tmp_path / "out", parts=list(release.header["queries"]), reason="all of it")
    sums = {part: text_of(tmp_path / "out", part).sums.sha256 for part in release.texts}
    assert compute_release_id(sums) == release.row.release_id
    store.close()


def test_without_a_reason_nothing_that_was_said_of_sealed_pairs_is_in_it(
    project: Store, tmp_path: Path
) -> None:
    export(project, "v1", "full", tmp_path / "out")
    sealed, release = set(sealed_queries(project)), load_release(project, "v1")
    about = json.loads((tmp_path / "out" / "release.json").read_text())
    for part in SAID:
        here = list(text_of(tmp_path / "out", part))
        assert here == [row for row in release.rows(part) if row.get("query_id") not in sealed]
        assert ("here" in about["parts"][part]) == (len(here) < len(release.rows(part)))
    texts = pq.read_table(tmp_path / "out" / "queries.parquet").column("query_id").to_pylist()
    assert sealed < set(texts)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, None], pa.int64()),
        ([0.5, 1.0], pa.float64()),
        ([True, False], pa.bool_()),
        (["ä", ""], pa.string()),
        ([["a"], []], pa.list_(pa.string())),
        ([1, 0.5], pa.string()),
        ([2**70, 1], pa.string()),
        ([{"b": [1, None]}, None], pa.string()),
    ],
)
def test_a_column_has_the_type_of_its_values_or_is_json(
    tmp_path: Path, values: list[Any], kind: pa.DataType
) -> None:
    rows = [{"query_id": "q", "value": value} for value in values]
    write_part(tmp_path / "part.parquet", rows)
    assert pq.read_schema(tmp_path / "part.parquet").field("value").type == kind
    assert list(text_of(tmp_path, "part").lines()) == list(PartText.of_rows(rows).lines())


def test_a_field_that_rows_lack_and_one_that_is_null_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": None}, {"a": 2}, {"a": 3, "c": "x"}, {"b": 4, "c": "y"}]
    write_part(tmp_path / "part.parquet", rows)
    assert list(text_of(tmp_path, "part").lines()) == list(PartText.of_rows(rows).lines())
