"""Agreement: between annotators, within each, and how many pairs are settled."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.workplace import project_store
from curation.agreement import AgreementReport, agreement_report
from curation.agreement.between import LEVELS, Alpha
from curation.agreement.report import RELIABLE, TENTATIVE, findings, not_shown
from curation.agreement.within import MINIMUM_REPEATS
from curation.labeling.rounds import list_rounds
from curation.store.rows import Annotator

ALL = "All rounds"


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        names = [item.name for item in reversed(list_rounds(cursor))]
    chosen = st.selectbox("Judgments of", [ALL, *names], width=320) if names else ALL
    with st.spinner("Computing intervals…"):
        report = agreement_report(store, None if chosen == ALL else chosen)
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in findings(report)))
    _between(report)
    _within(report)
    _standing(report)


def _between(report: AgreementReport) -> None:
    found = report.between
    rows: list[tuple[object, ...]] = []
    for level in LEVELS:
        alpha: Alpha = getattr(found, level)
        why = not_shown(alpha)
        if why or alpha.alpha is None:
            rows.append((level, "–", why, "", alpha.units))
        else:
            drawn = ui.Span(alpha.alpha, alpha.low, alpha.high)
            rows.append((level, ui.figure(alpha.alpha), _interval(alpha.low, alpha.high), drawn, alpha.units))
    columns = ["Krippendorff's alpha", "Value", "95 % interval", "From 0 to 1", "Pairs"]
    ui.table("Between annotators", columns, rows)
    ui.quiet(
        f"{found.judgments:,} judgments of {found.annotators:,} annotators; {found.single:,} pairs have one "
        f"grade only, {found.cannot_tell:,} judgments say “cannot tell”. Rely on alpha from {RELIABLE}, "
        f"draw tentative conclusions from {TENTATIVE} (Krippendorff 2004)."
    )


def _within(report: AgreementReport) -> None:
    rows: list[tuple[object, ...]] = []
    for one in report.within:
        why = one.undefined or (f"too few: {one.n} of {MINIMUM_REPEATS}" if one.too_few else "")
        if why or one.identical is None:
            rows.append((one.annotator, "–", why, "", one.n))
        else:
            drawn = ui.Span(one.identical, one.low, one.high)
            rows.append((one.annotator, ui.figure(one.identical), _interval(one.low, one.high), drawn, one.n))
    columns = ["Annotator", "Same grade again", "95 % interval", "From 0 to 1", "Repeats"]
    ui.table("Within each annotator", columns, rows)


def _standing(report: AgreementReport) -> None:
    counts = report.consensus
    columns = ["Pairs judged", "Adjudicated", "Majority", "One judgment", "Disputed", "Unjudgeable"]
    agreed = (counts.adjudicated, counts.majority, counts.single)
    ui.table("Where the pairs stand", columns, [(counts.pairs, *agreed, counts.disputed, counts.unjudgeable)])


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.3f} to {high:.3f}"
