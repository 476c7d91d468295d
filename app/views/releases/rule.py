"""Releases, the rule: the rule that turns votes into a grade, and the changes that a different rule would
make.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.releases.bars import StackRow, stacks
from curation.core.text import pluralize
from curation.labeling.consensus.consensus import ConsensusCounts
from curation.labeling.consensus.dawid_skene import (
    AnnotatorErrors,
    build_error_section,
    estimate_errors_by_rule,
)
from curation.labeling.consensus.rule import (
    DESCRIPTIONS,
    NAMES,
    ConsensusRule,
    describe_replaced_rule,
    read_rule,
    set_rule,
)
from curation.labeling.consensus.rule_effect import compute_rule_effect
from curation.operations.jobs.figures import figures_of

OUTCOMES = ("By the rule", "Decided by a reviewer", "Disputed", "One vote", "Nobody could tell")
FORM = "consensus rule"


def show(context: PageContext) -> None:
    store = context.store
    with store.reading() as cursor:
        rule, replaced = read_rule(cursor), describe_replaced_rule(cursor)
    figures = figures_of(store)
    of = figures.state()
    with st.spinner("Applying the rule…"):
        now, *_ = figures.figure(of, compute_rule_effect, rule)
    if not now.pairs:
        st.info("Nothing is judged yet, so no pair has a grade.", icon=":material/info:")
    ui.heading(f"Current rule: {NAMES[rule.name]}")
    ui.sentences(replaced)
    ui.sentences(f"{DESCRIPTIONS[rule.name]} A reviewer's decision comes before any rule.")
    wanted = _wanted(rule)
    rows = [_row("Current", now)]
    then, *changes = figures.figure(of, compute_rule_effect, wanted)
    if wanted != rule:
        rows.append(_row(NAMES[wanted.name], then))
    if now.pairs:
        stacks("Number of pairs by origin of the grade", OUTCOMES, rows)
    _change(context, rule, wanted, changes)
    if wanted.by_errors:
        _errors(figures.figure(of, estimate_errors_by_rule, wanted))


def _wanted(rule: ConsensusRule) -> ConsensusRule:
    """Ask for a rule that turns votes into grades; the initial choice is the current rule."""
    form = Form(ConsensusRule, rule, f"{rule}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        form.ask("name")
        if form.request().by_errors:
            form.ask("least", "smoothing")
    return form.request()


def _change(context: PageContext, rule: ConsensusRule, wanted: ConsensusRule, changes: Sequence[int]) -> None:
    form = context.acts.form(FORM)
    if wanted != rule:
        if wanted.name != rule.name:
            ui.sentences(DESCRIPTIONS[wanted.name])
        graded, opened, regraded = (pluralize(number, "pair") for number in changes)
        ui.sentences(
            f"Compared with the current rule, {graded} would get a grade, {opened} would lose it, "
            f"and {regraded} would get a different grade. Frozen releases do not change."
        )
    same = wanted.settings == rule.settings
    if st.button("Use this rule", type="primary", key=f"use rule {form.key}", disabled=same):
        context.acts.do(form, lambda: set_rule(context.store, wanted, context.acts.by))
    if same:
        ui.quiet("This is the current rule. Choose a different rule to see its effect.")


def _row(name: str, counts: ConsensusCounts) -> StackRow:
    by_rule = counts.majority + counts.ruled
    counted = (by_rule, counts.adjudicated, counts.disputed, counts.single, counts.unjudgeable)
    return StackRow(name, counted, pluralize(counts.pairs, "pair"))


def _errors(annotator_errors: AnnotatorErrors | None) -> None:
    if annotator_errors is not None:
        with st.expander("Estimated share of true grades by annotator"):
            ui.section(build_error_section(annotator_errors))
