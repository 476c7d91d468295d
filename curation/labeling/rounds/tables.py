"""What a round says in tables, to the terminal and to the page Rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from curation.labeling.rounds.assignment import NAMES
from curation.labeling.rounds.layout import MINIMUM_ANSWERED, ControlItemResult
from curation.labeling.rounds.pilot import PilotReport
from curation.labeling.rounds.status import RoundStatus
from curation.reports.page import BarCell, NumberCell, QueryName, Table, figure_row, figure_table


def progress_table(status: RoundStatus) -> Table:
    """How far everybody is; blind duplicates are counted."""
    rows = (
        (
            *(one.annotator, BarCell(one.answered, one.presentations), one.answered, one.presentations),
            *(one.cannot_tell, one.later, one.flagged, one.last_at),
        )
        for one in status.annotators
    )
    columns = (
        "Annotator",
        "Share",
        "Answered",
        "Of",
        "Cannot tell",
        "Put off",
        "Flagged",
        "Last answer (UTC)",
    )
    return Table("Progress by annotator", columns, tuple(rows))


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
            *(one.annotator, one.share, one.low, one.high, one.answered),
            few.format(one.answered) if one.too_few else None,
        )
        for one in results
    ]
    return figure_table("Control items: as decided before", ("Annotator", "As decided", "Answered"), rows)


def pilot_tables(report: PilotReport) -> tuple[Table, Table]:
    """Where on the scale annotators differ, and the pairs on which they differ most."""
    boundaries = [
        figure_row(f"{one.lower} | {one.upper}", one.share, one.low, one.high, one.n, None)
        for one in report.boundaries
    ]
    spreads = tuple(
        (
            QueryName(one.query, one.query_id, one.document_id),
            *(one.title or one.document_id, " ".join(map(str, one.grades)), "; ".join(one.notes)),
        )
        for one in report.spreads
    )
    title = f"Largest differences, {len(spreads):,} of {report.differing:,}"
    return (
        figure_table("On different sides of a boundary", ("Boundary", "Share", "Comparisons"), boundaries),
        Table(title, ("Query", "Document", "Grades", "Notes"), spreads, words=True),
    )
