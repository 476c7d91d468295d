"""Agreement, a round's checks: signals of annotators, blind items, and the results of a pilot."""

from __future__ import annotations

import streamlit as st

from app import ui
from curation.agreement.annotators.signals import DURING_ROUND, FALSE_ROUNDS
from curation.agreement.report.quality import CHECKS, RoundQuality, not_checked_table
from curation.core.text import percent
from curation.labeling.rounds.pilot import PilotReport, pilot_report
from curation.labeling.rounds.round_tables import control_item_table, pilot_tables, spacing_table
from curation.labeling.rounds.status import RoundStatus, round_status
from curation.operations.jobs.figures import DataState, Figures
from curation.people.seal_access import withheld


def worth_a_look(round_quality: RoundQuality) -> None:
    """What to look at in a round, and what could not be checked."""
    ui.heading("Worth a look")
    for annotator, finding in round_quality.findings:
        who = f"{annotator}: " if annotator and not finding.sentence.startswith(annotator) else ""
        st.warning(ui.plain(f"{who}{finding.sentence}"), icon=":material/visibility:")
    ui.quiet(round_quality.conclusion)
    with st.expander("What was checked, and what could not be"):
        ui.tables(not_checked_table(round_quality))
        labels = CHECKS | {signal.name: signal.label for signal in DURING_ROUND}
        ui.sentences("\n".join(f"{name.capitalize()}: {label}." for name, label in labels.items()))
        ui.sentences(
            f"If nothing is wrong in a round, a signal of a person appears in at most "
            f"{percent(FALSE_ROUNDS)} of cases, for one look and independent answers."
        )


def blind_items(figures: Figures, of: DataState, name: str) -> None:
    """What a pilot, blind duplicates and control items of a round say."""
    status = figures.figure(of, round_status, name)
    if status.kind == "pilot":
        _pilot(figures.figure(of, pilot_report, name))
    _duplicates(status)
    if status.control_items:
        ui.heading("Control items")
        ui.tables(control_item_table(status.control_items))


def _pilot(report: PilotReport) -> None:
    """Where on the scale annotators differ."""
    ui.heading("What the pilot shows")
    ui.tables(*pilot_tables(report))
    ui.sentences(withheld(report.sealed))


def _duplicates(status: RoundStatus) -> None:
    """How far apart the two showings of blind duplicates are."""
    apart = status.spacing
    if not apart.duplicates:
        return
    ui.heading("Blind duplicates")
    ui.tables(spacing_table(apart.distances, apart.hours))
    ui.quiet(
        f"{apart.duplicates:,} planted, {apart.judged:,} answered both times, {apart.another_day:,} of these "
        "on another day."
    )
