"""The commands that keep a project safe: `doctor` examines it, `backup` copies it, `restore` replaces it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from curation.cli.invocation import project_path, project_store
from curation.cli.options import switch
from curation.cli.output import show
from curation.cli.program import app


@app.command()
def doctor(
    folder: Annotated[list[Path] | None, Option(help="A folder of exports. Repeatable.")] = None,
    clean: Annotated[bool, switch("--clean", "Remove files left behind by killed processes.")] = False,
) -> None:
    """Check the project while it is in use. The exit code is 1 if you must act.

    The doctor reads the whole project. The doctor also checks the log, permissions, disk, versions, releases'
    checksums, unfinished jobs, files left behind by killed processes, backups, and the clock.

    \b
    Examples:
      goldgrade doctor
      goldgrade doctor --folder exports --clean
      goldgrade doctor --json
    """
    from curation.operations.doctor import examine

    examination = examine(project_path(), folder or [], clean=clean)
    show(examination)
    if examination.problems:
        raise Exit(1)


@app.command()
def backup(
    file: Annotated[
        str,
        Argument(
            help="New file, or a folder. In a folder, the file is named after the time of the backup. A "
            "folder whose path ends with / is made if it is missing."
        ),
    ],
) -> None:
    """Copy the project to a file while people grade. The checksums of the copy are written next to the copy.

    The command reads the whole copy to check it before the copy gets its name. The copy contains hashes of
    passwords, sealed grades and the key that signs cookies, so only you can read it.

    \b
    Examples:
      goldgrade backup backups/
      goldgrade backup backups/before-autumn.duckdb --json
    """
    from curation.operations.backup import back_up, make_folder

    if file.endswith("/"):
        make_folder(Path(file))
    written = back_up(project_store(), Path(file))
    show(written, f"The backup is in {written.path}.")


@app.command()
def restore(
    file: Annotated[Path, Argument(help="A backup.")],
    replace: Annotated[
        bool, switch("--replace", "If the project exists, move it aside and keep it.")
    ] = False,
) -> None:
    """Restore the project from a backup. The command first reads the backup and checks it against its
    checksums.

    Sign-ins, passwords and roles are as they were at the time of the backup. Stop the app first: later
    answers are in the project that is moved aside, not in the restored project.

    \b
    Examples:
      goldgrade restore backups/goldgrade-20261123-020000.duckdb --replace
      goldgrade --project data/copy.duckdb restore backups/goldgrade-20261123-020000.duckdb
    """
    from curation.operations.restore import restore as restore_backup

    show(restore_backup(file, project_path(), replace=replace))
