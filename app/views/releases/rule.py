"""Releases, the rule: how votes become a grade, what that settles, and what another rule would."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.views.releases.bars import StackRow, stacks
from curation.core.text import amount
from curation.labeling.consensus.annotator_errors import AnnotatorErrors, error_section, errors_by_rule
from curation.labeling.consensus.consensus import ConsensusCounts
from curation.labeling.consensus.rule import (
    DAWID_SKENE,
    MAJORITY,
    MEANING,
    MEDIAN,
    RULES,
    ConsensusRule,
    read_rule,
    replaced_rule,
    set_rule,
)
from curation.labeling.consensus.rule_effect import RuleEffect, rule_effect
from curation.operations.jobs.figures import figures_of

NAMES = {
    MAJORITY: "Majority",
    MEDIAN: "Median",
    DAWID_SKENE: "Dawid and Skene",
}
OUTCOMES = ("By the rule", "Decided by a reviewer", "Disputed", "One vote", "Nobody could tell")
FORM = "consensus rule"


def show(context: PageContext) -> None:
    store = context.store
    with store.reading() as cursor:
        rule, replaced = read_rule(cursor), replaced_rule(cursor)
    figures = figures_of(store)
    of = figures.state()
    with st.spinner("Settling the pairs…"):
        now = figures.figure(of, rule_effect, rule)
    if not now.counts.pairs:
        st.info("Nothing is judged yet, so there is nothing to settle.", icon=":material/info:")
    ui.heading(f"Current rule: {NAMES[rule.name]}")
    ui.sentences(replaced)
    ui.sentences(f"{MEANING[rule.name]} A reviewer's decision comes before any rule.")
    wanted = _wanted(rule)
    rows = [_row("Current", now.counts)]
    effect = now if wanted == rule else figures.figure(of, rule_effect, wanted)
    if wanted != rule:
        rows.append(_row(NAMES[wanted.name], effect.counts))
    if now.counts.pairs:
        stacks("Pairs by how their grade comes about", OUTCOMES, rows)
    _change(context, rule, wanted, effect)
    if wanted.by_errors:
        _errors(figures.figure(of, errors_by_rule, wanted))


def _wanted(rule: ConsensusRule) -> ConsensusRule:
    """The rule that is chosen; it starts as the one in force."""
    key = f"{rule}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Rule by which votes become a grade",
            RULES,
            index=RULES.index(rule.name),
            format_func=NAMES.__getitem__,
            width=320,
            key=f"rule {key}",
        )
        wanted = rule._replace(name=name)
        if wanted.by_errors:
            least = st.number_input(
                "A grade must be more probable than",
                0.5,
                0.99,
                rule.least,
                0.05,
                width=240,
                key=f"least {key}",
            )
            wanted = wanted._replace(least=round(least, 4))
        if name == DAWID_SKENE:
            smoothing = st.number_input(
                "Cases added to each confusion",
                0.0,
                100.0,
                rule.smoothing,
                0.1,
                width=240,
                key=f"cases {key}",
            )
            wanted = wanted._replace(smoothing=round(smoothing, 4))
    return wanted


def _change(context: PageContext, rule: ConsensusRule, wanted: ConsensusRule, effect: RuleEffect) -> None:
    form = context.acts.form(FORM)
    if wanted != rule:
        if wanted.name != rule.name:
            ui.sentences(MEANING[wanted.name])
        settled, opened, regraded = (amount(number, "pair") for number in effect[1:])
        ui.sentences(
            f"Compared with the current rule, {settled} would get a grade, {opened} would lose it, and "
            f"{regraded} would have another one. Frozen releases stay as they are."
        )
    same = wanted.settings == rule.settings
    if st.button("Use this rule", type="primary", key=f"use rule {form.key}", disabled=same):
        by = context.annotator.name
        context.acts.do(form, lambda: set_rule(context.store, wanted, by))
    if same:
        ui.quiet("This is the current rule. Choose another one to see what it would settle.")


def _row(name: str, counts: ConsensusCounts) -> StackRow:
    by_rule = counts.majority + counts.ruled
    found = (by_rule, counts.adjudicated, counts.disputed, counts.single, counts.unjudgeable)
    return StackRow(name, found, amount(counts.pairs, "pair"))


def _errors(annotator_errors: AnnotatorErrors | None) -> None:
    if annotator_errors is None:
        return
    with st.expander("How often people are estimated to give the true grade"):
        ui.section(error_section(annotator_errors))
