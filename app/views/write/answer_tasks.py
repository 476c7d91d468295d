"""Write, Tasks: the page part on which leads open and close tasks to write reference answers."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.forms import Form
from app.views.write.desk import join_answers
from curation.core.reports.tables import QueryName
from curation.ingest.importers.query_tags import list_tags_for_people
from curation.labeling.requests import AnswerTaskRequest
from curation.labeling.written_answers import tasks
from curation.labeling.written_answers.create_task import OpenedAnswerTask, open_answer_task
from curation.labeling.written_answers.status import STATES, AnswerTaskStatus, read_answer_task_status
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.store import Store

MAX_ROWS = 100
STATE_CHANGES = {
    True: ("Reopen", "Writers see this task's unanswered queries again."),
    False: (
        "Close",
        "Writers get no more queries from this task. Queries with missing answers go to a reviewer.",
    ),
}


def show(store: Store, acts: Acts) -> None:
    with store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        names = [task.name for task in reversed(tasks.list_answer_tasks(cursor))]
        tags = list_tags_for_people(cursor)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _ask_task(store, acts, [person.name for person in people], select_default_names(people), tags)
    with right:
        if names:
            _show_task(store, acts, names)
        else:
            st.info("There is no answer task yet.")


def _ask_task(store: Store, acts: Acts, names: list[str], initial_names: list[str], tags: list[str]) -> None:
    form = acts.form("open answer task")
    start = AnswerTaskRequest(writers=initial_names)
    fields = Form(AnswerTaskRequest, start, form.key, {"writers": names, "tag": tags})
    with st.form(f"task {form.key}"):
        fields.ask("name", "writers", "overlap", "tag", "most", "show")
        with st.expander("Number of documents, agreement rule, seed"):
            fields.ask("documents", "bound", "seed")
        fields.ask_rest("queries")
        submitted = st.form_submit_button("Open the task", type="primary", key=f"open {form.key}")
    if submitted:
        acts.do(form, lambda: open_answer_task(store, fields.request(), acts.by))


def _show_task(store: Store, acts: Acts, names: list[str]) -> None:
    name = st.selectbox("Answer task", names, width=320, key="task", bind="query-params")
    opened: OpenedAnswerTask | None = acts.form("open answer task").result
    if opened is not None and opened.task == name:
        ui.sentences(*opened.sentences)
    status = read_answer_task_status(store, name)
    ui.result(status)
    _offer_state_change(store, acts, status)
    _show_queries(status)


def _offer_state_change(store: Store, acts: Acts, status: AnswerTaskStatus) -> None:
    form = acts.form("answer task")
    verb, effect = STATE_CHANGES[status.closed]
    with st.popover(f"{verb} this task", key=f"life {form.key} {status.task}"):
        ui.note(effect)
        label = f"{verb} “{ui.literal(status.task)}”"
        confirmed = st.button(label, type="primary", key=f"sure {form.key} {status.task}")
    if confirmed:
        acts.do(form, lambda: tasks.set_answer_task_state(store, status.task, not status.closed, acts.by))


def _show_queries(status: AnswerTaskStatus) -> None:
    rows = [
        (QueryName(query.query, query.query_id), STATES[query.how], join_answers(query.answers) or query.why)
        for query in status.queries
    ]
    columns = ["Query", "State", "Reference answers, or why the writers' answers differ"]
    ui.table("Queries", columns, rows, words=True, max_rows=MAX_ROWS)
