"""Guide, putting in force: what the draft changes, and before the button what that means for open rounds."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.guide.editor import GUIDE, GuideEditor
from app.views.guide.versions import show_difference
from curation.guides.guide import Guide, guide_problems, parse_guide
from curation.labeling.guide_change import GuideEffects, guide_effects
from curation.labeling.rounds.lifecycle import KEEP, SWITCH, GuideChange, put_in_force
from curation.store import Store

CHOICES = {KEEP: "Let them go on under their own guide", SWITCH: "Put them under the new guide now"}
COLUMNS = ["Round under way", "Open items", "Answered", "Guide", "May change"]


def show(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    if editor is None:
        st.info("You have no draft. Write the next guide under Edit; here you see what it would mean.")
        return
    if guide_problems(editor.source):
        st.info("Your draft is not a whole guide yet. What is missing is said under Edit.")
        return
    guide = parse_guide(editor.source)
    effects = guide_effects(store, guide)
    left, right = st.columns(2, gap="large")
    with left:
        ui.heading("What changes")
        show_difference(effects.difference)
    with right:
        ui.heading("What it means")
        ui.sentences("\n".join(effects.sentences))
        if not effects.difference.same:
            _ask(store, acts, guide, effects, editor.draft.started_from)


def _ask(store: Store, acts: Acts, guide: Guide, effects: GuideEffects, started_from: str) -> None:
    form = acts.form(GUIDE)
    choice: str | None = None
    if effects.rounds:
        rows = [
            (
                one.round,
                one.open_items,
                one.answered,
                one.guide_hash[:8],
                "no" if one.cannot_switch else "yes",
            )
            for one in effects.rounds
        ]
        ui.table(f"{len(rows):,} rounds are open" if len(rows) > 1 else "One round is open", COLUMNS, rows)
        choices = list(CHOICES) if effects.all_may_switch else [KEEP]
        choice = st.radio(
            "Rounds under way",
            choices,
            format_func=CHOICES.__getitem__,
            captions=[effects.describe(one) for one in choices],
            key=f"open rounds {form.key}",
        )
    if effects.difference.before.guide_hash != started_from:
        st.warning(
            "Another guide was put in force since you began this draft. What changes is against that one.",
            icon=":material/sync_problem:",
        )
    with st.form(f"force {form.key}", border=False):
        reason = st.text_input("Why", max_chars=500, placeholder="Such as: refurbished goods made clear")
        asked = st.form_submit_button("Put in force", type="primary")
    if asked and not reason.strip():
        st.error("Say why: the list of versions and the record show it.", icon=":material/error:")
    elif asked:
        seen = effects.difference.before.guide_hash
        acts.do(form, lambda: _said(put_in_force(store, guide, acts.by, choice, reason, instead_of=seen)))


def _said(change: GuideChange) -> str:
    sentences = [f"{change.title}, version {change.guide_hash[:8]}, is in force."]
    if change.switched:
        sentences.append(f"{', '.join(change.switched)}: annotators see it with their next item.")
    if change.kept:
        sentences.append(f"{', '.join(change.kept)}: goes on under its own guide.")
    return "\n".join(sentences)
