"""`goldset freeze`, `verify` and `export`: from labels to a gold set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from curation.cli import app, project_path, project_store
from curation.cli.output import Json, left_out, print_json, progress_bar, say, table
from curation.store.settings import COMMAND_LINE

Name = Annotated[str, typer.Argument(help="The release's name, such as v1.")]


@app.command()
def freeze(
    context: typer.Context,
    name: Name,
    allow_disputed: Annotated[
        bool,
        typer.Option("--allow-disputed", help="Leave pairs with an open dispute out instead of refusing."),
    ] = False,
    allow_changed: Annotated[
        bool,
        typer.Option(
            "--allow-changed",
            help="Keep pairs that were graded on another version of their document, and mark them.",
        ),
    ] = False,
    share: Annotated[
        str | None,
        typer.Option(
            help="identical: documents with the same title and body have a grade together; the release names "
            "the rule and marks these grades.",
            show_default="each document its own",
        ),
    ] = None,
    override: Annotated[
        str | None,
        typer.Option(
            help="Freeze labels without the agreement that `goldset gate` demands; the reason why is kept in "
            "the release.",
            show_default="refuse",
        ),
    ] = None,
    seal: Annotated[
        list[str] | None,
        typer.Option(
            help="Seal a part besides test: its grades are handed out for a logged reason only; may be "
            "given again.",
            show_default="test alone, where there is one",
        ),
    ] = None,
    by: Annotated[
        str, typer.Option(help="Who freezes: an annotator with the role lead, or the command line.")
    ] = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Freeze the gold set of this moment under a name; the release id is a hash of its content.

    The labels must have the agreement that the project demands (`goldset gate`): by default an interval of
    ordinal alpha that lies above 0.667, and 80 % of the blind duplicates graded alike.

    \b
    Examples:
      goldset freeze v1
      goldset freeze pilot --override "Two judges on a tenth of the pairs; a draft for the search team"
      goldset freeze v1-draft --allow-disputed --json
      goldset freeze v1 --allow-changed
      goldset freeze v1 --share identical
      goldset freeze v1 --seal holdout
    """
    from curation.releases import freeze as freeze_release
    from curation.releases.content import CHANGED

    with progress_bar() as progress:
        frozen = freeze_release(
            project_store(context),
            name,
            allow_disputed,
            allow_changed,
            by,
            progress,
            override,
            seal or (),
            share=share,
        )
    if as_json:
        print_json(frozen)
        return
    say(
        f"Froze {name}." if frozen.created else f"Unchanged: {name} holds exactly this content already.",
        f"release id: {frozen.release_id}",
    )
    table(
        f"Release {name}: {frozen.documents:,} documents",
        ["part", "queries", "grades", "seal"],
        [
            (part, queries, frozen.grades[part], "sealed" if part in frozen.sealed else "")
            for part, queries in frozen.queries.items()
        ],
    )
    left_out(frozen.left_out, "×")
    say(*(check.sentence for check in frozen.gate.checks))
    if frozen.override is not None:
        say(f"Frozen against the gate, which the release tells: “{frozen.override.reason}”.")
    if frozen.sharing is not None:
        say(
            f"shared: {frozen.sharing.grades:,} grades, by the rule {frozen.sharing.rule}; "
            f"{frozen.sharing.conflicts:,} texts have different grades under different ids and share none"
        )
    if frozen.changed:
        say(f"kept: {frozen.changed:,} × {CHANGED}; these are marked in the release")
    elif CHANGED in frozen.left_out:
        say("Judge these again (`goldset round open NAME --again`), or keep them with --allow-changed.")
    form = "leaderboard" if frozen.sealed else "beir"
    say(f"Next: goldset export {name} --format {form} --out DIR")


