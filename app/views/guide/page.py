"""Guide: what annotators read, the next version, what putting it in force means, and questions about it.

Guide, questions: where people found it unclear, answered in place; annotators read the answer there.

Guide, putting in force: what the draft changes, and before the button what that means for open rounds.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from app.context import project_store
from app.grading import guide_panel
from app.page import LEADS, SETTINGS, AppPage
from app.views.guide import document, editing, versions
from app.views.guide.editor import GUIDE, GuideEditor, editor_of
from app.views.guide.versions import show_difference
from curation.errors import CurationError
from curation.guides.guide import Guide, current_guide, guide_problems, parse_guide
from curation.guides.questions import GuideQuestion, answer_question, guide_questions
from curation.guides.versions import open_drafts, source_of
from curation.labeling.guide_change import GuideEffects, guide_effects, rounds_table
from curation.labeling.rounds.lifecycle import KEEP, SWITCH, GuideChange, put_in_force
from curation.store import Annotator, Store
from curation.text import LONGEST_NOTE, isolated

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
            captions=[effects.describe(one) for one in choices],
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


SHOWN = 20


def show_questions(store: Store, acts: Acts) -> None:
    with store.reading() as cursor:
        found = guide_questions(cursor)
    if not found:
        st.info("Nobody has asked about the guide yet. People ask below it on Label, and on Adjudicate.")
        return
    open_ones = [one for one in found if one.answer is None]
    answered = [one for one in found if one.answer is not None]
    _part(store, acts, "Not answered yet", open_ones)
    _part(store, acts, "Answered", answered)


def _part(store: Store, acts: Acts, name: str, found: Sequence[GuideQuestion]) -> None:
    if not found:
        return
    ui.heading(f"{name}, {len(found):,}" + (f" ({SHOWN} shown)" if len(found) > SHOWN else ""))
    for one in found[:SHOWN]:
        with st.container(border=True):
            ui.said(one.words, *_about(one))
            if one.answer is None:
                _answer(store, acts, one)
            else:
                _answered(store, acts, one)


def _about(one: GuideQuestion) -> list[str]:
    pair = f"at “{isolated(one.query or '')}”, {isolated(one.title or '')}"
    at = pair if one.query else "about the whole guide"
    under = "the current guide" if one.in_force else f"an earlier guide, {one.guide_hash[:8]}"
    return [f"{one.author}, {one.asked_at:%d %b %Y}, {at}, under {under}"]


def _answered(store: Store, acts: Acts, one: GuideQuestion) -> None:
    readers = "everyone reads it" if one.everyone else "who asked reads it"
    ui.sentences(one.answer or "")
    ui.quiet(f"{one.answered_by}, {one.answered_at:%d %b %Y}; {readers}." if one.answered_at else "")
    with st.expander("Change the answer"):
        _answer(store, acts, one)


def _answer(store: Store, acts: Acts, one: GuideQuestion) -> None:
    form = acts.form(GUIDE)
    with st.form(f"answer {one.question_id} {form.key}", border=False):
        words = st.text_area("Answer", one.answer or "", height=90, max_chars=LONGEST_NOTE)
        general = one.query is None if one.everyone is None else one.everyone
        everyone = st.checkbox(
            "Everyone reads question and answer",
            general,
            help="Else only who asked. Nobody sees who asked. An answer about one pair can tell its grade to "
            "others who have yet to judge it.",
        )
        asked = st.form_submit_button("Answer" if one.answer is None else "Change")
    if asked:
        acts.do(form, lambda: _said(answer_question(store, one.question_id, words, acts.by, everyone)))


def _said(one: GuideQuestion) -> str:
    return (
        f"{'Everyone' if one.everyone else 'Who asked'} reads the answer to “{isolated(one.words[:80])}” now."
    )


READ, DOCUMENT, EDIT, FORCE, VERSIONS, QUESTIONS = PARTS = (
    *("Read", "Document", "Edit", "Publish", "Versions", "Questions"),
)


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    editor = editor_of(store, acts.by)
    _save(store, editor)
    done = acts.form(GUIDE).result
    if done:
        st.success("\n\n".join(map(ui.plain, done.splitlines())), icon=":material/check:")
    part = ui.part("Part", PARTS, "show")
    if part == DOCUMENT:
        document.show(store, acts, editor, _ask)
    elif part == EDIT:
        editing.show(store, acts, editor)
    elif part == FORCE:
        show_forcing(store, acts, editor)
    elif part == VERSIONS:
        versions.show(store, editor)
    elif part == QUESTIONS:
        show_questions(store, acts)
    else:
        _read(store, acts)


PAGE = AppPage(52, "Guide", "guide", LEADS, show, group=SETTINGS)


def _save(store: Store, editor: GuideEditor | None) -> None:
    """Save what was typed into the fields, whatever part is shown now."""
    if editor is not None:
        try:
            editor.save(store)
        except CurationError as error:
            ui.problem(error)


def _read(store: Store, acts: Acts) -> None:
    with store.reading() as cursor:
        guide, drafts = current_guide(cursor), open_drafts(cursor)
        unanswered = sum(one.answer is None for one in guide_questions(cursor))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download", source_of(guide), "guide.md", "text/markdown", icon=":material/download:"
        )
        said = f"Current version {guide.guide_hash[:8]}. Annotators read it with every item."
        writing = [one.author for one in drafts if one.author != acts.by]
        if writing:
            said += f" {', '.join(writing)} {'is' if len(writing) == 1 else 'are'} writing the next one."
        if unanswered:
            said += f" {unanswered:,} question{'s wait' if unanswered > 1 else ' waits'} for an answer."
        ui.quiet(said)
    guide_panel(guide, "current", wide=True)
