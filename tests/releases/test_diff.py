"""A comparison names all that became of a gold set, and of sealed grades only their number."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curation.core.errors import NotFoundError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.imported import add_judgments
from curation.releases.diff import Diff, compare, compare_releases
from curation.releases.diff_sections import list_diff_findings, make_diff_sections
from curation.releases.frozen_release import FrozenRelease
from curation.releases.release_rows import ReleaseRow
from curation.store import Store, utc_now
from curation.store.release_parts import PartText
from curation.store.row_types import Query
from tests.support import examples
from tests.support.command_line import invoke
from tests.support.freezing import freeze
from tests.support.gold_project import DISPUTE, documents, gold_project, write_corpus
from tests.support.projects import add_names, per_module, rows_of
from tests.support.stored_parts import alter_part

LATE = "<b>late</b> & arrival"
MOVED = "q-violin"


@per_module
def two(folder: Path) -> Store:
    """v1, and v2 with a new query, decisions, one judgment more, another corpus and one query moved."""
    store = gold_project(folder)
    with store.transaction() as cursor:
        cursor.execute(
            "UPDATE split_assignments SET part = if(list_contains(?, query_id), 'test', 'dev')",
            [["q-glacier", "q-sourdough", "q-tractor", MOVED]],
        )
    freeze(store, "v1")
    decide_pair(store, *DISPUTE, grade=2, reason="fits after all")
    decide_pair(store, MOVED, "violin-1", grade=1, reason="too old")
    decide_pair(store, "q-glacier", "glacier-1", grade=2, reason="not all of it")
    late = [
        ImportedJudgment("q-late", "router-2", "zoe.miller", 0),
        ImportedJudgment("q-router", "violin-2", "zoe.miller", 1),
    ]
    add_judgments(store, late, "late.csv", [Query("q-late", LATE, LATE, "imported")])
    kept = [row | {"url": "elsewhere"} if row["id"] == "kettle-1" else row for row in documents()]
    kept = [row for row in kept if row["id"] != "passport-2"]
    fresh = {"id": "fresh-1", "title": "Fresh", "text": "never judged", "url": ""}
    import_corpus(store, write_corpus(folder / "second.jsonl", [*kept, fresh]))
    with store.transaction() as cursor:
        cursor.execute("UPDATE split_assignments SET part = 'dev' WHERE query_id = ?", [MOVED])
        cursor.execute(
            "INSERT INTO split_assignments SELECT split_id, 'q-late', 'q-late', 'dev' FROM splits LIMIT 1"
        )
    freeze(store, "v2", allow_changed=True, override="a test", reason="a query of test is in dev now")
    return store


@pytest.mark.slow
def test_queries_that_came_left_and_moved_are_named_with_their_text(two: Store) -> None:
    changes = compare_releases(two, "v1", "v2")
    assert [tuple(row.values()) for row in changes.queries_in] == [("q-late", LATE, "dev", 1, "")]
    assert changes.queries_out == []
    assert [tuple(row.values()) for row in changes.moves] == [(MOVED, "best violin", "test", "dev")]
    back = compare_releases(two, "v2", "v1")
    assert [row["query_id"] for row in back.queries_out] == ["q-late"]
    assert (back.moves[0]["before"], back.moves[0]["after"]) == ("dev", "test")


def test_grades_of_open_parts_are_named_with_how_each_came_about(two: Store) -> None:
    changes = compare_releases(two, "v1", "v2")
    assert [(row["query_id"], row["before"], row["after"]) for row in changes.regrades] == [
        ("q-kettle", 1, 2)
    ]
    assert (changes.regrades[0]["how_before"], changes.regrades[0]["how_after"]) == (
        "adjudicated",
        "adjudicated",
    )
    assert [(row["document_id"], row["how_after"]) for row in changes.pairs_new] == [("violin-2", "single")]
    assert [(row["document_id"], row["document"]) for row in changes.pairs_gone] == [("passport-2", "gone")]


def test_grades_that_either_release_has_sealed_are_counted_and_not_named(two: Store) -> None:
    for found in (compare_releases(two, "v1", "v2"), compare_releases(two, "v2", "v1")):
        assert found.sealed == 2
        named = {row["query_id"] for row in (*found.regrades, *found.pairs_new, *found.pairs_gone)}
        assert not {"q-glacier", MOVED} & named
        everything = repr([make_diff_sections(found, 1_000), found.settings])
        assert "glacier-1" not in everything
        assert "violin-1" not in everything
    counts = compare_releases(two, "v1", "v2").grades
    assert counts["test"] == {
        "kept": 5, "higher": 0, "lower": 1, "new": 0, "gone": 0, "sealed": 1,
    }  # fmt: skip
    assert counts["dev"] == {
        "kept": 7, "higher": 1, "lower": 1, "new": 1, "gone": 1, "sealed": 1,
    }  # fmt: skip


def test_with_a_reason_sealed_grades_are_named_and_both_openings_logged(two: Store) -> None:
    changes = compare_releases(two, "v1", "v2", reason="release notes")
    assert {(row["query_id"], row["before"], row["after"]) for row in changes.regrades} == {
        *(("q-kettle", 1, 2), (MOVED, 3, 1), ("q-glacier", 3, 2))
    }
    assert (changes.sealed, changes.opened) == (0, "release notes")
    log = rows_of(two, "SELECT name, purpose, reason FROM seal_openings ORDER BY rowid")
    assert log[1:] == [("v1", "compare with v2", "release notes"), ("v2", "compare with v1", "release notes")]


def test_who_is_no_lead_gets_no_sealed_grade(two: Store) -> None:
    add_names(two, "ada")
    with pytest.raises(RefusedError, match="lead"):
        compare_releases(two, "v1", "v2", reason="curious", actor="ada")
    with pytest.raises(RefusedError, match="--reason"):
        compare_releases(two, "v1", "v2", reason=" ")


def test_documents_gone_new_and_of_another_version_are_named(two: Store) -> None:
    changes = compare_releases(two, "v1", "v2")
    assert changes.documents == {"gone": {"passport-2": 1}, "new": {"fresh-1": 0}, "changed": {"kettle-1": 1}}
    assert changes.documents_kept == 14


def test_agreement_stands_before_and_after_with_intervals(two: Store) -> None:
    figures = compare_releases(two, "v1", "v2").agreement
    before, _ = figures["alpha, ordinal (pairs)"]
    assert (before.value, before.n) == (0.970588, 16)
    assert before.low < before.value
    assert figures["blind duplicates with the same grade (repeats)"][1].why == "no blind duplicates"


def test_what_the_releases_were_made_with_is_compared(two: Store) -> None:
    settings_ = compare_releases(two, "v1", "v2").settings
    assert settings_["release: changed"] == (None, "1")
    assert "corpus: snapshot" in settings_
    assert not [name for name in settings_ if name.startswith(("guide", "consensus", "split"))]


def test_a_release_does_not_differ_from_itself(two: Store) -> None:
    changes = compare_releases(two, "v1", "v1")
    assert changes.same
    assert list_diff_findings(changes) == ["v1 and v1 have the same content."]
    assert (changes.regrades, changes.sealed, changes.settings) == ([], 0, {})


def test_an_altered_or_unknown_release_is_not_compared(two: Store) -> None:
    with pytest.raises(NotFoundError, match="no release 'v9'"):
        compare_releases(two, "v1", "v9")
    with two.transaction() as cursor:
        cursor.execute("CREATE TABLE kept AS SELECT * FROM release_parts")
        alter_part(cursor, "rounds", lambda text: f"?{text}")
    try:
        with pytest.raises(
            RefusedError, match="has changed since it was frozen: the part 'rounds' was altered"
        ):
            compare_releases(two, "v1", "v2")
    finally:
        with two.transaction() as cursor:
            cursor.execute(
                "UPDATE release_parts p SET content = k.content FROM kept k "
                "WHERE k.release_id = p.release_id AND k.part = p.part AND k.place = p.place"
            )
            cursor.execute("DROP TABLE kept")


def test_longer_tables_than_asked_for_say_so(two: Store) -> None:
    changes = compare_releases(two, "v1", "v2", reason="all of it")
    (grades,) = [section for section in make_diff_sections(changes, 1) if section.heading == "Grades"]
    table = grades.tables[1]
    assert (table.caption, len(table.rows)) == ("Other grades: 3, the first 1 shown", 1)


def test_the_command_prints_tables_and_json(two: Store) -> None:
    command = ["--project", str(two.path), "diff", "v1", "v2"]
    shown = invoke(command, catch_exceptions=False)
    assert shown.exit_code == 0
    assert "2 of the changed grades are in a sealed part" in shown.stdout
    assert "Other grades: 1" in shown.stdout
    answer = json.loads(invoke([*command, "--json"]).stdout)
    assert (answer["sealed"], len(answer["regrades"]), answer["queries_in"][0]["text"]) == (2, 1, LATE)


def opened_release(name: str, grades: dict[tuple[str, str], int], parts: dict[str, str]) -> FrozenRelease:
    """A release of the first form with these grades and parts, and nothing that came later."""
    graded = sorted({query for query, _ in grades})
    texts = {
        "release": [{"format": 1, "documents": 0, "queries": {"dev": 0, "test": 0}, "grades": {}}],
        "queries": [{"query_id": query, "text": query, "part": parts[query]} for query in graded],
        "qrels": [
            {"query_id": query, "document_id": document, "grade": grade, "how": "single"}
            for (query, document), grade in sorted(grades.items())
        ],
    }
    row = ReleaseRow(name, name, "{}", utc_now(), "x")
    return FrozenRelease(row, {part: PartText.of_rows(rows) for part, rows in texts.items()})


pairs = st.tuples(st.sampled_from(["q1", "q2", "q3"]), st.sampled_from(["a", "b"]))
grades = st.dictionaries(pairs, st.integers(0, 3))
in_parts = st.fixed_dictionaries({query: st.sampled_from(["dev", "test"]) for query in ("q1", "q2", "q3")})


@given(grades, grades, in_parts, in_parts)
@settings(max_examples=examples(200))
def test_every_change_of_a_grade_is_named_or_counted_as_sealed(
    old: dict[tuple[str, str], int],
    new: dict[tuple[str, str], int],
    old_parts: dict[str, str],
    new_parts: dict[str, str],
) -> None:
    releases = opened_release("old", old, old_parts), opened_release("new", new, new_parts)
    closed, full = compare(*releases), compare(*releases, reason="why")
    both = {query for query, _ in old} & {query for query, _ in new}
    expected = {
        pair for pair in old.keys() | new.keys() if pair[0] in both and old.get(pair) != new.get(pair)
    }
    sealed = {pair for pair in expected if "test" in (old_parts[pair[0]], new_parts[pair[0]])}
    assert named(full) == expected
    assert named(closed) == expected - sealed
    assert closed.sealed == len(sealed) == sum(counts["sealed"] for counts in closed.grades.values())
    changed = sum(
        counts[name] for counts in closed.grades.values() for name in ("higher", "lower", "new", "gone")
    )
    assert changed == len(expected)
    kept = {pair for pair in old.keys() & new.keys() if old[pair] == new[pair]}
    assert sum(counts["kept"] for counts in closed.grades.values()) == len(kept)


def named(found: Diff) -> set[tuple[str, str]]:
    rows = (*found.regrades, *found.pairs_new, *found.pairs_gone)
    return {(row["query_id"], row["document_id"]) for row in rows}
