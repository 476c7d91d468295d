"""Write, Questions: the page part on which a lead has a language model write questions for documents."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from curation.core.reports.tables import QueryName
from curation.queries.coverage.writing.coverage_queries import list_queries
from curation.queries.questions.write_questions import estimate_questions, read_rejected
from curation.queries.requests import QuestionRequest

JOB = "write questions"
MAX_ROWS = 100
HOW_TO_SET_UP = (
    "An operator sets these variables on the machine that runs the app, and the model's key in "
    "GOLDGRADE_LLM_KEY. Ollama, vLLM, LM Studio, Azure and OpenAI offer such an address."
)


def show(context: PageContext) -> None:
    left, right = st.columns([2, 3], gap="large")
    with left:
        problem = context.find_problem(JOB)
        if problem is None:
            _ask_questions(context)
        else:
            st.info(ui.literal(problem))
            ui.note(HOW_TO_SET_UP)
    with right:
        context.show_result(JOB)
        _show_questions(context)


def _ask_questions(context: PageContext) -> None:
    """Ask for the questions, and start the job once the person has seen what would be sent."""
    fields, estimate = Form(QuestionRequest), context.acts.form("estimate questions")
    fields.ask("documents", "per_document")
    with st.expander("More options"):
        fields.ask_rest()
    request = fields.request()
    if st.button("Show what would be sent", key=f"estimate {estimate.key}"):
        context.acts.do(estimate, lambda: (request, estimate_questions(context.store, request)))
    if estimate.result and estimate.result[0] == request:
        ui.sentences(*estimate.result[1])
        if context.button("Send and write the questions", JOB, context.find_problem(JOB, request)):
            context.request_job(JOB, request)


def _show_questions(context: PageContext) -> None:
    with context.store.reading() as cursor:
        rejected = read_rejected(cursor)
        queries = [query for query in reversed(list_queries(cursor)) if query.source == "synthetic"]
    rows = [(QueryName(query.text, query.query_id), query.style, query.document_id) for query in queries]
    if rows:
        ui.table("Synthetic queries, newest first", ["Query", "Kind", "Document"], rows, True, MAX_ROWS)
    if rejected:
        columns = ["Text", "Kind", "Document", "Reason"]
        ui.table("Rejected, newest first", columns, rejected, words=True, max_rows=MAX_ROWS)
