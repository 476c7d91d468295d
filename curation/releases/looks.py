"""Looks: each scoring of a run on sealed parts of a release, with who, why and the figures that were shown.

A sealed part that everybody has looked at is one that systems were chosen on. So a look is stored before its
figures are handed out, and every report says which look it is. The same run, asked the same once more, shows
what is known already: it is no other look. `curation.looks` decides what a look may show.

A system's family is what its name has before an @: `dense@may` and `dense@june` are looks of `dense`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from curation.store import Cursor, append_rows, fetch, record_event
from curation.text import canonical_json, digest

Row = TypeVar("Row", bound=tuple[Any, ...])


class SealedLook(NamedTuple):
    """One scoring of one run, or of one file of answers.

    Attributes
    ----------
    name: the release's, as it was asked for.
    parts: the sealed parts that were scored.
    run_sum: hash of the run's lists, or of the answers, for the queries of these parts.
    asked, figures: JSON: measures and options; measure → value, low, high, n, judged.
    unknown: share of the documents that the look saw and the corpus does not have; None of answers.
    unseen: share of them that no pool and no run of the project has; None where there is no pool to say so.
    overlap: share of the part's queries whose list is that of the most similar earlier look.
    """

    look_id: str
    release_id: str
    name: str
    parts: list[str]
    system: str
    run_sum: str
    asked: str
    figures: str
    reason: str
    looked_by: str
    looked_at: datetime
    unknown: float | None = None
    unseen: float | None = None
    overlap: float | None = None

    @property
    def family(self) -> str:
        """What the system's name has before an @."""
        return family_of(self.system)

    @property
    def of_answers(self) -> bool:
        """Whether answers were scored, not a run."""
        return bool(json.loads(self.asked).get("answers"))

    @property
    def by_ladder(self) -> bool:
        """Whether nothing but the Ladder's answer was shown."""
        return bool(json.loads(self.asked).get("ladder"))

    @property
    def shown(self) -> dict[str, dict[str, Any]]:
        """Measure → the figure that was shown."""
        return dict(json.loads(self.figures))


class LookList(NamedTuple):
    """What a look is compared with others by: the hash of what it saw of a query's list.

    Attributes
    ----------
    seen: what was hashed, such as 'first 10'.
    """

    look_id: str
    seen: str
    query_id: str
    list_sum: int


class LookQuery(NamedTuple):
    """The value of a query by the measure `scored_by`; None where it has none."""

    look_id: str
    query_id: str
    value: float | None
    scored_by: str | None


class NumberedLook(NamedTuple):
    """A look and its place among those that scored one of the same parts.

    Attributes
    ----------
    number, of_family: from 1, by writing.
    repeated: it was taken before, and nothing new was stored.
    """

    look: SealedLook
    number: int
    of_family: int
    repeated: bool = False


class ListedLook(NamedTuple):
    """A look as a log shows it: without the parameters, and with its place.

    Attributes
    ----------
    ladder: nothing but the Ladder's answer was shown; else all figures were.
    unknown, unseen, overlap: as in `SealedLook`.
    """

    number: int
    of_family: int
    system: str
    parts: list[str]
    figures: dict[str, dict[str, Any]]
    reason: str
    looked_by: str
    looked_at: datetime
    ladder: bool
    unknown: float | None
    unseen: float | None
    overlap: float | None


def family_of(system: str) -> str:
    """What a system's name has before an @."""
    return system.partition("@")[0]


def look_id_of(release_id: str, parts: Sequence[str], run_sum: str, asked: Mapping[str, Any]) -> str:
    """The id of a look: another run, other parts or other measures are another look, another name is not."""
    return digest("look", release_id, sorted(parts), run_sum, canonical_json(asked))


def looks(cursor: Cursor, release_id: str) -> list[SealedLook]:
    """All looks at a release's content, under whatever name, in the order of writing."""
    sql = f"SELECT {', '.join(SealedLook._fields)} FROM looks WHERE release_id = ? ORDER BY rowid"  # noqa: S608
    return fetch(cursor, SealedLook, sql, [release_id])


def count_looks(cursor: Cursor, release_id: str) -> int:
    """How many looks at a release's content there were; a look that is only repeated is none."""
    sql = "SELECT count(*) FROM looks WHERE release_id = ?"
    return int(cursor.execute(sql, [release_id]).fetchall()[0][0])


def look_queries(cursor: Cursor, look_ids: Sequence[str]) -> list[LookQuery]:
    """The values of these looks, by query."""
    return _of_looks(cursor, LookQuery, "look_queries", look_ids)


def look_lists(cursor: Cursor, look_ids: Sequence[str]) -> list[LookList]:
    """What these looks are compared by, by query."""
    return _of_looks(cursor, LookList, "look_lists", look_ids)


def _of_looks(cursor: Cursor, row: type[Row], table: str, look_ids: Sequence[str]) -> list[Row]:
    fields = ", ".join(row._fields)  # type: ignore[attr-defined]
    sql = f"""
        SELECT {fields} FROM {table}
        WHERE look_id IN (SELECT unnest(?::TEXT[])) ORDER BY ALL
    """  # noqa: S608
    return fetch(cursor, row, sql, [list(look_ids)])


def numbered(all_looks: Sequence[SealedLook], look: SealedLook, repeated: bool = False) -> NumberedLook:
    """The place of a look among all looks at its release."""
    before = [one for one in all_looks if set(one.parts) & set(look.parts)]
    place = next((n for n, one in enumerate(before) if one.look_id == look.look_id), len(before))
    family = sum(one.family == look.family for one in before[:place])
    return NumberedLook(look, place + 1, family + 1, repeated)


def listed_looks(cursor: Cursor, release_id: str) -> list[ListedLook]:
    """The log of a release's looks, oldest first."""
    found = looks(cursor, release_id)
    return [
        ListedLook(
            number=place.number,
            of_family=place.of_family,
            system=look.system,
            parts=look.parts,
            figures=look.shown,
            reason=look.reason,
            looked_by=look.looked_by,
            looked_at=look.looked_at,
            ladder=look.by_ladder,
            unknown=look.unknown,
            unseen=look.unseen,
            overlap=look.overlap,
        )
        for look, place in ((look, numbered(found, look)) for look in found)
    ]


def add_look(
    cursor: Cursor, look: SealedLook, queries: Sequence[LookQuery], lists: Sequence[LookList] = ()
) -> NumberedLook:
    """Store a look, unless it was taken before; within the transaction of who hands its figures out."""
    known = looks(cursor, look.release_id)
    before = next((one for one in known if one.look_id == look.look_id), None)
    detail = {
        "release": look.release_id,
        "parts": look.parts,
        "system": look.system,
        "run": look.run_sum,
        "reason": look.reason,
        "repeated": before is not None,
    }
    record_event(cursor, "look at sealed part", detail, look.looked_by)
    if before is not None:
        return numbered(known, before, repeated=True)
    append_rows(cursor, "looks", [look])
    append_rows(cursor, "look_queries", queries)
    append_rows(cursor, "look_lists", lists)
    return numbered([*known, look], look)
