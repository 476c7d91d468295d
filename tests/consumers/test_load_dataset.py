"""`datasets.load_dataset(FOLDER)` takes every export as it is, by the configs of its README."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

datasets = pytest.importorskip("datasets", reason="make test-consumers", exc_type=ImportError)

from curation.releases.export.formats import FORMATS  # noqa: E402
from tests.support.consumed_project import TOPICS, consumed_project, expected  # noqa: E402
from tests.support.gold_project import Qrels, export  # noqa: E402

PARTS = ("dev", "test")
COLUMNS = {
    "beir": ("query-id", "corpus-id", "score"),
    "hf": ("query-id", "corpus-id", "score"),
    **dict.fromkeys(("csv", "parquet"), ("query_id", "doc_id", "relevance")),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Path]]:
    folder = tmp_path_factory.mktemp("loaded")
    patch = pytest.MonkeyPatch()
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        patch.setattr(datasets.config, name, True)
    patch.setattr(datasets.config, "HF_DATASETS_CACHE", folder / "cache")
    store = consumed_project(folder)
    for format, record in FORMATS.items():
        parts = ("dev",) if record.never_sealed else PARTS
        export(store, "v1", format, folder / "out" / format, parts=parts, negatives=1)
    yield {format: folder / "out" / format for format in FORMATS}
    store.close()
    patch.undo()


@pytest.mark.parametrize("format", FORMATS)
def test_every_config_of_every_format_loads_with_rows(folders: Mapping[str, Path], format: str) -> None:
    folder = str(folders[format])
    assert all(len(rows) for rows in datasets.load_dataset(folder).values())
    for config in datasets.get_dataset_config_names(folder):
        assert all(len(rows) for rows in datasets.load_dataset(folder, config).values())


@pytest.mark.parametrize("format", COLUMNS)
def test_the_default_config_has_the_grades(folders: Mapping[str, Path], format: str) -> None:
    qrels: Qrels = {}
    for rows in datasets.load_dataset(str(folders[format])).values():
        for query, document, grade in zip(*(rows[name] for name in COLUMNS[format]), strict=True):
            qrels.setdefault(query, {})[document] = grade
    assert qrels == expected()


def test_lines_of_trec_and_rows_for_training_are_the_default(folders: Mapping[str, Path]) -> None:
    lines = [row["text"] for rows in datasets.load_dataset(str(folders["trec"])).values() for row in rows]
    assert {tuple(line.split()[::2]) for line in lines} == {
        (query, document) for query, grades in expected().items() for document in grades
    }
    anchors = datasets.load_dataset(str(folders["triplets"]))["dev"]["anchor"]
    assert set(anchors) < {f"{topic} that {does}" for topic, does in TOPICS.items()}
