"""The seal of a release: the parts that a freeze seals, and the logged access to their grades.

If teams tune systems on a gold set, evaluation on the same set overestimates the systems. So each release
names its sealed parts, and an export, a comparison or an evaluation calls `open_sealed` before it gives
grades to anybody. The log entry is committed before any grade is returned, so the log also has requests that
fail later. `curation.people.seal_access` guards the same grades in the project.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from curation.core.errors import RefusedError, refuse_problems
from curation.people.annotators import require_author
from curation.people.seal_access import TEST, Unsealing, append_opening, list_sealed_parts
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Store, utc_now


def choose_seals(parts: Collection[str], requested: Collection[str] = ()) -> tuple[str, ...]:
    """Return the parts of a split that a freeze seals: the part named test, if any, and requested parts.

    The part test is always sealed, even if a request names only other parts. Otherwise somebody could freeze
    the same labels again and get the test grades without a log entry.

    Raises
    ------
    InputError: the split has no such part.
    """
    refuse_unknown_parts(parts, requested)
    return tuple(sorted({*requested, *(part for part in parts if part == TEST)}))


def refuse_unknown_parts(parts: Iterable[str], requested: Iterable[str]) -> None:
    """Reject all names that are not parts of the split, in one error."""
    split_parts = sorted(parts)
    names = ", ".join(split_parts)
    unknown_parts = sorted(set(requested).difference(split_parts))
    refuse_problems([f"The split has no part {name!r}; it has {names}." for name in unknown_parts])


def open_sealed(
    store: Store,
    name: str | FrozenRelease,
    purpose: str,
    reason: str | None,
    actor: str = COMMAND_LINE,
    parts: Collection[str] | None = None,
) -> Unsealing | None:
    """Open a release's sealed grades, and log the person, purpose and reason; None if no part is sealed.

    Call this function before anybody gets the first sealed grade. Sealed grades of a packed release need a
    reason as well, but the file has no log to record the reason.

    Parameters
    ----------
    name: the name of the release, or a release that was read before.
    purpose: the use of the grades, such as 'export as beir'.
    parts: the parts whose grades are wanted; by default all parts.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: sealed grades are wanted without a reason, or by somebody who is not a lead; the release was
        altered, or a newer goldgrade froze it.
    """
    release = load_release(store, name)
    requested = release.header["queries"] if parts is None else parts
    refuse_unknown_parts(release.header["queries"], requested)
    sealed = sorted(set(list_sealed_parts(release.header)).intersection(requested))
    if release.file is not None:
        refuse_not_in_file(release, requested)
    if not sealed:
        return None
    if reason is None or not reason.strip():
        raise _make_reason_error(release, sealed)
    if release.file is not None:
        return None
    row = release.row
    opening = Unsealing(row.release_id, row.name, sealed, purpose, reason.strip(), actor, utc_now())
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        append_opening(cursor, opening)
    return opening


def refuse_not_in_file(release: FrozenRelease, parts: Iterable[str]) -> None:
    """Reject parts of the split whose grades a packed release does not have."""
    missing = sorted(set(parts).difference(release.file.with_grades)) if release.file else []
    if missing and release.file:
        raise RefusedError(
            f"{release.file.path} has no grades of {', '.join(missing)}: sealed grades stay in the project "
            "unless someone packs them with a reason. Leave out the part, or ask the project's lead.",
            command=f"{_repeat_option('--without-grades', missing)} of an export leaves the part out, and so "
            f"does {_repeat_option('--part', release.file.with_grades)}. `goldgrade export NAME --out FILE "
            "--reason WHY` packs a release with sealed grades.",
        )


def _make_reason_error(release: FrozenRelease, sealed: Collection[str]) -> RefusedError:
    name = release.row.name if release.file is None else release.file.path
    logged = "is logged with name and time" if release.file is None else "a packed release cannot log"
    log = "" if release.file else f" `goldgrade releases {name}` shows the log."
    return RefusedError(
        f"The grades of {', '.join(sealed)} in the release {release.row.name!r} are sealed. Anyone who "
        f"takes sealed grades must give a reason, which {logged}. Exports without sealed grades require no "
        "reason.",
        command=f'--reason "why" gives the reason.{log} `goldgrade export {name} --format leaderboard '
        "--out DIR` exports without sealed grades, and so does any other format with "
        f"{_repeat_option('--without-grades', sealed)}.",
    )


def _repeat_option(flag: str, parts: Iterable[str]) -> str:
    """Write a command-line option once for each part, such as --part dev --part test."""
    return " ".join(f"{flag} {part}" for part in parts)
