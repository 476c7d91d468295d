"""`goldgrade contributions`: what each system added to a pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say, show_tables
from curation.cli.program import Json, app, project_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.pooling.contributions import Contributions


@app.command()
def contributions(
    pool: Annotated[
        str | None, typer.Option(help="A pool's id or its beginning.", show_default="the pool built last")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what each system contributed to a pool. It says what would be lost without it.

    For each system: its candidates, those that no other system proposed, and, after judging, how many of both
    are relevant. A relevant document that only one system proposed is lost without that system. The judged
    share counts the system's first 10 ranks.

    \b
    Examples:
      goldgrade contributions
      goldgrade contributions --pool 3f9a
      goldgrade contributions --json
    """
    from curation.labeling.consensus.relevance import read_relevance
    from curation.pooling.contributions import contributions as find

    store = project_store()
    report = find(store, read_relevance(store), pool)
    emit(as_json, report, lambda: _show_contributions(report))


def _show_contributions(report: Contributions) -> None:
    from curation.pooling.contributions import contribution_table

    show_tables(contribution_table(report))
    say(
        f"{report.graded:,} of {amount(report.candidates, 'candidate')} have a grade; {report.relevant:,} "
        "are relevant (graded above the scale's lowest)."
    )
    if report.random_graded:
        say(
            f"{report.relevant_at_random:,} of {report.random_graded:,} graded pairs that only chance "
            "proposed are relevant."
        )
    if report.withheld:
        say(report.withheld)
    for twins in report.twins:
        say(
            f"{' and '.join(twins.systems)} proposed the same candidates, so one covers for the other: "
            f"without all of them {twins.lost:,} relevant ones are lost."
        )
    for reason, count in report.left_out.items():
        say(f"{amount(count, 'candidate')}: {reason}")
