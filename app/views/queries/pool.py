"""Queries, Pool: the page part on which a lead collects the documents to be judged."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app import ui
from app.components.forms import Form
from app.next_stage import show_action_link, show_missing_stage
from app.page_context import PageContext
from curation.core.errors import CurationError
from curation.core.reports.tables import ShareCell
from curation.core.text import pluralize
from curation.ingest.importers.queries import read_active_queries
from curation.ingest.stored_runs import read_stored_runs
from curation.labeling.consensus.consensus import read_relevance
from curation.labeling.rounds.candidates import count_new_candidates
from curation.labeling.rounds.create_round import explain_no_round
from curation.labeling.rounds.grading_cost import forecast_pool
from curation.operations.jobs.figures import figures_of
from curation.operations.workflow.judging import OPEN
from curation.operations.workflow.stage import Action
from curation.pooling.contributions import build_contribution_table, compute_contributions
from curation.pooling.engine_negatives import list_notices
from curation.pooling.operations import forecast_embedding
from curation.pooling.request import FIRST_POOL, SYSTEMS, PoolRequest
from curation.pooling.stored_pool import PoolRow, find_last_pool, read_last_pool, restore_request
from curation.pooling.systems import ENGINE_PREFIX
from curation.retrieval import RUN_PREFIX
from curation.retrieval.analyzer import read_analyzer
from curation.retrieval.engines.stored_engines import read_engines
from curation.store import Cursor
from curation.store.documents import is_held

OPEN_ROUND = Action("Next: open a round", "rounds", "goldgrade round open", {"part": OPEN})


def show(context: PageContext) -> None:
    with context.store.reading() as cursor:
        pool, problem = find_last_pool(cursor), explain_no_round(cursor)
        queries = len(read_active_queries(cursor))
    if pool is None:
        context.show_result("pool")
        if queries:
            with st.container(border=True, width=520):
                _ask_pool(context)
        else:
            st.info("A pool holds the documents that systems find for the queries. There are no queries yet.")
            show_missing_stage(context.store, context.annotator, "sample")
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        unshown = figures_of(context.store).now(count_new_candidates)
        pairs, left_over = pool.report["candidates"], pluralize(unshown, "pair is", "pairs are")
        ui.heading(f"{pairs:,} candidates for {pluralize(pool.report['queries'], 'query', 'queries')}")
        ui.note(f"{left_over} left for a new round; the others are judged, in a round or left out.")
        if problem is None and unshown:
            with st.container(key="first-stage"):
                show_action_link(OPEN_ROUND)
        elif problem is not None:
            show_missing_stage(context.store, context.annotator, "people")
        _show_pool(context, pool)
        context.show_result("pool")
    with right, st.expander("Build another pool", expanded=queries != pool.report["queries"]):
        _ask_pool(context)


def _ask_pool(context: PageContext) -> None:
    """Ask for a pool outside a form, so that its cost and its differences follow each choice."""
    with context.store.reading() as cursor:
        runs = [f"{RUN_PREFIX}{run.name}" for run in read_stored_runs(cursor)]
        engines = [f"{ENGINE_PREFIX}{engine.name}" for engine in read_engines(cursor)]
        engine_sentences = [f"{name}: {_describe_requests(cursor, name)}" for name in engines]
        choices = [*runs, *engines] if is_held(cursor) else [*SYSTEMS, *runs, *engines]
        forecast = None if is_held(cursor) else forecast_embedding(cursor)
        current, kept_words = find_last_pool(cursor), tuple(sorted(read_analyzer(cursor).kept_words))
    initial = restore_request(current) if current else FIRST_POOL
    systems = [name for name in initial.systems if name in choices] or choices[:1]
    key = current.pool_id if current else ""
    initial = replace(initial, systems=systems, keep_words=kept_words)
    form = Form(PoolRequest, initial, key, choices={"systems": choices})
    form.ask("systems")
    ui.sentences(*engine_sentences)
    form.ask("depth")
    with st.expander("More options"):
        form.ask_rest()
    request = form.request()
    if forecast is not None and not {"dense", "hybrid"}.isdisjoint(request.systems):
        ui.note(f"Dense and hybrid first embed the corpus: {forecast}. bm25 takes seconds.")
    with context.store.reading() as cursor:
        ui.sentences(*forecast_pool(cursor, request))
    with st.form("pool", border=False):
        problem = None if request.systems else "Choose at least one system."
        submitted = context.submit_button("Build the pool", "pool", problem)
    if submitted:
        context.request_job("pool", request)


def _describe_requests(cursor: Cursor, engine: str) -> str:
    """Return a sentence about the data that a pool sends to an engine, or the reason why the pool cannot be
    made."""
    try:
        sentences = " ".join(list_notices(cursor, PoolRequest(systems=(engine,))))
    except CurationError as error:
        sentences = error.found.partition("\n")[0]
    return sentences or "today's results are stored, so the pool does not query the engine again."


def _show_pool(context: PageContext, pool: PoolRow) -> None:
    contributions = compute_contributions(context.store, read_relevance(context.store))
    table, report = build_contribution_table(contributions), read_last_pool(context.store)
    # the page is too narrow for more columns, and a single system finds everything alone
    shown = [index for index in range(8) if index != 6 and (len(table.rows) > 1 or index not in (2, 5))]
    random, relevant = pool.report["random_negatives"], contributions.relevant_at_random
    counts = (random, random, contributions.random_graded, relevant, relevant)
    by_chance = [("random documents", *counts, "", ShareCell(None))] if random else []
    rows = [[row[index] for index in shown] for row in (*table.rows, *by_chance)]
    caption = f"Pool of {pool.built_at:%d %b %Y, %H:%M} UTC"
    ui.table(caption, [table.columns[index] for index in shown], rows, words=True)
    only_here = "Only here: found by no other system. " if len(table.rows) > 1 else ""
    ui.note(f"{only_here}Relevant: graded above the scale's lowest grade. {contributions.withheld}")
    if report is not None and report.gaps:
        with st.expander(f"Remarks on this pool ({len(report.gaps):,})"):
            ui.sentences(*report.gaps)
