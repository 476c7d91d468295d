"""Releases, the gate: the agreement that a freeze demands, and what the labels reach now."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.views.releases.bars import measure
from curation.agreement.between.inter_annotator import READING
from curation.agreement.gate import (
    ALPHA,
    CONSISTENCY,
    Demand,
    GateCheck,
    gate_now,
    read_demand,
    set_demand,
)
from curation.core.text import decimal
from curation.operations.jobs.figures import figures_of

STATES = {
    "met": "Met",
    "missed": "Not met",
    "undefined": "Could not be checked",
    "not asked for": "Not asked for",
}
NAMES = {
    ALPHA: "Agreement between annotators (ordinal alpha)",
    CONSISTENCY: "Consistency of annotators with themselves",
}
OVERRIDE = (
    "Where a figure is not met or could not be checked, a release takes a reason. The reason is in the "
    "release for good, with who gave it and the figures against it. Its card and its page show it."
)
SINGLE = "With one judge nobody knows the agreement. It is not demanded then, and releases say so."
FORM = "gate"


def show(context: PageContext) -> None:
    found = figures_of(context.store).now(gate_now)
    left, right = st.columns(2, gap="large")
    for place, check in zip((left, right), found.checks, strict=True):
        with place:
            _check(check)
    if found.note:
        ui.quiet(found.note)
    ui.quiet(OVERRIDE)
    _change(context)


def _check(check: GateCheck) -> None:
    known = check.value is not None and check.state in ("met", "missed")
    ui.heading(NAMES[check.figure])
    ui.verdict(decimal(check.value) if known else "–", STATES[check.state], _sentence(check))
    if known:
        measure(_sentence(check), check.value, check.low, check.high, check.wanted)


def _sentence(check: GateCheck) -> str:
    text = check.sentence.partition(": ")[2].partition(": ")[2]
    return f"{text[:1].upper()}{text[1:]}."


def _change(context: PageContext) -> None:
    form = context.acts.form(FORM)
    with context.store.reading() as cursor:
        now = read_demand(cursor)
    with st.expander("Change the thresholds"), st.form(f"gate {form.key} {now}", width=640, border=False):
        alpha = st.number_input(
            "Lower end of alpha's interval must reach", -1.0, 1.0, now.alpha, 0.01, format="%.3f"
        )
        consistency = st.number_input(
            "Lower end of consistency's interval must reach",
            0.0,
            1.0,
            now.consistency,
            0.01,
            format="%.3f",
        )
        single = st.checkbox("One person judges this project", now.single_judge, help=SINGLE)
        ui.quiet(READING)
        asked = st.form_submit_button("Set the gate", type="primary", key=f"set gate {form.key}")
    if asked:
        demand, by = Demand(round(alpha, 4), round(consistency, 4), single), context.annotator.name
        context.acts.do(form, lambda: set_demand(context.store, demand, by))
    elif form.number:
        ui.confirmation("The gate is set.")
