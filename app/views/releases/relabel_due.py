"""Re-label, Due: the pairs to judge again this quarter, why, and the button that opens their round."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.components.forms import Form
from app.page_context import PageContext
from curation.core.errors import NotFoundError
from curation.core.text import percent, pluralize
from curation.ingest.stored_runs import read_stored_runs
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.pooling.request import SYSTEMS
from curation.relabeling.calendar import NOT_PLANNED, PLANNED
from curation.relabeling.due_list import DueList, make_plan_tables
from curation.relabeling.due_sentences import REASONS
from curation.relabeling.judged_pairs import DOCUMENT
from curation.relabeling.request import MAX_SHARE, MIN_SHARE, PlanRequest, QuarterRequest
from curation.relabeling.stored_plans import PlanPair
from curation.relabeling.text_changes import compare_texts
from curation.retrieval import RUN_PREFIX
from curation.store import get_setting
from curation.store.documents import snapshot_versions

MAX_ROWS = 50
"""Maximum number of rows of a table; the command line shows all rows."""
PLAN_JOB, OPEN_ROUND_JOB = "plan re-labeling", "relabel"
ALL = "All pairs"


def show(context: PageContext, due: DueList) -> None:
    ui.verdict(f"{len(due.pairs):,}", f"pairs, {due.quarter}", due.sentence)
    ui.sentences(*due.sentences[1:])
    context.show_result(OPEN_ROUND_JOB)
    if due.pairs and due.state in (NOT_PLANNED, PLANNED):
        _offer_opening(context, due)
    if due.pairs:
        _show_pairs(context, due)


def _offer_opening(context: PageContext, due: DueList) -> None:
    """Show the form that opens the round; without a stored plan the job makes the plan that is shown."""
    with context.store.reading() as cursor:
        people = list_eligible_annotators(cursor)
        runs = [f"{RUN_PREFIX}{run.name}" for run in read_stored_runs(cursor)]
    plan_id = due.work.plan_id if due.work else None
    start = QuarterRequest(tuple(select_default_names(people)), plan_id, due.quarter)
    choices = {"annotators": [person.name for person in people], "systems": [*SYSTEMS, *runs]}
    form = Form(QuarterRequest, start, choices=choices)
    form.ask("annotators")
    left, right = st.columns(2)
    with left.expander("More options of the round"):
        form.ask_rest()
    with right.expander("Change the size"):
        _ask_plan(context)
    request = form.request()
    label = "Preview the round" if request.dry_run else "Open the round"
    if context.button(label, OPEN_ROUND_JOB, context.find_problem(OPEN_ROUND_JOB, request)):
        context.request_job(OPEN_ROUND_JOB, request)


def _ask_plan(context: PageContext) -> None:
    form = Form(PlanRequest)
    with st.form("plan"):
        share = st.slider("Share of the pairs (%)", round(100 * MIN_SHARE), round(100 * MAX_SHARE), 15)
        form.ask("overlap", "seed")
        submitted = context.submit_button("Plan", PLAN_JOB)
    context.show_result(PLAN_JOB)
    if submitted:
        context.request_job(PLAN_JOB, form.request(fraction=share / 100))


def _show_pairs(context: PageContext, due: DueList) -> None:
    found = [pair.reason or pair.part for pair in due.pairs]
    reasons = {ALL: ALL} | {REASONS[reason][1]: reason for reason in found}
    reason = reasons[ui.choose_part("Pairs", reasons, "why")]
    pairs = [pair for pair in due.pairs if reason in (ALL, pair.reason or pair.part)]
    tables = make_plan_tables(pairs, due.queries if reason == ALL else ())
    for table in tables:
        if table.rows:
            ui.table(table.caption, table.columns, table.rows, words=True, max_rows=MAX_ROWS)
    if reason == DOCUMENT:
        _show_change(context, pairs)


def _show_change(context: PageContext, pairs: list[PlanPair]) -> None:
    """Show the differences between a document's judged text and its current text."""
    ui.heading("What changed in the document")
    document_id = st.selectbox("Changed document", sorted({pair.document_id for pair in pairs}))
    judged_hash = next(pair.content_hash for pair in pairs if pair.document_id == document_id)
    with context.store.reading() as cursor:
        versions = snapshot_versions(cursor, get_setting(cursor, "corpus"), [document_id])
    try:
        change = compare_texts(context.store, judged_hash or "", versions.get(document_id, ""))
    except NotFoundError as error:
        ui.problem(error)
        return
    common = "" if change.kept is None else f"{percent(change.kept)} of the words are in both. "
    left_out = f" {pluralize(change.words_left_out, 'more word is', 'more words are')} not shown."
    legend = "Struck through: removed since it was judged. Underlined: added since."
    ui.note(f"{common}{legend}{left_out if change.words_left_out else ''}")
    ui.text_difference(change.title, change.body)
