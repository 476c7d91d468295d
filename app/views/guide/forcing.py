"""Guide, putting in force: what the draft changes, and before the button what that means for open rounds."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.guide.difference import show_difference
from app.views.guide.editor import GUIDE, GuideEditor
from curation.guides.guide import Guide
from curation.guides.parse_guide import guide_problems, parse_guide
from curation.labeling.guide_change import GuideEffects, guide_effects, rounds_table
from curation.labeling.rounds.guide_in_force import KEEP, SWITCH, GuideChange, put_in_force
from curation.store import Store

CHOICES = {KEEP: "Keep their own guide", SWITCH: "Switch to the new guide now"}


def show_forcing(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    if editor is None:
        st.info("You have no draft. Write the next version under Edit; this page then shows what it changes.")
        return
    if guide_problems(editor.source):
        st.info("Your draft is not complete yet. Edit shows what is missing.")
        return
    guide = parse_guide(editor.source)
    effects = guide_effects(store, guide)
    left, right = st.columns(2, gap="large")
    with left:
        ui.heading("What changes")
        show_difference(effects.difference)
    with right:
        ui.heading("What it means")
        if not effects.same_grades and effects.difference.before.values == guide.values:
            same_grades = st.checkbox(
                "The meaning of the grades is unchanged",
                key=f"same grades {acts.form(GUIDE).key}",
                help="Such as after typing errors. Labels stay fresh: this change asks for no new judgments.",
            )
            effects = guide_effects(store, guide, same_grades)
        ui.sentences("\n".join(effects.sentences))
        if not effects.difference.same:
            _ask(store, acts, guide, effects, editor.draft.started_from)


def _ask(
    store: Store, acts: Acts, guide: Guide, effects: GuideEffects, started_from: str, why: str = ""
) -> None:
    form = acts.form(GUIDE)
    choice: str | None = None
    if effects.rounds:
        ui.tables(rounds_table(effects))
        choices = list(CHOICES) if effects.all_may_switch else [KEEP]
        choice = st.radio(
            "Rounds under way",
            choices,
            format_func=CHOICES.__getitem__,
            captions=[effects.describe(choice) for choice in choices],
            key=f"open rounds {form.key}",
        )
    if effects.difference.before.guide_hash != started_from:
        st.warning(
            "Another guide was published since you began this draft. The changes below are against that one.",
            icon=":material/sync_problem:",
        )
    with st.form(f"force {form.key}", border=False):
        reason = st.text_input("Why", why, max_chars=500, placeholder="Such as: refurbished goods made clear")
        asked = st.form_submit_button("Publish", type="primary")
    if asked and not reason.strip():
        st.error("Say why: the list of versions and the record show it.", icon=":material/error:")
    elif asked:
        seen = effects.difference.before.guide_hash
        same = effects.same_grades
        acts.do(
            form, lambda: _forced(put_in_force(store, guide, acts.by, choice, reason, seen, same_grades=same))
        )


def _forced(change: GuideChange) -> str:
    sentences = [f"{change.title}, version {change.guide_hash[:8]}, is the current guide."]
    if change.switched:
        sentences.append(f"{', '.join(change.switched)}: annotators see it with their next item.")
    if change.kept:
        sentences.append(f"{', '.join(change.kept)}: goes on under its own guide.")
    return "\n".join(sentences)
