"""Queries, Pool: the page part on which a lead collects the documents that people judge."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import ui
from app.components.forms import Form
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from curation.core.errors import CurationError, RefusedError
from curation.core.text import pluralize
from curation.ingest.stored_runs import read_stored_runs
from curation.labeling.consensus.consensus import read_relevance
from curation.operations.jobs import Job
from curation.pooling.contributions import Contributions, build_contribution_table, compute_contributions
from curation.pooling.engine_negatives import list_notices
from curation.pooling.operations import forecast_embedding
from curation.pooling.request import SYSTEMS, PoolRequest
from curation.pooling.stored_pool import read_last_pool
from curation.pooling.systems import ENGINE_PREFIX
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.stored_engines import read_engines
from curation.store import Cursor
from curation.store.documents import is_held

INITIAL_REQUEST = PoolRequest(systems=("bm25",))
"""The form proposes only a system that needs seconds. People can add slow systems later."""


def show(context: PageContext) -> None:
    left, right = st.columns([2, 3], gap="large")
    with left:
        _ask_pool(context)
    with right:
        context.show_result("pool")
        try:
            contributions = compute_contributions(context.store, read_relevance(context.store))
        except RefusedError:
            st.info("No pool is built yet.")
            show_missing_stage(context.store, context.annotator, "sample")
        else:
            _show_contributions(contributions)
            report = read_last_pool(context.store)
            if report is not None:
                ui.sentences(*report.sentences)


def _ask_pool(context: PageContext) -> None:
    with context.store.reading() as cursor:
        runs = [f"{RUN_PREFIX}{run.name}" for run in read_stored_runs(cursor)]
        engines = [f"{ENGINE_PREFIX}{engine.name}" for engine in read_engines(cursor)]
        engine_sentences = [f"{name}: {_describe_requests(cursor, name)}" for name in engines]
        runs += engines
        is_part = is_held(cursor)
        forecast = None if is_part else forecast_embedding(cursor)
    initial = PoolRequest(systems=runs[:1]) if is_part else INITIAL_REQUEST
    form = Form(PoolRequest, initial, choices={"systems": runs if is_part else [*SYSTEMS, *runs]})
    with st.form("pool"):
        form.ask("systems")
        ui.sentences(*engine_sentences)
        form.ask("depth", "random_negatives", "budget")
        with st.expander("More options"):
            form.ask_rest()
        if forecast is not None:
            ui.note(f"Dense and hybrid first embed the corpus: {forecast}. bm25 takes seconds.")
        submitted = context.submit_button("Build the pool", "pool")
    if submitted:
        context.request_job("pool", form.request())
    last = context.jobs.get("pool")
    if forecast is not None and last is not None and last.outcome == "done":
        _offer_dense(context, last)


def _describe_requests(cursor: Cursor, engine: str) -> str:
    """Say what a pool sends to a search engine, or why it cannot send anything."""
    try:
        sentences = " ".join(list_notices(cursor, PoolRequest(systems=(engine,))))
    except CurationError as error:
        sentences = error.found.partition("\n")[0]
    return sentences or "its lists of today are stored. The pool does not ask the engine again."


def _offer_dense(context: PageContext, last: Job) -> None:
    """Offer to build the last pool again with the slow systems dense and hybrid."""
    systems = list(dict.fromkeys([*last.parameters.get("systems", ()), *SYSTEMS]))
    request = last.parameters | {"systems": systems}
    reason = context.find_problem("pool", request)
    if st.button("Add dense and hybrid", key=f"add dense {context.last_job_id}", disabled=reason is not None):
        context.request_job("pool", request)
    ui.note(
        reason
        or "Dense and hybrid also find documents that share no word with the query. "
        "People can judge meanwhile."
    )


def _show_contributions(contributions: Contributions) -> None:
    ui.tables(replace(build_contribution_table(contributions), words=True))
    candidates = pluralize(contributions.candidates, "candidate")
    ui.sentences(
        "Only here: found by no other system.",
        f"{contributions.graded:,} of the systems' {candidates} have a grade; "
        f"{contributions.relevant:,} are relevant: their grade is above the scale's lowest grade.",
        contributions.withheld,
    )
