"""Rounds, quality: annotator signals, agreement so far, blind items, and the results of a pilot."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.rounds import blind
from app.views.rounds.blind import figure_row
from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signal import FALSE_ROUNDS
from curation.agreement.annotators.signals import DURING_ROUND
from curation.agreement.report.quality import CHECKS, RoundQuality, round_quality
from curation.agreement.report.report import AgreementReport
from curation.agreement.report.verdict import not_shown
from curation.labeling.rounds.status import RoundStatus
from curation.store import Store
from curation.text import listed, percent


def show(store: Store, status: RoundStatus, _: Acts) -> None:
    with st.spinner("Computing intervals…"):
        found = round_quality(store, status.round)
    _worth_a_look(found)
    if status.kind == "pilot":
        blind.pilot(store, status.round)
    if status.kind != "practice":
        _agreement(found.report)
    blind.duplicates(status)
    blind.control_items(status)


def _worth_a_look(found: RoundQuality) -> None:
    if found.not_checked:
        ui.heading("Could not be checked")
        rows = [
            (one.about.capitalize(), listed(one.annotators) or "The round", one.why)
            for one in found.not_checked
        ]
        ui.table("Nothing is known about these", ["Check", "Of", "Why"], rows, words=True)
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
    blind.figures("Between and within annotators", ["Figure", "Value", "n"], rows)
