"""What a round says in tables, to the terminal and to the page Rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.core.reports.page import BarCell, NumberCell, QueryName, Table, figure_row, figure_table
from curation.labeling.rounds.control_items import MINIMUM_ANSWERED, ControlItemResult
from curation.labeling.rounds.duplicate_spacing import NAMES
from curation.labeling.rounds.forecast import AnnotatorPace
from curation.labeling.rounds.pilot import PilotReport
from curation.labeling.rounds.status import RoundStatus


def progress_table(status: RoundStatus, paces: Sequence[AnnotatorPace] = ()) -> Table:
    """How far everybody is, and how fast where `paces` are given; blind duplicates are counted."""
    found = {pace.annotator: pace for pace in paces}
    fast = ("Median seconds", "Answers an hour", "Hours left")[
        : 0 if not paces else 2 if status.closed else 3
    ]
    rows = (
        (
            *(
                annotator.annotator,
                BarCell(annotator.answered, annotator.presentations),
                annotator.answered,
                annotator.presentations,
            ),
            *(annotator.cannot_tell, annotator.later, annotator.flagged),
            *_pace(found.get(annotator.annotator))[: len(fast)],
            annotator.last_at,
        )
        for annotator in status.annotators
    )
    kinds = ("Cannot tell", "Put off", "Flagged")
    columns = ("Annotator", "Share", "Answered", "Of", *kinds, *fast, "Last answer (UTC)")
    return Table("Progress by annotator", columns, tuple(rows))


def _pace(annotator_pace: AnnotatorPace | None) -> tuple[NumberCell, ...]:
    if annotator_pace is None:
        return (NumberCell(None, 1), NumberCell(None, 0), NumberCell(None, 1))
    hourly = None if annotator_pace.too_fast else annotator_pace.hourly
    return (
        NumberCell(annotator_pace.seconds, 1),
        NumberCell(hourly, 0),
        NumberCell(annotator_pace.hours_left, 1),
    )


def spacing_table(distances: Mapping[str, float], hours: Mapping[str, float]) -> Table:
    """How far apart the two showings of blind duplicates are, without rows where there are none."""
    measured = {"Presentations": distances, "Hours": hours}
    rows = (
        (what, *(NumberCell(values.get(name), 1) for name in NAMES))
        for what, values in measured.items()
        if values
    )
    columns = ("Measured in", "Least", "Quarter", "Median", "Three quarters", "Most")
    return Table("How far apart the two showings of blind duplicates are", columns, tuple(rows))


def control_item_table(results: Sequence[ControlItemResult]) -> Table:
    """How annotators do on control items."""
    few = f"too few: {{}} of {MINIMUM_ANSWERED}"
    rows = [
        figure_row(
            *(result.annotator, result.share, result.low, result.high, result.answered),
            few.format(result.answered) if result.too_few else None,
        )
        for result in results
    ]
    return figure_table("Control items: as decided before", ("Annotator", "As decided", "Answered"), rows)


def pilot_tables(report: PilotReport) -> tuple[Table, Table]:
    """Where on the scale annotators differ, and the pairs on which they differ most."""
    boundaries = [
        figure_row(
            f"{boundary.lower} | {boundary.upper}",
            boundary.share,
            boundary.low,
            boundary.high,
            boundary.n,
            None,
        )
        for boundary in report.boundaries
    ]
    spreads = tuple(
        (
            QueryName(spread.query, spread.query_id, spread.document_id),
            *(spread.title or spread.document_id, " ".join(map(str, spread.grades)), "; ".join(spread.notes)),
        )
        for spread in report.spreads
    )
    title = f"Largest differences, {len(spreads):,} of {report.differing:,}"
    return (
        figure_table("On different sides of a boundary", ("Boundary", "Share", "Comparisons"), boundaries),
        Table(title, ("Query", "Document", "Grades", "Notes"), spreads, words=True),
    )
