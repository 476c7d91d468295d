"""`goldgrade backup` and `goldgrade restore`: copies of the project that are whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say
from curation.cli.program import Json, app, project_path, project_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.operations.backups.restore import Restored


@app.command()
def backup(
    file: Annotated[
        str,
        typer.Argument(
            help="The new file, or a folder: then the time is part of the name. One that ends with / is made."
        ),
    ],
    rehearse: Annotated[
        bool,
        typer.Option(
            "--rehearse",
            help="Take none: restore one on trial. It is that file, or the newest backup in that folder.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Copy the project to a file while people grade. Its sums are written next to it.

    The copy holds everything that was acknowledged before it. The project is held only while its bytes are
    copied. The copy is then read whole, and gets its name only after that. It holds hashes of passwords,
    sealed grades and the key that signs cookies, so only you can read it.

    --rehearse is a restore drill: a backup is restored to a temporary place next to the project. It is
    compared with its sums and read whole, a row is written into each table that has one, and its releases
    are verified. Home, status and doctor show when that was. Exit 1 if anything is wrong.

    \b
    Examples:
      goldgrade backup backups/
      goldgrade backup backups/ --rehearse
      goldgrade backup backups/before-autumn.duckdb --json
    """
    from curation.operations.backups.backup import back_up, make_folder
    from curation.operations.doctor.drill import rehearse_restore

    if rehearse:
        tried = rehearse_restore(project_store(), Path(file))
        sentence = f"{tried.backup} can be restored: {amount(sum(tried.rows.values()), 'row')}, all in order."
        emit(as_json, {"backup": tried.backup, "taken_at": tried.taken_at, "rows": tried.rows}, sentence)
        return
    if file.endswith("/"):
        make_folder(Path(file))
    taken = back_up(project_store(), Path(file))

    def show() -> None:
        rows, size = sum(taken.rows.values()), f"{taken.bytes / 1e6:,.1f} MB"
        say(
            f"Wrote {taken.path} ({size}): {amount(rows, 'row')}, {taken.judgments:,} of them answers of "
            "annotators. All of it was read.",
            f"SHA-256: {taken.sha256}",
        )

    emit(as_json, taken, show)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A backup.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Move a project that is there aside, and keep it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a backup the project. It is compared with its sums and read whole first.

    Sign-ins, passwords and roles are those of the backup's time. Stop the app first: what people answered
    since the backup is in the project that is moved aside, not in the restored one.

    \b
    Examples:
      goldgrade restore backups/goldgrade-20261123-020000.duckdb --replace
      goldgrade --project data/copy.duckdb restore backups/goldgrade-20261123-020000.duckdb
    """
    from curation.operations.backups.restore import restore as restore_backup

    restored = restore_backup(file, project_path(), replace=replace)
    emit(as_json, restored, lambda: _show_restored(restored))


def _show_restored(restored: Restored) -> None:
    from curation.operations.backups.lacking import describe_lacking

    when = f"as it was at {restored.taken_at} UTC" if restored.taken_at else "which has no sums next to it"
    say(
        f"{restored.path} is now {restored.backup.name}, {when}: "
        f"{amount(sum(restored.rows.values()), 'row')}."
    )
    if restored.kept is not None:
        say(f"The project that was there is kept: {restored.kept}")
        if restored.lacking is None:
            say("It cannot be read, so nobody can say what the backup lacks of it.")
        elif restored.lacking:
            say(f"It has {describe_lacking(restored.lacking)} that the backup lacks.")
