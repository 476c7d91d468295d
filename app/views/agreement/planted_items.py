"""Agreement, planted items: the results of a round's pilot, blind duplicates and control items."""

from __future__ import annotations

from app import ui
from curation.labeling.rounds.control_items import build_control_table
from curation.labeling.rounds.pilot import PilotReport, report_pilot
from curation.labeling.rounds.spacing import build_spacing_table
from curation.labeling.rounds.status import RoundStatus, read_round_status
from curation.operations.jobs.figures import DataState, FigureCache
from curation.people.seal_access import describe_withheld_pairs


def show(figures: FigureCache, data_state: DataState, round_name: str) -> None:
    """Show the results of a round's pilot, blind duplicates and control items."""
    status = figures.figure(data_state, read_round_status, round_name)
    if status.kind == "pilot":
        _show_pilot(figures.figure(data_state, report_pilot, round_name))
    _show_duplicates(status)
    if status.control_items:
        ui.heading("Control items")
        ui.tables(build_control_table(status.control_items))


def _show_pilot(report: PilotReport) -> None:
    """Show the results of the pilot."""
    ui.heading("Results of the pilot")
    ui.tables(*report.tables)
    ui.sentences(describe_withheld_pairs(report.sealed))


def _show_duplicates(status: RoundStatus) -> None:
    """Show how many answers lie between the two showings of blind duplicates."""
    spacing = status.spacing
    if not spacing.duplicates:
        return
    ui.heading("Blind duplicates")
    ui.tables(build_spacing_table(spacing.distances, spacing.hours))
    ui.note(
        f"{spacing.duplicates:,} planted, {spacing.judged:,} answered both times, {spacing.another_day:,} "
        "of these on different days."
    )
