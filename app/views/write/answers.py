"""Answers, writing: the query and its documents, the answer's field, the last answers, what is on screen.

What is typed is kept in the browser, what is ticked in the project: a reload loses neither. The assignment
and its revision are part of the widgets' keys, so that a press belongs to what was on screen at the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import Draft, keys
from app.context import image_hosts, project_store
from app.signin.current_user import sessions
from curation.core.characters import isolated
from curation.core.digests import digest
from curation.labeling.written_answers.writing import (
    MAX_ANSWER_LENGTH,
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
    state, (waiting, answered) = desk("write"), writing_queue(store, acts.by)
    item = _current(store, acts.by, state, waiting)
    if item is None:
        keys("", "", sent=state.sent)
        _nothing(state, answered)
    else:
        _item(item, f"{answered:,} of {answered + len(waiting):,} answered", acts, state)
    _own(store, acts, state)


def _current(store: Store, writer: str, state: Desk, waiting: Sequence[str]) -> WritingItem | None:
    """What is on screen; when there is nothing, the first that was not put off in this session."""
    if state.at is None:
        state.at = state.next_of([(assignment_id,) for assignment_id in waiting])
    if state.at is None:
        return None
    item = writing_item(store, writer, state.at[0], image_hosts())
    if state.seen is not None and item.revision > state.seen:
        state.leave(ELSEWHERE)
        return _current(store, writer, state, waiting)
    state.seen = item.revision
    return item


def _nothing(state: Desk, answered: int) -> None:
    if state.done:
        ui.confirmation(state.done)
    if answered:
        st.info("You have answered every query that was given to you. Thank you.")
    else:
        st.info("No query waits for you. Once a lead opens an answer task with you in it, queries come here.")


def _item(item: WritingItem, progress: str, acts: Acts, state: Desk) -> None:
    ui.query(item.query, item.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        ticked = _documents(item, acts, state)
    with right, st.container(key="writing"):
        if state.done:
            ui.confirmation(state.done)
        ui.quiet(progress)
        _field(item, ticked, acts, state)


def _documents(item: WritingItem, acts: Acts, state: Desk) -> list[int]:
    """The documents, each with its tick; the places of those that are ticked."""
    key = f"{item.assignment_id[:12]} {item.revision}"
    ticked = []
    for index, document in enumerate(item.documents):
        whole = index in state.whole
        body = document.passage
        if whole:
            body = whole_evidence(project_store(), acts.by, item.assignment_id, index, image_hosts())
        with st.container(key=f"evidence-{index}", gap="xsmall"):
            about = (f"Document {index + 1}", document.published, document.url)
            ui.document(document.title, body, about, document.facts)
            with st.container(horizontal=True, vertical_alignment="center"):
                tick = st.checkbox(
                    f"Document {index + 1} supports the answer",
                    value=index in item.ticked,
                    key=f"tick {index} {key}",
                    on_change=_keep,
                    args=(item, acts.by, key),
                )
                if document.has_more:
                    st.button(
                        "Passage only" if whole else "Whole document",
                        key=f"whole {index} {key}",
                        on_click=state.turn,
                        args=(index,),
                    )
        if tick:
            ticked.append(index)
    return ticked


def _keep(item: WritingItem, writer: str, key: str) -> None:
    """Keep the ticks of an answer in progress."""
    ticks = [index for index in range(len(item.documents)) if st.session_state.get(f"tick {index} {key}")]
    keep_ticks(project_store(), writer, item.assignment_id, ticks)


def _field(item: WritingItem, ticked: list[int], acts: Acts, state: Desk) -> None:
    key = f"{item.assignment_id[:12]} {item.revision}"
    with st.form(f"answer form {key}", border=False):
        text = st.text_area(
            "Answer",
            value=item.answer,
            height=120,
            max_chars=MAX_ANSWER_LENGTH,
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
        for answer in mine:
            _line(answer, acts, state)


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


def joined(answers: Iterable[str]) -> str:
    """Answers in one line; no override in one of them turns the others."""
    return " / ".join(map(isolated, answers))


@dataclass
class Desk:
    """What a part of the page remembers between its runs; no run of Streamlit stops while it changes.

    Attributes
    ----------
    at: what is on screen: an assignment, or task and query; None: the next one is looked for.
    seen: its revision when it came on screen.
    skipped: what was put off.
    whole: the places of documents that are shown whole.
    done: what was done last; shown until the next action.
    sent: the name of the draft that was sent last.
    """

    at: tuple[str, ...] | None = None
    seen: int | None = None
    skipped: list[tuple[str, ...]] = field(default_factory=list)
    whole: set[int] = field(default_factory=set)
    done: str = ""
    sent: str = ""

    def leave(self, done: str, sent: str = "") -> None:
        """Go on to the next."""
        self.open(None, done)
        self.sent = sent

    def open(self, at: tuple[str, ...] | None, done: str = "") -> None:
        self.at, self.seen, self.whole, self.done = at, None, set(), done

    def put_off(self, at: tuple[str, ...]) -> None:
        self.skipped = [*(other for other in self.skipped if other != at), at]
        self.leave("Put off. It comes again after the others.")

    def next_of(self, waiting: list[tuple[str, ...]]) -> tuple[str, ...] | None:
        """The first that was not put off; when all were, they come round again."""
        left = [item for item in waiting if item not in self.skipped]
        if waiting and not left:
            self.skipped = []
        return next(iter(left or waiting), None)

    def turn(self, index: int) -> None:
        """Show a document whole, or its passage again."""
        self.whole ^= {index}


def desk(part: str) -> Desk:
    """What this session is at in a part of the page."""
    state: Desk = st.session_state.setdefault(f"desk {part}", Desk())
    return state
