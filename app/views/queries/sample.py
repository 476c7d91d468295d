"""Queries, Sample: the page part on which a lead draws queries from the query log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

from app import ui
from app.components.forms import Form
from app.components.links import query_address
from app.components.widgets import PickerRow, pick_rows, show_drawing
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from curation.core.errors import CurationError, RefusedError
from curation.core.reports.table_files import format_csv
from curation.core.reports.tables import Table
from curation.core.request import find_option
from curation.core.text import pluralize
from curation.ingest.importers.query_tags import read_known_tags
from curation.labeling.rounds.grading_cost import forecast_sample_cost
from curation.labeling.rounds.left_out_queries import set_aside
from curation.queries.sampling.dimensions import DIMENSIONS, TAG
from curation.queries.sampling.requests import DrawRequest, TopUpRequest, read_quotas
from curation.queries.sampling.stored_sample import (
    QUERY_COLUMNS,
    SampleReport,
    count_judged_queries,
    find_current_sample,
    list_drawn_queries,
)
from curation.queries.sampling.strata import build_strata_table, make_sample_chart

_PENDING_DRAW = "draw asked"
"""The session key of a draw that waits for confirmation: its request, the current sample and the last job."""
COLUMNS = ["Query", "Asked", "Stratum"]
AS_SEARCHED, CUSTOM = "As searched", "Custom"
PLANS = {
    "Equal shares of frequent, middle and rare queries": "A third each from head, torso and tail. Each of "
    "them makes up a third of the searches.",
    AS_SEARCHED: "Queries that people ask more often are more likely to be drawn.",
    CUSTOM: "Choose the groups of queries (strata), their shares and quotas.",
}
"""The ways to draw queries, and a sentence about each."""
Request = TypeVar("Request", DrawRequest, TopUpRequest)


def show(context: PageContext) -> None:
    sample = find_current_sample(context.store)
    strata = [stratum.name for stratum in sample.strata] if sample else []
    draws = [kind for kind in context.jobs if kind in ("sample", "top up")]
    columns = st.columns([3, 2] if sample else [2, 3], gap="large")
    side, form = columns if sample else reversed(columns)
    with side:
        if sample is not None:
            _show_drawn_queries(context, sample)
        for kind in draws[-1:]:
            context.show_result(kind)
        if sample is None:
            st.info("No sample has been drawn yet. You do not need one to judge imported or written queries.")
            show_missing_stage(context.store, context.annotator, "import")
    with form:
        with st.expander("Draw another sample") if sample else st.container(border=True):
            _ask_draw(context, strata, sample)
        if sample is not None:
            with st.expander("Add queries to this sample"):
                _ask_top_up(context, sample, strata)


def _ask_draw(context: PageContext, strata: Sequence[str], sample: SampleReport | None) -> None:
    """Ask for a draw outside a form, so that its cost follows each choice."""
    with context.store.reading() as cursor:
        kinds = [*DIMENSIONS, *(f"{TAG}{tag}" for tag in read_known_tags(cursor))]
    form = Form(DrawRequest, choices={"strata": kinds})
    form.ask("size")
    plan = st.radio("Which queries", PLANS, captions=list(PLANS.values()), key="plan")
    is_custom, quotas = plan == CUSTOM, ""
    with st.expander("More options", expanded=is_custom):
        if is_custom:
            form.ask("strata", "design", "allocation")
            quotas = _ask_quotas(find_option(DrawRequest, "quotas").label, strata)
        form.ask_rest(*() if is_custom else ("strata", "design", "allocation"), "quotas")
    with context.store.reading() as cursor:
        ui.sentences(forecast_sample_cost(cursor, form.value("size") or 1))
    with st.form("sample", border=False):
        submitted = context.submit_button("Draw the sample", "sample")
    design = {"design": "pps"} if plan == AS_SEARCHED else {}
    if submitted and (request := _make_request(form, quotas, **design)):
        _start_or_confirm(context, sample, request)
    if sample is not None:
        _confirm_replacement(context, sample)


def _start_or_confirm(context: PageContext, sample: SampleReport | None, request: DrawRequest) -> None:
    """Draw the first sample at once; ask for confirmation before a new sample replaces the current one."""
    problem = context.find_problem("sample", request)
    if problem is not None:
        ui.problem(RefusedError(problem))
    elif sample is None:
        context.request_job("sample", request)
    else:
        st.session_state[_PENDING_DRAW] = (sample.sample_id, context.last_job_id, request)


def _confirm_replacement(context: PageContext, sample: SampleReport) -> None:
    """Ask for confirmation that a new sample replaces the current one, and draw the new sample."""
    pending: tuple[str, str, DrawRequest] | None = st.session_state.get(_PENDING_DRAW)
    if pending is None or pending[:2] != (sample.sample_id, context.last_job_id):
        return  # nobody has asked for a draw, or the sample has changed since
    with context.store.reading() as cursor:
        judged = count_judged_queries(cursor, sample.sample_id)
    with st.container(border=True, key="replace-sample"):
        ui.heading("Replace the current sample?")
        ui.sentences(
            f"The sample has {pluralize(sample.size, 'query', 'queries')}, and people have judged "
            f"{judged:,} of them.",
            "Judgments and the rounds' queries stay. Other queries are removed unless the new sample "
            "also draws them.",
        )
        with st.container(horizontal=True):
            must_wait, key = context.find_wait("sample") is not None, f"replace {context.last_job_id}"
            if st.button("Replace the sample", type="primary", key=key, disabled=must_wait):
                context.request_job("sample", pending[2])
            if st.button("Keep the current sample"):
                del st.session_state[_PENDING_DRAW]
                st.rerun()


def _ask_top_up(context: PageContext, sample: SampleReport, strata: Sequence[str]) -> None:
    form = Form(TopUpRequest)
    with st.form("top up", border=False):
        form.ask("size")
        quotas = _ask_quotas("Quotas: minimum number of queries from a stratum", strata)
        ui.note(
            f"The sample has {pluralize(sample.size, 'query', 'queries')} now. A top-up removes no query, "
            "and keeps the seed, the strata and the limits."
        )
        submitted = context.submit_button("Top up", "top up")
    if submitted and (request := _make_request(form, quotas)):
        context.request_job("top up", request)


def _ask_quotas(label: str, strata: Sequence[str]) -> str:
    example = "\n".join(f"{name}=40" for name in strata[:2]) or "head=40\ntail=60"
    return st.text_area(
        label, placeholder=example, height=88, help="Enter one quota per line, such as tail=40 or tail=30%."
    )


def _make_request(form: Form[Request], text: str, **values: object) -> Request | None:
    """Return the form's request; if the quotas cannot be parsed, show the reason and return None."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return form.request(quotas=read_quotas(lines, form.request().size), **values)
    except CurationError as error:
        ui.problem(error)
        return None


