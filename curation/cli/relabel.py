"""`goldset relabel`: what of the set is stale, and the part of it that is judged again each quarter."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, command_group, project_store
from curation.cli.output import emit, say, table

if TYPE_CHECKING:
    from curation.relabeling.staleness.calendar import RelabelingCalendar
    from curation.relabeling.staleness.staleness import PairStaleness, SetStaleness

relabeling = command_group(
    "relabel", "Judge a part of the set again each quarter, blind, and say what changed."
)

DUE = 3
"""The exit code of `relabel status` where something is due."""

Today = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], help="The day whose quarter it is.", show_default="the clock's"),
]
Limit = Annotated[int, typer.Option(min=1, help="Rows of each table; --json has all.")]


@relabeling.command("status")
def relabel_status(
    release: Annotated[
        str | None, typer.Option(help="Only the pairs of this release.", show_default="all judged pairs")
    ] = None,
    today: Today = None,
    limit: Limit = 10,
    as_json: Json = False,
) -> None:
    """Say how stale the set is, by pair and by query, and what is due this quarter.

    Exits with 0 where nothing is due and with 3 where something is; with 1 or 2 after an error.

    \b
    Examples:
      goldset relabel status
      goldset relabel status --release v1 --limit 50
      goldset relabel status --json --today 2027-01-04
    """
    from curation.relabeling.staleness.staleness import staleness

    found = staleness(project_store(), today.date() if today else None, release)
    emit(as_json, found, lambda: _show_status(found, limit))
    if found.calendar.due.is_due:
        raise typer.Exit(DUE)


def _show_status(found: SetStaleness, limit: int) -> None:
    whose = f"of the release {found.release}" if found.release else "of the project"
    say(f"{found.quarter}: {len(found.pairs):,} judged pairs {whose}, {found.stale:,} of them stale.")
    if not found.has_new_traffic:
        say("No log was imported since the sample was drawn, so traffic now is unknown.")
    _show_calendar(found.calendar)
    if not found.pairs:
        return
    table(
        f"Queries, stalest first: {len(found.queries):,}",
        ["query", "type", "pairs", "changed", "gone", "stale", "oldest (quarters)", "traffic", "score"],
        [
            (q.text, q.type, q.pairs, q.changed, q.gone, q.stale, q.oldest, q.traffic.trend, q.score)
            for q in found.queries[:limit]
        ],
    )
    table(
        f"Pairs, stalest first: {len(found.pairs):,}",
        ["query id", "document", "grade", "judged", *found.pairs[0].parts._fields, "score"],
        [_pair_cells(pair) for pair in found.pairs[:limit]],
    )
    if found.new_queries:
        rows = [(new.normalised, new.searches) for new in found.new_queries[:limit]]
        table(f"New in the traffic: {len(found.new_queries):,}", ["query", "searches"], rows)


def _pair_cells(pair: PairStaleness) -> tuple[object, ...]:
    return (pair.query_id, pair.document_id, pair.grade, pair.judged, *pair.parts, pair.score)


def _show_calendar(calendar: RelabelingCalendar) -> None:
    rows = [
        (
            one.quarter,
            one.judged,
            one.work.state if one.work else "",
            f"{one.work.whole:,} of {one.work.pairs:,}" if one.work else "",
        )
        for one in calendar.quarters
    ]
    rows += [("earlier", calendar.older, "", "")] if calendar.older else []
    rows += [("unknown", calendar.unknown, "", "")] if calendar.unknown else []
    table("Calendar", ["quarter", "pairs last judged", "re-labeling", "pairs done"], rows)
    if calendar.renewed_share is not None:
        say(f"Renewed in the last four quarters: {calendar.renewed:,} pairs ({calendar.renewed_share:.1%}).")
    due = calendar.due
    if due.unfinished is not None:
        left = due.unfinished
        say(
            f"The re-labeling of {left.quarter.name} is still open: {left.whole:,} of {left.pairs:,} pairs "
            f"are done. Finish it, or close it with `goldset round close {left.round}`."
        )
    if not due.is_due:
        say(f"Nothing is due in {due.quarter}.")
        return
    say(
        f"Due in {due.quarter} (re-labeling {due.state}):",
        *(f"  {n:,} {why}" for why, n in due.reasons.items()),
    )
