"""Write, Answers: the page part on which a person answers the queries of an answer task.

The browser keeps typed text and the project keeps ticked documents, so a reload of the page loses neither
text nor ticks. The keys of widgets contain the assignment and its revision, so that a click belongs to the
query that was on screen at the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import Draft, focus_field
from app.context import image_hosts, project_store
from app.views.write.desk import Desk, get_desk, make_draft_name, show_skip_button
from curation.core.characters import isolate
from curation.core.digests import digest
from curation.labeling.written_answers import writing
from curation.store import Store

ELSEWHERE = "You already answered this query in another tab, and that answer counts. You can change it below."


def show(store: Store, acts: Acts) -> None:
    desk, (waiting, answered) = get_desk("write"), writing.read_writing_queue(store, acts.by)
    item = _choose_item(store, acts.by, desk, waiting)
    if item is None:
        focus_field("", "", sent=desk.sent_draft)
        _show_empty(desk, answered)
    else:
        _show_item(item, f"{answered:,} of {answered + len(waiting):,} answered", acts, desk)
    _show_own_answers(store, acts, desk)


def _choose_item(store: Store, writer: str, desk: Desk, waiting: Sequence[str]) -> writing.WritingItem | None:
    """Return the query on screen or, if there is none, the first query that the person has not skipped in
    this session."""
    if desk.current is None:
        desk.current = desk.choose_next([(assignment_id,) for assignment_id in waiting])
    if desk.current is None:
        return None
    item = writing.read_writing_item(store, writer, desk.current[0], image_hosts())
    if desk.revision is not None and item.revision > desk.revision:
        desk.leave(ELSEWHERE)
        return _choose_item(store, writer, desk, waiting)
    desk.revision = item.revision
    return item


def _show_empty(desk: Desk, answered: int) -> None:
    desk.show_confirmation()
    if answered:
        st.info("You have answered all your queries. Thank you!")
    else:
        st.info("You have no queries to answer. They appear here when a lead gives you an answer task.")


def _show_item(item: writing.WritingItem, progress: str, acts: Acts, desk: Desk) -> None:
    ui.query(item.query, item.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        ticked = _ask_documents(item, acts, desk)
    with right, st.container(key="writing"):
        desk.show_confirmation()
        ui.note(progress)
        _ask_answer(item, ticked, acts, desk)


def _ask_documents(item: writing.WritingItem, acts: Acts, desk: Desk) -> list[int]:
    """Show the documents, each with a checkbox; return the indexes of the ticked documents."""
    key = f"{item.assignment_id[:12]} {item.revision}"
    ticked = []
    for index, document in enumerate(item.documents):
        body = document.passage
        if index in desk.whole_documents:
            store, hosts = project_store(), image_hosts()
            body = writing.draw_shown_document(store, acts.by, item.assignment_id, index, hosts)
        with st.container(key=f"evidence-{index}", gap="xsmall"):
            facts = (f"Document {index + 1}", document.published, document.url)
            ui.document(document.title, body, facts, document.facts)
            with st.container(horizontal=True, vertical_alignment="center"):
                is_ticked = st.checkbox(
                    f"Document {index + 1} supports the answer",
                    value=index in item.ticked,
                    key=f"tick {index} {key}",
                    on_change=_save_ticks,
                    args=(item, acts.by, key),
                )
                if document.has_more:
                    desk.show_whole_button(index, key)
        if is_ticked:
            ticked.append(index)
    return ticked


def _save_ticks(item: writing.WritingItem, writer: str, key: str) -> None:
    """Store which documents are ticked for an answer that has not been sent yet."""
    ticks = [index for index in range(len(item.documents)) if st.session_state.get(f"tick {index} {key}")]
    writing.save_ticks(project_store(), writer, item.assignment_id, ticks)


def _ask_answer(item: writing.WritingItem, ticked: list[int], acts: Acts, desk: Desk) -> None:
    key = f"{item.assignment_id[:12]} {item.revision}"
    with st.form(f"answer form {key}", border=False):
        text = st.text_area(
            "Answer",
            value=item.answer,
            height=120,
            max_chars=writing.MAX_ANSWER_LENGTH,
            key=f"answer {key}",
            placeholder="As short as possible, in a few words",
        )
        ui.note(_count_ticks(len(ticked)))
        with st.container(horizontal=True, gap="xsmall"):
            send_clicked = st.form_submit_button("Send `Ctrl Enter`", type="primary", key=f"send {key}")
            none_clicked = st.form_submit_button("The corpus does not answer the query", key=f"none {key}")
    with st.container(horizontal=True, gap="xsmall"):
        skip_clicked = show_skip_button(item.written, key)
    draft = make_draft_name(acts, "answer", digest(item.assignment_id, item.revision))
    focus_field("writing", "", Draft(f"answer-{key.replace(' ', '-')}", draft, item.answer), desk.sent_draft)

    def send() -> None:
        writing.write_answer(project_store(), acts.by, item.assignment_id, text, ticked, item.revision)
        desk.leave("Sent. You can change or undo your answer below.", draft)

    def send_unanswerable() -> None:
        writing.mark_unanswerable(project_store(), acts.by, item.assignment_id, text, item.revision)
        desk.leave("Sent: the corpus does not answer the query. You can change this answer below.", draft)

    if send_clicked:
        acts.do(acts.form("write answer"), send)
    if none_clicked:
        acts.do(acts.form("write answer"), send_unanswerable)
    if skip_clicked:
        ids = (item.assignment_id,)
        acts.do(acts.form("write answer"), lambda: desk.leave("") if item.written else desk.skip(ids))


def _count_ticks(tick_count: int) -> str:
    if not tick_count:
        return "Tick the documents that support the answer."
    return f"Documents that support the answer: {tick_count:,}"


def _show_own_answers(store: Store, acts: Acts, desk: Desk) -> None:
    answers = writing.list_own_answers(store, acts.by)
    if not answers:
        return
    with st.expander("My last answers"):
        for answer in answers:
            _show_own_answer(answer, acts, desk)


def _show_own_answer(own_answer: writing.OwnAnswer, acts: Acts, desk: Desk) -> None:
    answer = "The corpus does not answer the query" if own_answer.answer is None else own_answer.answer
    text_column, button_column = st.columns([3, 1], vertical_alignment="center")
    with text_column:
        references = (f"Reference answer: {isolate(text)}" for text in own_answer.references or ())
        ui.remarks(own_answer.query, answer, *references)
    if not own_answer.can_change:
        return
    key = f"{own_answer.assignment_id[:12]} {own_answer.revision}"
    with button_column, st.container(horizontal=True, gap="xsmall"):
        st.button("Change", key=f"change {key}", on_click=desk.open, args=((own_answer.assignment_id,),))
        retract_clicked = st.button(
            "Take back", key=f"back {key}", help="Undone: the query is in your list again"
        )

    def retract() -> None:
        writing.retract_answer(project_store(), acts.by, own_answer.assignment_id, own_answer.revision)
        desk.open((own_answer.assignment_id,), "Your answer is undone. Its text is back in the field.")

    if retract_clicked:
        acts.do(acts.form("write answer"), retract)
