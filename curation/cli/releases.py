"""The commands that read releases: `releases` lists them, `verify` checks one, and `diff` compares two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, BadParameter, Context, Exit, Option

from curation.cli.invocation import actor, project_store, refuse_unused, release_store, seal_reason
from curation.cli.options import AnyRelease, Limit, switch
from curation.cli.output import emit, say, show
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.core.operation import PlainResult
from curation.core.text import pluralize

Licence = Annotated[str, Option("--license", help="License of the data set, such as CC-BY-4.0.")]


@app.command()
def verify(
    name: Annotated[str | None, Argument(metavar="RELEASE", help="The release, such as v1.")] = None,
    folder: Annotated[
        Path | None, Option(help="An exported folder to check instead.", show_default="the release")
    ] = None,
) -> None:
    """Check every byte of a release or an exported folder. The exit code is 1 if a byte was altered.

    A release is checked against its checksums, and each of its documents against its hash. A folder is
    checked against its manifest's checksums. No grade is shown.

    \b
    Examples:
      goldgrade verify v1
      goldgrade verify --folder exports/v1
      goldgrade verify v1 --json
    """
    if (name is None) == (folder is None):
        raise BadParameter("give either the name of a RELEASE or --folder DIR")
    from curation.releases.verify import verify as verify_release
    from curation.releases.verify import verify_export

    if folder is not None:
        verified: Any = verify_export(folder)
    else:
        with progress_bar() as progress:
            verified = verify_release(release_store(), str(name), progress)
    show(verified)
    if not verified.intact:
        raise Exit(1)


@app.command()
def releases(
    context: Context,
    name: Annotated[
        str | None,
        Argument(
            metavar="RELEASE", help="A release. With --card, you can also give its id or a packed file."
        ),
    ] = None,
    card: Annotated[bool, switch("--card", "Print the release's data-set card (Markdown) instead.")] = False,
    licence: Licence = "unknown",
    sealed_limit: Annotated[
        int | None,
        Option(help="Set the monthly limit of sealed evaluations per evaluator.", show_default="unchanged"),
    ] = None,
) -> None:
    """List the releases, oldest first. With a name the command shows the parts of a release and the uses of
    its seal.

    --sealed-limit applies to each evaluator, sealed part and month (UTC). Refused requests count,
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
        refuse_unused(context, "only a card names a license; add --card", "licence")
    if sealed_limit is not None:
        set_monthly_limit(project_store(), sealed_limit, actor())
        emit({"limit": sealed_limit}, _describe_limit(sealed_limit))
    elif name is None:
        _list_releases()
    elif card:
        _print_card(name, licence)
    else:
        from curation.releases.overview import read_overview

        show(read_overview(project_store(), name))


def _describe_limit(limit: int) -> str:
    return f"Each evaluator has {pluralize(limit, 'sealed evaluation')} a month for each sealed part."


def _list_releases() -> None:
    from curation.releases.release_list import list_release_overviews, make_release_table
    from curation.releases.sealed_log import read_monthly_limit

    store = project_store(with_arrow=False)
    listed = list_release_overviews(store)
    limit = store.read(read_monthly_limit)
    sentence = _describe_limit(limit) if listed else "Nothing is frozen yet. Next: goldgrade freeze NAME"
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

    A sealed part's changed grades are counted, but listed only with --reason.

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
