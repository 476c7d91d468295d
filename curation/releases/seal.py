"""The seal of a release: which parts a freeze seals, and how the grades of one release leave.

A gold set that systems are tuned on measures memory. So each release says which parts are sealed, and
whatever hands out the grades of a release (an export, a comparison, an evaluation) calls `open_sealed` first.
The entry is committed before anybody passes: who fails or is stopped afterwards is in the log as well. The
same grades in the project that goes on are behind `curation.people.seal_access`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from curation.core.errors import RefusedError, refuse_problems
from curation.people.annotators import require_author
from curation.people.seal_access import TEST, Unsealing, sealed_parts, write_opening
from curation.releases.verify import FrozenRelease, load_release
from curation.store import COMMAND_LINE, Store, utc_now


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


def open_sealed(
    store: Store,
    name: str | FrozenRelease,
    purpose: str,
    reason: str | None,
    actor: str = COMMAND_LINE,
    parts: Collection[str] | None = None,
) -> Unsealing | None:
    """Let grades of a release out, and write down to whom, for what and why; None where none is sealed.

    Call it before the first of these grades is read for anybody. A file has no log: of one with sealed grades
    the reason is demanded, and written nowhere.

    Parameters
    ----------
    name: or the release as it was opened before.
    purpose: what is done with the grades, such as 'export as beir'.
    parts: whose grades are wanted; by default those of all.

    Raises
    ------
    InputError: the release has no such part.
    NotFoundError: there is no such release, or the project does not know the actor.
    RefusedError: sealed grades are wanted without a reason, or by somebody who is no lead; the release is not
        as it was frozen, or a newer goldgrade froze it.
    """
    release = load_release(store, name)
    wanted = release.header["queries"] if parts is None else parts
    refuse_unknown_parts(release.header["queries"], wanted)
    sealed = sorted(set(sealed_parts(release.header)).intersection(wanted))
    if release.file is not None:
        refuse_not_in_file(release, wanted)
    if not sealed:
        return None
    name = release.row.name
    if reason is None or not reason.strip():
        raise _no_reason(release, sealed)
    if release.file is not None:
        return None
    opening = Unsealing(release.row.release_id, name, sealed, purpose, reason.strip(), actor, utc_now())
    with store.transaction(appends=True) as cursor:
        require_author(cursor, actor, "lead")
        write_opening(cursor, opening)
    return opening


def refuse_not_in_file(release: FrozenRelease, parts: Iterable[str]) -> None:
    """Stop where grades of parts are wanted that a packed release does not have."""
    missing = sorted(set(parts).difference(release.file.with_grades)) if release.file else []
    if missing and release.file:
        raise RefusedError(
            f"{release.file.path} has no grades of {', '.join(missing)}: sealed grades stay in the project, "
            "unless somebody packs them and says why. Leave the part out, or ask who leads the project.",
            command=f"{_flags('--without-grades', missing)} of an export leaves it out, and so does "
            f"{_flags('--part', release.file.with_grades)}. `goldgrade release pack NAME FILE --with-sealed "
            "--reason WHY` packs it.",
        )


def _no_reason(release: FrozenRelease, sealed: Collection[str]) -> RefusedError:
    name = release.row.name if release.file is None else release.file.path
    logged = "is logged with name and time" if release.file is None else "a packed release cannot log"
    return RefusedError(
        f"The grades of {', '.join(sealed)} in the release {release.row.name!r} are sealed. Who takes them "
        f"says why, which {logged}. Without them it can be given to anybody.",
        command='--reason "why" says it.'
        + ("" if release.file else f" `goldgrade release show {name}` shows the log.")
        + f" Without them: `goldgrade export {name} --format leaderboard --out DIR`, or any other format "
        "with "
        f"{_flags('--without-grades', sealed)}.",
    )


def _flags(flag: str, parts: Iterable[str]) -> str:
    return " ".join(f"{flag} {part}" for part in parts)
