"""Write, Decide: the page part on which a reviewer chooses the reference answers of disputed queries."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import Draft, focus_field
from app.context import image_hosts, project_store
from app.views.write.desk import Desk, get_desk, join_answers, make_draft_name, show_skip_button
from curation.core.characters import isolate
from curation.core.digests import digest
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.labeling.presentation.drawing import draw_document
from curation.labeling.written_answers import decisions, disputes
from curation.labeling.written_answers.writing import MAX_ANSWER_LENGTH
from curation.people.seal_access import unseal_for_reviewer
from curation.store import Store

NO_ANSWER = "The corpus does not answer the query"


def show(store: Store, acts: Acts) -> None:
    desk, queue = get_desk("decide"), disputes.find_answer_disputes(store, acts.by)
    if desk.current is None:
        desk.current = desk.choose_next([(dispute.task, dispute.query_id) for dispute in queue.waiting])
    if desk.current is None:
        focus_field("", "", sent=desk.sent_draft)
        desk.show_confirmation()
        sentence = "Nothing to decide. A query appears here when people's answers differ."
        st.info(sentence + _mention_own(queue.own))
    else:
        task, query_id = desk.current
        access = unseal_for_reviewer(store, acts.by, [query_id])
        case = disputes.read_answer_case(store, task, query_id, acts.by, access=access)
        waiting = pluralize(len(queue.waiting), "query waits", "queries wait")
        _show_case(case, f"{waiting} for a decision.{_mention_own(queue.own)}", acts, desk)
    _show_recent(store, acts, desk)


def _mention_own(count: int) -> str:
    waiting = pluralize(count, "query waits", "queries wait")
    return f" {waiting} for a reviewer who did not answer the query." if count else ""


def _show_case(case: disputes.AnswerCase, progress: str, acts: Acts, desk: Desk) -> None:
    if desk.revision is None:
        desk.revision = case.revision
    ui.query(case.query, case.information_need)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_documents(case, desk)
    with right, st.container(key="deciding"):
        desk.show_confirmation()
        ui.note(progress)
        if case.decision is not None and case.revision > desk.revision:
            st.warning(
                ui.literal(decisions.describe_answer_overtaking(case.decision)), icon=":material/info:"
            )
        if case.outcome.why:
            ui.note(f"Reason for the dispute: {case.outcome.why}.")
        if case.references.answers:
            ui.note(f"Current, from {case.references.source}: {join_answers(case.references.answers)}")
        _ask_decision(case, acts, desk)


def _show_documents(case: disputes.AnswerCase, desk: Desk) -> None:
    with project_store().reading() as cursor:
        template = current_guide(cursor).presentation
    for index, (document, cited) in enumerate(zip(case.documents, case.cited, strict=True)):
        drawing = passage = draw_document(document, case.query, template, image_hosts=image_hosts())
        if index in desk.whole_documents:
            drawing = draw_document(document, case.query, template, longest=None, image_hosts=image_hosts())
        with st.container(key=f"evidence-{index}"):
            facts = (f"Document {index + 1}", f"ticked by {cited or 'nobody'}")
            ui.document(drawing.title, drawing.passage, facts, drawing.facts)
            if passage.has_more:
                desk.show_whole_button(index, _make_key(case))


def _ask_decision(case: disputes.AnswerCase, acts: Acts, desk: Desk) -> None:
    key, previous = _make_key(case), case.decision
    with st.form(f"decide answers {key}", border=False):
        ruling = _ask_ruling(case, key)
        decide_clicked = st.form_submit_button("Decide `Ctrl Enter`", type="primary", key=f"decided {key}")
    skip_clicked = show_skip_button(previous is not None, key)
    # The revision is part of the name: an unsent reason belongs to the decision that it would replace.
    draft_name = make_draft_name(acts, "answers", digest(case.task, case.query_id, case.revision))
    draft = Draft(f"reason-{key.replace(' ', '-')}", draft_name, previous.reason if previous else "")
    focus_field("", "", draft, desk.sent_draft)
    revision, desk.revision = desk.revision, case.revision  # from here on the query is on screen
    ids = (case.task, case.query_id)

    def decide() -> None:
        decisions.decide_answers(project_store(), *ids, ruling, acts.by, revision)
        desk.leave("Decided. You can change your decision at the end of this page.", draft_name)

    if decide_clicked:
        acts.do(acts.form("decide answers"), decide)
    if skip_clicked:
        acts.do(acts.form("decide answers"), lambda: desk.leave("") if previous else desk.skip(ids))


def _ask_ruling(case: disputes.AnswerCase, key: str) -> decisions.AnswerRuling:
    """Ask for the reviewer's decision (picked answers, a new answer, or “no answer”) and its reason."""
    previous = case.decision
    chosen = previous.answers if previous else ()
    answers = [(voice.text, voice) for voice in case.voices if voice.text is not None]
    picked = [
        text
        for index, (text, voice) in enumerate(answers)
        if _ask_voice(voice, text in chosen, f"{index} {key}")
    ]
    silent_count = next((voice.times for voice in case.voices if voice.text is None), 0)
    is_unanswerable = st.checkbox(
        f"{NO_ANSWER} (said by {silent_count:,})" if silent_count else NO_ANSWER,
        value=previous is not None and not chosen,
        key=f"nothing {key}",
    )
    merged = st.text_area(
        "Another answer, in your words",
        value=(previous.merged or "") if previous else "",
        height=70,
        max_chars=MAX_ANSWER_LENGTH,
        key=f"merged {key}",
        placeholder="Use this if no written answer is good enough",
    )
    reason = st.text_area(
        "Reason",
        value=previous.reason if previous else "",
        height=70,
        key=f"reason {key}",
        placeholder="One sentence, stored with the decision",
    )
    return decisions.AnswerRuling(picked, merged, is_unanswerable, reason)


def _ask_voice(voice: disputes.DistinctAnswer, chosen: bool, key: str) -> bool:
    """Show a checkbox that picks an answer, with the answer's number of writers and the documents that they
    cited."""
    numbers = ", ".join(str(index + 1) for index in voice.documents)
    with st.container(gap="xxsmall"):
        picked = st.checkbox(ui.literal(voice.text), value=chosen, key=f"voice {key}")
        ui.note(f"Writers: {voice.times:,}. Documents: {numbers}")
    return picked


def _make_key(case: disputes.AnswerCase) -> str:
    return f"{digest(case.task, case.query_id)[:12]} {case.revision}"


def _show_recent(store: Store, acts: Acts, desk: Desk) -> None:
    recent = decisions.read_recent_answer_decisions(store, acts.by)
    if not recent:
        return
    query_ids = [decision.query_id for decision, *_ in recent]
    unseal_for_reviewer(store, acts.by, query_ids)  # another reading is logged, too
    with st.expander("My last decisions"):
        for decision, task, query in recent:
            _show_decision(decision, task, query, desk)


def _show_decision(decision: decisions.AnswerDecision, task: str, query: str, desk: Desk) -> None:
    text_column, button_column = st.columns([9, 1], vertical_alignment="center")
    with text_column:
        ui.remarks(query, *(decision.answers or (NO_ANSWER,)), f"Why: {isolate(decision.reason)}")
    ids = (task, decision.query_id)
    key = f"change {digest(*ids)[:12]} {decision.revision}"
    button_column.button("Change", key=key, on_click=desk.open, args=(ids,))
