"""The stored texts of releases' parts, as tests write and alter them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from curation.core.digests import canonical_json
from curation.store import Cursor
from curation.store.release_parts import PartText, add_part, pack, read_part, read_parts


def part_text(rows: Iterable[Any]) -> str:
    """One canonical JSON line a row."""
    return "".join(f"{canonical_json(row)}\n" for row in rows)


def text_of(content: str) -> PartText:
    """A part with that very text, in one piece."""
    return PartText([pack(content)])


def texts_of(cursor: Cursor, release_id: str) -> dict[str, str]:
    """Part → its whole text."""
    return {part: str(text) for part, text in read_parts(cursor, release_id).items()}


def add_texts(cursor: Cursor, release_id: str, texts: Mapping[str, str]) -> None:
    """Store parts as a freeze does."""
    for part, content in texts.items():
        add_part(cursor, release_id, part, text_of(content))


def alter_part(cursor: Cursor, part: str, change: Callable[[str], str]) -> None:
    """Change the stored text of a part of every release, past all that goldgrade does."""
    found = cursor.execute("SELECT DISTINCT release_id FROM release_parts WHERE part = ?", [part]).fetchall()
    texts = {release_id: str(read_part(cursor, release_id, part)) for (release_id,) in found}
    cursor.execute("DELETE FROM release_parts WHERE part = ? AND place > 0", [part])
    sql = "UPDATE release_parts SET content = ? WHERE release_id = ? AND part = ?"
    for release_id, text in texts.items():
        cursor.execute(sql, [pack(change(text)), release_id, part])
