"""The restore drill: a backup is restored to a temporary place and tried; the project keeps how it went."""

from __future__ import annotations

import json
from pathlib import Path

from curation.core.errors import CurationError, NotFoundError, RefusedError
from curation.operations.backups.restore import Restored, restore
from curation.operations.doctor.project_checks import look_at_releases
from curation.store import Store, note_event, open_store
from curation.store.staging import beside_or_temporary


def rehearse_restore(store: Store, place: Path) -> Restored:
    """Restore a backup to a temporary place next to the project, write a row into each table that has one,
    and verify its releases.

    place: a backup, or the folder of the newest one that the project knows of.

    Raises
    ------
    NotFoundError: the project knows of no backup.
    RefusedError: something is wrong with the backup; the project keeps that.
    """
    backup, problem, tried = place / _newest(store) if place.is_dir() else place, "", None
    try:
        with beside_or_temporary(store.path) as folder:
            tried = restore(backup, folder / store.path.name)
            problem = _altered_releases(tried.path)
    except CurationError as error:
        problem = error.found
    detail = {"backup": backup.name, "taken_at": tried and tried.taken_at, "problem": problem}
    note_event(store, "restore drill", detail)
    if problem or tried is None:
        raise RefusedError(
            f"The restore drill failed, and {backup} cannot be relied on: {problem} Take another backup, "
            "repeat the drill with that, and look at the disk that holds this one. The project is as it was.",
            command="goldgrade backup FOLDER",
        )
    return tried


def _newest(store: Store) -> str:
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT detail FROM events WHERE action = 'backup' ORDER BY happened_at DESC LIMIT 1"
        ).fetchall()
    if not rows:
        raise NotFoundError(
            "No backup of this project is known that could be restored on trial. Take one, or name its file.",
            command="goldgrade backup FOLDER",
        )
    return str(json.loads(rows[0][0])["file"])


def _altered_releases(path: Path) -> str:
    store = open_store(path)
    try:
        return " ".join(
            at_release.sentence for at_release in look_at_releases(store) if at_release.level == "problem"
        )
    finally:
        store.close()
