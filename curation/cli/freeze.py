"""`goldset freeze`: make a release of what is graded now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import By, Json, ReleaseName, app, project_store
from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.store import COMMAND_LINE
from curation.text import amount

if TYPE_CHECKING:
    from curation.releases.freeze.freeze import Frozen


@app.command()
def freeze(
    name: ReleaseName,
    allow_disputed: Annotated[
        bool, typer.Option("--allow-disputed", help="Leave disputed pairs out instead of refusing.")
    ] = False,
    allow_changed: Annotated[
        bool,
        typer.Option(
            "--allow-changed",
            help="Keep pairs that were graded on another version of their document, and mark them.",
        ),
    ] = False,
    share_grades: Annotated[
        str | None,
        typer.Option(
            help="With identical, documents with the same title and body share a grade. The release names "
            "the rule and marks these grades.",
            show_default="each document its own",
        ),
    ] = None,
    override: Annotated[
        str | None,
        typer.Option(
            help="Freeze labels without the agreement that `goldset gate` demands; this reason is stored in "
            "the release.",
            show_default="refuse",
        ),
    ] = None,
    seal: Annotated[
        list[str] | None,
        typer.Option(
            help="Seal another part besides test: its grades leave only with a logged reason; may be given "
            "several times.",
            show_default="test alone, where there is one",
        ),
    ] = None,
    reason: Annotated[
        str | None,
        typer.Option(
            help="Why queries that a release seals are in an open part of this one; logged.",
            show_default="refuse",
        ),
    ] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Freeze the current gold set under a name. The release id is a hash of its content.

    The labels must have the agreement that the project demands (`goldset gate`). By default ordinal alpha's
    95 % interval must be above 0.667, and 80 % of the blind duplicates must have identical grades.

    \b
    Examples:
      goldset freeze v1
      goldset freeze pilot --override "Two judges on a tenth of the pairs; a draft for the search team"
      goldset freeze v1-draft --allow-disputed --json
      goldset freeze v1 --allow-changed
      goldset freeze v1 --share-grades identical
      goldset freeze v1 --seal holdout
    """
    from curation.releases.freeze.freeze import freeze as freeze_release

    with progress_bar() as progress:
        frozen = freeze_release(
            project_store(),
            name,
            allow_disputed,
            allow_changed,
            by,
            progress,
            override,
            seal or (),
            share=share_grades,
            reason=reason,
        )
    emit(as_json, frozen, lambda: _show_frozen(name, frozen))


def _show_frozen(name: str, frozen: Frozen) -> None:
    from curation.releases.freeze.content import CHANGED

    say(
        f"Froze {name}." if frozen.created else f"Unchanged: {name} holds exactly this content already.",
        f"release id: {frozen.release_id}",
    )
    table(
        f"Release {name}: {amount(frozen.documents, 'document')}",
        ["part", "queries", "grades", "seal"],
        [
            (part, queries, frozen.grades[part], "sealed" if part in frozen.sealed else "")
            for part, queries in frozen.queries.items()
        ],
    )
    lacking = sum(frozen.without_relevant.values())
    if lacking:
        parts = ", ".join(f"{count:,} of {part}" for part, count in frozen.without_relevant.items())
        every = " No system can be measured with it." if lacking == sum(frozen.queries.values()) else ""
        say(f"WARNING: {amount(lacking, 'query has', 'queries have')} no relevant document ({parts}).{every}")
    left_out(frozen.left_out, "×")
    if frozen.parent is not None:
        say(f"parent: the release {frozen.parent[:12]}…, before the last re-labeling (see `goldset diff`)")
    _show_coverage(frozen)
    say(*(check.sentence for check in frozen.gate.checks))
    if frozen.override is not None:
        say(f"Frozen against the gate; the release says so: “{frozen.override.reason}”.")
    if frozen.sharing is not None:
        say(
            f"shared: {amount(frozen.sharing.grades, 'grade')}, by the rule {frozen.sharing.rule}; "
            f"{frozen.sharing.conflicts:,} texts have different grades under different ids and share none"
        )
    if frozen.changed:
        say(f"kept: {frozen.changed:,} × {CHANGED}; these are marked in the release")
    elif CHANGED in frozen.left_out:
        say("Judge these again (`goldset round open NAME --again`), or keep them with --allow-changed.")
    form = "leaderboard" if frozen.sealed else "beir"
    say(f"Next: goldset export {name} --format {form} --out DIR")


def _show_coverage(frozen: Frozen) -> None:
    found = frozen.coverage
    if found is None:
        return
    if found.map_id is None:
        say(f"Without clusters of its queries: {found.why_not}")
        return
    say(
        f"coverage map: {found.map_id[:12]}…; {found.queries:,} of "
        f"{amount(sum(frozen.queries.values()), 'query', 'queries')} "
        f"are in a cluster, {found.regions_asked:,} of {amount(found.regions, 'region')} have a query, and "
        f"{amount(found.in_grid, 'query has', 'queries have')} a cell of the grid"
    )
