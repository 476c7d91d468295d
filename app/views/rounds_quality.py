"""Rounds, quality: what is worth a look, agreement so far, and what blind items and a pilot say."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views import rounds_blind
from app.views.rounds_blind import figure_row
from curation.agreement import agreement_report
from curation.agreement.report import findings, not_shown
from curation.agreement.warnings import LEVEL, RULES, RoundWarnings, early_warnings
from curation.agreement.within import MINIMUM_REPEATS
from curation.labeling.round_status import RoundStatus
from curation.store import Store
from curation.store.rows import Annotator


def show(store: Store, status: RoundStatus, _: Annotator) -> None:
    _warnings(early_warnings(store, status.round))
    if status.kind == "pilot":
        rounds_blind.pilot(store, status.round)
    if status.kind != "practice":
        with st.spinner("Computing intervals…"):
            _agreement(store, status.round)
    rounds_blind.duplicates(status)
    rounds_blind.known(status)


def _warnings(found: RoundWarnings) -> None:
    ui.heading("Worth a look")
    for warning in found.found:
        st.warning(ui.plain(warning.sentence), icon=":material/visibility:")
    if not found.found:
        ui.quiet("Nothing unusual in what could be checked.")
    with st.expander("How this is found, and who could not be checked"):
        ui.sentences("\n".join(f"{rule.capitalize()}: {words}." for rule, words in RULES.items()))
        ui.sentences(
            f"Each rule warns of anybody at all in at most {LEVEL:.0%} of rounds in which nothing is the "
            "matter, for one look and for answers that do not depend on each other."
        )
        rows = [
            (check.rule, name, why)
            for check in found.checks
            for name, why in sorted(check.not_checked.items())
        ]
        if rows:
            ui.table("Not checked", ["Rule", "Annotator", "Why"], rows)


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
    rounds_blind.figures("Between and within annotators", ["Figure", "Value", "n"], rows)