def _show_drawn_queries(context: PageContext, sample: SampleReport) -> None:
    """Show the queries of the current sample, and its strata."""
    with context.store.reading() as cursor:
        queries = list_drawn_queries(cursor, sample.sample_id)
    ui.heading(f"{pluralize(sample.size, 'query', 'queries')} to judge")
    with st.container(horizontal=True):
        st.button("Next: build a pool", type="primary", on_click=ui.preselect_parts, args=({"part": "Pool"},))
        ui.download("Download", format_csv(Table("", QUERY_COLUMNS, tuple(queries))), "queries.csv")
    ui.sentences(" · ".join(f"{part.drawn:,} {part.name}" for part in sample.strata), *sample.warnings)
    ui.note("Tick queries to leave them out of rounds and releases.")
    form = context.acts.form("leave out")
    rows = [
        PickerRow(
            query_id,
            [text, f"{asked:,}", f"{stratum}, left out: {reason}" if reason else stratum],
            query_address(query_id),
        )
        for query_id, text, asked, stratum, _, reason in queries
    ]
    chosen = pick_rows("drawn queries", COLUMNS, rows, [], form.submission_count)
    if chosen:
        left_out = {query_id for query_id, *_, reason in queries if reason}
        _ask_leaving(context, chosen, not left_out.isdisjoint(chosen))
    with st.expander("Head, torso and tail, and the seed"):
        ui.note(f"The seed is {sample.seed}.")
        show_drawing(make_sample_chart(sample.strata))
        ui.tables(build_strata_table(sample.drawn_at, sample.strata))


def _ask_leaving(context: PageContext, chosen: list[str], can_return: bool) -> None:
    """Ask for the reason for leaving out the chosen queries; offer to put back those that are left out."""
    acts, store = context.acts, context.store
    form = acts.form("leave out")
    with st.form("leave out"):
        reason = st.text_input("Reason for leaving out the chosen queries", key=f"reason {form.key}")
        ui.note(
            "Nobody is asked about these queries any more, not even in open rounds. Their answers are kept. "
            "In estimates, other queries of the same stratum count more."
        )
        with st.container(horizontal=True):
            leaves = st.form_submit_button("Leave out", key=f"leave {form.key}")
            returns = can_return and st.form_submit_button("Put back", key=f"put back {form.key}")
    if leaves:
        acts.do(form, lambda: set_aside(store, chosen, reason, acts.by))
    elif returns:
        acts.do(form, lambda: set_aside(store, chosen, None, acts.by))
