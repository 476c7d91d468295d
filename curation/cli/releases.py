"""The commands about releases of the gold set: `freeze`, `releases`, `verify` and `diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli.invocation import actor, project_store, release_store, seal_reason
from curation.cli.options import AnyRelease, Limit, ReleaseName, refuse_unused, switch, with_options_of
from curation.cli.output import emit, say, show
from curation.cli.program import app
from curation.cli.progress import progress_bar, run_operation
from curation.core.operation import PlainResult
from curation.core.text import pluralize
from curation.releases.requests import FreezeRequest

if TYPE_CHECKING:
    from curation.releases.freeze.freeze import Frozen

Licence = Annotated[str, typer.Option("--license", help="Licence of the data set, as its owner names it.")]


@app.command()
@with_options_of(FreezeRequest)
def freeze(
    request: FreezeRequest,
    context: typer.Context,
    name: ReleaseName,
    dry_run: Annotated[bool, switch("--dry-run", "Say what would stop a freeze. Freeze nothing.")] = False,
) -> None:
    """Freeze the current gold set under a name. The release id is a hash of its content.

    The labels must have the agreement that the project demands (`goldgrade gate`). By default ordinal alpha's
    95 % interval must begin above 0.667, and the interval of identical grades on blind duplicates above 80 %.

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
    from curation.releases.freeze.checklist import check_table, checklist
    from curation.releases.freeze.freeze import prepare_draft

    if dry_run:
        refuse_unused(context, "a dry run freezes nothing", "override", "reason", "share")
        checks = checklist(prepare_draft(project_store(), request))
        show(PlainResult((), (check_table(checks),)), as_json={"checks": checks})
        return
    frozen = run_operation(OPERATIONS["freeze"], replace(request, name=name))
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
        yield "Judge these again (`goldgrade round open NAME --again`), or keep them with --allow-changed."
    format = "leaderboard" if frozen.sealed else "beir"
    yield f"Next: goldgrade export {frozen.name} --format {format} --out DIR"


@app.command()
def verify(
    name: Annotated[str | None, typer.Argument(metavar="RELEASE", help="The release, such as v1.")] = None,
    folder: Annotated[
        Path | None, typer.Option(help="An exported folder to check instead.", show_default="the release")
    ] = None,
) -> None:
    """Check every byte of a release or an exported folder. The exit code is 1 if a byte was altered.

    A release is compared with its checksums, and each of its documents with its hash. A folder is compared
    with the sums of its manifest. No grade is shown.

    \b
    Examples:
      goldgrade verify v1
      goldgrade verify --folder exports/v1
      goldgrade verify v1 --json
    """
    if (name is None) == (folder is None):
        raise typer.BadParameter("give either the name of a RELEASE or --folder DIR")
    from curation.releases.verify import verify as verify_release
    from curation.releases.verify import verify_export

    if folder is not None:
        verified: Any = verify_export(folder)
    else:
        with progress_bar() as progress:
            verified = verify_release(release_store(), str(name), progress)
    show(verified)
    if not verified.intact:
        raise typer.Exit(1)


@app.command()
def releases(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="RELEASE", help="A release. For --card also an id or a packed file."),
    ] = None,
    card: Annotated[bool, switch("--card", "Print the release's data-set card (Markdown) instead.")] = False,
    licence: Licence = "unknown",
    sealed_limit: Annotated[
        int | None,
        typer.Option(help="Set an evaluator's sealed evaluations a month.", show_default="as it is"),
    ] = None,
) -> None:
    """List the releases, oldest first. With a name the command shows the parts of a release and the uses of
    its seal.

    --sealed-limit holds for each evaluator and each sealed part in a month (UTC). Refused requests count,
    too.

    \b
    Examples:
      goldgrade releases
      goldgrade releases v1
      goldgrade releases v1 --card --license cc-by-4.0
      goldgrade releases --sealed-limit 20
    """
    from curation.releases.sealed_log import set_monthly_limit

    if not card:
        refuse_unused(context, "only a card names a licence; add --card", "licence")
    if sealed_limit is not None:
        set_monthly_limit(project_store(), sealed_limit, actor())
        emit({"limit": sealed_limit}, _limit_sentence(sealed_limit))
    elif name is None:
        _list_releases()
    elif card:
        _print_card(name, licence)
    else:
        from curation.releases.overview import read_overview

        show(read_overview(project_store(), name))


def _limit_sentence(limit: int) -> str:
    return f"Each evaluator has {pluralize(limit, 'sealed evaluation')} a month for each sealed part."


def _list_releases() -> None:
    from curation.releases.release_list import list_release_overviews as all_releases
    from curation.releases.release_list import make_release_table
    from curation.releases.sealed_log import read_monthly_limit

    store = project_store(with_arrow=False)
    listed = all_releases(store)
    with store.reading() as cursor:
        limit = read_monthly_limit(cursor)
    sentence = "Nothing is frozen yet. Next: goldgrade freeze NAME"
    if listed:
        sentence = _limit_sentence(limit)
    result = PlainResult((sentence,), (make_release_table(listed),))
    show(result, as_json={"releases": listed, "sealed_limit": limit})


def _print_card(name: str, licence: str) -> None:
    from curation.releases.card import list_limits, write_card
    from curation.releases.frozen_release import load_release

    release = load_release(release_store(), name)
    text = write_card(release, licence)
    result = {"name": name, "licence": licence, "limits": list_limits(release), "card": text}
    emit(result, lambda: print(text, end=""))


@app.command("diff")
def diff_releases(old: AnyRelease, new: AnyRelease, limit: Limit = 20) -> None:
    """Compare two releases. The command compares queries, grades, documents, split, agreement and settings.

    Changed grades of a sealed part are counted, and named only with --reason.

    \b
    Examples:
      goldgrade diff v1 v2
      goldgrade diff v1 v2 --limit 200
      goldgrade diff v1 v2 --reason "Release notes for the search team" --json
    """
    from curation.releases.diff import compare_releases

    difference = compare_releases(release_store(), old, new, seal_reason(), actor())

    def print_difference() -> None:
        from curation.core.reports.terminal import show_sections
        from curation.releases.diff_sections import list_diff_findings, make_diff_sections, make_title

        say(f"{make_title(difference)}:", *(f"  {sentence}" for sentence in list_diff_findings(difference)))
        if not difference.same:
            show_sections(make_diff_sections(difference, limit))

    emit(difference, print_difference)
