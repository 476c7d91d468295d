"""The seal: grades of a release's test part leave through one gate, which writes down who had them and why.

A gold set that systems are tuned on measures memory. So each release says which parts are sealed, and
whatever hands out their grades (an export, a comparison, an evaluation) calls `open_sealed` first. The entry
is committed before the gate lets anybody pass: who fails or is stopped afterwards is in the log as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from curation.errors import RefusedError, refuse_problems
from curation.people.annotators import require_author
from curation.releases.stored import list_releases, part_rows, read_parts
from curation.releases.verify import opened
from curation.store import COMMAND_LINE, Cursor, Store, append, fetch, record_event, utc_now

TEST = "test"
"""The part that is always sealed, also in releases that were frozen before seals."""
SEALED = "sealed"
"""What a list of pairs says instead of how a sealed grade came about; the grade itself is None."""


class Opening(NamedTuple):
    """One opening; `name` is the release's name that was asked for, `parts` are those that were opened."""

    release_id: str
    name: str
    parts: list[str]
    purpose: str
    reason: str
    opened_by: str
    opened_at: datetime


def chosen_seals(parts: Collection[str], wanted: Collection[str] = ()) -> tuple[str, ...]:
    """The parts of a split that a freeze seals: the one named test, where there is one, and those wanted.

    Test cannot be left open by naming others: the same labels, frozen once more, would leave by no gate.

    Raises
    ------
    InputError: the split has no such part.
    """
    refuse_unknown_parts(parts, wanted)
    return tuple(sorted({*wanted, *(part for part in parts if part == TEST)}))


def refuse_unknown_parts(parts: Iterable[str], wanted: Iterable[str]) -> None:
    """Stop where something other than a part is asked for, naming all of it."""
    known = sorted(parts)
    problems = [
        f"The split has no part {name!r}; it has {', '.join(known)}."
        for name in sorted(set(wanted).difference(known))
    ]
    refuse_problems(problems)


def sealed_parts(header: Mapping[str, Any]) -> tuple[str, ...]:
    """The sealed parts of a release by its header, the row of the part 'release'."""
    return tuple(header.get("sealed", [part for part in header["queries"] if part == TEST]))


def sealed_queries(cursor: Cursor) -> dict[str, str]:
    """The queries whose grades a release seals → the first such release, in the order of freezing."""
    found: dict[str, str] = {}
    for release in list_releases(cursor):
        texts = read_parts(cursor, release.release_id, ("queries", "release"))
        header = part_rows(texts["release"])[0]
        sealed = sealed_parts(header)
        for row in part_rows(texts["queries"]):
            if row["part"] in sealed:
                found.setdefault(row["query_id"], release.name)
    return found


def open_sealed(
    store: Store,
    name: str,
    purpose: str,
    reason: str | None,
    actor: str = COMMAND_LINE,
    parts: Collection[str] | None = None,
) -> Opening | None:
    """Let grades of a release out, and write down to whom, for what and why; None where none is sealed.

    Call it before the first of these grades is read for anybody.

    Parameters
    ----------
    purpose: what is done with the grades, such as 'export as beir'.
    parts: whose grades are wanted; by default those of all.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: sealed grades are wanted without a reason, or by somebody who is no lead; the release is not
        as it was frozen, or a newer goldset froze it.
    """
    release = opened(store, name)
    wanted = release.header["queries"] if parts is None else parts
    refuse_unknown_parts(release.header["queries"], wanted)
    sealed = sorted(set(sealed_parts(release.header)).intersection(wanted))
    if not sealed:
        return None
    if reason is None or not reason.strip():
        raise _no_reason(name, sealed)
    opening = Opening(release.row.release_id, name, sealed, purpose, reason.strip(), actor, utc_now())
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        append(cursor, "seal_openings", {field: [value] for field, value in opening._asdict().items()})
        record_event(cursor, "open seal", {"name": name, **_told(opening)}, actor)
    return opening


def openings(cursor: Cursor, release_id: str) -> list[Opening]:
    """Who opened the seal of a release's content, under whatever name, in the order of opening."""
    sql = """
        SELECT release_id, name, parts, purpose, reason, opened_by, opened_at FROM seal_openings
        WHERE release_id = ? ORDER BY rowid
    """
    return fetch(cursor, Opening, sql, [release_id])


def _told(opening: Opening) -> dict[str, Any]:
    return {
        "release": opening.release_id,
        "parts": opening.parts,
        "purpose": opening.purpose,
        "reason": opening.reason,
    }


def _no_reason(name: str, sealed: Collection[str]) -> RefusedError:
    parts = ", ".join(sealed)
    command = (
        f'--reason "why" says it, and `goldset release show {name}` shows the log. Without them: '
        f"`goldset export {name} --format leaderboard --out DIR`, or any other format with "
        f"{' '.join(f'--without-grades {part}' for part in sealed)}."
    )
    return RefusedError(
        f"The grades of {parts} in the release {name!r} are sealed. Who takes them says why, which is logged "
        "with name and time. Without them it can be given to anybody.",
        command=command,
    )
