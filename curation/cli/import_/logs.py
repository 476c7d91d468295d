"""`goldgrade import logs`, `goldgrade import delete-log`: the logs that a project has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say, table
from curation.cli.program import Json, project_store
from curation.core.text import amount

if TYPE_CHECKING:
    from datetime import datetime


def logs_command(as_json: Json = False) -> None:
    """List the logs of the project, oldest first.

    \b
    Examples:
      goldgrade import logs
      goldgrade import logs --json
    """
    from curation.ingest.importers.traffic.logs import stored_logs

    with project_store().reading() as cursor:
        logs = stored_logs(cursor)
    columns = ["log", "file", "rows", "queries asked", "from", "to", "samples"]
    rows = [
        (log.import_id[:8], log.source, log.rows, log.traffic, _day(log.first), _day(log.last), log.samples)
        for log in logs
    ]
    emit(as_json, {"logs": logs}, lambda: table("Logs", columns, rows) if rows else say("No log yet."))


def delete_log_command(
    log: Annotated[str, typer.Argument(help="The log's id, or how it begins.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why; stored in the audit trail.")] = "",
    as_json: Json = False,
) -> None:
    """Delete a log and its rows, as when it came twice.

    Samples that were drawn from it keep their queries and probabilities. Draw a new one for the traffic that
    is left. The audit trail has a line.

    \b
    Examples:
      goldgrade import delete-log 3f9a1c02 --reason "exported twice"
    """
    from curation.ingest.importers.traffic.logs import delete_log

    found = delete_log(project_store(), log, reason)
    drawn = f" {amount(found.samples, 'sample was', 'samples were')} drawn with it." if found.samples else ""
    emit(as_json, found, f"{found.source} is deleted, with {amount(found.rows, 'row')}.{drawn}")


def _day(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d}" if time else ""
