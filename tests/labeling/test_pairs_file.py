"""Pairs for judging elsewhere: blind, whole, and back again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.readers.fields import JudgmentFields
from curation.labeling.imported import import_judgments
from curation.labeling.pairs_file import COLUMNS, export_pairs
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.projects import rows_of


@pytest.fixture
def project(store: Store, write: Any) -> Store:
    documents = [{"id": f"d{n}", "title": f"red {n}", "text": f"red shoe, size\t{n}"} for n in range(6)]
    documents.append({"id": "=1+1", "text": 'red "quoted"\nshoe ' + "and more words. " * 100})
    documents += [{"id": f"x{n}", "text": f"blue hat {n}"} for n in range(12)]
    import_corpus(store, write("c.jsonl", documents))
    import_queries(store, write("q.jsonl", [{"id": "1", "text": "red"}, {"id": "2", "text": "shoe"}]))
    command = "pool --systems bm25 --depth 5 --random-negatives 1".split()
    assert invoke(["--project", str(store.path), *command]).exit_code == 0
    return store


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_file_has_every_pair_with_its_texts_and_nothing_of_any_system(
    project: Store, tmp_path: Path
) -> None:
    written = export_pairs(project, tmp_path / "pairs.csv", seed=3)
    found = _read(written.path)
    pairs = rows_of(project, "SELECT query_id, document_id FROM candidates ORDER BY ALL")
    assert sorted((row["query_id"], row["document_id"]) for row in found) == pairs
    assert (tuple(found[0]), written.pairs) == (COLUMNS, len(pairs))
    bodies = dict(rows_of(project, "SELECT document_id, body FROM documents"))
    assert all(row["text"] == bodies[row["document_id"]] for row in found)
    ranked = rows_of(project, "SELECT document_id FROM candidate_sources WHERE query_id = '1' ORDER BY rank")
    shown = [row["document_id"] for row in found if row["query_id"] == "1"]
    assert len(shown) == 6
    assert shown != [row[0] for row in ranked]
    again = export_pairs(project, tmp_path / "again.csv", seed=3)
    assert again.path.read_bytes() == written.path.read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_a_filled_file_comes_back_as_judgments(project: Store, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"pairs{ending}"
    export_pairs(project, path)
    if ending == ".csv":
        rows: list[dict[str, Any]] = list(_read(path))
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, row in enumerate(rows[1:]):
        row["grade"] = number % 4
    if ending == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = import_judgments(project, path, JudgmentFields(annotator_name="ada"))
    assert (found.judgments, found.left_out) == (len(rows) - 1, {"no grade": 1})
    assert (found.added_pairs, found.added_queries) == (0, 0)
    left = export_pairs(project, tmp_path / f"left{ending}")
    assert (left.pairs, left.left_out) == (1, {"the pair is already in a round or judged": len(rows) - 1})


def test_an_excerpt_is_what_the_grading_screen_would_show(project: Store, tmp_path: Path) -> None:
    export_pairs(project, tmp_path / "pairs.csv", text="excerpt")
    assert max(len(row["text"]) for row in _read(tmp_path / "pairs.csv")) <= 700


def test_a_file_that_is_there_or_has_no_known_ending_is_refused(project: Store, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("mine")
    for name, told in [
        ("there.csv", "the file already exists"),
        ("pairs.xlsx", "expected a name that ends in .csv or .jsonl"),
    ]:
        with pytest.raises(InputError, match=told):
            export_pairs(project, tmp_path / name)
    with pytest.raises(InputError, match="the folder does not exist"):
        export_pairs(project, tmp_path / "no" / "pairs.csv")


def test_without_candidates_there_is_nothing_to_write(store: Store, write: Any, tmp_path: Path) -> None:
    import_corpus(store, write("c.jsonl", [{"id": "d", "text": "x"}]))
    with pytest.raises(RefusedError, match="no pool was built"):
        export_pairs(store, tmp_path / "pairs.csv")


def test_the_command_builds_no_pool_unless_it_is_asked_for_one(project: Store, tmp_path: Path) -> None:
    before = rows_of(project, "SELECT count(*) FROM candidates")
    command = ["--project", str(project.path), "pool", "--out"]
    done = invoke([*command, str(tmp_path / "a.csv")], catch_exceptions=False)
    assert "To import the grades: goldgrade import judgments a.csv --annotator NAME" in done.stdout
    assert "import the columns as text, not as formulas" in done.stdout
    assert rows_of(project, "SELECT count(*) FROM candidates") == before
    built = [*command, str(tmp_path / "b.jsonl"), "--systems", "bm25", "--depth", "7", "--json"]
    printed = json.loads(invoke(built, catch_exceptions=False).stdout)
    assert printed["exported"]["pairs"] == len((tmp_path / "b.jsonl").read_text().splitlines())
    before = rows_of(project, "SELECT count(*) FROM pools")
    refused = invoke([*command, str(tmp_path / "b.jsonl"), "--systems", "bm25", "--depth", "3"])
    assert "the file already exists" in str(refused.exception)
    assert rows_of(project, "SELECT count(*) FROM pools") == before
