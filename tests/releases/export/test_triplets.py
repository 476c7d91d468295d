"""Triplets: negatives are what people judged and systems ranked, never a positive's twin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.row_types import Query
from tests.support.freezing import freeze
from tests.support.gold_project import LEXICAL, PARTS, add_pool, export, write_corpus
from tests.support.projects import new_project, per_module

pytestmark = pytest.mark.slow

SWIM = "swim in the cold lake before dawn with a lamp on the head and a friend who holds the rope"
TEXTS = {
    "good": SWIM,
    "also good": SWIM,
    "better": "where to find the lake on the map and which bus goes there on a day in the week",
    "twin": SWIM,
    "nearly": f"{SWIM} tight",
    "deep": "a diver tells how cold the water was",
    "shop": "wet suits and lamps on sale",
    "shop again": "wet suits and lamps on sale",
    "loose": "nothing to do with swimming",
    "far": "a lake of another sort",
    "random": "a recipe for plum cake",
}
IRRELEVANT = ("twin", "nearly", "deep", "shop", "shop again", "loose", "random")
GRADES = {"good": 1, "also good": 1, "better": 3, **dict.fromkeys(IRRELEVANT, 0)}
RANKS = {"twin": 1, "nearly": 2, "shop again": 3, "deep": 5, "shop": 4, "good": 6, "far": 7}
OPEN = {"dev": 0.5, "train": 0.5}
"""Parts that are not sealed."""


def put_corpus(store: Store, folder: Path, texts: dict[str, str]) -> None:
    rows = [{"id": name, "title": "", "text": text} for name, text in texts.items()]
    rows += [
        {"id": f"z{number}", "title": f"zebra {number}", "text": f"stripe {number}"} for number in (1, 2)
    ]
    import_corpus(store, write_corpus(folder / "corpus.jsonl", rows))


def project(folder: Path, parts: dict[str, float] = PARTS) -> Store:
    """Two queries over the same texts under other ids; the second one's are relevant in pairs only."""
    store = new_project(folder / "project.duckdb")
    put_corpus(store, folder, TEXTS)
    asked = [Query("lake", "lake", "lake", "imported"), Query("zebra", "zebra", "zebra", "imported")]
    given = [ImportedJudgment("lake", name, "x", grade) for name, grade in GRADES.items()]
    given += [ImportedJudgment("zebra", "z1", "x", 2), ImportedJudgment("zebra", "z2", "x", 0)]
    add_pool(store, {("lake", "random"): None}, "random")  # a random document of a pool is no hard negative
    add_judgments(store, given, "x.csv", asked)
    ranks: dict[tuple[str, str], int | None] = {("lake", name): rank for name, rank in RANKS.items()}
    add_pool(store, ranks | {("zebra", "z2"): 1, ("zebra", "z1"): 2, ("lake", "loose"): None})
    make_split(store, SplitRequest(tuple(parts.items()), rules=LEXICAL))
    return store


@per_module
def gold(folder: Path) -> Store:
    store = project(folder, OPEN)
    freeze(store, "v1", override="one judge is enough here")
    return store


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of_lake(folder: Path, where: str = "") -> list[dict[str, object]]:
    """The rows of the query lake, in whatever part it lies."""
    found = [row for path in sorted((folder / where).glob("*.jsonl")) for row in lines(path)]
    return [row for row in found if "lake" in (row.get("anchor"), row.get("query_id"))]


def test_negatives_are_judged_ranked_and_in_the_order_of_rank(gold: Store, tmp_path: Path) -> None:
    exported = export(gold, "v1", "triplets", tmp_path / "out")
    ids = of_lake(tmp_path / "out", "ids")
    negatives = ("shop again", "deep", "loose")  # nobody ranked the last one, whose grade was imported
    expected = [(positive, negative) for positive in ("better", "also good") for negative in negatives]
    assert ids == [
        {"query_id": "lake", "positive_id": positive, "negative_ids": [negative]}
        for positive, negative in expected
    ]
    assert of_lake(tmp_path / "out") == [
        {"anchor": "lake", "positive": TEXTS[positive], "negative": TEXTS[negative]}
        for positive, negative in expected
    ]
    assert sum(exported.rows.values()) == 7
    assert exported.left_out == {
        "document graded not relevant, but nearly identical to a relevant document": 2,
        "document graded not relevant that no system ranked": 1,
        "document graded not relevant, with the same text as another document": 1,
        "relevant document with the same text as another document": 1,
    }
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["left_out"], manifest["rows"]) == (exported.left_out, exported.rows)


def test_a_triplet_export_takes_at_most_as_many_negatives_as_are_wanted(gold: Store, tmp_path: Path) -> None:
    export(gold, "v1", "triplets", tmp_path / "out", negatives=1)
    assert [row["negative_ids"] for row in of_lake(tmp_path / "out", "ids")] == [["shop again"]] * 2
    with pytest.raises(
        InputError, match="“Hard negatives for each positive”: 0 is out of range; expected 1 to 1,000"
    ):
        export(gold, "v1", "triplets", tmp_path / "two", negatives=0)


def test_without_a_row_nothing_is_written_and_the_reasons_are_told(gold: Store, tmp_path: Path) -> None:
    with pytest.raises(
        RefusedError, match=r"The grades of no part give no row for the export: there is no grade"
    ):
        export(gold, "v1", "triplets", tmp_path / "out", without_grades=["dev", "train"])
    assert list(tmp_path.iterdir()) == []


def test_sealed_parts_give_no_triplets_unless_they_are_asked_for(tmp_path: Path) -> None:
    store = project(tmp_path)
    freeze(store, "v1", override="one judge is enough here")
    exported = export(store, "v1", "triplets", tmp_path / "out", reason=None, negatives=1)
    assert (exported.without_grades, list(exported.rows)) == (("test",), ["dev.jsonl"])
    with pytest.raises(RefusedError, match="sealed"):
        export(store, "v1", "triplets", tmp_path / "two", reason=None, parts=["dev", "test"], negatives=1)
    exported = export(store, "v1", "triplets", tmp_path / "two", parts=["dev", "test"], negatives=1)
    assert list(exported.rows) == ["dev.jsonl", "test.jsonl"]
    assert exported.opening is not None


def test_a_grade_of_another_version_of_its_document_makes_no_row(tmp_path: Path) -> None:
    store = project(tmp_path, OPEN)
    put_corpus(store, tmp_path, TEXTS | {"deep": "rewritten since"})
    freeze(store, "v1", allow_changed=True, override="one judge is enough here")
    exported = export(store, "v1", "triplets", tmp_path / "out")
    assert {row["negative"] for row in of_lake(tmp_path / "out")} == {TEXTS["shop"], TEXTS["loose"]}
    assert exported.left_out["grade of another version of the document"] == 1
