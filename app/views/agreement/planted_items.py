"""Agreement, planted items: the results of a round's blind duplicates and control items."""

from __future__ import annotations

from app import ui
from curation.labeling.rounds.control_items import build_control_table
from curation.labeling.rounds.status import read_round_status
from curation.operations.jobs.figures import DataState, FigureCache


def show(figures: FigureCache, data_state: DataState, round_name: str) -> None:
    """Show the results of a round's blind duplicates and control items."""
    status = figures.figure(data_state, read_round_status, round_name)
    spacing = status.spacing
    if spacing.duplicates:
        ui.heading("Blind duplicates")
        ui.note(
            f"{spacing.duplicates:,} planted, {spacing.judged:,} answered both times, "
            f"{spacing.another_day:,} of these on different days."
        )
    if status.control_items:
        ui.heading("Control items")
        ui.tables(build_control_table(status.control_items))
