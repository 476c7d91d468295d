"""The stored texts of releases' parts, as tests write and alter them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from curation.store import Cursor
from curation.store.release_parts import add_part, pack, pieces_of_text, stored_text
from curation.text import canonical_json


def part_text(rows: Iterable[Any]) -> str:
    """One canonical JSON line a row."""
    return "".join(f"{canonical_json(row)}\n" for row in rows)


def add_texts(cursor: Cursor, release_id: str, texts: Mapping[str, str]) -> None:
    """Store parts as a freeze does."""
    for part, text in texts.items():
        add_part(cursor, release_id, part, map(pack, pieces_of_text(text)))


def alter_part(cursor: Cursor, part: str, change: Callable[[str], str]) -> None:
    """Change the stored text of a part of every release, past all that goldset does."""
    found = cursor.execute("SELECT DISTINCT release_id FROM release_parts WHERE part = ?", [part]).fetchall()
    texts = {release_id: stored_text(cursor, release_id, part) for (release_id,) in found}
    cursor.execute("DELETE FROM release_parts WHERE part = ? AND place > 0", [part])
    sql = "UPDATE release_parts SET content = ? WHERE release_id = ? AND part = ?"
    for release_id, text in texts.items():
        cursor.execute(sql, [pack(change(text)), release_id, part])
