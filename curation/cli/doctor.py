"""`goldset doctor`: what is wrong with the project file, or going to be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, app, project_path
from curation.cli.options import refuse_unused
from curation.cli.output import emit, say
from curation.text import amount

if TYPE_CHECKING:
    from curation.backups.backup import Repaired
    from curation.operations.doctor import Examination


@app.command()
def doctor(
    context: typer.Context,
    folder: Annotated[
        list[Path] | None, typer.Option(help="A folder in which exports are written. Repeatable.")
    ] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Remove what killed processes left.")] = False,
    repair: Annotated[
        Path | None, typer.Option(help="Make a new project there of what a damaged one still has.")
    ] = None,
    backup: Annotated[
        list[Path] | None,
        typer.Option(help="With --repair: a backup that may still have a damaged block. Repeatable."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Examine the project while it is in use. Exit 1 if somebody must act.

    The file is read whole. Looked at are its log, permissions and disk, the versions, every release against
    its sums, the files of a left corpus,
    jobs without an end, folders that killed processes left, backups, restore drills, and the clock.

    With --repair the project is only read. Damaged blocks are taken from a backup that has them with the same
    sums, and damaged indexes are rebuilt. Rows that cannot be read are left out and counted: exit 1 then.

    \b
    Examples:
      goldset doctor
      goldset doctor --folder exports --clean
      goldset doctor --repair data/repaired.duckdb --backup backups/goldset-20261123-020000.duckdb
      goldset doctor --json
    """
    from curation.operations.doctor import examine

    if repair is None:
        refuse_unused(context, "a backup is read for --repair only", "backup")
    else:
        refuse_unused(context, "--repair makes a new project and does nothing else", "folder", "clean")
        _repair(repair, backup or [], as_json)
        return
    found = examine(project_path(), folder or [], clean=clean)
    emit(as_json, found, lambda: _show(found))
    if found.problems:
        raise typer.Exit(1)


def _show(found: Examination) -> None:
    signs = {"fine": "  ok    ", "note": "  note  ", "problem": "PROBLEM "}
    for one in found.findings:
        say(f"{signs[one.level]}{one.what}: {one.sentence}{f' ({one.command})' if one.command else ''}")
    for what, why in found.not_checked.items():
        say(f"not checked: {what}, because {why}")
    say(f"Problems: {found.problems:,}." if found.problems else "Nothing asks for action.")


def _repair(target: Path, backups: list[Path], as_json: bool) -> None:
    from curation.backups.backup import repair

    repaired = repair(project_path(), target, backups)
    emit(as_json, repaired, lambda: _show_repaired(repaired))
    if repaired.lost or repaired.log_lost:
        raise typer.Exit(1)


def _show_repaired(repaired: Repaired) -> None:
    rows = amount(sum(repaired.rows.values()), "row")
    say(f"Wrote {repaired.path}: {rows}. {repaired.project} is as it was.")
    for blocks, sentence in (
        (repaired.taken, "were taken from backups that have them with the same sums"),
        (repaired.damaged, "are damaged: all rows that can be read are in a new file, with new indexes"),
    ):
        if blocks:
            say(f"Blocks {', '.join(map(str, blocks))} {sentence}.")
    lost = [f"{amount(count, 'row')} of {table}" for table, count in repaired.lost.items()]
    lost += [f"{amount(repaired.log_lost, 'byte')} of the log"] if repaired.log_lost else []
    say(f"LOST: {', '.join(lost)}. A backup may have that." if lost else "Nothing was lost.")
    say(f"Look: goldset --project {repaired.path} doctor", f"Use: goldset restore {repaired.path} --replace")
