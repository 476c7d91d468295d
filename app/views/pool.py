"""Pool: find the documents to be judged, and see what each system contributes."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import DATA, LEADS, AppPage
from app.components.forms import Form
from app.next_step import missing_step
from app.page_context import PageContext, read_context
from curation.core.errors import CurationError, RefusedError
from curation.core.reports.page import QueryName
from curation.core.text import amount
from curation.ingest.importers.runs import stored_runs
from curation.labeling.consensus.relevance import read_relevance
from curation.negatives.hard_negatives import HardNegatives, hard_negatives
from curation.operations.jobs import Job
from curation.people.seal_access import withheld
from curation.pooling.contributions import Contributions, contribution_table, contributions
from curation.pooling.from_engines import notices
from curation.pooling.pool import embedding_forecast
from curation.pooling.pool_report import last_pool, sample_table
from curation.pooling.request import SYSTEMS, PoolRequest
from curation.pooling.systems import ENGINE_PREFIX
from curation.retrieval import RUN_PREFIX
from curation.retrieval.engines.stored import stored_engines
from curation.store import Annotator, Cursor
from curation.store.documents import is_held

FIRST = PoolRequest(systems=("bm25",))
"""What the form begins with: what takes seconds. The slow systems are added to it."""
SHOWN = 20
"""How many queries the table of hard negatives has; the command line has all."""


def show(annotator: Annotator) -> None:
    ui.lead("Which documents are judged for each query: the ones that several systems find.")
    context = read_context(annotator)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _form(context)
    with right:
        context.ending("pool")
        try:
            found = contributions(context.store, read_relevance(context.store))
        except RefusedError:
            st.info("No pool is built yet.")
            missing_step(context.store, context.annotator, "sample")
        else:
            _last(found)
            report = last_pool(context.store)
            if report is not None:
                ui.tables(sample_table(report))
                ui.sentences("\n".join(report.sentences))
            if found.graded and st.toggle("Hard negatives"):
                with st.spinner("Comparing texts…"):
                    _negatives(hard_negatives(context.store))


PAGE = AppPage(14, "Pool", "pool", LEADS, show, group=DATA)


def _form(context: PageContext) -> None:
    with context.store.reading() as cursor:
        runs = [f"{RUN_PREFIX}{run.name}" for run in stored_runs(cursor)]
        engines = [f"{ENGINE_PREFIX}{engine.name}" for engine in stored_engines(cursor)]
        sent = [f"{name}: {_sent(cursor, name)}" for name in engines]
        runs += engines
        held = is_held(cursor)
        forecast = None if held else embedding_forecast(cursor)
    first = PoolRequest(systems=runs[:1]) if held else FIRST
    form = Form(PoolRequest, first, offered={"systems": runs if held else [*SYSTEMS, *runs]})
    with st.form("pool"):
        form.ask("systems")
        ui.sentences("\n".join(sent))
        form.ask("depth", "random_negatives", "budget")
        with st.expander("Judge a random sample of the pool"):
            ui.sentences(
                "People then judge deep ranks, too, and not the best ranked pairs alone. Give bands with "
                "rates, or a number of pairs."
            )
            form.ask("sample_bands", "sample_budget")
        with st.expander("More options"):
            form.rest("seed")
        form.ask("seed")
        if forecast is not None:
            ui.quiet(f"Dense and hybrid first embed the corpus: {forecast}. bm25 takes seconds.")
        asked = context.submit("Build the pool", "pool")
    if asked:
        context.start("pool", form.request())
    last = context.jobs.get("pool")
    if forecast is not None and last is not None and last.outcome == "done":
        _add_dense(context, last)


def _sent(cursor: Cursor, engine: str) -> str:
    """What a pool sends to an engine, or why it cannot."""
    try:
        said = " ".join(notices(cursor, PoolRequest(systems=(engine,))))
    except CurationError as error:
        said = error.found.partition("\n")[0]
    return said or "its lists of today are stored. It is not asked again."


def _add_dense(context: PageContext, last: Job) -> None:
    """Offer the last pool once more, with the systems that take long."""
    request = last.parameters | {
        "systems": list(dict.fromkeys([*last.parameters.get("systems", ()), *SYSTEMS]))
    }
    reason = context.problem("pool", request)
    if st.button("Add dense and hybrid", key=f"add dense {context.after}", disabled=reason is not None):
        context.start("pool", request)
    ui.quiet(reason or "They find what shares no word with the query. People can judge meanwhile.")


def _last(found: Contributions) -> None:
    ui.tables(contribution_table(found))
    ui.sentences(
        "Alone: no other system proposed them. Relevant alone: the relevant ones among these.\n"
        f"{found.graded:,} of the systems' {amount(found.candidates, 'candidate')} have a grade; "
        f"{found.relevant:,} "
        f"are relevant: graded above the scale's lowest.\n{found.withheld}"
    )


def _negatives(found: HardNegatives) -> None:
    needy = sorted((query for query in found.queries if query.missing), key=lambda query: -query.missing)
    ui.table(
        f"{found.negatives:,} hard negatives: high in a system's list, and judged not relevant",
        ["Query", "Relevant", "Negatives", "Wanted", "To judge first"],
        [
            (
                QueryName(query.text, query.query_id),
                query.positives,
                len(query.negatives),
                query.missing,
                len(query.suspects),
            )
            for query in needy[:SHOWN]
        ],
        words=True,
    )
    ui.sentences(
        f"{found.enough:,} of {amount(len(found.queries), 'query', 'queries')} have {found.want} or more "
        "and are not shown.\n"
        "To judge first: documents without a grade that two systems rank above a relevant one. "
        f"{found.near_duplicates:,} near-duplicates of relevant documents are excluded. "
        "The command line lists the documents."
    )
    ui.sentences(withheld(found.sealed, "query", "queries"))
    if len(needy) > SHOWN:
        ui.sentences(f"… and {amount(len(needy) - SHOWN, 'query', 'queries')} more.")
