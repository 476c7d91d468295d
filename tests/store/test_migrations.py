"""Migrations bring an older project to the form of a new one. A too old one is refused as it is."""

import re
import stat
from hashlib import sha256
from pathlib import Path

import duckdb
import pytest

from curation.core.characters import normalise_query
from curation.core.errors import StoreVersionError
from curation.store import migrations
from curation.store.database import Store

STEPS = [step.name for step in migrations.shipped()]


def older(path: str = ":memory:") -> duckdb.DuckDBPyConnection:
    """A project as the first form has it."""
    connection = duckdb.connect(path)
    migrations.create(connection, [])
    return connection


def test_the_first_form_is_never_changed_as_projects_have_it_already() -> None:
    """A table or column that is new is a migration. Comments may change."""
    sql = re.sub(r"\s*--.*|\s+", " ", migrations.schema())
    assert sha256(" ".join(sql.split()).encode()).hexdigest()[:16] == "ba228bbb2215d6b5"


def test_an_older_project_keeps_its_looks_as_sealed_evaluations() -> None:
    """Since 0039: what leads saw keeps its values by the first measure; answers of the Ladder are rounded."""
    connection = older()
    connection.execute(
        """
        INSERT INTO looks
        SELECT name, 'r', 'v1', ['test'], name, 'sum', asked, '{"map": {"value": 0.5}}', 'why', 'ada',
               now()::TIMESTAMP
        FROM (VALUES ('run', '{"parts": ["dev", "test"], "measures": ["map"], "relevant": 2}'),
                     ('answers', '{"parts": ["test"], "measures": ["f1"], "answers": true}'),
                     ('climbed', '{"parts": ["test"], "measures": ["map"], "relevant": 2, "ladder": true}'))
             AS looks(name, asked)
        """
    )
    connection.execute(
        "INSERT INTO look_queries VALUES "
        "('run', 'q1', 7, 0.5), ('run', 'q2', NULL, 0), ('answers', 'q1', 8, 1), ('climbed', 'q1', 9, 1)"
    )
    assert migrations.upgrade(connection) == STEPS
    assert migrations.upgrade(connection) == []
    sql = "SELECT system, evaluated, of_answers, rounded, refused FROM sealed_evaluations ORDER BY rowid"
    assert connection.execute(sql).fetchall() == [
        ("run", ["dev", "test"], False, False, None),
        ("answers", ["test"], True, False, None),
        ("climbed", ["test"], False, True, None),
    ]
    assert connection.execute("SELECT * FROM sealed_evaluation_values ORDER BY ALL").fetchall() == [
        ("run", "q1", 0.5),
        ("run", "q2", 0.0),
    ]


def test_stored_keys_of_queries_lose_the_characters_that_nobody_sees() -> None:
    """Since 0038: the search for a text finds what was stored before, and two queries stay two."""
    connection = older()
    texts = ["tv", "tv\u200b", "\ufefftv", "a \u2060 b", "e\u034f\u0301", "\u0600x", "\u200b"]
    for line, text in enumerate(texts):
        connection.execute(
            "INSERT INTO queries VALUES (?, ?, ?, 'imported', NULL, '{}')", [f"q{line}", text, text]
        )
        connection.execute(
            "INSERT INTO traffic VALUES ('log', ?, ?, ?, NULL, NULL, NULL, 1, NULL)", [line, text, text]
        )
        connection.execute("INSERT INTO coverage_texts VALUES ('map', ?, [?], [])", [text, line])
        connection.execute(
            "INSERT INTO relabeling_queries VALUES ('plan', ?, 'retire', 'r', NULL, NULL, NULL)", [text]
        )
    migrations.upgrade(connection)
    keys = ["tv", "tv", "tv", "a b", "é", "\u0600x", ""]
    assert keys == [normalise_query(text) for text in texts]
    for table, order in (("queries", "query_id"), ("traffic", "line")):
        sql = f"SELECT text, normalised FROM {table} ORDER BY {order}"
        assert connection.execute(sql).fetchall() == list(zip(texts, keys, strict=True))
    for table in ("coverage_texts", "relabeling_queries"):
        rows = connection.execute(f"SELECT normalised FROM {table} ORDER BY 1").fetchall()
        assert rows == [(key,) for key in sorted(set(keys))]
    assert connection.execute("SELECT by_phrase FROM coverage_texts WHERE normalised = 'tv'").fetchall() == [
        ([0],)
    ]


def test_a_project_is_copied_before_it_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    older(str(path)).close()
    store = Store(path)
    with store.reading() as cursor:
        assert migrations.missing_in(cursor, migrations.shipped()) == []
    store.close()
    kept = tmp_path / f"shop.before-{STEPS[0][:4]}.duckdb"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with duckdb.connect(str(kept), read_only=True) as before:
        assert [step.name for step in migrations.missing_in(before, migrations.shipped())] == STEPS
    assert sorted(one.name for one in tmp_path.iterdir()) == [kept.name, "shop.duckdb"]


@pytest.mark.slow
def test_each_upgrade_keeps_a_copy_and_one_that_failed_before_none_again(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    for way in ("first", "after a way back", "killed"):
        if way != "killed":
            path.unlink(missing_ok=True)
            older(str(path)).close()
        else:  # as it was when the second copy was made
            path.write_bytes(max(tmp_path.glob("shop.before-*"), key=lambda one: len(one.name)).read_bytes())
        store = Store(path)
        with store.reading():
            pass
        store.close()
    assert len(list(tmp_path.glob("shop.before-*.duckdb"))) == 2


def test_a_project_from_before_the_first_form_is_refused_with_the_way_out_and_left_as_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "shop.duckdb"
    connection = older(str(path))
    connection.execute("UPDATE migrations SET name = '0022_guide_templates'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreVersionError) as refused, Store(path).reading():
        pass
    assert "its newest migration is 0022_guide_templates" in str(refused.value)
    assert "`git log -1 --format=%H~1 -- curation/store/migrations/0002" in str(refused.value)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["shop.duckdb"]
