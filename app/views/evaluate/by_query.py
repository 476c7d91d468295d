"""Evaluate, query by query: two runs against each other; the chosen query has its lists side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import ui
from app.acts import Acts
from app.components.links import query_link
from app.components.queries import QueryBar, queries
from app.views.query.acting import send_documents
from curation.errors import NotFoundError
from curation.evaluation.by_query import (
    RESULTS,
    ByQuery,
    EvaluatedRun,
    ListedDocument,
    QueryValue,
    by_query,
    first_differences,
    kinds_of_queries,
    side_by_side,
)
from curation.evaluation.report.comparison import QUERY_BY_QUERY
from curation.evaluation.submitted import LISTED, SubmittedEvaluation
from curation.reports.page import GradeCell, QueryName
from curation.reports.plots import PlotPoint, scatter
from curation.retrieval import RUN_PREFIX
from curation.scoring.inputs.release import CLUSTER
from curation.store import Annotator, Store
from curation.text import amount, decimal

MOST = 500
"""Queries in the picture."""
ALL = "All"
_FACETS = {CLUSTER: "region"}


@st.fragment
def show(
    store: Store, annotator: Annotator, evaluation: SubmittedEvaluation, others: Sequence[SubmittedEvaluation]
) -> None:
    """Choose runs and kinds of queries, then a query.

    Parameters
    ----------
    others: further evaluations on the same parts, whose runs can be compared with.
    """
    ui.heading(QUERY_BY_QUERY)
    if evaluation.sealed:
        ui.quiet(f"{', '.join(evaluation.sealed)} is sealed: there is nothing by query of a sealed part.")
        return
    runs = [EvaluatedRun(one.evaluation_id, name) for one in (evaluation, *others) for name in one.systems]
    made = {one.evaluation_id: f" ({one.made_at:%d %b %H:%M})" for one in others}
    columns = st.columns(4)
    chosen = _runs(
        columns, runs, len(evaluation.systems), lambda run: f"{run.system}{made.get(run.evaluation_id, '')}"
    )
    try:
        with store.reading() as cursor:
            found = by_query(cursor, chosen, annotator)
    except NotFoundError as missing:
        ui.quiet(missing.found)
        return
    rows = _filtered(store, found, columns)
    if found.remark:
        ui.quiet(found.remark)
    if not rows:
        ui.quiet("No query is of this kind with this result.")
        return
    if len(rows) > MOST:
        ui.quiet(f"The first {MOST:,} of {len(rows):,} queries are shown.")
    names = [run.system for run in chosen]
    query = _query(found, rows[:MOST], names)
    with store.reading() as cursor:
        lists = side_by_side(cursor, chosen, query, annotator)
    _show_lists(query, found, names, lists)
    returned = {
        place.document_id: (place.title, place.grade, f"{RUN_PREFIX}{name}")
        for name, places in zip(names, lists, strict=True)
        for place in places
    }
    if returned and annotator.role == "lead":
        titles = {name: title for name, (title, _, _) in returned.items()}
        unjudged = [name for name, (_, grade, _) in returned.items() if grade is None]
        systems = {name: system for name, (_, _, system) in returned.items()}
        send_documents(store, Acts(annotator), query.query_id, titles, unjudged, systems)


def _runs(
    columns: Sequence[DeltaGenerator],
    runs: Sequence[EvaluatedRun],
    own: int,
    label: Callable[[EvaluatedRun], str],
) -> list[EvaluatedRun]:
    """One run or two: at first those of the evaluation that is shown, which are the first of all."""
    first = columns[0].selectbox("System", runs, format_func=label)
    second = columns[1].selectbox(
        "Compared with it",
        [None, *runs],
        2 if own > 1 else 0,
        format_func=lambda run: "No other system" if run is None else label(run),
    )
    return [first] if second in (None, first) else [first, second]


def _filtered(store: Store, found: ByQuery, columns: Sequence[DeltaGenerator]) -> list[QueryValue]:
    """The queries of a kind or region, and with a result, as they are chosen."""
    kinds = {
        f"{_FACETS.get(facet, facet)}: {kind}": queries
        for facet, values in _kinds(str(store.path), found.release_id, store).items()
        for kind, queries in values.items()
    }
    kind = columns[2].selectbox("Kind of query or region", [ALL, *kinds])
    result = columns[3].selectbox("Result", [ALL, *RESULTS], format_func=str.capitalize)
    return [
        row for row in found.rows if kind == ALL or row.query_id in kinds[kind] if result in (ALL, row.result)
    ]


@st.cache_resource(max_entries=8, show_spinner=False)
def _kinds(path: str, release_id: str, _store: Store) -> dict[str, dict[str, frozenset[str]]]:
    with _store.reading() as cursor:
        return kinds_of_queries(cursor, release_id)


def _query(found: ByQuery, rows: Sequence[QueryValue], names: Sequence[str]) -> QueryValue:
    """The picture of queries, and the one that is chosen in it."""
    both = len(names) > 1
    svg = ""
    if both and max(value for row in rows for value in row.values) <= 1:
        points = [
            PlotPoint(row.values[0], row.values[1], f"{row.text}: {_values(row)}", key=row.query_id)
            for row in rows
        ]
        svg = scatter(f"{found.measure}, query by query", names[0], names[1], points)
    largest = max(1.0, *(abs(row.difference) for row in rows))
    bars = [
        QueryBar(
            *(row.query_id, row.text, row.difference / largest),
            *(decimal(row.difference, sign="+" if both else ""), row.result if both else ""),
        )
        for row in rows
    ]
    about = f"{names[1]} − {names[0]}" if both else names[0]
    chosen = queries(
        " ".join(names), f"{amount(len(rows), 'query', 'queries')}: {found.measure} of {about}", svg, bars
    )
    return next(row for row in rows if row.query_id == chosen)


def _values(query: QueryValue) -> str:
    return " → ".join(map(decimal, query.values))


def _show_lists(
    query: QueryValue, found: ByQuery, names: Sequence[str], lists: Sequence[Sequence[ListedDocument]]
) -> None:
    st.html(f'<p class="gs-query" dir="auto">{query_link(query.text, query.query_id)}</p>')
    ui.quiet(f"{found.measure}: {_values(query)}")
    if not any(lists):
        ui.quiet(
            "There is no list: nothing was returned, or it was not kept. Evaluate the runs again to read it."
        )
        return
    if len(names) > 1:
        ui.sentences("\n".join(first_differences(lists, names)))
    for place, column in enumerate(st.columns(len(lists), gap="large")):
        other = names[1 - place] if len(names) > 1 else ""
        columns = ["Rank", "Grade", "Document", *([f"In {other}"] if other else [])]
        rows = [_row(query, one, found.scale[-1]) for one in lists[place]]
        with column:
            ui.table(names[place], columns, (row[: len(columns)] for row in rows), words=True)


def _row(query: QueryValue, one: ListedDocument, highest: int) -> tuple[object, ...]:
    name = QueryName(one.title, query.query_id, one.document_id)
    if one.elsewhere is None:
        elsewhere = f"not in the first {LISTED}"
    else:
        arrow = "" if one.elsewhere == one.rank else " ↑" if one.elsewhere < one.rank else " ↓"
        elsewhere = f"{one.elsewhere}{arrow}"
    return one.rank, GradeCell(one.grade, highest), name, elsewhere
