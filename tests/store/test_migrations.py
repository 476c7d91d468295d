"""Migrations bring every older shape to the one that `schema.sql` makes; `shapes/` keeps the older ones."""

import stat
from pathlib import Path
from typing import Any

import duckdb
import pytest

from curation.store import migrations, release_parts
from curation.store.database import Store

SHAPES = sorted((Path(__file__).parent / "shapes").glob("*.sql"))


def shape_of(connection: duckdb.DuckDBPyConnection) -> dict[str, list[Any]]:
    """All that tells two databases apart besides their rows."""
    asked = {
        "columns": "SELECT table_name, column_index, column_name, data_type FROM duckdb_columns()",
        "constraints": "SELECT table_name, constraint_type, constraint_text FROM duckdb_constraints()",
        "views": "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal",
        "migrations": "SELECT name FROM migrations",
    }
    return {name: sorted(connection.execute(sql).fetchall(), key=repr) for name, sql in asked.items()}


def older(shape: Path, path: str = ":memory:") -> duckdb.DuckDBPyConnection:
    """A database as the goldset of that migration made it."""
    connection = duckdb.connect(path)
    connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at TIMESTAMP NOT NULL)")
    connection.execute(shape.read_text(encoding="utf-8"))
    for name in [migrations.FIRST, *(step.name for step in migrations.shipped())]:
        if name <= shape.stem:
            connection.execute("INSERT INTO migrations VALUES (?, now()::TIMESTAMP)", [name])
    return connection


def before(migration: str) -> duckdb.DuckDBPyConnection:
    """A database as the goldset before that migration made it."""
    return older(max(shape for shape in SHAPES if shape.stem < migration))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda path: path.stem)
def test_an_older_project_gets_the_shape_of_a_fresh_one(shape: Path) -> None:
    fresh, migrated = duckdb.connect(), older(shape)
    migrations.create(fresh)
    assert migrations.upgrade(migrated) == [
        step.name for step in migrations.shipped() if step.name > shape.stem
    ]
    assert shape_of(migrated) == shape_of(fresh)


def test_a_project_is_copied_before_it_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    older(SHAPES[-1], str(path)).close()
    store = Store(path)
    with store.reading() as cursor:
        assert migrations.missing_in(cursor, migrations.shipped()) == []
    store.close()
    first = next(step.name for step in migrations.shipped() if step.name > SHAPES[-1].stem)
    kept = tmp_path / f"shop.before-{first[:4]}.duckdb"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with duckdb.connect(str(kept), read_only=True) as before:
        assert migrations.missing_in(before, migrations.shipped())[0].name == first
    assert sorted(one.name for one in tmp_path.iterdir()) == [kept.name, "shop.duckdb"]


