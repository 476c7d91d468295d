"""Guide, Questions: the form in which leads answer annotators' questions about the guide."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.settings.guide_editing import GUIDE_FORM
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
        st.info(
            "Nobody has asked about the guide yet. People can ask below the guide on Label and Adjudicate."
        )
        return
    open_questions = [question for question in questions if question.answer is None]
    answered_questions = [question for question in questions if question.answer is not None]
    _show_questions(store, acts, "Not answered yet", open_questions)
    _show_questions(store, acts, "Answered", answered_questions)


def _show_questions(store: Store, acts: Acts, title: str, questions: Sequence[GuideQuestion]) -> None:
    if not questions:
        return
    limit = f" ({MAX_QUESTIONS} shown)" if len(questions) > MAX_QUESTIONS else ""
    ui.heading(f"{title}, {len(questions):,}{limit}")
    for question in questions[:MAX_QUESTIONS]:
        with st.container(border=True):
            ui.remarks(question.words, _describe_question(question))
            if question.answer is None:
                _ask_answer(store, acts, question)
            else:
                _show_answer(store, acts, question)


def _describe_question(question: GuideQuestion) -> str:
    pair = f"at “{isolate(question.query or '')}”, {isolate(question.title or '')}"
    subject = pair if question.query else "about the whole guide"
    version = "the current guide" if question.in_force else "an earlier guide"
    return f"{question.author}, {question.asked_at:%d %b %Y}, {subject}, under {version}"


def _show_answer(store: Store, acts: Acts, question: GuideQuestion) -> None:
    readers = "everyone reads it" if question.everyone else "the author reads the answer"
    ui.sentences(question.answer or "")
    if question.answered_at:
        ui.note(f"{question.answered_by}, {question.answered_at:%d %b %Y}; {readers}.")
    with st.expander("Change the answer"):
        _ask_answer(store, acts, question)


def _ask_answer(store: Store, acts: Acts, question: GuideQuestion) -> None:
    form = acts.form(GUIDE_FORM)
    with st.form(f"answer {question.question_id} {form.key}", border=False):
        answer = st.text_area("Answer", question.answer or "", height=90, max_chars=MAX_NOTE_LENGTH)
        is_shared = question.query is None if question.everyone is None else question.everyone
        everyone = st.checkbox(
            "Show question and answer to everyone",
            is_shared,
            help="By default, only the person who asked sees the answer. If you show it to everyone, "
            "nobody sees who asked. Beware: an answer about a pair can reveal its grade to people "
            "who still have to judge the pair.",
        )
        submitted = st.form_submit_button("Answer" if question.answer is None else "Change")
    if submitted:
        new_answer = (question.question_id, answer, acts.by, everyone)
        acts.do(form, lambda: _name_readers(answer_question(store, *new_answer)))


def _name_readers(question: GuideQuestion) -> str:
    readers = "Everyone" if question.everyone else "The person who asked"
    return f"{readers} can now read the answer to “{isolate(question.words[:80])}”."
