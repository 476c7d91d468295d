"""Answers, writing: the query with its documents, the field for the answer, and the writer's last answers.

What is typed is kept in the browser, what is ticked in the project: a reload loses neither. The assignment
and its revision are part of the widgets' keys, so that a press belongs to what was on screen at the time.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.keys import Draft, keys
from app.context import image_hosts, project_store
from app.signin.current_user import sessions
from app.views.answers.desk import Desk, desk
from curation.core.text import digest, isolated
from curation.labeling.written_answers.writing import (
    LONGEST,
    AnswerQueue,
    OwnAnswer,
    WritingItem,
    keep_ticks,
    own_answers,
    retract_answer,
    say_unanswerable,
    whole_evidence,
    write_answer,
    writing_item,
    writing_queue,
)
from curation.store import Store

LATER = "l"
ELSEWHERE = "You answered this query in another tab. That answer counts; you can change it below."


def show(store: Store, acts: Acts) -> None:
    state, queue = desk("write"), writing_queue(store, acts.by)
    item = _current(store, acts.by, state, queue)
    if item is None:
        keys("", "", sent=state.sent)
        _nothing(state, queue)
    else:
        _item(item, queue, acts, state)
    _own(store, acts, state)


def _current(store: Store, writer: str, state: Desk, queue: AnswerQueue) -> WritingItem | None:
    """What is on screen; when there is nothing, the first that was not put off in this session."""
    if state.at is None:
        state.at = state.next_of([(one,) for one in queue.open])
    if state.at is None:
        return None
    item = writing_item(store, writer, state.at[0], image_hosts())
    if state.seen is not None and item.revision > state.seen:
        state.leave(ELSEWHERE)
        return _current(store, writer, state, queue)
    state.seen = item.revision
    return item


def _nothing(state: Desk, queue: AnswerQueue) -> None:
    if state.done:
        ui.confirmation(state.done)
    if queue.total:
        st.info("You have answered every query that was given to you. Thank you.")
    else:
        st.info("No query waits for you. Once a lead opens an answer task with you in it, queries come here.")


def _item(item: WritingItem, queue: AnswerQueue, acts: Acts, state: Desk) -> None:
    ui.query(item.query, item.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        ticked = _documents(item, acts, state)
    with right, st.container(key="writing"):
        if state.done:
            ui.confirmation(state.done)
        ui.quiet(f"{queue.done:,} of {queue.total:,} answered")
        _field(item, ticked, acts, state)


def _documents(item: WritingItem, acts: Acts, state: Desk) -> list[int]:
    """The documents, each with its tick; the places of those that are ticked."""
    key = f"{item.assignment_id[:12]} {item.revision}"
    ticked = []
    for place, one in enumerate(item.documents):
        whole = place in state.whole
        body = one.passage
        if whole:
            body = whole_evidence(project_store(), acts.by, item.assignment_id, place, image_hosts())
        with st.container(key=f"evidence-{place}", gap="xsmall"):
            about = (f"Document {place + 1}", one.published, one.url)
            ui.document(one.title, body, about, one.facts)
            with st.container(horizontal=True, vertical_alignment="center"):
                tick = st.checkbox(
                    f"Document {place + 1} supports the answer",
                    value=place in item.ticked,
                    key=f"tick {place} {key}",
                    on_change=_keep,
                    args=(item, acts.by, key),
                )
                if one.has_more:
                    st.button(
                        "Passage only" if whole else "Whole document",
                        key=f"whole {place} {key}",
                        on_click=state.turn,
                        args=(place,),
                    )
        if tick:
            ticked.append(place)
    return ticked


def _keep(item: WritingItem, writer: str, key: str) -> None:
    """Keep the ticks of an answer in progress."""
    ticks = [place for place in range(len(item.documents)) if st.session_state.get(f"tick {place} {key}")]
    keep_ticks(project_store(), writer, item.assignment_id, ticks)


def _field(item: WritingItem, ticked: list[int], acts: Acts, state: Desk) -> None:
    key = f"{item.assignment_id[:12]} {item.revision}"
    with st.form(f"answer form {key}", border=False):
        text = st.text_area(
            "Answer",
            value=item.answer,
            height=120,
            max_chars=LONGEST,
            key=f"answer {key}",
            placeholder="In a few words, as short as it can be",
        )
        ui.quiet(_supported(len(ticked)))
        with st.container(horizontal=True, gap="xsmall"):
            sent = st.form_submit_button("Send `Ctrl Enter`", type="primary", key=f"send {key}")
            none = st.form_submit_button("The corpus does not answer it", key=f"none {key}")
    with st.container(horizontal=True, gap="xsmall"):
        later = st.button(
            "Leave it" if item.written else "Later",
            key=f"later {key}",
            shortcut=LATER,
            help="Come back to this query after the others",
        )
    draft = Draft(f"answer-{key.replace(' ', '-')}", _draft_name(item, acts), item.answer)
    keys("writing", "", draft=draft, sent=state.sent)
    _act(item, text, ticked, (sent, none, later), acts, state)


def _act(
    item: WritingItem, text: str, ticked: list[int], pressed: tuple[bool, bool, bool], acts: Acts, state: Desk
) -> None:
    store, seen, draft = project_store(), item.revision, _draft_name(item, acts)

    def send() -> None:
        write_answer(store, acts.by, item.assignment_id, text, ticked, seen)
        state.leave("Sent. You can change it, or take it back, below.", draft)

    def none() -> None:
        say_unanswerable(store, acts.by, item.assignment_id, text, seen)
        state.leave("Sent: the corpus does not answer it. You can change that below.", draft)

    def later() -> None:
        state.leave("") if item.written else state.put_off((item.assignment_id,))

    for is_pressed, action in zip(pressed, (send, none, later), strict=True):
        if is_pressed:
            acts.do(acts.form("write answer"), action)


def _supported(ticked: int) -> str:
    if not ticked:
        return "Tick the documents that support the answer."
    return f"Documents that support it: {ticked:,}"


def _draft_name(item: WritingItem, acts: Acts) -> str:
    """An answer in progress belongs to this project, this writer, this query and what was written before."""
    return f"goldgrade:{sessions().project}:{acts.by}:answer:{digest(item.assignment_id, item.revision)}"


def _own(store: Store, acts: Acts, state: Desk) -> None:
    mine = own_answers(store, acts.by)
    if not mine:
        return
    with st.expander("My last answers"):
        for one in mine:
            _line(one, acts, state)


def _line(own_answer: OwnAnswer, acts: Acts, state: Desk) -> None:
    answer = "The corpus does not answer it" if own_answer.answer is None else own_answer.answer
    words, buttons = st.columns([3, 1], vertical_alignment="center")
    with words:
        ui.said(
            own_answer.query,
            answer,
            *(f"Reference answer: {isolated(text)}" for text in own_answer.references or ()),
        )
    if not own_answer.can_change:
        return
    key = f"{own_answer.assignment_id[:12]} {own_answer.revision}"
    with buttons, st.container(horizontal=True, gap="xsmall"):
        st.button("Change", key=f"change {key}", on_click=state.open, args=((own_answer.assignment_id,),))
        back = st.button("Take back", key=f"back {key}", help="The query comes to you again")

    def retract() -> None:
        retract_answer(project_store(), acts.by, own_answer.assignment_id, own_answer.revision)
        state.open((own_answer.assignment_id,), "Taken back. What you had written is in the field.")

    if back:
        acts.do(acts.form("write answer"), retract)
