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
