"""Releases, the rule: how votes become a grade, what that settles, and what another rule would."""

from __future__ import annotations

from collections.abc import Hashable

import streamlit as st

from app import ui
from app.page import PageContext
from app.views.releases.bars import StackRow, stacks
from curation.agreement.report.report import read_fingerprint
from curation.settling.consensus import (
    AnnotatorErrors,
    ConsensusCounts,
    RuleEffect,
    error_section,
    errors,
    rule_effect,
)
from curation.settling.votes import (
    DAWID_SKENE,
    MAJORITY,
    MEANING,
    MEDIAN,
    ORDINAL,
    RULES,
    ConsensusRule,
    Votes,
    read_rule,
    read_votes,
    set_rule,
)
from curation.store import Store
from curation.text import amount

NAMES = {
    MAJORITY: "Majority",
    MEDIAN: "Median",
    DAWID_SKENE: "Dawid and Skene",
    ORDINAL: "Dawid and Skene, ordered grades",
}
OUTCOMES = ("By the rule", "Decided by a reviewer", "Disputed", "One vote", "Nobody could tell")
FORM = "consensus rule"
KEPT = 8


def show(context: PageContext) -> None:
    store = context.store
    with store.reading() as cursor:
        rule = read_rule(cursor)
    state = state_of(store)
    now = _effect(store, state, rule)
    if not now.counts.pairs:
        st.info("Nothing is judged yet, so there is nothing to settle.", icon=":material/info:")
    ui.heading(f"Current rule: {NAMES[rule.name]}")
    ui.sentences(f"{MEANING[rule.name]} A reviewer's decision comes before any rule.")
    wanted = _wanted(rule)
    rows = [_row("Current", now.counts)]
    effect = now if wanted == rule else _effect(store, state, wanted)
    if wanted != rule:
        rows.append(_row(NAMES[wanted.name], effect.counts))
    if now.counts.pairs:
        stacks("Pairs by how their grade comes about", OUTCOMES, rows)
    _change(context, rule, wanted, effect)
    if wanted.by_errors:
        _errors(_estimated(store, state, wanted))


def state_of(store: Store) -> Hashable:
    """The project and what it holds: whatever the steps show changes with it."""
    with store.reading() as cursor:
        return str(store.path), read_fingerprint(cursor)


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


def _errors(found: AnnotatorErrors | None) -> None:
    if found is None:
        return
    with st.expander("How often people are estimated to give the true grade"):
        ui.section(error_section(found))


@st.cache_resource(max_entries=2, show_spinner=False)
def _read(_store: Store, state: Hashable) -> Votes:
    with _store.reading() as cursor:
        return read_votes(cursor)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _estimated(_store: Store, state: Hashable, rule: ConsensusRule) -> AnnotatorErrors | None:
    votes = _read(_store, state)
    return errors(votes._replace(rule=rule), rule.ordinal)


@st.cache_resource(max_entries=KEPT, show_spinner="Settling the pairs…")
def _effect(_store: Store, state: Hashable, rule: ConsensusRule) -> RuleEffect:
    return rule_effect(_read(_store, state), rule)
