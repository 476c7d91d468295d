"""`goldgrade freeze`: freeze the gold set as a release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.invocation import project_store, refuse_unused
from curation.cli.options import ReleaseName, switch, with_options_of
from curation.cli.output import show
from curation.cli.program import app
from curation.cli.progress import run_operation
from curation.core.operation import PlainResult
from curation.releases.requests import FreezeRequest

if TYPE_CHECKING:
    from curation.releases.freeze.freeze import Frozen


@app.command()
@with_options_of(FreezeRequest)
def freeze(
    request: FreezeRequest,
    context: typer.Context,
    name: ReleaseName,
    dry_run: Annotated[bool, switch("--dry-run", "Show what would stop the freeze. Freeze nothing.")] = False,
) -> None:
    """Freeze the current gold set under a name. The release id is a hash of its content.

    The labels must have the agreement that the project demands (`goldgrade gate`). By default ordinal alpha's
    95 % interval must begin above 0.667, and the interval of identical grades on blind duplicates above 80 %.

    \b
    Examples:
      goldgrade freeze v1
      goldgrade freeze pilot --override "A draft for the search team"
      goldgrade freeze v1-draft --allow-disputed --json
      goldgrade freeze v1 --allow-changed
      goldgrade freeze v1 --share-grades identical
      goldgrade freeze v1 --only-complete --dry-run
      goldgrade freeze v1 --seal holdout
    """
    from curation.releases.freeze.checklist import check_table, checklist
    from curation.releases.freeze.freeze import prepare_draft

    if dry_run:
        refuse_unused(context, "a dry run freezes nothing", "override", "reason", "share")
        checks = checklist(prepare_draft(project_store(), request))
        show(PlainResult((), (check_table(checks),)), as_json={"checks": checks})
        return
    frozen = run_operation("freeze", replace(request, name=name))
    show(frozen, *_list_next_steps(frozen))


def _list_next_steps(frozen: Frozen) -> Iterator[str]:
    """Yield the sentences that only the command prints: ids, the coverage map, and the next command."""
    from curation.releases.freeze.pair_selection import CHANGED

    yield f"release id: {frozen.release_id}"
    if frozen.parent is not None:
        yield f"parent: the release {frozen.parent[:12]}…, before the last re-labeling (see `goldgrade diff`)"
    if frozen.coverage is not None:
        yield frozen.coverage
    if CHANGED in frozen.left_out:
        yield (
            "Judge these pairs again (`goldgrade round open NAME --again`), or keep their grades with "
            "--allow-changed."
        )
    format = "leaderboard" if frozen.sealed else "beir"
    yield f"Next: goldgrade export {frozen.name} --format {format} --out DIR"
