"""Curate, third step: find the documents to be judged, and see what each system contributes."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.views.curate.jobs import CurateContext
from curation.consensus.relevance import read_relevance
from curation.door import withheld
from curation.errors import RefusedError
from curation.negatives.hard_negatives import HardNegatives, hard_negatives
from curation.pooling.contributions import Contributions, contributions
from curation.pooling.pool import PoolReport, last_pool
from curation.pooling.systems import SYSTEMS
from curation.retrieval import DEFAULT_MODEL, RUN_PREFIX
from curation.sources.runs import stored_runs
from curation.text import amount

COLUMNS = ["System", "Candidates", "Alone", "Graded", "Relevant", "Lost without it", "Judged at 10"]

SHOWN = 20
"""How many queries the table of hard negatives has; the command line has all."""


def show(context: CurateContext) -> None:
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
                _sampled(report)
                ui.sentences("\n".join(report.sentences))
            if found.graded and st.toggle("Hard negatives"):
                with st.spinner("Comparing texts…"):
                    _negatives(hard_negatives(context.store))


def _form(context: CurateContext) -> None:
    with context.store.reading() as cursor:
        runs = [f"{RUN_PREFIX}{run.name}" for run in stored_runs(cursor)]
    with st.form("pool"):
        systems = st.multiselect("Systems", [*SYSTEMS, *runs], default=list(SYSTEMS))
        depth = st.number_input("Depth", min_value=1, value=10, help="Documents from the top of each system.")
        random = st.number_input(
            "Random negatives for each query",
            min_value=0,
            value=5,
            help="Documents from outside every system's first 1,000.",
        )
        budget = st.number_input(
            "Budget in pairs",
            min_value=1,
            value=None,
            placeholder="no limit",
            help="Evenly over the queries.",
        )
        with st.expander("Judge a random sample of the pool"):
            ui.sentences(
                "AP and nDCG of the whole pool are then inferred from the sample. Give bands with rates, or "
                "a number of pairs."
            )
            bands = st.text_input(
                "Bands of ranks",
                placeholder="10:1, 30:0.4, 100:0.1",
                help="The last rank of each band and the share of it that is judged. The last band ends at "
                "the depth. With a number of pairs: ranks alone, such as 10, 30, 100.",
            )
            sampled = st.number_input(
                "Pairs in the sample",
                min_value=1,
                value=None,
                placeholder="as the rates say",
                help="The first band whole, the deeper ones at one rate.",
            )
        with st.expander("Embedding model"):
            model = st.text_input("Name or folder, for dense and hybrid", DEFAULT_MODEL)
        seed = st.number_input("Seed", value=0, step=1)
        asked = context.submit("Build the pool", "pool")
    if asked:
        numbers = {"depth": int(depth), "random_negatives": int(random), "seed": int(seed)}
        limits = {"budget": budget, "sample_budget": sampled}
        whole = {name: None if limit is None else int(limit) for name, limit in limits.items()}
        asked_for = {**numbers, **whole, "sample_bands": bands.strip() or None, "model": model}
        context.start("pool", {"systems": systems, **asked_for})


def _last(found: Contributions) -> None:
    rows = [
        (
            one.system,
            one.candidates,
            one.alone,
            one.graded,
            one.relevant,
            one.lost,
            ui.ShareCell(one.judged_at_10),
        )
        for one in found.systems
    ]
    ui.table(
        f"Pool {found.pool_id[:8]}: {amount(found.queries, 'query', 'queries')} to depth {found.depth:,}",
        COLUMNS,
        rows,
    )
    ui.sentences(
        "Alone: no other system proposed them. Lost without it: the relevant ones among these.\n"
        f"{found.graded:,} of the systems' {amount(found.candidates, 'candidate')} have a grade; "
        f"{found.relevant:,} "
        f"are relevant: graded above the scale's lowest.\n{found.withheld}"
    )


def _sampled(pool: PoolReport) -> None:
    """What was drawn of each band, where a sample of the pool is judged."""
    if pool.sample:
        ui.table(
            "A random sample of the pool is judged",
            ["Ranks", "Pooled pairs", "Drawn", "Share"],
            [(band.ranks, band.pairs, band.drawn, ui.ShareCell(band.share)) for band in pool.sample],
        )


def _negatives(found: HardNegatives) -> None:
    needy = sorted((query for query in found.queries if query.missing), key=lambda query: -query.missing)
    ui.table(
        f"{found.negatives:,} hard negatives: high in a system's list, and judged not relevant",
        ["Query", "Relevant", "Negatives", "Wanted", "To judge first"],
        [
            (query.text, query.positives, len(query.negatives), query.missing, len(query.suspects))
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
