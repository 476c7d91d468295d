"""A backup that the app takes: a snapshot for one person to download, or one of the schedule's.

Of the schedule's own backups the newest are kept. Others in the folder are left alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from curation.core.errors import InputError
from curation.core.progress import Progress
from curation.operations.backups.backup import Backup, back_up, sums_path
from curation.people.annotators import require_author
from curation.store import Store, note_event

SNAPSHOT = "snapshot"
"""The event of a copy that somebody may download: no backup until somebody has downloaded it."""
DOWNLOADED = "snapshot downloaded"


@dataclass(frozen=True)
class BackupRequest:
    """A copy of the project.

    Attributes
    ----------
    folder: where it is written.
    keep: so many of the schedule's backups stay there; None is a snapshot.
    reason: why somebody takes a snapshot, which has all sealed grades in it.
    """

    folder: str = ""
    keep: int | None = None
    reason: str = ""


def take(store: Store, request: BackupRequest, _progress: Progress, author: str) -> Backup:
    """Take a backup, and remove those of the schedule that are too many.

    Raises
    ------
    InputError, RefusedError, StoreError: as `back_up`; a snapshot has no reason, or its author is no lead.
    """
    folder = Path(request.folder)
    if request.keep is None and not request.reason.strip():
        raise InputError("A snapshot holds sealed grades: say why you take it.")
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; expected one in which backups are written.")
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    if request.keep is None:
        return back_up(store, folder, author, SNAPSHOT, {"reason": request.reason.strip()})
    taken = back_up(store, folder, author, detail={"scheduled": True})
    for name in _scheduled(store)[request.keep :]:
        for path in (folder / name, sums_path(folder / name)):
            path.unlink(missing_ok=True)
    return taken


def note_download(store: Store, name: str, annotator: str) -> None:
    """Log, once for each snapshot, that the file of this name was downloaded: it is a backup from then on."""
    with store.reading() as cursor:
        known = cursor.execute(
            "SELECT 1 FROM events WHERE action = ? AND detail->>'file' = ?", [DOWNLOADED, name]
        ).fetchone()
    if known is None:
        note_event(store, DOWNLOADED, {"file": name}, annotator)


def _scheduled(store: Store) -> list[str]:
    """The names of the files that the schedule wrote, the newest first."""
    with store.reading() as cursor:
        rows = cursor.execute(
            "SELECT detail->>'file' FROM events WHERE action = 'backup' AND detail->>'scheduled' = 'true' "
            "ORDER BY rowid DESC"
        ).fetchall()
    return [Path(name).name for (name,) in rows]
