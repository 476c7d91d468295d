"""Evidence in a release: its part, what is left out, versions, exports, and releases without any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from curation.ingest.importers.corpus import import_corpus
from curation.labeling.consensus.adjudication import decide_pair
from curation.releases.diff import compare_releases
from curation.releases.freeze.pair_selection import APART, LOST
from curation.releases.frozen_release import load_release
from curation.releases.verify import verify, verify_export
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from tests.support.freezing import export, freeze
from tests.support.gold_project import LEXICAL, PARTS, TOPICS, documents, judgments, write_corpus
from tests.support.marking import frozen_marks, mark, marked_project
from tests.support.projects import per_test

marked, frozen = per_test(marked_project), per_test(frozen_marks)


def part(store: Store, name: str) -> list[tuple[Any, ...]]:
    rows = load_release(store, name).rows("evidence")
    return [(row["document_id"], row["start"], row["end"], row["quote"]) for row in rows]


def test_the_part_has_what_both_marked(frozen: Store) -> None:
    rows = part(frozen, "v1")
    assert [row[0] for row in rows] == sorted(f"{topic}-1" for topic in TOPICS)
    assert {row[1:] for row in rows} == {(4, 9, "about")}
    assert verify(frozen, "v1").intact


def test_marks_without_a_common_character_leave_the_grade_without_evidence(marked: Store) -> None:
    mark(marked, "abe.jones", "the violin", "violin-1")
    found = freeze(marked, "v1")
    assert found.left_out[APART] == 1
    query_id = next(
        judgment.query_id for judgment in judgments("abe.jones") if judgment.document_id == "violin-1"
    )
    decide_pair(marked, query_id, "violin-1", 3, "Both say it")
    assert freeze(marked, "v2").left_out[APART] == 1  # a decision without marks leaves none
    assert "violin-1" not in {row[0] for row in part(marked, "v1")}


def test_evidence_goes_along_with_a_changed_text_or_is_left_out_and_counted(
    marked: Store, tmp_path: Path
) -> None:
    texts = {"violin-1": "A note first. All about the violin.", "glacier-1": "Ice, and no more."}
    rows = [{**row, "text": texts.get(row["id"], row["text"])} for row in documents()]
    import_corpus(marked, write_corpus(tmp_path / "newer.jsonl", rows))
    make_split(marked, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    assert {"violin-1", "glacier-1"}.isdisjoint(
        row["document_id"] for row in load_release(marked, freeze(marked, "v1").name).rows("qrels")
    )
    found = freeze(marked, "v2", allow_changed=True)
    assert (found.changed, found.left_out[LOST]) == (2, 1)
    assert ("violin-1", 18, 23, "about") in part(marked, "v2")


def test_identical_documents_share_their_evidence_with_their_grade(marked: Store, tmp_path: Path) -> None:
    twin = {**documents()[0], "id": "kettle-twin"}
    import_corpus(marked, write_corpus(tmp_path / "more.jsonl", [*documents(), twin]))
    make_split(marked, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    freeze(marked, "v1", share="identical")
    assert [row[1:] for row in part(marked, "v1") if row[0] == "kettle-twin"] == [(4, 9, "about")]


def test_two_releases_say_that_their_evidence_differs(frozen: Store) -> None:
    mark(frozen, "abe.jones", "All about the")
    freeze(frozen, "v2")
    changed = set(compare_releases(frozen, "v1", "v2").settings)
    assert "evidence: content" in changed
    assert "evidence: pairs" not in changed


def test_exports_carry_evidence_of_the_parts_whose_grades_they_have(frozen: Store, tmp_path: Path) -> None:
    rows = part(frozen, "v1")
    for name in ("beir", "leaderboard", "trec", "full"):
        export(frozen, "v1", name, tmp_path / name, reason="to test it")
        assert verify_export(tmp_path / name).intact
    for name, expected in (("beir", rows), ("trec", rows), ("leaderboard", None)):
        lines = (tmp_path / name / "evidence.jsonl").read_text(encoding="utf-8").splitlines()
        found = [
            (row["document_id"], row["start"], row["end"], row["quote"]) for row in map(json.loads, lines)
        ]
        assert found == expected if expected else 0 < len(found) < len(rows)


@pytest.mark.parametrize(("name", "file"), [("parquet", "qrels.parquet"), ("hf", "qrels/test.parquet")])
def test_tables_have_a_column_of_evidence(frozen: Store, tmp_path: Path, name: str, file: str) -> None:
    export(frozen, "v1", name, tmp_path / name, reason="to test it")
    table = parquet.read_table(tmp_path / name / file).to_pylist()
    column = {tuple(one.values()) for row in table for one in row["evidence"]}
    assert column == {(4, 9, "about")}
    assert {bool(row["evidence"]) for row in table} == {True, False}


def test_label_studio_shows_evidence_as_regions(frozen: Store, tmp_path: Path) -> None:
    export(frozen, "v1", "label-studio", tmp_path / "out", reason="to test it")
    assert '<Labels name="evidence" toName="document">' in (tmp_path / "out" / "config.xml").read_text()
    tasks = json.loads((tmp_path / "out" / "dev.json").read_text(encoding="utf-8"))
    regions = [one for task in tasks for one in task["annotations"][0]["result"] if one["type"] == "labels"]
    value = {"start": 4, "end": 9, "text": "about", "labels": ["Evidence"]}
    assert regions
    assert all(region["value"] == value for region in regions)
