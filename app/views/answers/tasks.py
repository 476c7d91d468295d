"""Answers, tasks: a lead opens them, follows how far writers are and how far they agree, and closes them."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.views.answers.desk import joined
from curation.core.reports.page import QueryName
from curation.core.text import amount
from curation.ingest.importers.query_tags import tags_for_people
from curation.labeling.written_answers.create_task import AnswerTaskOpened, AnswerTaskPlan, open_answer_task
from curation.labeling.written_answers.rule import BOUND
from curation.labeling.written_answers.shown_documents import DOCUMENTS, POOL, RELEVANT
from curation.labeling.written_answers.task_status import (
    STATES,
    AnswerTaskStatus,
    agreement_sentence,
    answer_task_status,
    status_tables,
)
from curation.labeling.written_answers.tasks import close_answer_task, list_answer_tasks, reopen_answer_task
from curation.people.annotators import able_to_judge, usual_names
from curation.people.seal_access import withheld
from curation.store import Store

SHOWN = 100
SHOWS = {
    RELEVANT: "Those that people judged relevant, else the pool's",
    POOL: "The pool's, whatever was judged",
}


LIFE = {
    True: (reopen_answer_task, "Reopen", "It comes back to its writers, with what is still open."),
    False: (
        close_answer_task,
        "Close",
        "Nobody is shown more of it. Queries with answers missing go to a reviewer.",
    ),
}


def show(store: Store, acts: Acts) -> None:
    with store.reading() as cursor:
        people = able_to_judge(cursor)
        names = [task.name for task in reversed(list_answer_tasks(cursor))]
        tags = tags_for_people(cursor)
    left, right = st.columns([2, 3], gap="large")
    with left:
        usual = usual_names(people)
        _form(store, acts, [person.name for person in people], usual, tags)
    with right:
        if names:
            _task(store, acts, names)
        else:
            st.info("No answer task is open yet.")


def _form(store: Store, acts: Acts, names: list[str], usual: list[str], tags: list[str]) -> None:
    form = acts.form("open answer task")
    with st.form(f"task {form.key}"):
        name = st.text_input("Name of the task", placeholder="such as faq", key=f"name {form.key}")
        writers = st.multiselect("Writers", names, default=usual)
        overlap = st.number_input("Writers of each query", min_value=1, value=2)
        tag = st.selectbox("Queries with the tag", tags, index=None, placeholder="any")
        most = st.number_input("Draw so many queries", min_value=1, value=None, placeholder="all")
        show = st.selectbox("Documents shown", list(SHOWS), format_func=SHOWS.__getitem__)
        plan = AnswerTaskPlan(name.strip(), writers, int(overlap), tag=tag, most=_whole(most), show=show)
        plan = _more(plan)
        asked = st.form_submit_button("Open the task", type="primary", key=f"open {form.key}")
    if asked:
        acts.do(form, lambda: open_answer_task(store, plan, acts.by))


def _more(plan: AnswerTaskPlan) -> AnswerTaskPlan:
    """The plan with what is seldom changed."""
    with st.expander("Number of documents, when answers agree, seed"):
        documents = st.number_input("Documents of a query, at most", min_value=1, value=DOCUMENTS)
        bound = st.number_input(
            "Answers agree from a token F1 of",
            0.05,
            1.0,
            BOUND,
            0.05,
            help="Answers with other numbers never agree. 1: only equal words agree.",
        )
        seed = st.number_input("Seed", value=0, step=1)
    again = st.checkbox("Also queries that have reference answers")
    return plan._replace(documents=int(documents), bound=float(bound), again=again, seed=int(seed))


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _task(store: Store, acts: Acts, names: list[str]) -> None:
    name = st.selectbox("Answer task", names, width=320, key="task", bind="query-params")
    here: AnswerTaskOpened | None = acts.form("open answer task").result
    if here is not None and here.task == name:
        left_out = [
            f"Left out: {amount(count, 'query', 'queries')}: {why}." for why, count in here.left_out.items()
        ]
        sentences = [f"Opened: {amount(here.assignments, 'answer')} to write.", *left_out]
        ui.sentences("\n".join([*sentences, withheld(here.sealed, "query", "queries")]))
    status = answer_task_status(store, name)
    ui.quiet(_state(status))
    ui.tables(*status_tables(status))
    ui.quiet(agreement_sentence(status.agreement))
    _life(store, acts, status)
    _queries(status)


def _state(status: AnswerTaskStatus) -> str:
    asked = status.parameters
    said = [f"opened {status.opened_at:%d %b %Y}", f"{amount(asked['overlap'], 'writer')} for each query"]
    said.append(f"answers agree from a token F1 of {asked['bound']:g}")
    return "  ·  ".join(["Closed" if status.closed else "Open", *said])


def _life(store: Store, acts: Acts, status: AnswerTaskStatus) -> None:
    form = acts.form("answer task")
    act, word, says = LIFE[status.closed]
    with st.popover(f"{word} this task", key=f"life {form.key} {status.task}"):
        ui.quiet(says)
        label = f"{word} “{ui.plain(status.task)}”"
        sure = st.button(label, type="primary", key=f"sure {form.key} {status.task}")
    if sure:
        acts.do(form, lambda: act(store, status.task, acts.by))


def _queries(status: AnswerTaskStatus) -> None:
    rows = [
        (QueryName(query.query, query.query_id), STATES[query.how], joined(query.answers) or query.why)
        for query in status.queries
    ]
    ui.table("Queries", ["Query", "State", "Reference answers, or why they differ"], rows[:SHOWN], words=True)
    if len(rows) > SHOWN:
        ui.quiet(f"Not shown: {len(rows) - SHOWN:,} more queries.")
