"""Rounds, what blind items and a pilot say: distances of duplicates, control items, grade boundaries.

Rounds, quality: annotator signals, agreement so far, blind items, and the results of a pilot.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signals import DURING_ROUND, FALSE_ROUNDS
from curation.agreement.report.quality import CHECKS, RoundQuality, not_checked_table, round_quality
from curation.agreement.report.report import AgreementReport, not_shown
from curation.door import withheld
from curation.labeling.rounds.pilot import pilot_report
from curation.labeling.rounds.status import RoundStatus
from curation.labeling.rounds.tables import control_item_table, pilot_tables, spacing_table
from curation.reports.page import figure_row, figure_table
from curation.store import Store
from curation.text import percent


def duplicates(status: RoundStatus) -> None:
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


def control_items(status: RoundStatus) -> None:
    """How annotators do on control items."""
    if not status.control_items:
        return
    ui.heading("Control items")
    ui.tables(control_item_table(status.control_items))


def pilot(store: Store, name: str) -> None:
    """Where on the scale annotators differ."""
    report = pilot_report(store, name)
    ui.heading("What the pilot shows")
    ui.tables(*pilot_tables(report))
    ui.sentences(withheld(report.sealed))


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    with st.spinner("Computing intervals…"):
        found = round_quality(store, status.round)
    _worth_a_look(found)
    if status.kind == "pilot":
        pilot(store, status.round)
    if status.kind != "practice":
        _agreement(found.report)
    duplicates(status)
    control_items(status)


def _worth_a_look(found: RoundQuality) -> None:
    ui.tables(not_checked_table(found))
    ui.heading("Worth a look")
    for annotator, finding in found.findings:
        who = f"{annotator}: " if annotator and not finding.sentence.startswith(annotator) else ""
        st.warning(ui.plain(f"{who}{finding.sentence}"), icon=":material/visibility:")
    ui.quiet(found.conclusion)
    with st.expander("How this is found"):
        checks = CHECKS | {signal.name: signal.label for signal in DURING_ROUND}
        ui.sentences("\n".join(f"{name.capitalize()}: {label}." for name, label in checks.items()))
        ui.sentences(
            f"In at most {percent(FALSE_ROUNDS)} of rounds in which nothing is the matter a signal of a "
            "person is shown here, for one look and for answers that do not depend on each other."
        )


def _agreement(report: AgreementReport) -> None:
    ui.heading("Agreement so far")
    rows: list[tuple[object, ...]] = []
    alpha, raw = report.between.ordinal, report.between.raw
    for label, figure, value in (("Ordinal alpha", alpha, alpha.alpha), ("Same grade", raw, raw.share)):
        rows.append(figure_row(label, value, figure.low, figure.high, figure.units, not_shown(figure)))
    for one in report.within:
        why = one.undefined or (f"too few: {one.n} of {MINIMUM_REPEATS}" if one.too_few else None)
        rows.append(figure_row(f"{one.annotator}, same again", one.identical, one.low, one.high, one.n, why))
    ui.tables(figure_table("Between and within annotators", ("Figure", "Value", "n"), rows))
