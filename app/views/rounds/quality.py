"""Rounds, what blind items and a pilot say: distances of duplicates, control items, grade boundaries.

Rounds, quality: annotator signals, agreement so far, blind items, and the results of a pilot.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS
from curation.agreement.annotators.signals import DURING_ROUND, FALSE_ROUNDS
from curation.agreement.report.quality import CHECKS, RoundQuality, round_quality
from curation.agreement.report.report import AgreementReport, not_shown
from curation.door import withheld
from curation.labeling.rounds.assignment import NAMES
from curation.labeling.rounds.layout import MINIMUM_ANSWERED
from curation.labeling.rounds.pilot import pilot_report
from curation.labeling.rounds.status import RoundStatus
from curation.store import Store
from curation.text import decimal, ends, listed, percent


def figure_row(
    label: str, value: float | None, low: float | None, high: float | None, n: int, why: str | None
) -> tuple[object, ...]:
    """A figure with its interval, or why there is none, as `figures` shows it."""
    if why or value is None:
        return (label, "–", "–", "", n, why or "")
    return (label, decimal(value), ends(low, high), ui.IntervalCell(value, low, high), n, "")


def figures(caption: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """A table of rows of `figure_row`; the reasons have a column where there are any.

    Parameters
    ----------
    columns: what the row is about, the figure, and what n counts.
    """
    label, value, n = columns
    shown = [label, value, "95 % interval", "From 0 to 1", n, "Why no figure"]
    if not any(row[-1] for row in rows):
        shown, rows = shown[:-1], [row[:-1] for row in rows]
    ui.table(caption, shown, rows)


def duplicates(status: RoundStatus) -> None:
    """How far apart the two showings of blind duplicates are."""
    apart = status.spacing
    if not apart.duplicates:
        return
    ui.heading("Blind duplicates")
    measured = {"Presentations": apart.distances, "Hours": apart.hours}
    shown = [
        (what, *(ui.NumberCell(values.get(name), 1) for name in NAMES)) for what, values in measured.items()
    ]
    ui.table(
        "How far apart the two showings are",
        ["Measured in", "Least", "Quarter", "Median", "Three quarters", "Most"],
        shown,
    )
    ui.quiet(
        f"{apart.duplicates:,} planted, {apart.judged:,} answered both times, {apart.another_day:,} of these "
        "on another day."
    )


def control_items(status: RoundStatus) -> None:
    """How annotators do on control items."""
    if not status.control_items:
        return
    rows: list[tuple[object, ...]] = [
        figure_row(
            one.annotator,
            one.share,
            one.low,
            one.high,
            one.answered,
            f"too few: {one.answered} of {MINIMUM_ANSWERED}" if one.too_few else None,
        )
        for one in status.control_items
    ]
    ui.heading("Control items")
    figures("As decided before", ["Annotator", "As decided", "Answered"], rows)


def pilot(store: Store, name: str) -> None:
    """Where on the scale annotators differ."""
    report = pilot_report(store, name)
    ui.heading("What the pilot shows")
    rows = [
        figure_row(f"{one.lower} | {one.upper}", one.share, one.low, one.high, one.n, None)
        for one in report.boundaries
    ]
    figures("On different sides of a boundary", ["Boundary", "Share", "Comparisons"], rows)
    spreads = [
        (one.query, one.title, " ".join(map(str, one.grades)), "; ".join(one.notes)) for one in report.spreads
    ]
    if spreads:
        ui.table(
            f"Largest differences, {len(spreads):,} of {report.differing:,}",
            ["Query", "Document", "Grades", "Notes"],
            spreads,
            words=True,
        )
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
    figures("Between and within annotators", ["Figure", "Value", "n"], rows)
