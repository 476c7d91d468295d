"""Write, Queries: the page part on which a person writes queries for documents that no query finds."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import Draft, focus_field
from app.context import image_hosts, project_store
from app.views.write.desk import make_draft_name
from curation.core.characters import isolate
from curation.core.errors import CurationError
from curation.core.reports.tables import QueryName
from curation.guides.guide import current_guide
from curation.labeling.presentation.drawing import DocumentText, draw_document
from curation.queries.coverage.writing import writing_queue
from curation.queries.coverage.writing.coverage_queries import UNANSWERABLE
from curation.store import Store

MAX_OWN_QUERIES = 20
FORM = "write task"
_WARNING = "warned of"
"""The session key of the last warning: the id of the task, the text of the query, and the sentences."""
_SENT_DRAFT = "draft that was sent"
INSTRUCTIONS = {
    "gap": "Imagine a user who needs this document but has not read it. What would the user type? "
    "Avoid the document's own words.",
    UNANSWERABLE: "What might a user of these documents look for that the collection lacks? Write a query "
    "on a related topic that no document answers.",
}


def show(store: Store, acts: Acts) -> None:
    with store.reading() as cursor:
        queue = writing_queue.read_writing_queue(cursor, acts.by)
    confirmation = acts.form(FORM).result
    if confirmation:
        ui.confirmation(confirmation)
    if queue.task is None:
        _explain_empty_queue(queue)
    else:
        ui.note(f"{queue.open:,} to write, {len(queue.written):,} written, {queue.passed:,} skipped.")
        _show_task(queue.task, acts)
    _show_written(queue)


def _explain_empty_queue(queue: writing_queue.WritingQueue) -> None:
    if queue.waiting:
        st.info(
            f"{queue.waiting:,} tasks are on hold, because their documents changed or left the collection. "
            "The tasks come back if the documents do."
        )
    else:
        st.info("You have no queries to write. A lead opens writing tasks under Queries › Coverage.")


def _show_task(task: writing_queue.WritingTask, acts: Acts) -> None:
    left, right = st.columns([3, 2], gap="large")
    with left:
        document = task.document
        with project_store().reading() as cursor:
            template = current_guide(cursor).presentation
        body = draw_document(DocumentText.of(document), "", template, longest=None, image_hosts=image_hosts())
        ui.document(body.title, body.passage, (body.url, body.published), body.facts)
        ui.note(f"Topics of its region: {', '.join(map(isolate, task.entities))}.")
    with right:
        ui.heading("Write an unanswerable query" if task.kind == UNANSWERABLE else "Write a query")
        ui.sentences(INSTRUCTIONS[task.kind])
        st.markdown(f"**Style: {ui.literal(task.style.length)}, {ui.literal(task.style.wording)}**")
        _ask_query(task, acts)


def _ask_query(task: writing_queue.WritingTask, acts: Acts) -> None:
    form, key = acts.form(FORM), task.task_id[:12]
    draft = make_draft_name(acts, "write", task.task_id)
    warned_task, _, warnings = st.session_state.get(_WARNING, ("", "", []))
    is_warned = warned_task == task.task_id
    with st.form(f"write {key}", border=False):
        with st.container(key="query"):
            text = st.text_area("What would a user type?", height=90, max_chars=300, key=f"query {key}")
        if is_warned:
            st.warning("\n\n".join(map(ui.literal, warnings)), icon=":material/rule:")
        label = "Save the query unchanged" if is_warned else "Save the query"
        saving = st.form_submit_button(f"{label} `Ctrl Enter`", type="primary", key=f"save {form.key} {key}")
    skipping = st.button("Skip this document", key=f"pass {form.key} {key}")
    if saving:
        _save_unless_warned(task, acts, " ".join(text.split()), draft)
    elif skipping:
        st.session_state[_SENT_DRAFT] = draft
        acts.do(form, lambda: _skip(task, acts.by))
    focus_field("query", key, draft=Draft(f"query-{key}", draft), sent=st.session_state.get(_SENT_DRAFT, ""))


def _save_unless_warned(task: writing_queue.WritingTask, acts: Acts, text: str, draft: str) -> None:
    """Store the query unless there is a warning that the writer has not seen yet."""
    store = project_store()
    try:
        sentences = writing_queue.check_task_text(store, task.task_id, text, acts.by).sentences
    except CurationError as error:
        ui.problem(error)
        return
    if sentences and st.session_state.get(_WARNING, ("", ""))[:2] != (task.task_id, text):
        st.session_state[_WARNING] = task.task_id, text, sentences
        st.rerun()
    st.session_state[_SENT_DRAFT] = draft
    acts.do(acts.form(FORM), lambda: _write(task, text, acts.by))


def _write(task: writing_queue.WritingTask, text: str, writer: str) -> str:
    writing_queue.write_task(project_store(), task.task_id, text, writer)
    return f"Saved: {isolate(text)}"


def _skip(task: writing_queue.WritingTask, writer: str) -> str:
    has_other_document = writing_queue.pass_task(project_store(), task.task_id, writer)
    return "Skipped." if has_other_document else "Skipped. This region has no other document to write for."


def _show_written(queue: writing_queue.WritingQueue) -> None:
    if not queue.written:
        return
    rows = [(QueryName(item.text, item.query_id), item.purpose, item.document_id) for item in queue.written]
    caption, columns = "Queries that you wrote, newest first", ["Query", "For", "Document"]
    ui.table(caption, columns, rows, words=True, max_rows=MAX_OWN_QUERIES)
