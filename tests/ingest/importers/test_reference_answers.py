"""Reference answers come in with the queries' ids or texts, are corrected, and are frozen with a release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.answers.query_rows import QueryItemsImport
from curation.ingest.importers.answers.reference_answers import import_answers, read_answers, texts_of
from curation.ingest.importers.query_import import import_queries
from curation.releases.card.card import Card
from curation.releases.diff.diff import diff
from curation.releases.freeze.freeze import freeze
from curation.releases.verify import load_release, verify
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.gold_project import gold_project


@pytest.fixture
def project(tmp_path: Path) -> Store:
    return gold_project(tmp_path)


def file(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def held(store: Store) -> dict[str, tuple[str, ...]]:
    with store.reading() as cursor:
        return read_answers(cursor)


def changes(found: QueryItemsImport) -> tuple[int, int, int]:
    return found.new, found.changed, found.unchanged


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
    found = [changes(import_answers(project, path)) for path in (one, one, other, one)]
    assert found == [(1, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 0)]
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
    found = import_answers(project, path, skip_unknown=True)
    assert (found.left_out, found.unknown) == ({"unknown query": 2}, {"unknown query": ["q-moon", "q-sun"]})


def test_answers_come_in_with_the_queries_whatever_id_the_project_has_for_them(
    project: Store, tmp_path: Path
) -> None:
    rows = [
        {"text": "best kettle", "answers": ["steel"]},
        {"text": "a new query", "answers": "yes"},
        {"text": "without an answer"},
    ]
    path = file(tmp_path / "q.jsonl", *rows)
    found = import_queries(project, path)
    assert (found.answers, found.added) == (2, 2)
    assert held(project)["q-kettle"] == ("steel",)
    again = import_queries(project, path)
    assert (again.answers, again.changed, again.unchanged) == (0, 0, 3)
    with project.reading() as cursor:
        metadata = cursor.execute("SELECT metadata FROM queries WHERE text = 'a new query'").fetchall()
    assert metadata == [("{}",)]


def test_empty_answers_are_counted_and_personal_data_is_replaced(project: Store, tmp_path: Path) -> None:
    rows = [
        {"query_id": "q-kettle", "answers": ["", "ask jo@example.org"]},
        {"query_id": "q-violin", "answers": "old"},
    ]
    found = import_answers(project, file(tmp_path / "a.jsonl", *rows))
    assert (found.left_out, found.personal) == ({"empty answer": 1}, {"email": 1})
    assert held(project)["q-kettle"] == ("ask [email]",)


def test_cells_may_be_lists_json_or_squads_own_form() -> None:
    assert texts_of(["a", " b "]) == ["a", "b"]
    assert texts_of('["a", "b"]') == ["a", "b"]
    assert texts_of("[sic] a text") == ["[sic] a text"]
    assert texts_of({"text": ["a"], "answer_start": [3]}) == ["a"]
    assert texts_of(1969) == ["1969"]


def test_a_release_has_the_answers_and_without_any_its_id_does_not_change(tmp_path: Path) -> None:
    ids = []
    for name in ("without", "with"):
        store = gold_project(tmp_path / name) if (tmp_path / name).mkdir() is None else None
        assert store is not None
        if name == "with":
            import_answers(store, file(tmp_path / "a.jsonl", {"query_id": "q-kettle", "answers": ["steel"]}))
        freeze(store, "v1")
        release = load_release(store, "v1")
        ids.append(release.row.release_id)
        expected = [{"query_id": "q-kettle", "answers": ["steel"]}] if name == "with" else []
        assert release.rows("answers") == expected
        assert ("answers" in release.texts) == (name == "with")
        assert verify(store, "v1").intact
        assert ("1 of 8 queries have reference answers." in Card(release, "unknown").text) == (name == "with")
    assert ids[0] != ids[1]
    assert ids[0] == freeze(gold_project(tmp_path), "v1").release_id


def test_a_comparison_of_releases_says_that_answers_differ(project: Store, tmp_path: Path) -> None:
    for name, answer in (("v1", "steel"), ("v2", "copper")):
        import_answers(project, file(tmp_path / "a.jsonl", {"query_id": "q-kettle", "answers": [answer]}))
        freeze(project, name)
    found = diff(project, "v1", "v2")
    assert [setting.what for setting in found.settings] == ["reference answers: content"]


def test_the_command_says_what_it_took(project: Store, tmp_path: Path) -> None:
    path = file(tmp_path / "a.jsonl", {"query_id": "q-kettle", "answers": ["steel", "copper"]})
    command = ["--project", str(project.path), "import", "answers", str(path)]
    project.close()
    assert "2 reference answers to 1 query: 1 new" in invoke(command, catch_exceptions=False).stdout
    assert "Nothing changed" in invoke(command).stdout