@app.command()
def verify(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The release's name, such as v1.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--export", help="An exported folder to check instead.", show_default="the release"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every byte of a release, or of an exported folder; exit 1 when something was altered.

    A release is compared with its sums, and every document that it pins with its hash. A folder is compared
    with its manifest, and with what the project writes where --project is the one that it came from: then the
    line that was altered is named. No grade is handed out.

    \b
    Examples:
      goldset verify v1
      goldset verify --export exports/v1
      goldset verify v1 --json
    """
    if (name is None) == (folder is None):
        raise typer.BadParameter("give either the NAME of a release or --export DIR")
    if folder is not None:
        _verify_folder(context, folder, as_json)
        return
    from curation.releases import verify as verify_release

    with progress_bar() as progress:
        verified = verify_release(project_store(context), str(name), progress)
    if as_json:
        print_json(verified)
    elif verified.intact:
        say(
            f"{name} is intact: {verified.parts} parts and {verified.documents:,} documents are as frozen.",
            f"release id: {verified.release_id}",
        )
    else:
        _say_altered(str(name), verified.problems, verified.altered)
    if not verified.intact:
        raise typer.Exit(1)


def _verify_folder(context: typer.Context, folder: Path, as_json: bool) -> None:
    from curation.releases.verify_export import verify_export

    store = project_store(context) if project_path(context).is_file() else None
    verified = verify_export(folder, store)
    if as_json:
        print_json(verified)
    elif verified.intact:
        say(
            f"{folder} is intact: {verified.files:,} files of the release {verified.name}.",
            f"release id: {verified.release_id}",
        )
    else:
        _say_altered(str(folder), verified.problems, verified.altered)
    if verified.not_compared is not None and not as_json:
        say(f"Compared with its manifest alone: {verified.not_compared}.")
    if not verified.intact:
        raise typer.Exit(1)


def _say_altered(what: str, problems: Sequence[str], altered: int) -> None:
    say(f"{what} was ALTERED:", *(f"  {problem}" for problem in problems))
    if altered > len(problems):
        say(f"  … and {altered - len(problems):,} more")


@app.command()
def export(
    context: typer.Context,
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder to write; new, empty, or an earlier export of the same.")],
    format: Annotated[
        str,
        typer.Option(
            help="One of beir, leaderboard (beir without sealed grades), trec, ranx, csv, parquet, hf, "
            "triplets, ntuples."
        ),
    ] = "beir",
    reason: Annotated[
        str | None,
        typer.Option(
            help="Why grades of sealed parts are taken; logged with name and time.", show_default="refuse"
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            help="A part whose grades are written; may be given again.",
            show_default="all; in leaderboard, triplets and ntuples those not sealed",
        ),
    ] = None,
    without_grades: Annotated[
        list[str] | None,
        typer.Option(help="A part whose grades are not written; may be given again.", show_default="none"),
    ] = None,
    unjudged: Annotated[
        bool, typer.Option("--unjudged", help="trec: write candidates without a grade too, as -1.")
    ] = False,
    negatives: Annotated[
        int,
        typer.Option(help="Hard negatives for each positive: at most in triplets, exactly in ntuples."),
    ] = 5,
    licence: Annotated[
        str, typer.Option("--license", help="Licence of the data set, as its owner names it.")
    ] = "unknown",
    by: Annotated[
        str, typer.Option(help="Who exports: an annotator with the role lead, or the command line.")
    ] = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Write a release for other tools, with a manifest of sums.

    Grades of sealed parts (`goldset freeze --seal`) are written for a reason only, which is logged.

    \b
    Examples:
      goldset export v1 --format leaderboard --out exports/v1-public
      goldset export v1 --format beir --out exports/v1 --reason "evaluation of the May candidates"
      goldset export v1 --format trec --without-grades test --unjudged --out exports/v1-trec --json
      goldset export v1 --format hf --license cc-by-4.0 --without-grades test --out exports/v1-hf
      goldset export v1 --format ntuples --negatives 7 --part train --out exports/v1-train
    """
    from curation.releases import export as export_release
    from curation.releases.gold import Wanted

    with progress_bar() as progress:
        exported = export_release(
            project_store(context),
            name,
            format,
            out,
            by,
            progress,
            reason=reason,
            parts=part or (),
            without_grades=without_grades or (),
            wanted=Wanted(unjudged, negatives, licence),
        )
    if as_json:
        print_json(exported)
        return
    table(
        f"Exported {name} as {format} to {exported.out}",
        ["file", "bytes", "sha256"],
        [(file, entry["bytes"], entry["sha256"]) for file, entry in exported.files.items()],
    )
    if exported.ids.get("query_prefix"):
        say("Queries and documents share ids: all got a prefix (see manifest.json).")
    if exported.ids.get("mapped"):
        say(f"{exported.ids['mapped']:,} ids hold white space and were encoded: see ids.tsv.")
    if exported.rows:
        say(*(f"{file}: {rows:,} rows" for file, rows in exported.rows.items()))
    left_out(exported.left_out, "×")
    if exported.without_grades:
        say(f"Without the grades of {', '.join(exported.without_grades)}.")
    if exported.opening is not None:
        parts = ", ".join(exported.opening.parts)
        say(f"With the sealed grades of {parts}; that is logged (goldset release show {name}).")
    say(f"release id: {exported.release_id}")
