"""Releases, Rule: the rule that turns votes into grades, and the effect of a different rule."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from app.views.releases.bars import BarRow, draw_bars
from curation.core.text import pluralize
from curation.labeling.consensus import dawid_skene
from curation.labeling.consensus import rule as consensus_rule
from curation.labeling.consensus.consensus import ConsensusCounts, compute_rule_effect
from curation.operations.jobs.figures import figures_of

ORIGINS = ("By the rule", "Decided by a reviewer", "Disputed", "One vote", "Cannot tell")
FORM = "consensus rule"


def show(context: PageContext) -> None:
    store = context.store
    with store.reading() as cursor:
        rule, replaced = consensus_rule.read_rule(cursor), consensus_rule.describe_replaced_rule(cursor)
    figures = figures_of(store)
    data_state = figures.state()
    with st.spinner("Computing the grades…"):
        counts, _ = figures.figure(data_state, compute_rule_effect, rule)
    if not counts.pairs:
        st.info("Nobody has judged a pair yet, so no pair has a grade.", icon=":material/info:")
    ui.heading(f"Current rule: {consensus_rule.NAMES[rule.name]}")
    ui.sentences(replaced)
    ui.sentences(f"{consensus_rule.DESCRIPTIONS[rule.name]} A reviewer's decision always overrides the rule.")
    new_rule = _ask_rule(rule)
    rows = [_make_bar("Current", counts)]
    new_counts, changes = figures.figure(data_state, compute_rule_effect, new_rule)
    if new_rule != rule:
        rows.append(_make_bar(consensus_rule.NAMES[new_rule.name], new_counts))
    if counts.pairs:
        draw_bars("Number of pairs by source of the grade", ORIGINS, rows)
    _offer_change(context, rule, new_rule, changes)
    if new_rule.by_errors:
        _show_errors(figures.figure(data_state, dawid_skene.estimate_errors_by_rule, new_rule))


def _ask_rule(rule: consensus_rule.ConsensusRule) -> consensus_rule.ConsensusRule:
    """Ask for a rule that turns votes into grades; the initial choice is the current rule."""
    form = Form(consensus_rule.ConsensusRule, rule, f"{rule}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        form.ask("name")
        if form.request().by_errors:
            form.ask("least", "smoothing")
    return form.request()


def _offer_change(
    context: PageContext,
    rule: consensus_rule.ConsensusRule,
    new_rule: consensus_rule.ConsensusRule,
    changes: Mapping[str, int],
) -> None:
    form = context.acts.form(FORM)
    if new_rule != rule:
        if new_rule.name != rule.name:
            ui.sentences(consensus_rule.DESCRIPTIONS[new_rule.name])
        graded, ungraded, regraded = (
            pluralize(changes[change], "pair") for change in ("gained", "lost", "regraded")
        )
        ui.sentences(
            f"Under this rule, {graded} would get a grade, {ungraded} would no longer have one, "
            f"and {regraded} would get a different grade. Frozen releases stay as they are."
        )
    is_current = new_rule.settings == rule.settings
    if st.button("Use this rule", type="primary", key=f"use rule {form.key}", disabled=is_current):
        context.acts.do(form, lambda: consensus_rule.set_rule(context.store, new_rule, context.acts.by))
    if is_current:
        ui.note("This is the current rule. Choose another rule to see what it would change.")


def _make_bar(name: str, counts: ConsensusCounts) -> BarRow:
    by_rule = counts.majority + counts.ruled
    by_origin = (by_rule, counts.adjudicated, counts.disputed, counts.single, counts.unjudgeable)
    return BarRow(name, by_origin, pluralize(counts.pairs, "pair"))


def _show_errors(annotator_errors: dawid_skene.AnnotatorErrors | None) -> None:
    if annotator_errors is not None:
        with st.expander("Estimated share of correct grades by annotator"):
            ui.section(dawid_skene.build_error_section(annotator_errors))
