"""`goldgrade certificate`: show what a search across the parts found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say, write_page
from curation.cli.program import Json, Page, app, project_store

if TYPE_CHECKING:
    from curation.splits.certificate.certificate import Certificate


@app.command()
def certificate(
    release: Annotated[
        str | None, typer.Option(help="The certificate of this release.", show_default="the split in force")
    ] = None,
    page: Page = None,
    as_json: Json = False,
) -> None:
    """Show what a split's parts share, and its leaks.

    It has the closest pairs across the parts, the leaks, and the shares.

    \b
    Examples:
      goldgrade certificate
      goldgrade certificate --release v1 --html certificate.html
      goldgrade certificate --json
    """
    from curation.splits.certificate.certificate import shown_certificate
    from curation.splits.certificate.page import certificate_page

    with project_store().reading() as cursor:
        found = shown_certificate(cursor, release)
    if page is not None:
        write_page(page, certificate_page(found, release))
    emit(as_json, found, lambda: show_certificate(found, page))


def show_certificate(found: Certificate, page: Path | None = None) -> None:
    """What a reader wants to know first, then all that the page shows."""
    from curation.core.reports.terminal import show_sections
    from curation.splits.certificate.page import certificate_sections, findings

    say(*findings(found))
    show_sections(certificate_sections(found))
    if page is not None:
        say(f"The page is in {page}.")
