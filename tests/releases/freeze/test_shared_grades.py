"""Identical documents share a grade only by a rule that the release names; what was judged itself stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.imported import add_judgments
from curation.releases.diff import compare_releases
from curation.releases.verify import verify
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store
from curation.store.release_parts import read_part
from tests.support.freezing import export, freeze
from tests.support.gold_project import LEXICAL, PARTS, documents, labelled, write_corpus
from tests.support.projects import rows_of

pytestmark = pytest.mark.slow


def project(folder: Path, judged: Sequence[tuple[str, str, int | None]] = ()) -> Store:
    """The small project, whose corpus has violin-1 and router-2 under further ids; with further judgments."""
    store = labelled(folder)
    texts = {row["id"]: row for row in documents()}
    copies = {"violin-1": ("violin-8", "violin-9"), "router-2": ("a-router",)}
    twins = [
        texts[source] | {"id": name, "url": "twin"} for source, names in copies.items() for name in names
    ]
    import_corpus(store, write_corpus(folder / "twins.jsonl", [*documents(), *twins]))
    given = [
        ImportedJudgment(query, document, annotator, grade)
        for query, document, grade in judged
        for annotator in ("zoe.miller", "abe.jones")
    ]
    if given:
        add_judgments(store, given, "twins.csv")
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, LEXICAL))
    return store


def qrels(store: Store, release_id: str) -> dict[tuple[str, str], dict[str, Any]]:
    with store.reading() as cursor:
        rows = list(read_part(cursor, release_id, "qrels"))
    assert [(r["query_id"], r["document_id"]) for r in rows] == sorted(
        (r["query_id"], r["document_id"]) for r in rows
    )
    return {(row["query_id"], row["document_id"]): row for row in rows}


def header(store: Store, release_id: str) -> dict[str, Any]:
    with store.reading() as cursor:
        return next(iter(read_part(cursor, release_id, "release")))


def test_with_the_rule_copies_have_the_grade_marked_with_where_it_comes_from(tmp_path: Path) -> None:
    store = project(tmp_path)
    plain, frozen = freeze(store, "v1"), freeze(store, "v2", share="identical")
    grades = qrels(store, frozen.release_id)
    assert ("q-violin", "violin-8") not in qrels(store, plain.release_id)
    assert (plain.sharing, "sharing" in header(store, plain.release_id)) == (None, False)
    assert "Grades shared between identical documents: 3. 0 texts have" in " ".join(frozen.sentences)
    shared = {pair: (row["grade"], row["from"]) for pair, row in grades.items() if row["how"] == "shared"}
    assert shared == {
        ("q-violin", "violin-8"): (3, "violin-1"),
        ("q-violin", "violin-9"): (3, "violin-1"),
        ("q-router", "a-router"): (0, "router-2"),
    }
    told = header(store, frozen.release_id)
    assert told["sharing"] == {"rule": "identical", "grades": 3, "conflicts": 0}
    assert sum(told["grades"].values()) == sum(plain.grades.values()) + 3 == sum(frozen.grades.values())
    assert frozen.release_id != plain.release_id
    assert freeze(store, "v2-again", share="identical").release_id == frozen.release_id
    assert verify(store, "v2").intact
    with pytest.raises(InputError, match="There is no rule 'similar' for sharing grades; expected identical"):
        freeze(store, "v3", share="similar")


def test_what_was_judged_itself_stays_and_a_text_with_two_grades_shares_none(tmp_path: Path) -> None:
    store = project(tmp_path, [("q-violin", "violin-8", 1), ("q-router", "a-router", None)])
    frozen = freeze(store, "v1", share="identical")
    grades = qrels(store, frozen.release_id)
    assert (grades["q-violin", "violin-1"]["grade"], grades["q-violin", "violin-8"]["grade"]) == (3, 1)
    assert ("q-violin", "violin-9") not in grades
    assert ("q-router", "a-router") not in grades  # nobody could tell, which is an answer
    assert header(store, frozen.release_id)["sharing"] == {"rule": "identical", "grades": 0, "conflicts": 1}


def test_sharing_across_parts_is_refused_with_what_helps_where_copies_tie_nothing(tmp_path: Path) -> None:
    """Splitting again as before would not help: the copies would lie in both parts again."""
    store = project(tmp_path)
    make_split(store, SplitRequest(tuple(PARTS.items()), 1, replace(LEXICAL, document=None)))
    sql = """
        SELECT min(a.query_id) FROM split_assignments a
        JOIN split_assignments v ON v.split_id = a.split_id AND v.query_id = 'q-violin'
        WHERE a.part <> v.part AND a.split_id = (SELECT value FROM settings WHERE name = 'split')
    """
    ((other,),) = rows_of(store, sql)
    add_judgments(store, [ImportedJudgment(other, "violin-8", "zoe.miller", 3)], "later.csv")
    freeze(store, "v1", allow_disputed=True)
    with pytest.raises(
        RefusedError, match=r"shared document.*without --no-near-duplicates, or freeze without --share-grades"
    ):
        freeze(store, "v2", allow_disputed=True, share="identical")


def test_a_grade_of_another_version_of_its_document_is_not_shared(tmp_path: Path) -> None:
    store = project(tmp_path)
    changed = {"id": "violin-1", "title": "Violin", "text": "Another text.", "url": ""}
    kept = [changed if row["id"] == "violin-1" else row for row in documents()]
    import_corpus(store, write_corpus(tmp_path / "changed.jsonl", [*kept, changed | {"id": "violin-8"}]))
    frozen = freeze(store, "v1", allow_changed=True, share="identical")
    grades = qrels(store, frozen.release_id)
    assert grades["q-violin", "violin-1"]["version"] == "changed"
    assert ("q-violin", "violin-8") not in grades


def test_shared_grades_are_exported_and_compared_as_such(tmp_path: Path) -> None:
    store = project(tmp_path)
    freeze(store, "v1")
    freeze(store, "v2", share="identical")
    changes = compare_releases(store, "v1", "v2", reason="a test")
    assert {(row["document_id"], row["how_after"]) for row in changes.pairs_new} == {
        *(("violin-8", "shared"), ("violin-9", "shared"), ("a-router", "shared"))
    }
    assert changes.settings["release: sharing: rule"] == (None, "identical")
    exported = export(store, "v2", "trec", tmp_path / "out", reason="a test")
    assert "q-violin 0 violin-9 3" in (exported.out / "qrels.txt").read_text().splitlines()
