"""The operation that copies the project while people grade."""

from __future__ import annotations

from curation.core.operation import Operation, OperationOutcome
from curation.operations.backups.backup import Backup
from curation.operations.backups.request import BackupRequest, take


def _taken(_request: BackupRequest, taken: Backup) -> OperationOutcome:
    size, rows = f"{taken.bytes / 1e6:,.1f} MB", sum(taken.rows.values())
    return OperationOutcome(
        f"Copied the project to {taken.path.name} ({size}). All of its {rows:,} rows were read.",
        remarks=(f"SHA-256: {taken.sha256}",),
    )


OPERATIONS = {
    "backup": Operation(
        BackupRequest,
        take,
        _taken,
        doing="a backup is being taken",
        kept="The project is as it was, and there is no new backup.",
        first="copying the project and reading the copy",
    )
}
