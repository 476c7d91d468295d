"""Looks: each scoring of a run on sealed parts of a release, with who, why and the figures that were shown.

A sealed part that everybody has looked at is one that systems were chosen on. So a look is stored before its
figures are handed out, and every report says which look it is. The same run, asked the same once more, shows
what is known already: it is no other look. `evaluation.sealed` decides what a look may show.

A system's family is what its name has before an @: `dense@may` and `dense@june` are looks of `dense`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from curation.store import Cursor, append, append_rows, fetch, record_event
from curation.text import canonical_json, digest


class SealedLook(NamedTuple):
    """One scoring of one run, or of one file of answers.

    Attributes
    ----------
    name: the release's, as it was asked for.
    parts: the sealed parts that were scored.
    run_sum: hash of the run's lists, or of the answers, for the queries of these parts.
    asked, figures: JSON: measures and options; measure → value, low, high, n, judged.
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

    @property
    def family(self) -> str:
        """What the system's name has before an @."""
        return family_of(self.system)

    @property
    def of_answers(self) -> bool:
        """Whether answers were scored, not a run."""
        return bool(json.loads(self.asked).get("answers"))

    @property
    def shown(self) -> dict[str, dict[str, Any]]:
        """Measure → the figure that was shown."""
        return dict(json.loads(self.figures))


class LookQuery(NamedTuple):
    """What a look is compared with others by: the hash of a query's list, and the first measure's value."""

    look_id: str
    query_id: str
    list_sum: int | None
    value: float | None


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
    """A look as a log shows it: without the parameters, and with its place."""

    number: int
    of_family: int
    system: str
    parts: list[str]
    figures: dict[str, dict[str, Any]]
    reason: str
    looked_by: str
    looked_at: datetime


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


def look_queries(cursor: Cursor, look_ids: Sequence[str]) -> list[LookQuery]:
    """What these looks are compared by, by query."""
    sql = """
        SELECT look_id, query_id, list_sum, value FROM look_queries
        WHERE look_id IN (SELECT unnest(?::TEXT[])) ORDER BY look_id, query_id
    """
    return fetch(cursor, LookQuery, sql, [list(look_ids)])


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
        )
        for look, place in ((look, numbered(found, look)) for look in found)
    ]


def add_look(cursor: Cursor, look: SealedLook, queries: Sequence[LookQuery]) -> NumberedLook:
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
    append(cursor, "looks", {field: [value] for field, value in look._asdict().items()})
    append_rows(cursor, "look_queries", queries, _types())
    return numbered([*known, look], look)


def _types() -> Any:
    import pyarrow as pa

    names = {"look_id": pa.string(), "query_id": pa.string(), "list_sum": pa.uint64(), "value": pa.float64()}
    return pa.schema(names)