def test_each_upgrade_keeps_a_copy_and_one_that_failed_before_none_again(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    for way in ("first", "after a way back", "killed"):
        if way != "killed":
            path.unlink(missing_ok=True)
            older(SHAPES[-1], str(path)).close()
        else:  # as it was when the second copy was made
            path.write_bytes(max(tmp_path.glob("shop.before-*"), key=lambda one: len(one.name)).read_bytes())
        store = Store(path)
        with store.reading():
            pass
        store.close()
    assert len(list(tmp_path.glob("shop.before-*.duckdb"))) == 2


def test_every_shape_that_has_landed_is_kept() -> None:
    """The last migration's shape is schema.sql itself; those before it can be projects of somebody's."""
    landed = [migrations.FIRST, *(step.name for step in migrations.shipped())][:-1]
    assert [shape.stem for shape in SHAPES] == landed


def test_an_upgrade_keeps_every_row_of_rounds_traffic_and_candidates() -> None:
    connection = older(SHAPES[0])
    connection.execute(
        "INSERT INTO rounds VALUES ('r', 'may', 'labeling', 'g', '{\"overlap\": 2}', '2026-05-01 08:00')"
    )
    connection.execute("INSERT INTO traffic VALUES ('i', 7, 'Cable', 'cable', NULL, 'shop', NULL, 3)")
    connection.execute("INSERT INTO candidate_sources VALUES ('p', 'q', 'd', 'bm25', 1, 2.5)")
    migrations.upgrade(connection)
    assert connection.execute("SELECT name, kind, parameters->>'overlap' FROM rounds").fetchall() == [
        ("may", "labeling", "2")
    ]
    assert connection.execute("SELECT line, segment, count, metadata FROM traffic").fetchall() == [
        (7, "shop", 3, None)
    ]
    assert connection.execute("SELECT rank, score, passage_start FROM candidate_sources").fetchall() == [
        (1, 2.5, None)
    ]


def test_judgments_imported_without_a_time_are_known_by_their_microsecond_steps() -> None:
    """Until 0004 an import without times gave them its own, a microsecond apart in the order of the file."""
    connection = older(SHAPES[0])
    rows = [
        ("first", None, "10:00:00.000001"),
        ("second", None, "10:00:00.000002"),
        ("timed in its file", None, "10:00:00.5"),
        ("on screen", "09:59:00", "10:00:00.000003"),
    ]
    for name, shown, given in rows:
        shown_at = f"2026-05-01 {shown}" if shown else None
        connection.execute(
            "INSERT INTO judgment_events "
            "VALUES (?, 0, 'grade', 1, NULL, NULL, false, 'g', 'ada', ?, ?, ?, NULL)",
            [name, f"key of {name}", shown_at, f"2026-05-01 {given}"],
        )
    migrations.upgrade(connection)
    unknown = "SELECT presentation_id FROM judgment_events WHERE NOT time_known ORDER BY ALL"
    assert connection.execute(unknown).fetchall() == [("first",), ("second",)]


def test_rounds_are_numbered_in_the_order_of_opening_and_of_writing_where_that_is_equal() -> None:
    connection = before("0005")
    for name, day in (("late", 3), ("early", 1), ("twin one", 2), ("twin two", 2)):
        connection.execute(
            "INSERT INTO rounds VALUES ($1, $1, 'labeling', 'g', '{}', make_timestamp(2026, 5, $2, 8, 0, 0))",
            [name, day],
        )
    migrations.upgrade(connection)
    ordered = connection.execute("SELECT name, sequence FROM rounds ORDER BY sequence").fetchall()
    assert ordered == [("early", 1), ("twin one", 2), ("twin two", 3), ("late", 4)]


def test_older_decisions_get_the_version_that_had_been_judged_last() -> None:
    connection = before("0005")
    for number, version in enumerate(("first text", "second text"), 1):
        connection.execute(
            "INSERT INTO rounds VALUES ($1, $1, 'labeling', 'g', '{}', make_timestamp(2026, 5, $2, 8, 0, 0))",
            [version, number],
        )
        connection.execute(
            "INSERT INTO presentations VALUES ($1, $1, 'ada', 'q', 'd', $1, 0, NULL)", [version]
        )
        connection.execute(
            """
            INSERT INTO judgment_events (presentation_id, revision, kind, grade, flagged, guide_hash, author,
                                         client_key, submitted_at)
            VALUES ($1, 0, 'grade', 2, false, 'g', 'ada', $1, make_timestamp(2026, 5, $2, 9, 0, 0))
            """,
            [version, number],
        )
    for revision, day in enumerate((1, 2)):
        connection.execute(
            "INSERT INTO adjudications VALUES ('q', 'd', ?, 1, '', '', make_timestamp(2026, 5, ?, 9, 9, 0))",
            [revision, day],
        )
    connection.execute("INSERT INTO adjudications VALUES ('q', 'unjudged', 0, 1, 'y', 'r', now()::TIMESTAMP)")
    migrations.upgrade(connection)
    found = connection.execute("SELECT document_id, content_hash FROM adjudications ORDER BY ALL").fetchall()
    assert found == [("d", "first text"), ("d", "second text"), ("unjudged", None)]


def test_older_samples_get_the_logs_that_had_been_imported_by_the_time_of_the_draw() -> None:
    connection = before("0009")
    for name, day in (("first", 1), ("second", 3)):
        connection.execute(
            "INSERT INTO traffic_imports VALUES ($1, '', 1, '{}', make_timestamp(2026, 5, $2, 8, 0, 0))",
            [name, day],
        )
    for name, day in (("one log", 2), ("two logs", 3)):
        connection.execute(
            "INSERT INTO samples VALUES ($1, '{}', '{}', make_timestamp(2026, 5, $2, 8, 0, 0))", [name, day]
        )
    migrations.upgrade(connection)
    found = connection.execute("SELECT * FROM sample_logs ORDER BY ALL").fetchall()
    assert found == [("one log", "first"), ("two logs", "first"), ("two logs", "second")]


def test_the_texts_of_older_releases_are_carried_over_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, also where somebody altered one, and where a part has no line."""
    monkeypatch.setattr(release_parts, "PIECE", 20)
    connection = before("0023")
    texts = {"queries": '{"text":"café"}\n' * 9, "edges": "", "split": "altered, with no end"}
    for part, text in texts.items():
        connection.execute("INSERT INTO release_parts VALUES ('r', ?, ?)", [part, text])
    migrations.upgrade(connection)
    found = release_parts.packed_parts(connection, "r")
    assert {part: "".join(release_parts.unpacked(pieces)) for part, pieces in found.items()} == texts
    assert {part: len(pieces) for part, pieces in found.items()} == {"queries": 5, "edges": 1, "split": 1}
