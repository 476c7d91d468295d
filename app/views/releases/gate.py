"""Releases, Gate: the agreement that a release requires, compared with the current agreement."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.views.releases.bars import clip_share, to_css_percent
from curation.agreement import gate as agreement_gate
from curation.agreement.verdict import READING
from curation.core.text import decimal
from curation.operations.jobs.figures import figures_of

STATES = {
    "met": "Met",
    "missed": "Not met",
    "undefined": "Could not be checked",
    "not asked for": "Not required",
}
NAMES = {
    agreement_gate.ALPHA: "Agreement between annotators (ordinal alpha)",
    agreement_gate.CONSISTENCY: "Consistency of annotators with themselves",
}
OVERRIDE_HELP = (
    "If a threshold is missed or cannot be checked, you must give a reason in order to freeze. The release's "
    "page and card then show the reason, who gave it, and the values that missed their thresholds."
)
SINGLE_HELP = (
    "With one annotator, agreement cannot be measured. The gate then does not check agreement, and each "
    "release says so."
)
FORM = "gate"


def show(context: PageContext) -> None:
    gate = figures_of(context.store).now(agreement_gate.compute_gate)
    left, right = st.columns(2, gap="large")
    for column, check in zip((left, right), gate.checks, strict=True):
        with column:
            _show_check(check)
    ui.sentences(*filter(None, [gate.advice]))
    if gate.note:
        ui.note(gate.note)
    ui.note(OVERRIDE_HELP)
    _ask_thresholds(context)


def _show_check(check: agreement_gate.GateCheck) -> None:
    is_known = check.value is not None and check.state in ("met", "missed")
    ui.heading(NAMES[check.figure])
    ui.verdict(decimal(check.value) if is_known else "–", STATES[check.state], _read_sentence(check))
    if is_known:
        _draw_threshold(_read_sentence(check), check.value, check.low, check.high, check.wanted)


def _read_sentence(check: agreement_gate.GateCheck) -> str:
    """Return the sentence of a gate check without the figure's name and the check's state."""
    text = check.sentence.partition(": ")[2].partition(": ")[2]
    return f"{text[:1].upper()}{text[1:]}."


def _ask_thresholds(context: PageContext) -> None:
    form = context.acts.form(FORM)
    with context.store.reading() as cursor:
        demand = agreement_gate.read_demand(cursor)
    with st.expander("Change the thresholds"), st.form(f"gate {form.key} {demand}", width=640, border=False):
        alpha = st.number_input(
            "Lower end of alpha's 95 % interval, at least", -1.0, 1.0, demand.alpha, 0.01, format="%.3f"
        )
        consistency = st.number_input(
            "Lower end of the consistency's 95 % interval, at least",
            0.0,
            1.0,
            demand.consistency,
            0.01,
            format="%.3f",
        )
        is_single = st.checkbox("One person judges this project", demand.single_judge, help=SINGLE_HELP)
        ui.note(READING)
        submitted = st.form_submit_button("Set the gate", type="primary", key=f"set gate {form.key}")
    if submitted:
        new_demand = agreement_gate.Demand(round(alpha, 4), round(consistency, 4), is_single)
        context.acts.do(form, lambda: agreement_gate.set_demand(context.store, new_demand, context.acts.by))
    elif form.submission_count:
        ui.confirmation("Thresholds saved.")


def _draw_threshold(
    label: str, value: float | None, low: float | None, high: float | None, threshold: float
) -> None:
    """Show a figure with its interval on a line from 0 to 1, with the threshold that it must reach."""
    interval = ""
    if low is not None and high is not None:
        width = to_css_percent(clip_share(high) - clip_share(low))
        interval = f'<i style="inset-inline-start:{to_css_percent(low)};inline-size:{width}"></i>'
    point = "" if value is None else f'<b style="inset-inline-start:{to_css_percent(value)}"></b>'
    st.html(
        f'<div class="gs-measure" role="img" aria-label="{escape(label)}"><div>{interval}{point}'
        f'<u style="inset-inline-start:{to_css_percent(threshold)}"><span>{threshold:g}</span></u></div>'
        "<p><span>0</span><span>1</span></p></div>"
    )
