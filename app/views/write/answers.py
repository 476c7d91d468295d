"""Answers, writing: the query with its documents, the field for the answer, and the writer's last answers.

The browser keeps typed text and the project keeps ticked documents, so a reload of the page loses neither
text nor ticks. The keys of widgets contain the assignment and its revision, so that a click belongs to the
query that was on screen at the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import Draft, keys
from app.context import image_hosts, project_store
from app.views.write.desk import Desk, desk, draft_name, later_button
from curation.core.characters import isolate
from curation.core.digests import digest
from curation.labeling.written_answers.writing import (
    MAX_ANSWER_LENGTH,
    OwnAnswer,
    WritingItem,
    draw_shown_document,
    list_own_answers,
    mark_unanswerable,
    read_writing_item,
    read_writing_queue,
    retract_answer,
    save_ticks,
    write_answer,
)
from curation.store import Store

ELSEWHERE = "You answered this query in a different tab. That answer counts. You can change the answer below."


def show(store: Store, acts: Acts) -> None:
    state, (waiting, answered) = desk("write"), read_writing_queue(store, acts.by)
    item = _current(store, acts.by, state, waiting)
    if item is None:
        keys("", "", sent=state.sent)
        _show_empty(state, answered)
    else:
        _item(item, f"{answered:,} of {answered + len(waiting):,} answered", acts, state)
    _show_own_answers(store, acts, state)


def _current(store: Store, writer: str, state: Desk, waiting: Sequence[str]) -> WritingItem | None:
    """Read the query on screen; if there is none, choose the first query that was not put off in this
    session.
    """
    if state.at is None:
        state.at = state.next_of([(assignment_id,) for assignment_id in waiting])
    if state.at is None:
        return None
    item = read_writing_item(store, writer, state.at[0], image_hosts())
    if state.seen is not None and item.revision > state.seen:
        state.leave(ELSEWHERE)
        return _current(store, writer, state, waiting)
    state.seen = item.revision
    return item


def _show_empty(state: Desk, answered: int) -> None:
    state.show_done()
    if answered:
        st.info("You have answered every query that was given to you. Thank you.")
    else:
        st.info("You have no queries to answer. Queries appear here once a lead gives you an answer task.")


def _item(item: WritingItem, progress: str, acts: Acts, state: Desk) -> None:
    ui.query(item.query, item.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        ticked = _documents(item, acts, state)
    with right, st.container(key="writing"):
        state.show_done()
        ui.quiet(progress)
        _field(item, ticked, acts, state)


def _documents(item: WritingItem, acts: Acts, state: Desk) -> list[int]:
    """Show the documents, each with a checkbox; return the positions of the ticked documents."""
    key = f"{item.assignment_id[:12]} {item.revision}"
    ticked = []
    for index, document in enumerate(item.documents):
        body = document.passage
        if index in state.whole:
            body = draw_shown_document(project_store(), acts.by, item.assignment_id, index, image_hosts())
        with st.container(key=f"evidence-{index}", gap="xsmall"):
            about = (f"Document {index + 1}", document.published, document.url)
            ui.document(document.title, body, about, document.facts)
            with st.container(horizontal=True, vertical_alignment="center"):
                tick = st.checkbox(
                    f"Document {index + 1} supports the answer",
                    value=index in item.ticked,
                    key=f"tick {index} {key}",
                    on_change=_keep_ticks,
                    args=(item, acts.by, key),
                )
                if document.has_more:
                    state.whole_button(index, key)
        if tick:
            ticked.append(index)
    return ticked


def _keep_ticks(item: WritingItem, writer: str, key: str) -> None:
    """Store the ticked documents of an unfinished answer."""
    ticks = [index for index in range(len(item.documents)) if st.session_state.get(f"tick {index} {key}")]
    save_ticks(project_store(), writer, item.assignment_id, ticks)


def _field(item: WritingItem, ticked: list[int], acts: Acts, state: Desk) -> None:
    key = f"{item.assignment_id[:12]} {item.revision}"
    with st.form(f"answer form {key}", border=False):
        text = st.text_area(
            "Answer",
            value=item.answer,
            height=120,
            max_chars=MAX_ANSWER_LENGTH,
            key=f"answer {key}",
            placeholder="As short as possible, in a few words",
        )
        ui.quiet(_ticked_sentence(len(ticked)))
        with st.container(horizontal=True, gap="xsmall"):
            sent = st.form_submit_button("Send `Ctrl Enter`", type="primary", key=f"send {key}")
            none = st.form_submit_button("The corpus does not answer the query", key=f"none {key}")
    with st.container(horizontal=True, gap="xsmall"):
        later = later_button(item.written, key)
    name = draft_name(acts, "answer", digest(item.assignment_id, item.revision))
    keys("writing", "", Draft(f"answer-{key.replace(' ', '-')}", name, item.answer), state.sent)

    def send() -> None:
        write_answer(project_store(), acts.by, item.assignment_id, text, ticked, item.revision)
        state.leave("Sent. You can change or take back the answer below.", name)

    def send_unanswerable() -> None:
        mark_unanswerable(project_store(), acts.by, item.assignment_id, text, item.revision)
        state.leave("Sent: the corpus does not answer the query. You can change this answer below.", name)

    if sent:
        acts.do(acts.form("write answer"), send)
    if none:
        acts.do(acts.form("write answer"), send_unanswerable)
    if later:
        at = (item.assignment_id,)
        acts.do(acts.form("write answer"), lambda: state.leave("") if item.written else state.put_off(at))


def _ticked_sentence(ticked: int) -> str:
    if not ticked:
        return "Tick the documents that support the answer."
    return f"Documents that support the answer: {ticked:,}"


def _show_own_answers(store: Store, acts: Acts, state: Desk) -> None:
    mine = list_own_answers(store, acts.by)
    if not mine:
        return
    with st.expander("My last answers"):
        for answer in mine:
            _show_own_answer(answer, acts, state)


def _show_own_answer(own_answer: OwnAnswer, acts: Acts, state: Desk) -> None:
    answer = "The corpus does not answer the query" if own_answer.answer is None else own_answer.answer
    words, buttons = st.columns([3, 1], vertical_alignment="center")
    with words:
        references = (f"Reference answer: {isolate(text)}" for text in own_answer.references or ())
        ui.remarks(own_answer.query, answer, *references)
    if not own_answer.can_change:
        return
    key = f"{own_answer.assignment_id[:12]} {own_answer.revision}"
    with buttons, st.container(horizontal=True, gap="xsmall"):
        st.button("Change", key=f"change {key}", on_click=state.open, args=((own_answer.assignment_id,),))
        back = st.button("Take back", key=f"back {key}", help="The query comes to you again")

    def retract() -> None:
        retract_answer(project_store(), acts.by, own_answer.assignment_id, own_answer.revision)
        state.open((own_answer.assignment_id,), "Taken back. Your text is in the field.")

    if back:
        acts.do(acts.form("write answer"), retract)
