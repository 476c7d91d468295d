"""`goldset certificate`: show what a search across the parts found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, app, project_store
from curation.cli.output import emit, say, table, write_page
from curation.text import amount, percent

if TYPE_CHECKING:
    from curation.splits.assignment.assignment import PartShare
    from curation.splits.certificate.certificate import Certificate
    from curation.splits.certificate.findings import ClosestPair, TieCheck

WIDTH = 60


@app.command()
def certificate(
    release: Annotated[
        str | None, typer.Option(help="The certificate of this release.", show_default="the split in force")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Write the certificate as one HTML file.", show_default="none"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a split's certificate: the closest pairs across the parts, the leaks, and the shares.

    \b
    Examples:
      goldset certificate
      goldset certificate --release v1 --html certificate.html
      goldset certificate --json
    """
    from curation.splits.certificate.page import certificate_page
    from curation.splits.sealed_ties import shown_certificate

    with project_store().reading() as cursor:
        found = shown_certificate(cursor, release)
    if page is not None:
        write_page(page, certificate_page(found, release))
    emit(as_json, found, lambda: show_certificate(found, page))


def show_certificate(found: Certificate, page: Path | None = None) -> None:
    """The parts and their shares, then the checks across the parts with the closest pairs."""
    from curation.splits.certificate.page import findings

    table(
        f"Split {found.split_id[:12]}: {amount(found.queries, 'query', 'queries')} in "
        f"{amount(found.groups, 'leakage group')}",
        ["part", "dimension", "level", "ideal", "reached", "share"],
        [_share_row(share) for share in found.shares],
    )
    table(
        "Across the parts",
        ["kind of tie", "a leak from", "pairs compared", "highest", "leaks", "cut by name"],
        [_check_row(check) for check in found.checks],
    )
    say(*findings(found))
    for check in found.checks:
        for pair in (check.highest, check.told_apart):
            if pair is not None:
                say(f"  {check.kind} {pair.similarity:.2f}: {_pair_texts(pair)}")
    if page is not None:
        say(f"The page is in {page}.")


def _pair_texts(pair: ClosestPair) -> str:
    first, second = (" ".join(text.split())[:WIDTH] for text in (pair.first_text, pair.second_text))
    return f"“{first}” – “{second}” ({pair.first}, {pair.second})"


def _check_row(check: TieCheck) -> tuple[object, ...]:
    from curation.splits.certificate.page import threshold_told

    highest = check.highest.similarity if check.highest else None
    crossing = check.crossing if check.looked_for else None
    return check.kind, threshold_told(check), check.compared, highest, crossing, check.cut


def _share_row(share: PartShare) -> tuple[object, ...]:
    of_ideal = f"{percent(share.reached / share.ideal)} of ideal" if share.ideal else "–"
    return share.part, share.dimension, share.level, round(share.ideal, 1), share.reached, of_ideal
