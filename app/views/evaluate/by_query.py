"""Evaluate, by query: the values of one or two runs for each query, and the results for one chosen query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import ui
from app.acts import Acts
from app.components.widgets import QueryBar, pick_query
from app.context import BY_PATH
from app.send_documents import show_send_form
from app.views.evaluate.ranked_lists import RankedLists, describe_values, show_chunks, show_lists
from curation.core.errors import NotFoundError
from curation.core.reports.plots import PlotPoint, draw_scatter_plot
from curation.core.text import decimal, pluralize
from curation.evaluation import by_query, result_lists
from curation.evaluation.report.query_sections import QUERY_BY_QUERY, QUERY_RESULTS, QueryValues
from curation.evaluation.stored_evaluations import SubmittedEvaluation
from curation.guides.guide import current_guide
from curation.retrieval import RUN_PREFIX
from curation.store import Annotator, Store

MAX_PLOTTED_QUERIES = 500
ALL = "All"
NO_RUN: by_query.EvaluatedRun = ("", "")


@st.fragment
def show(
    store: Store, annotator: Annotator, evaluation: SubmittedEvaluation, peers: Sequence[SubmittedEvaluation]
) -> None:
    """Let the person choose runs, kinds of queries and a query, and show the results for the chosen query.

    Parameters
    ----------
    peers: other evaluations on the same parts, whose runs can be compared with the runs of `evaluation`.
    """
    ui.heading(QUERY_BY_QUERY)
    if evaluation.sealed:
        ui.note(f"{', '.join(evaluation.sealed)} is sealed, so values of individual queries are hidden.")
        return
    systems = {(evaluation.evaluation_id, name): name for name in evaluation.systems}
    for other in peers:
        for name in other.systems:
            systems[other.evaluation_id, name] = f"{name} ({other.made_at:%d %b %H:%M})"
    first_column, second_column, kind_column, result_column = st.columns(4)
    first = first_column.selectbox("System", list(systems), format_func=systems.__getitem__)
    choices = {NO_RUN: "No other system", **systems}
    index = next((index for index, (_, name) in enumerate(systems, 1) if name != evaluation.systems[0]), 0)
    second = second_column.selectbox("Compare with", [*choices], index, format_func=choices.__getitem__)
    runs = [first] if second in (NO_RUN, first) else [first, second]
    while (values := _read_values(store, annotator, runs)) is None:  # the runs may not be comparable
        runs = runs[:-1]
        if not runs:
            return
    kinds = _read_kinds(store, values.release_id)
    kind = kind_column.selectbox("Kind of query or region", [ALL, *kinds])
    results = QUERY_RESULTS if len(runs) > 1 else QUERY_RESULTS[-1:]
    result = result_column.selectbox("Result", [ALL, *results], format_func=str.capitalize)
    rows = [row for row in values.rows if kind == ALL or row.query_id in kinds[kind]]
    rows = [row for row in rows if result in (ALL, row.result)]
    ui.sentences(values.remark)
    if not rows:
        ui.note("No query of this kind matches.")
        return
    names = [systems[run] for run in runs]
    query = _ask_query(values, rows, names)
    with store.reading() as cursor:
        lists = result_lists.read_result_lists(cursor, runs, query, annotator)
        chunks = result_lists.read_chunk_lists(cursor, runs, query, annotator)
        colours: dict[int | None, str] = {step.value: step.colour for step in current_guide(cursor).scale}
    show_lists(query, values, names, lists, colours, all(chunks))
    for name, documents, passages in zip(names, lists, chunks, strict=True):
        if passages is not None and all(chunks):
            by_id = {document.document_id: document for document in documents}
            show_chunks(query, name, by_id, passages, colours)
    if any(lists) and annotator.role == "lead":
        _offer_round(store, Acts(annotator), query, [system for _, system in runs], lists)


def _read_values(
    store: Store, annotator: Annotator, runs: Sequence[by_query.EvaluatedRun]
) -> by_query.ByQuery | None:
    """Read the values of runs by query; if the runs cannot be compared, show the reason and return None."""
    try:
        with store.reading() as cursor:
            return by_query.compare_by_query(cursor, runs, annotator)
    except NotFoundError as error:
        ui.note(error.found)
        return None


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_PATH)
def _read_kinds(store: Store, release_id: str) -> dict[str, frozenset[str]]:
    with store.reading() as cursor:
        return by_query.read_query_kinds(cursor, release_id)


def _ask_query(values: by_query.ByQuery, rows: Sequence[QueryValues], names: Sequence[str]) -> QueryValues:
    """Show the plot of queries; return the query chosen in it."""
    has_two, shown_rows = len(names) > 1, rows[:MAX_PLOTTED_QUERIES]
    points = [
        PlotPoint(row.first, row.second, f"{row.text}: {describe_values(row)}", key=row.query_id)
        for row in shown_rows
    ]
    is_plottable = has_two and all(max(row.first, row.second) <= 1 for row in shown_rows)
    svg = (
        draw_scatter_plot(f"{values.measure}, query by query", names[0], names[1], points)
        if is_plottable
        else ""
    )
    figure = partial(decimal, sign="+" if has_two else "")
    largest = max(1.0, *(abs(row.difference) for row in shown_rows))
    bars = [
        QueryBar(*row[:2], row.difference / largest, figure(row.difference), row.result if has_two else "")
        for row in shown_rows
    ]
    legend = f"{pluralize(len(rows), 'query', 'queries')}: {values.measure} of {' − '.join(names[::-1])}"
    if len(rows) > MAX_PLOTTED_QUERIES:
        legend += f"; the first {MAX_PLOTTED_QUERIES:,}"
    query_id = pick_query(" ".join(names), legend, svg, bars)
    return next(row for row in rows if row.query_id == query_id)


def _offer_round(
    store: Store, acts: Acts, query: QueryValues, systems: Sequence[str], lists: RankedLists
) -> None:
    """Offer to send documents from the ranked lists to a new round; unjudged documents are preselected."""
    documents = [document for ranked in lists for document in ranked]
    titles = {document.document_id: document.title for document in documents}
    unjudged = list(dict.fromkeys(document.document_id for document in documents if document.is_unjudged))
    names = (f"{RUN_PREFIX}{system}" for system in systems)
    run_names = {item.document_id: name for name, ranked in zip(names, lists, strict=True) for item in ranked}
    show_send_form(store, acts, query.query_id, query.text, titles, unjudged, run_names)
