"""`goldgrade freeze`: make a release of what is graded now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import refuse_unused, with_options_of
from curation.cli.output import carry_out, emit, say, show_outcome, show_tables
from curation.cli.program import By, Json, ReleaseName, app, project_store
from curation.core.text import amount
from curation.releases.freeze.request import FreezeRequest
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.core.operation import OperationOutcome
    from curation.releases.freeze.freeze import Frozen


@app.command()
@with_options_of(FreezeRequest)
def freeze(
    request: FreezeRequest,
    context: typer.Context,
    name: ReleaseName,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what speaks against a freeze. Freeze nothing.")
    ] = False,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Freeze the current gold set under a name. The release id is a hash of its content.

    The labels must have the agreement that the project demands (`goldgrade gate`). By default ordinal alpha's
    95 % interval must begin above 0.667, and that of identical grades on blind duplicates above 80 %.

    \b
    Examples:
      goldgrade freeze v1
      goldgrade freeze pilot --override "Two judges on a tenth of the pairs; a draft for the search team"
      goldgrade freeze v1-draft --allow-disputed --json
      goldgrade freeze v1 --allow-changed
      goldgrade freeze v1 --share-grades identical
      goldgrade freeze v1 --only-complete --dry-run
      goldgrade freeze v1 --seal holdout
    """
    from curation.operations.registry import OPERATIONS
    from curation.releases.freeze.checklist import check_table
    from curation.releases.freeze.readiness import readiness

    if dry_run:
        refuse_unused(context, "a dry run freezes nothing", "override", "reason", "share", "by")
        checks = readiness(project_store(), request).checks
        emit(as_json, {"checks": checks}, lambda: show_tables(check_table(checks)))
        return
    frozen, outcome = carry_out(OPERATIONS["freeze"], replace(request, name=name), by)
    emit(as_json, frozen, lambda: _show_frozen(frozen, outcome))


def _show_frozen(frozen: Frozen, outcome: OperationOutcome) -> None:
    from curation.releases.freeze.checklist import check_table
    from curation.releases.freeze.content import CHANGED

    show_outcome(outcome)
    say(f"release id: {frozen.release_id}")
    if frozen.parent is not None:
        say(f"parent: the release {frozen.parent[:12]}…, before the last re-labeling (see `goldgrade diff`)")
    _show_coverage(frozen)
    show_tables(check_table(frozen.checks))
    if frozen.override is not None:
        say(f"Frozen against the gate; the release says so: “{frozen.override.reason}”.")
    if frozen.sharing is not None:
        say(f"{frozen.sharing.conflicts:,} texts have different grades under different ids and share none.")
    if CHANGED in frozen.left_out:
        say("Judge these again (`goldgrade round open NAME --again`), or keep them with --allow-changed.")
    form = "leaderboard" if frozen.sealed else "beir"
    say(f"Next: goldgrade export {frozen.name} --format {form} --out DIR")


def _show_coverage(frozen: Frozen) -> None:
    coverage = frozen.coverage
    if coverage is None:
        return
    if coverage.map_id is None:
        say(f"Without clusters of its queries: {coverage.why_not}")
        return
    say(
        f"coverage map: {coverage.map_id[:12]}…; {coverage.queries:,} of "
        f"{amount(sum(frozen.queries.values()), 'query', 'queries')} "
        f"are in a cluster, {coverage.regions_asked:,} of {amount(coverage.regions, 'region')} have a "
        "query, and "
        f"{amount(coverage.in_grid, 'query has', 'queries have')} a cell of the grid"
    )
