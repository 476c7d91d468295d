"""Guide, questions: the questions of annotators about the guide, and the lead's answers."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.settings.guide_editing import GUIDE
from app.views.settings.guide_editor import GuideEditor
from curation.core.characters import isolate
from curation.core.text import MAX_NOTE_LENGTH
from curation.guides.questions import GuideQuestion, answer_question, list_questions
from curation.store import Store

MAX_QUESTIONS = 20


def show(store: Store, acts: Acts, _: GuideEditor | None) -> None:
    """Show all questions about the guide, each with a form for the answer."""
    with store.reading() as cursor:
        questions = list_questions(cursor)
    if not questions:
        st.info("Nobody has asked about the guide yet. People ask below the guide on Label and Adjudicate.")
        return
    open_ones = [question for question in questions if question.answer is None]
    answered = [question for question in questions if question.answer is not None]
    _part(store, acts, "Not answered yet", open_ones)
    _part(store, acts, "Answered", answered)


def _part(store: Store, acts: Acts, name: str, questions: Sequence[GuideQuestion]) -> None:
    if not questions:
        return
    shown = f" ({MAX_QUESTIONS} shown)" if len(questions) > MAX_QUESTIONS else ""
    ui.heading(f"{name}, {len(questions):,}{shown}")
    for question in questions[:MAX_QUESTIONS]:
        with st.container(border=True):
            ui.remarks(question.words, *_about(question))
            if question.answer is None:
                _answer(store, acts, question)
            else:
                _answered(store, acts, question)


def _about(question: GuideQuestion) -> list[str]:
    pair = f"at “{isolate(question.query or '')}”, {isolate(question.title or '')}"
    at = pair if question.query else "about the whole guide"
    under = "the current guide" if question.in_force else f"an earlier guide, {question.guide_hash[:8]}"
    return [f"{question.author}, {question.asked_at:%d %b %Y}, {at}, under {under}"]


def _answered(store: Store, acts: Acts, question: GuideQuestion) -> None:
    readers = "everyone reads it" if question.everyone else "the author reads the answer"
    ui.sentences(question.answer or "")
    ui.quiet(
        f"{question.answered_by}, {question.answered_at:%d %b %Y}; {readers}." if question.answered_at else ""
    )
    with st.expander("Change the answer"):
        _answer(store, acts, question)


def _answer(store: Store, acts: Acts, question: GuideQuestion) -> None:
    form = acts.form(GUIDE)
    with st.form(f"answer {question.question_id} {form.key}", border=False):
        words = st.text_area("Answer", question.answer or "", height=90, max_chars=MAX_NOTE_LENGTH)
        general = question.query is None if question.everyone is None else question.everyone
        everyone = st.checkbox(
            "Show question and answer to everyone",
            general,
            help="Otherwise only the author of the question reads the answer. Nobody sees the author's name. "
            "An answer about a pair can reveal its grade to people who will still judge the pair.",
        )
        asked = st.form_submit_button("Answer" if question.answer is None else "Change")
    if asked:
        acts.do(
            form, lambda: _readers(answer_question(store, question.question_id, words, acts.by, everyone))
        )


def _readers(question: GuideQuestion) -> str:
    return (
        f"{'Everyone' if question.everyone else 'Who asked'} reads the answer to "
        f"“{isolate(question.words[:80])}” now."
    )
