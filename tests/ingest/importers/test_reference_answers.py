"""Reference answers come in with the queries' ids or texts, are corrected, and are frozen with a release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.query_items import QueryItemsImport
from curation.ingest.importers.reference_answers import import_answers, parse_answer_texts, read_answers
from curation.releases.card import write_card
from curation.releases.diff import compare_releases
from curation.releases.frozen_release import load_release
from curation.store import Store
from tests.support.freezing import freeze
from tests.support.gold_project import gold_project
from tests.support.projects import rows_of


@pytest.fixture
def project(tmp_path: Path) -> Store:
    return gold_project(tmp_path)


def file(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def held(store: Store) -> dict[str, tuple[str, ...]]:
    with store.reading() as cursor:
        return read_answers(cursor)


def changes(imported: QueryItemsImport) -> tuple[int, int, int]:
    return imported.new, imported.changed, imported.unchanged


def test_queries_are_named_by_id_or_text_and_lines_of_one_add_up(project: Store, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        "query,answer\nbest kettle,steel\nbest kettle,copper\nbest violin,old\n", encoding="utf-8"
    )
    assert changes(import_answers(project, path)) == (2, 0, 0)
    assert held(project) == {"q-kettle": ("steel", "copper"), "q-violin": ("old",)}
    by_id = file(tmp_path / "b.jsonl", {"query_id": "q-router", "answers": ["one", "two", "one"]})
    assert changes(import_answers(project, by_id)) == (1, 0, 0)
    assert held(project)["q-router"] == ("one", "two")


def test_the_same_again_changes_nothing_and_the_last_file_counts(project: Store, tmp_path: Path) -> None:
    one = file(tmp_path / "a.jsonl", {"query_id": "q-kettle", "answers": ["steel"]})
    other = file(tmp_path / "b.jsonl", {"query_id": "q-kettle", "answers": ["copper"]})
    counts = [changes(import_answers(project, path)) for path in (one, one, other, one)]
    assert counts == [(1, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0)]
    assert held(project) == {"q-kettle": ("steel",)}


def test_unknown_queries_are_refused_together_or_skipped_and_counted(project: Store, tmp_path: Path) -> None:
    path = file(
        tmp_path / "a.jsonl",
        {"query_id": "q-kettle", "answer": "steel"},
        {"query_id": "q-moon", "answer": "cheese"},
        {"query_id": "q-sun", "answer": "gas"},
    )
    with pytest.raises(InputError) as refused:
        import_answers(project, path)
    assert len(refused.value.problems) == 2
    assert held(project) == {}
    imported = import_answers(project, path, skip_unknown=True)
    assert (imported.left_out, imported.unknown) == (
        {"unknown query": 2},
        {"unknown query": ["q-moon", "q-sun"]},
    )


def test_answers_come_in_with_the_queries_whatever_id_the_project_has_for_them(
    project: Store, tmp_path: Path
) -> None:
    rows = [
        {"text": "best kettle", "answers": ["steel"]},
        {"text": "a new query", "answers": "yes"},
        {"text": "without an answer"},
    ]
    path = file(tmp_path / "q.jsonl", *rows)
    imported = import_queries(project, path)
    assert (imported.answers, imported.added) == (2, 2)
    assert held(project)["q-kettle"] == ("steel",)
    again = import_queries(project, path)
    assert (again.answers, again.changed, again.unchanged) == (0, 0, 3)
    metadata = rows_of(project, "SELECT metadata FROM queries WHERE text = 'a new query'")
    assert metadata == [("{}",)]


def test_empty_answers_are_counted_and_personal_data_is_replaced(project: Store, tmp_path: Path) -> None:
    rows = [
        {"query_id": "q-kettle", "answers": ["", "ask jo@example.org"]},
        {"query_id": "q-violin", "answers": "old"},
    ]
    imported = import_answers(project, file(tmp_path / "a.jsonl", *rows))
    assert (imported.left_out, imported.personal) == ({"empty answer": 1}, {"email": 1})
    assert held(project)["q-kettle"] == ("ask [email]",)


def test_cells_may_be_lists_json_or_squads_own_form() -> None:
    assert parse_answer_texts(["a", " b "]) == ["a", "b"]
    assert parse_answer_texts('["a", "b"]') == ["a", "b"]
    assert parse_answer_texts("[sic] a text") == ["[sic] a text"]
    assert parse_answer_texts({"text": ["a"], "answer_start": [3]}) == ["a"]
    assert parse_answer_texts(1969) == ["1969"]


@pytest.mark.slow
def test_the_card_counts_queries_with_answers_and_a_comparison_says_that_answers_differ(
    project: Store, tmp_path: Path
) -> None:
    for name, answer in (("v1", "steel"), ("v2", "copper")):
        import_answers(project, file(tmp_path / "a.jsonl", {"query_id": "q-kettle", "answers": [answer]}))
        freeze(project, name)
    assert "1 of 8 queries have reference answers." in write_card(load_release(project, "v1"), "unknown")
    difference = compare_releases(project, "v1", "v2")
    assert list(difference.settings) == ["reference answers: content"]
