"""Guide, Publish: what the next guide changes, and the form that publishes it."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.settings.guide_editing import GUIDE_FORM
from app.views.settings.guide_editor import GuideEditor, replace_draft
from curation.core.similarity.text_blocks import word_blocks
from curation.guides.difference import GradeChange, GuideDifference
from curation.guides.guide import Grade, Guide, current_guide
from curation.guides.guide_editing import rename_grades_in_text
from curation.guides.guide_text import find_problems, has_shipped_examples, parse_guide
from curation.labeling.rounds.use_guide import KEEP, SWITCH, GuideEffects, compute_guide_effects, use_guide
from curation.store import Store

SHIPPED_EXAMPLES = (
    "Some worked examples come with goldgrade and are not about your documents. Replace them with your own "
    "queries and documents, because annotators learn from examples."
)
CHOICES = {KEEP: "Keep their own guide", SWITCH: "Switch to the new guide now"}


def show(store: Store, acts: Acts, editor: GuideEditor | None) -> None:
    """Show the changes and effects of the draft, with a form that publishes it."""
    if editor is None:
        st.info("You have no draft. Write the next version under Edit, then review the changes here.")
        return
    if find_problems(editor.source):
        st.info("Your draft is not complete. See what is missing under Edit.")
        return
    with store.reading() as cursor:
        guide = rename_grades_in_text(current_guide(cursor), parse_guide(editor.source))
    if guide.source != editor.source:
        replace_draft(store, guide.source or "", acts.by, editor)
    effects = compute_guide_effects(store, guide)
    left, right = st.columns(2, gap="large")
    with left:
        ui.heading("Changes")
        show_difference(effects.difference)
    with right:
        ui.heading("Effects")
        if not effects.same_grades and effects.difference.before.values == guide.values:
            same_grades = st.checkbox(
                "The meaning of the grades is unchanged",
                key=f"same grades {acts.form(GUIDE_FORM).key}",
                help="For example, you only corrected spelling. Then existing grades stay "
                "valid, and no pair needs a new judgment.",
            )
            effects = compute_guide_effects(store, guide, same_grades)
        ui.sentences(*effects.sentences)
        if not effects.difference.same:
            ask_to_publish(store, acts, guide, effects, editor.draft.started_from)


def ask_to_publish(
    store: Store,
    acts: Acts,
    guide: Guide,
    effects: GuideEffects,
    started_from: str,
    proposed_reason: str = "",
) -> None:
    """Show a form that publishes the guide; `proposed_reason` is the initial text of its reason."""
    form = acts.form(GUIDE_FORM)
    if has_shipped_examples(guide):
        st.warning(SHIPPED_EXAMPLES, icon=":material/edit:")
    choice: str | None = None
    if effects.rounds:
        ui.tables(*effects.tables)
        choices = [KEEP] if effects.cannot_switch else list(CHOICES)
        choice = st.radio(
            "Rounds under way",
            choices,
            format_func=CHOICES.__getitem__,
            captions=[effects.describe(choice) for choice in choices],
            key=f"open rounds {form.key}",
        )
    if effects.difference.before.guide_hash != started_from:
        st.warning(
            "Someone published a newer guide after you began this draft. The changes below compare your "
            "draft with the newer guide.",
            icon=":material/sync_problem:",
        )
    with st.form(f"force {form.key}", border=False):
        reason = st.text_input(
            "Why", proposed_reason, max_chars=500, placeholder="Example: refurbished goods made clear"
        )
        submitted = st.form_submit_button("Publish", type="primary")
    if submitted and not reason.strip():
        st.error(
            "Give a reason. It is shown in the list of versions and in the audit trail.",
            icon=":material/error:",
        )
    elif submitted:
        guide_hash, same_grades = effects.difference.before.guide_hash, effects.same_grades

        def publish() -> str:
            use = use_guide(store, guide, acts.by, choice, reason, guide_hash, same_grades=same_grades)
            return "\n".join(use.sentences)

        acts.do(form, publish)


def show_difference(guide_difference: GuideDifference) -> None:
    ui.sentences(*guide_difference.summary)
    for changed_grade in guide_difference.changed_grades:
        _show_grade_change(changed_grade)
    if any(guide_difference.body_changes) or guide_difference.before.title != guide_difference.after.title:
        ui.heading("Title and text")
        title = word_blocks(guide_difference.before.title.split(), guide_difference.after.title.split())
        ui.text_difference(title, guide_difference.changed_body)


def _show_grade_change(grade_change: GradeChange) -> None:
    chips = [_make_chip(grade) for grade in (grade_change.before, grade_change.after) if grade is not None]
    is_renamed = grade_change.kind == "changed" and {"name", "colour"} & set(grade_change.changed)
    heading = " → ".join(chips if is_renamed else chips[-1:])
    st.html(f'<h3 class="gs-changed-grade">{heading} <small>{grade_change.summary}</small></h3>')
    old_words, new_words = (
        grade.definition.split() if grade else [] for grade in (grade_change.before, grade_change.after)
    )
    if old_words != new_words:
        ui.changed_words(word_blocks(old_words, new_words))
    if "examples" in grade_change.changed and grade_change.before and grade_change.after:
        before, after = _list_examples(grade_change.before), _list_examples(grade_change.after)
        changes = [f"Example removed: {example}" for example in sorted(before - after)]
        changes += [f"Example added: {example}" for example in sorted(after - before)]
        ui.sentences(*changes)


def _make_chip(grade: Grade) -> str:
    colour = f'<i style="background:{grade.colour}"></i>'
    return f'<span class="gs-grade">{colour}{grade.value} {escape(grade.name)}</span>'


def _list_examples(grade: Grade) -> set[str]:
    return {f"{example.query}: {example.document} ({example.why})" for example in grade.examples}
