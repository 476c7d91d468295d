"""`goldset export`: write a release for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import By, Json, Licence, ReleaseName, app, project_store
from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.releases.export.formats import FORMATS
from curation.store import COMMAND_LINE
from curation.text import amount

if TYPE_CHECKING:
    from curation.releases.export.export import Exported

UNSEALED = [format.name for format in FORMATS.values() if not format.sealed_by_default]
UNJUDGED = [format.name for format in FORMATS.values() if format.takes_unjudged]


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if names[1:] else names[0]


@app.command()
def export(
    name: ReleaseName,
    out: Annotated[
        Path, typer.Option(help="Folder to write; new, empty, or an earlier export of the same release.")
    ],
    format: Annotated[
        str, typer.Option(help=f"Format to write: {', '.join(format.help for format in FORMATS.values())}.")
    ] = "beir",
    reason: Annotated[
        str | None,
        typer.Option(
            help="Why grades of sealed parts are exported; logged with name and time.", show_default="refuse"
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="A part whose grades are written. Repeatable.",
            show_default=f"all; in {_listed(UNSEALED)} those not sealed",
        ),
    ] = None,
    without_grades: Annotated[
        list[str] | None,
        typer.Option(help="A part whose grades are not written. Repeatable.", show_default="none"),
    ] = None,
    unjudged: Annotated[
        bool,
        typer.Option(
            "--unjudged", help=f"Write candidates without a grade, too, as -1 ({_listed(UNJUDGED)})."
        ),
    ] = False,
    negatives: Annotated[
        int, typer.Option(help="Hard negatives for each positive: at most in triplets, exactly in ntuples.")
    ] = 5,
    licence: Licence = "unknown",
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Write a release for other tools, with checksums.

    Grades of sealed parts (`goldset freeze --seal`) are written only with a reason, which is logged.
    Texts are written as they are. A spreadsheet takes one that begins with =, +, - or @ as a formula:
    import the columns of a CSV or TSV file as text there.

    \b
    Examples:
      goldset export v1 --format leaderboard --out exports/v1-public
      goldset export v1 --format beir --out exports/v1 --reason "evaluation of the May candidates"
      goldset export v1 --format trec --without-grades test --unjudged --out exports/v1-trec --json
      goldset export v1 --format hf --license cc-by-4.0 --without-grades test --out exports/v1-hf
      goldset export v1 --format ntuples --negatives 7 --part train --out exports/v1-train
    """
    from curation.releases.export.export import export as export_release
    from curation.releases.export.gold import ExportOptions

    with progress_bar() as progress:
        exported = export_release(
            project_store(),
            name,
            format,
            out,
            by,
            progress,
            reason=reason,
            parts=part or (),
            without_grades=without_grades or (),
            options=ExportOptions(unjudged, negatives, licence),
        )
    emit(as_json, exported, lambda: _show_exported(name, format, exported))


def _show_exported(name: str, format: str, exported: Exported) -> None:
    table(
        f"Exported {name} as {format} to {exported.out}",
        ["file", "bytes", "sha256"],
        [(file, entry["bytes"], entry["sha256"]) for file, entry in exported.files.items()],
    )
    if exported.ids.get("query_prefix"):
        say("Queries and documents share ids: all got a prefix (see manifest.json).")
    if exported.ids.get("mapped"):
        say(f"{exported.ids['mapped']:,} ids hold white space and were encoded: see ids.tsv.")
    if any(file.endswith((".csv", ".tsv")) for file in exported.files):
        say("Texts are written as they are: in a spreadsheet, import the columns as text, not as formulas.")
    if exported.rows:
        say(*(f"{file}: {amount(rows, 'row')}" for file, rows in exported.rows.items()))
    left_out(exported.left_out, "×")
    if exported.without_grades:
        say(f"Without the grades of {', '.join(exported.without_grades)}.")
    if exported.opening is not None:
        parts = ", ".join(exported.opening.parts)
        say(f"With the sealed grades of {parts}; that is logged (goldset release show {name}).")
    say(f"release id: {exported.release_id}")
