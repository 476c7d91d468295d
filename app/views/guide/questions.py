"""Guide, questions: where people found it unclear, answered in place; annotators read the answer there."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.guide.editor import GUIDE
from curation.core.text import LONGEST_NOTE, isolated
from curation.guides.questions import GuideQuestion, answer_question, guide_questions
from curation.store import Store

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


def _part(store: Store, acts: Acts, name: str, questions: Sequence[GuideQuestion]) -> None:
    if not questions:
        return
    ui.heading(f"{name}, {len(questions):,}" + (f" ({SHOWN} shown)" if len(questions) > SHOWN else ""))
    for question in questions[:SHOWN]:
        with st.container(border=True):
            ui.said(question.words, *_about(question))
            if question.answer is None:
                _answer(store, acts, question)
            else:
                _answered(store, acts, question)


def _about(guide_question: GuideQuestion) -> list[str]:
    pair = f"at “{isolated(guide_question.query or '')}”, {isolated(guide_question.title or '')}"
    at = pair if guide_question.query else "about the whole guide"
    under = (
        "the current guide"
        if guide_question.in_force
        else f"an earlier guide, {guide_question.guide_hash[:8]}"
    )
    return [f"{guide_question.author}, {guide_question.asked_at:%d %b %Y}, {at}, under {under}"]


def _answered(store: Store, acts: Acts, guide_question: GuideQuestion) -> None:
    readers = "everyone reads it" if guide_question.everyone else "who asked reads it"
    ui.sentences(guide_question.answer or "")
    ui.quiet(
        f"{guide_question.answered_by}, {guide_question.answered_at:%d %b %Y}; {readers}."
        if guide_question.answered_at
        else ""
    )
    with st.expander("Change the answer"):
        _answer(store, acts, guide_question)


def _answer(store: Store, acts: Acts, guide_question: GuideQuestion) -> None:
    form = acts.form(GUIDE)
    with st.form(f"answer {guide_question.question_id} {form.key}", border=False):
        words = st.text_area("Answer", guide_question.answer or "", height=90, max_chars=LONGEST_NOTE)
        general = guide_question.query is None if guide_question.everyone is None else guide_question.everyone
        everyone = st.checkbox(
            "Everyone reads question and answer",
            general,
            help="Else only who asked. Nobody sees who asked. An answer about one pair can tell its grade to "
            "others who have yet to judge it.",
        )
        asked = st.form_submit_button("Answer" if guide_question.answer is None else "Change")
    if asked:
        acts.do(
            form, lambda: _said(answer_question(store, guide_question.question_id, words, acts.by, everyone))
        )


def _said(guide_question: GuideQuestion) -> str:
    return (
        f"{'Everyone' if guide_question.everyone else 'Who asked'} reads the answer to "
        f"“{isolated(guide_question.words[:80])}” now."
    )
