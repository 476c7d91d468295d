"""Verification finds a single altered byte and says where it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import RefusedError
from curation.releases.frozen_release import load_release
from curation.releases.verify import verify
from curation.store import Store
from curation.store.release_parts import pack
from tests.support import examples
from tests.support.command_line import invoke
from tests.support.freezing import export
from tests.support.gold_project import frozen_project
from tests.support.projects import per_module, rows_of
from tests.support.stored_parts import alter_part

frozen = per_module(frozen_project)


@pytest.fixture
def alter(frozen: Store) -> Iterator[Callable[[str], None]]:
    """Change the file behind goldgrade's back; it is as before after the test."""
    frozen.close()
    whole = frozen.path.read_bytes()

    def alter(sql: str, *values: object) -> None:
        frozen.close()
        with duckdb.connect(str(frozen.path)) as connection:
            connection.execute(sql, list(values))

    yield alter
    frozen.close()
    frozen.path.write_bytes(whole)


def alter_text(store: Store, part: str, change: Callable[[str], str]) -> None:
    with store.transaction() as cursor:
        alter_part(cursor, part, change)


@pytest.mark.parametrize(
    ("part", "known", "other"),
    [
        ("qrels", '"cannot_tell":0', '"cannot_tell":7'),
        ("qrels", '"grade":3', '"grade":2'),
        ("judgments", '"kind":"grade"', '"kind":"grady"'),
        ("adjudications", "only the title fits", "only the title fits!"),
        ("split", '"certificate"', '"certificat"'),
    ],
)
def test_an_altered_line_that_holds_grades_is_named_and_not_shown(
    frozen: Store, alter: Callable[..., None], part: str, known: str, other: str
) -> None:
    alter_text(frozen, part, lambda text: text.replace(known, other))
    (problem,) = verify(frozen, "v1").problems
    assert f"the part {part!r} was altered: line 1 is the first line that differs" in problem
    assert problem.endswith("the rest is hidden, because it may contain sealed grades")
    assert '"' not in problem
    assert ("query_id 'q-" in problem) is (part != "split")


def test_a_manifest_without_its_sum_is_that_of_an_older_release_alone(
    frozen: Store, alter: Callable[..., None]
) -> None:
    """Whoever takes the sum away could else change who froze it and when."""
    ((manifest,),) = rows_of(frozen, "SELECT manifest FROM releases")
    rest = {name: value for name, value in json.loads(manifest).items() if name != "sum"}
    alter("UPDATE releases SET manifest = ?, frozen_by = 'somebody else'", json.dumps(rest))
    assert not verify(frozen, "v1").intact


TRACTOR = "body = replace(body, 'tractor.', 'Tractor.')"
METADATA = """metadata = '{"a":1}'"""


@pytest.mark.parametrize(
    "change",
    [TRACTOR, METADATA, *(f"{name} = 'else'" for name in ("title", "url", "published", "group_key"))],
)
def test_an_altered_document_is_named_whatever_field_it_is(
    frozen: Store, alter: Callable[..., None], change: str
) -> None:
    alter(f"UPDATE documents SET {change} WHERE document_id = 'tractor-1'")
    assert verify(frozen, "v1").problems == ("the document 'tractor-1' was altered",)


def test_a_lost_document_is_named(frozen: Store, alter: Callable[..., None]) -> None:
    alter("DELETE FROM documents WHERE document_id = 'router-1'")
    assert verify(frozen, "v1").problems == ("the project no longer has the document 'router-1'",)


def test_a_lost_an_added_and_a_shortened_part_are_named(frozen: Store, alter: Callable[..., None]) -> None:
    alter("DELETE FROM release_parts WHERE part = 'guides'")
    alter("INSERT INTO release_parts SELECT release_id, 'extra', 0, ? FROM releases", pack("{}"))
    alter_text(frozen, "queries", lambda text: text[: text.rindex("\n", 0, -1) + 1])
    assert verify(frozen, "v1").problems == (
        "the part 'guides' is missing",
        "the part 'extra' was added",
        "the part 'queries' was altered: its end differs (the part has 7 lines, and was frozen with 8)",
    )


def test_an_altered_manifest_is_told_from_altered_content(frozen: Store, alter: Callable[..., None]) -> None:
    alter("UPDATE releases SET manifest = replace(manifest::TEXT, '\"lines\":16', '\"lines\":17')::JSON")
    assert verify(frozen, "v1").problems == (
        "the manifest was altered; the content still has the release's id",
    )
    alter("UPDATE releases SET manifest = '[1]'")
    assert not verify(frozen, "v1").intact


@pytest.mark.parametrize(
    "change",
    [
        "name = 'v2'",
        "frozen_at = frozen_at + INTERVAL 1 MICROSECOND",
        "frozen_by = 'somebody else'",
        "manifest = replace(manifest::TEXT, 'goldgrade', 'Goldgrade')::JSON",
        "manifest = replace(manifest::TEXT, '\"sum\"', '\"sun\"')::JSON",
        "manifest = replace(manifest::TEXT, 'met', 'mat')::JSON",
    ],
)
def test_what_stands_beside_the_content_is_covered(
    frozen: Store, alter: Callable[..., None], change: str
) -> None:
    alter(f"UPDATE releases SET {change}")
    name = "v2" if change.startswith("name") else "v1"
    (problem,) = verify(frozen, name).problems
    assert problem.startswith("the record of the release was altered: its name, the time and person")


def test_an_altered_release_id_is_found(frozen: Store, alter: Callable[..., None]) -> None:
    alter("UPDATE releases SET release_id = reverse(release_id)")
    alter("UPDATE release_parts SET release_id = reverse(release_id)")
    assert "is not the id of the content" in verify(frozen, "v1").problems[0]


def test_an_altered_release_is_not_exported(
    frozen: Store, alter: Callable[..., None], tmp_path: Path
) -> None:
    alter("UPDATE documents SET title = 'x' WHERE document_id = 'kettle-1'")
    with pytest.raises(RefusedError, match="it is not exported: the document 'kettle-1'"):
        export(frozen, "v1", "csv", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@given(st.data())
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_single_character_of_any_part_is_found_on_its_line(frozen: Store, data: st.DataObject) -> None:
    texts = {part: str(text) for part, text in load_release(frozen, "v1").texts.items() if text}
    part = data.draw(st.sampled_from(sorted(texts)))
    text = texts[part]
    place = data.draw(st.integers(0, len(text) - 2).filter(lambda at: text[at] != "\n"))
    other = "~" if text[place] != "~" else "-"
    alter_text(frozen, part, lambda text: text[:place] + other + text[place + 1 :])
    try:
        problem = verify(frozen, "v1").problems[0]
    finally:
        alter_text(frozen, part, lambda _: text)
    line = text[:place].count("\n") + 1
    assert problem.startswith(f"the part {part!r} was altered: line {line} is the first line that differs")


def test_the_command_exits_with_1_when_something_was_altered(
    frozen: Store, alter: Callable[..., None]
) -> None:
    arguments = ["--project", str(frozen.path), "verify", "v1"]
    intact = invoke([*arguments, "--json"])
    assert intact.exit_code == 0
    answer = json.loads(intact.stdout)
    assert (answer["intact"], answer["problems"], answer["parts"], answer["documents"]) == (True, [], 14, 16)
    alter("UPDATE documents SET title = 'x' WHERE document_id = 'kettle-1'")
    altered = invoke(arguments)
    assert altered.exit_code == 1
    assert "v1 was ALTERED:\n  the document 'kettle-1' was altered" in altered.stdout
