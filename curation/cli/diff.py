"""`goldgrade diff`: compare two releases."""

from __future__ import annotations

from typing import Annotated

import typer

from curation.cli.options import refuse_by_without
from curation.cli.output import emit, say
from curation.cli.program import AnyRelease, By, Json, Limit, app, release_store
from curation.core.errors import InputError
from curation.store import COMMAND_LINE

NO_PAGE = "--html is gone: the terminal and the page Releases show every section; --limit shows more rows."


@app.command("diff")
def diff_releases(
    context: typer.Context,
    old: AnyRelease,
    new: AnyRelease,
    page: Annotated[str | None, typer.Option("--html", hidden=True)] = None,
    limit: Limit = 20,
    reason: Annotated[
        str | None,
        typer.Option(
            help="Why changed grades of sealed parts are named, too; logged.",
            show_default="count them",
        ),
    ] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Compare two releases. It compares queries, grades, documents, split, agreement and settings.

    Changed grades of a sealed part are counted, and named only with --reason.

    \b
    Examples:
      goldgrade diff v1 v2
      goldgrade diff v1 v2 --limit 200
      goldgrade diff v1 v2 --reason "Release notes for the search team" --json
    """
    from curation.releases.diff.diff import diff

    if page is not None:
        raise InputError(NO_PAGE)
    refuse_by_without(context, reason)
    found = diff(release_store(), old, new, reason, by)

    def show() -> None:
        from curation.core.reports.terminal import show_sections
        from curation.releases.diff.sections import diff_sections, findings, title_of

        say(f"{title_of(found)}:", *(f"  {sentence}" for sentence in findings(found)))
        if not found.same:
            show_sections(diff_sections(found, limit))

    emit(as_json, found, show)
