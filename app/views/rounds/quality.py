"""Rounds, quality: annotator signals, agreement so far, blind items, and the results of a pilot."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.rounds import blind
from app.views.rounds.blind import figure_row
from curation.agreement import agreement_report
from curation.agreement.annotators.early_warnings import early_warnings
from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signals.registry import DURING_ROUND
from curation.agreement.annotators.signals.signal import FALSE_ROUNDS, Raised
from curation.agreement.report.report import findings, not_shown
from curation.labeling.rounds.status import RoundStatus
from curation.store import Store


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    _warnings(early_warnings(store, status.round))
    if status.kind == "pilot":
        blind.pilot(store, status.round)
    if status.kind != "practice":
        with st.spinner("Computing intervals…"):
            _agreement(store, status.round)
    blind.duplicates(status)
    blind.control_items(status)


def _warnings(raised: Raised) -> None:
    ui.heading("Worth a look")
    for annotator, finding in raised.findings:
        st.warning(ui.plain(f"{annotator}: {finding.sentence}"), icon=":material/visibility:")
    if not raised.findings:
        ui.quiet("Nothing unusual in what could be checked.")
    with st.expander("How this is found, and who could not be checked"):
        ui.sentences("\n".join(f"{signal.name.capitalize()}: {signal.label}." for signal in DURING_ROUND))
        ui.sentences(
            f"In at most {FALSE_ROUNDS:.0%} of rounds in which nothing is the matter anything is shown here, "
            "for one look and for answers that do not depend on each other."
        )
        if raised.not_checked:
            ui.table("Not checked", ["Signal", "Annotator", "Why"], sorted(raised.not_checked))


def _agreement(store: Store, name: str) -> None:
    report = agreement_report(store, name)
    ui.heading("Agreement so far")
    ui.sentences("\n".join(findings(report)))
    rows: list[tuple[object, ...]] = []
    alpha, raw = report.between.ordinal, report.between.raw
    for label, figure, value in (("Ordinal alpha", alpha, alpha.alpha), ("Same grade", raw, raw.share)):
        rows.append(figure_row(label, value, figure.low, figure.high, figure.units, not_shown(figure)))
    for one in report.within:
        why = one.undefined or (f"too few: {one.n} of {MINIMUM_REPEATS}" if one.too_few else None)
        rows.append(figure_row(f"{one.annotator}, same again", one.identical, one.low, one.high, one.n, why))
    blind.figures("Between and within annotators", ["Figure", "Value", "n"], rows)
