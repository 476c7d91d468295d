"""`goldset split`, `freeze`, `verify` and `export`: from labels to a gold set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, left_out, print_json, progress_bar, say, table
from curation.store import Store
from curation.store.settings import COMMAND_LINE

if TYPE_CHECKING:
    from curation.splits import SplitReport
    from curation.splits.certificate import Closest

Name = Annotated[str, typer.Argument(help="The release's name, such as v1.")]


@app.command()
def split(
    context: typer.Context,
    dev: Annotated[float, typer.Option(help="Share of the queries for developing.")] = 0.7,
    test: Annotated[float, typer.Option(help="Share of the queries for testing.")] = 0.3,
    seed: Seed = 0,
    query_threshold: Annotated[
        float, typer.Option(help="Least similarity (Jaccard of character 3-grams) that ties two query texts.")
    ] = 0.65,
    document_threshold: Annotated[
        float,
        typer.Option(help="Least similarity (Jaccard of word 3-shingles) that ties relevant documents."),
    ] = 0.8,
    relevant_grade: Annotated[
        int | None,
        typer.Option(help="Least grade of a relevant document; default: all above the scale's lowest."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Split the graded queries into dev and test so that nothing leaks between them.

    Queries stay together when their texts are nearly the same, when a document is relevant to both, or when
    documents relevant to them are nearly the same.

    \b
    Examples:
      goldset split --dev 0.7 --test 0.3 --seed 1
      goldset split --relevant-grade 2 --document-threshold 0.9 --json
    """
    from curation.splits import make_split

    parts = {part: share for part, share in (("dev", dev), ("test", test)) if share}
    store = project_store(context)
    with progress_bar() as progress:
        report = make_split(
            store, parts, seed, query_threshold, document_threshold, relevant_grade, progress=progress
        )
    if as_json:
        print_json(report)
    else:
        _show_split(report, _query_texts(store))


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
    override: Annotated[
        str | None,
        typer.Option(
            help="Freeze labels without the agreement that `goldset gate` demands; the reason why is kept in "
            "the release.",
            show_default="refuse",
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
    """
    from curation.releases import freeze as freeze_release
    from curation.releases.content import CHANGED

    with progress_bar() as progress:
        frozen = freeze_release(
            project_store(context), name, allow_disputed, allow_changed, by, progress, override
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
        ["part", "queries", "grades"],
        [(part, queries, frozen.grades[part]) for part, queries in frozen.queries.items()],
    )
    left_out(frozen.left_out, "×")
    say(*(check.sentence for check in frozen.gate.checks))
    if frozen.override is not None:
        say(f"Frozen against the gate, which the release tells: “{frozen.override.reason}”.")
    if frozen.changed:
        say(f"kept: {frozen.changed:,} × {CHANGED}; these are marked in the release")
    elif CHANGED in frozen.left_out:
        say("Judge these again (`goldset round open NAME --again`), or keep them with --allow-changed.")
    say(f"Next: goldset export {name} --format beir --out DIR")


@app.command()
def verify(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Check every byte of a release and every document that it pins; exit 1 when something was altered.

    \b
    Examples:
      goldset verify v1
      goldset verify v1 --json
    """
    from curation.releases import verify as verify_release

    with progress_bar() as progress:
        verified = verify_release(project_store(context), name, progress)
    if as_json:
        print_json(verified)
    elif verified.intact:
        say(
            f"{name} is intact: {verified.parts} parts and {verified.documents:,} documents are as frozen.",
            f"release id: {verified.release_id}",
        )
    else:
        say(f"{name} was ALTERED:", *(f"  {problem}" for problem in verified.problems))
        if verified.altered > len(verified.problems):
            say(f"  … and {verified.altered - len(verified.problems):,} more")
    if not verified.intact:
        raise typer.Exit(1)


@app.command()
def export(
    context: typer.Context,
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder to write; new, empty, or an earlier export of the same.")],
    format: Annotated[str, typer.Option(help="One of beir, trec, csv, parquet.")] = "beir",
    as_json: Json = False,
) -> None:
    """Write a release for other tools, with a manifest of sums.

    \b
    Examples:
      goldset export v1 --format beir --out exports/v1
      goldset export v1 --format trec --out exports/v1-trec --json
    """
    from curation.releases import export as export_release

    with progress_bar() as progress:
        exported = export_release(project_store(context), name, format, out, progress=progress)
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
    say(f"release id: {exported.release_id}")


def _query_texts(store: Store) -> dict[str, str]:
    from curation.sources.queries import active_queries

    with store.reading() as cursor:
        return {query.query_id: query.text for query in active_queries(cursor)}


def _show_split(report: SplitReport, texts: dict[str, str]) -> None:
    from curation.splits.split import STEPS_SHOWN, edge_sentence

    if not report.created:
        say("Unchanged: this very split exists already; it is the current one.")
    table(
        f"Split {report.split_id[:12]}: {report.queries:,} queries in {report.groups:,} leakage groups",
        ["part", "stratum", "ideal", "reached", "share"],
        [
            (share.part, share.stratum, round(share.ideal, 1), share.reached, _of(share.reached, share.ideal))
            for share in report.shares
        ],
    )
    ties = ", ".join(f"{count:,} by {kind}" for kind, count in report.ties.items())
    say(
        f"Ties between queries: {ties}; {sum(report.edges.values()):,} of the strongest hold the groups "
        f"together and are kept. The largest group has {report.largest:,} queries."
    )
    if report.missed:
        say(f"{report.missed:,} of them were missed by MinHash and found by the exhaustive check.")
    say(
        f"Closest across the parts: queries {_closest(report.certificate.queries, texts)}; relevant "
        f"documents {_closest(report.certificate.documents, {})}. Nothing crosses."
    )
    for group in report.large_groups:
        say(
            "",
            f"WARNING: one group holds {group.queries:,} queries ({group.share:.0%} of all). Its far ends "
            f"are tied by a chain of {len(group.chain)}:",
            *(f"  {edge_sentence(edge, texts)}" for edge in group.chain[:STEPS_SHOWN]),
            "Raise --relevant-grade or the thresholds if these queries do not really give each other away.",
        )
    left_out(report.left_out, "×")
    say("Next: goldset freeze NAME")


def _closest(closest: Closest | None, texts: dict[str, str]) -> str:
    if closest is None:
        return "have nothing in common"
    first, second = (texts.get(name, name) for name in (closest.first, closest.second))
    return f"“{first}” – “{second}” at {closest.similarity:.2f}"


def _of(reached: int, ideal: float) -> str:
    return f"{reached / ideal:.0%} of ideal" if ideal else "–"
