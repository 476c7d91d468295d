"""`goldgrade export`: write a release for other tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from curation.cli.options import refuse_unused, with_options_of
from curation.cli.output import NO_FORMULAS, emit, progress_bar, say, show_outcome
from curation.cli.program import AnyRelease, By, Json, app, release_store
from curation.releases.export.formats import FORMATS
from curation.releases.export.request import ExportRequest
from curation.store import COMMAND_LINE


@app.command()
@with_options_of(ExportRequest)
def export(
    request: ExportRequest,
    context: typer.Context,
    name: AnyRelease,
    out: Annotated[
        Path, typer.Option(help="Folder to write. New, empty, or an earlier export of the same release.")
    ],
    format: Annotated[
        str,
        typer.Option(
            help=f"Format to write. One of {', '.join(format.help for format in FORMATS.values())}."
        ),
    ] = "beir",
    without_grades: Annotated[
        list[str] | None,
        typer.Option(help="Part whose grades are not written. Repeatable.", show_default="none"),
    ] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Write a release for other tools, with checksums.

    Grades of sealed parts (`goldgrade freeze --seal`) are written only with a reason, which is logged.
    Texts are written as they are. A spreadsheet takes one that begins with =, +, - or @ as a formula:
    import the columns of a CSV or TSV file as text there.

    \b
    Examples:
      goldgrade export v1 --format leaderboard --out exports/v1-public
      goldgrade export v1 --format beir --out exports/v1 --reason "evaluation of the May candidates"
      goldgrade export v1 --format trec --without-grades test --unjudged --out exports/v1-trec --json
      goldgrade export v1 --format hf --license cc-by-4.0 --without-grades test --out exports/v1-hf
      goldgrade export v1 --format triplets --negatives 7 --part train --out exports/v1-train
    """
    from curation.operations.registry import OPERATIONS
    from curation.releases.export.export import export as export_release

    if format in FORMATS and not FORMATS[format].takes_negatives:
        others = " and ".join(other.name for other in FORMATS.values() if other.takes_negatives)
        refuse_unused(context, f"only {others} have negatives", "negatives")
    asked = replace(request, name=name, format=format)
    with progress_bar(OPERATIONS["export"]) as progress:
        exported = export_release(
            *(release_store(), name, format, out, by, progress),
            reason=request.reason,
            parts=request.parts,
            without_grades=without_grades or (),
            options=request.options,
        )
    outcome = OPERATIONS["export"].outcome(asked, exported)

    def show() -> None:
        show_outcome(outcome)
        if exported.ids.get("query_prefix"):
            say("Queries and documents share ids: all got a prefix (see manifest.json).")
        if exported.ids.get("mapped"):
            say(f"{exported.ids['mapped']:,} ids hold white space and were encoded: see ids.tsv.")
        if any(file.endswith((".csv", ".tsv")) for file in exported.files):
            say(NO_FORMULAS)
        say(f"It is in {exported.out}. release id: {exported.release_id}")

    emit(as_json, exported, show)
