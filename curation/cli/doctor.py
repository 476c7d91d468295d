"""`goldgrade doctor`: what is wrong with the project file, or going to be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.output import emit, say
from curation.cli.program import Json, app, project_path
from curation.core.errors import InputError

NO_REPAIR = "--repair is gone: make a project of a backup with `goldgrade --project NEW restore FILE`."


@app.command()
def doctor(
    folder: Annotated[
        list[Path] | None, typer.Option(help="A folder in which exports are written. Repeatable.")
    ] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed processes left.")] = False,
    repair: Annotated[str | None, typer.Option(help="Gone.", hidden=True)] = None,
    as_json: Json = False,
) -> None:
    """Examine the project while it is in use. Exit 1 if somebody must act.

    The file is read whole. Looked at are its log, permissions and disk, the versions, every release against
    its sums, the files of a left corpus,
    jobs without an end, folders that killed processes left, backups, restore drills, and the clock.

    \b
    Examples:
      goldgrade doctor
      goldgrade doctor --folder exports --clean
      goldgrade doctor --json
    """
    from curation.operations.doctor.doctor import examine

    if repair is not None:
        raise InputError(NO_REPAIR)
    found = examine(project_path(), folder or [], clean=clean)

    def show() -> None:
        signs = {"fine": "  ok    ", "note": "  note  ", "problem": "PROBLEM "}
        for finding in found.findings:
            say(
                f"{signs[finding.level]}{finding.what}: "
                f"{finding.sentence}{f' ({finding.command})' if finding.command else ''}"
            )
        for what, why in found.not_checked.items():
            say(f"not checked: {what}, because {why}")
        say(f"Problems: {found.problems:,}." if found.problems else "Nothing asks for action.")

    emit(as_json, found, show)
    if found.problems:
        raise typer.Exit(1)
