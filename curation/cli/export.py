"""`goldgrade export`: write a release for other tools."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from curation.cli.invocation import actor, project_store, refuse_unused, release_store, seal_reason
from curation.cli.options import AnyRelease, with_options_of
from curation.cli.output import NO_FORMULAS, show
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.releases.export.formats import FORMATS
from curation.releases.requests import ExportRequest


@app.command()
@with_options_of(ExportRequest)
def export(
    request: ExportRequest,
    context: Context,
    name: AnyRelease,
    out: Annotated[
        Path,
        Option(
            help="Folder to write. The folder must be new, empty, or an earlier export of the release. "
            "NAME.goldgrade packs the release into that file."
        ),
    ],
    format: Annotated[
        str, Option(help=f"Format to write. One of {', '.join(format.help for format in FORMATS.values())}.")
    ] = "beir",
) -> None:
    """Write a release for other tools, with checksums.

    Grades of sealed parts (`goldgrade freeze --seal`) are written only with a reason, which is logged. A
    packed release works without a project: evaluate, verify, diff, export, baseline and releases read its
    file.

    \b
    Examples:
      goldgrade export v1 --format leaderboard --out exports/v1-public
      goldgrade export v1 --format beir --out exports/v1 --reason "evaluation of the May candidates"
      goldgrade export v1 --format trec --without-grades test --unjudged --out exports/v1-trec --json
      goldgrade export v1 --format hf --license cc-by-4.0 --without-grades test --out exports/v1-hf
      goldgrade export v1 --format triplets --negatives 7 --part train --out exports/v1-train
      goldgrade export v1 --out v1.goldgrade
    """
    from curation.releases.export.export import export as export_release
    from curation.releases.packed import SUFFIX

    if out.suffix == SUFFIX:
        unused = ("format", "parts", "without_grades", "unjudged", "negatives", "licence")
        refuse_unused(context, "a packed release contains the whole release", *unused)
        _pack_release(name, out)
        return
    if format in FORMATS and not FORMATS[format].takes_negatives:
        formats = " and ".join(other.name for other in FORMATS.values() if other.takes_negatives)
        refuse_unused(context, f"only {formats} have negatives", "negatives")
    with progress_bar("export") as progress:
        request = replace(request, name=name, format=format)
        exported = export_release(release_store(), request, out, progress, actor())
    sentences = [f"The export is in {exported.out}. release id: {exported.release_id}"]
    if any(file.endswith((".csv", ".tsv")) for file in exported.files):
        sentences.insert(0, NO_FORMULAS)
    show(exported, *sentences)


def _pack_release(name: str, out: Path) -> None:
    """Write the whole release into one file, with grades of sealed parts only if a reason is given."""
    from curation.releases.export.pack import pack_release

    with progress_bar() as progress:
        packed = pack_release(project_store(), name, out, progress, actor(), reason=seal_reason())
    show(packed)
