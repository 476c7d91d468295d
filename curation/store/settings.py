"""The settings of a project, each a text stored under a name."""

from __future__ import annotations

from curation.core.errors import RefusedError
from curation.store.project_file import Cursor

# Name of the setting with the time of the app's last test of writing to the project
HEALTH_CHECKED = "health_checked_at"
MEASURED = "measured: "  # names of settings with measured speeds begin with this


def get_setting(cursor: Cursor, name: str) -> str | None:
    """Read the value of a setting; None if it has no value."""
    rows = cursor.execute("SELECT value FROM settings WHERE name = ?", [name]).fetchall()
    return str(rows[0][0]) if rows else None


def require_setting(cursor: Cursor, name: str, way_out: str, command: str = "") -> str:
    """Read the value of a setting that must have one.

    Raises
    ------
    RefusedError: the setting has no value. `way_out` tells what to do first, and `command` names the command.
    """
    value = get_setting(cursor, name)
    if value is None:
        raise RefusedError(way_out, command=command)
    return value


def all_settings(cursor: Cursor) -> list[tuple[str, str]]:
    """Read the name and value of each setting that can affect results, ordered by name.

    `HEALTH_CHECKED` and measured speeds are left out.
    """
    sql = "SELECT name, value FROM settings WHERE name <> ? AND NOT starts_with(name, ?) ORDER BY name"
    rows = cursor.execute(sql, [HEALTH_CHECKED, MEASURED]).fetchall()
    return [(str(name), str(value)) for name, value in rows]


def put_setting(cursor: Cursor, name: str, value: str) -> None:
    """Set a setting to a value, replacing any earlier value."""
    sql = "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    cursor.execute(sql, [name, value])
