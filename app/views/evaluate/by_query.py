"""Evaluate, by query: a comparison of two runs, and the ranked lists of a chosen query side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from markupsafe import Markup

from app import ui
from app.acts import Acts
from app.components.links import query_link
from app.components.widgets import QueryBar, queries
from app.context import BY_PATH
from app.send_documents import send_documents
from curation.core.errors import NotFoundError
from curation.core.reports.plots import PlotPoint, scatter
from curation.core.reports.tables import GradeCell, QueryName
from curation.core.text import decimal, percent, pluralize
from curation.evaluation import by_query
from curation.evaluation.report.systems import QUERY_BY_QUERY, RESULTS, QueryValues
from curation.evaluation.scored_system import LISTED
from curation.evaluation.stored_evaluations import SubmittedEvaluation
from curation.guides.guide import current_guide
from curation.retrieval import RUN_PREFIX
from curation.store import Annotator, Store

MAX_QUERIES = 500
"""Maximum number of queries in the plot."""
AROUND = 80
"""Number of characters of a chunk to show before its evidence, or from the beginning if the chunk has no
evidence.
"""
ALL = "All"
NONE: by_query.EvaluatedRun = ("", "")
Lists = Sequence[Sequence[by_query.ListedDocument]]


@st.fragment
def show(
    store: Store, annotator: Annotator, evaluation: SubmittedEvaluation, others: Sequence[SubmittedEvaluation]
) -> None:
    """Ask for runs, for kinds of queries and for a query, and show the results of the chosen query.

    Parameters
    ----------
    others: further evaluations on the same parts, whose runs can be compared with the runs of `evaluation`.
    """
    ui.heading(QUERY_BY_QUERY)
    if evaluation.sealed:
        ui.quiet(f"{', '.join(evaluation.sealed)} is sealed: a sealed part has no values by query.")
        return
    named = {(evaluation.evaluation_id, name): name for name in evaluation.systems} | {
        (submission.evaluation_id, name): f"{name} ({submission.made_at:%d %b %H:%M})"
        for submission in others
        for name in submission.systems
    }
    places = st.columns(4)
    first = places[0].selectbox("System", list(named), format_func=named.__getitem__)
    offered = {NONE: "No other system", **named}
    at = next((index for index, (_, name) in enumerate(named, 1) if name != evaluation.systems[0]), 0)
    second = places[1].selectbox("Compared with it", list(offered), at, format_func=offered.__getitem__)
    runs = [first] if second in (NONE, first) else [first, second]
    while (compared := _values_of(store, annotator, runs)) is None:  # the second run may not be comparable
        runs = runs[:-1]
        if not runs:
            return
    kinds = _kinds(store, compared.release_id)
    kind = places[2].selectbox("Kind of query or region", [ALL, *kinds])
    results = RESULTS if len(runs) > 1 else RESULTS[-1:]
    result = places[3].selectbox("Result", [ALL, *results], format_func=str.capitalize)
    rows = [row for row in compared.rows if kind == ALL or row.query_id in kinds[kind]]
    rows = [row for row in rows if result in (ALL, row.result)]
    ui.sentences(compared.remark)
    if not rows:
        ui.quiet("No query is of this kind with this result.")
        return
    names = [named[run] for run in runs]
    query = _chosen(compared, rows, names)
    with store.reading() as cursor:
        lists = by_query.read_result_lists(cursor, runs, query, annotator)
        chunks = by_query.read_chunk_lists(cursor, runs, query, annotator)
        colours: dict[int | None, str] = {step.value: step.colour for step in current_guide(cursor).scale}
    _show_lists(query, compared, names, lists, colours, all(chunks))
    for name, documents, listed in zip(names, lists, chunks, strict=True):
        if listed is not None and all(chunks):
            _show_chunks(
                query, name, {document.document_id: document for document in documents}, listed, colours
            )
    if any(lists) and annotator.role == "lead":
        _send(store, Acts(annotator), query, [system for _, system in runs], lists)


def _values_of(
    store: Store, annotator: Annotator, runs: Sequence[by_query.EvaluatedRun]
) -> by_query.ByQuery | None:
    """Read the values of these runs by query; if the runs cannot be compared, show the reason and return
    None.
    """
    try:
        with store.reading() as cursor:
            return by_query.compare_by_query(cursor, runs, annotator)
    except NotFoundError as missing:
        ui.quiet(missing.found)
        return None


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_PATH)
def _kinds(store: Store, release_id: str) -> dict[str, frozenset[str]]:
    with store.reading() as cursor:
        return by_query.read_query_kinds(cursor, release_id)


def _chosen(compared: by_query.ByQuery, rows: Sequence[QueryValues], names: Sequence[str]) -> QueryValues:
    """Show the plot of queries; return the query that the person chose in the plot."""
    both, drawn = len(names) > 1, rows[:MAX_QUERIES]
    points = [
        PlotPoint(row.first, row.second, f"{row.text}: {_values(row)}", key=row.query_id) for row in drawn
    ]
    fits = both and all(max(row.first, row.second) <= 1 for row in drawn)
    svg = scatter(f"{compared.measure}, query by query", names[0], names[1], points) if fits else ""
    figure = partial(decimal, sign="+" if both else "")
    largest = max(1.0, *(abs(row.difference) for row in drawn))
    bars = [
        QueryBar(*row[:2], row.difference / largest, figure(row.difference), row.result if both else "")
        for row in drawn
    ]
    legend = f"{pluralize(len(rows), 'query', 'queries')}: {compared.measure} of {' − '.join(names[::-1])}"
    if len(rows) > MAX_QUERIES:
        legend += f"; the first {MAX_QUERIES:,}"
    chosen = queries(" ".join(names), legend, svg, bars)
    return next(row for row in rows if row.query_id == chosen)


def _values(query: QueryValues) -> str:
    return f"{decimal(query.first)} → {decimal(query.second)}"


def _show_lists(
    query: QueryValues,
    compared: by_query.ByQuery,
    names: Sequence[str],
    lists: Lists,
    colours: Mapping[int | None, str],
    chunked: bool,
) -> None:
    st.html(f'<p class="gs-query" dir="auto">{query_link(query.text, query.query_id)}</p>')
    ui.quiet(f"{compared.measure}: {_values(query) if len(names) > 1 else decimal(query.second)}")
    if not any(lists):
        ui.quiet("No ranked lists are stored for this query. Evaluate the runs again to store lists.")
        return
    if chunked:
        return
    for index, column in enumerate(st.columns(len(lists), gap="large")):
        columns = ["Rank", "Grade", "Document", *(f"In {name}" for name in names if name != names[index])]
        rows = [_row(query, document, colours)[: len(columns)] for document in lists[index]]
        with column:
            ui.table(names[index], columns, rows, words=True)


def _show_chunks(
    query: QueryValues,
    name: str,
    documents: Mapping[str, by_query.ListedDocument],
    passages: Sequence[by_query.Passage],
    colours: Mapping[int | None, str],
) -> None:
    """Show the chunks that a system returned, with their evidence, and the evidence that no chunk
    contains.
    """
    rows, lacking = [], []
    for chunk in passages:
        document, cells = documents.get(chunk.document_id), (_place(query, chunk), _with_evidence(chunk))
        if chunk.rank is None:
            lacking.append(cells)
            continue
        grade = "–" if document is None else _grade(document, colours)
        rows.append((chunk.rank, grade, *cells, percent(chunk.recall), chunk.words))
    if lacking:
        first = pluralize(len(rows), "chunk")
        ui.table(f"{name}: evidence in none of its first {first}", ["Place", "Evidence"], lacking, words=True)
    columns = ["Rank", "Grade", "Chunk", "Text, evidence marked", "Evidence so far", "Words so far"]
    ui.table(name, columns, rows, words=True)


def _place(query: QueryValues, part: by_query.Passage) -> QueryName:
    title = part.title if len(part.title) <= AROUND // 2 else f"{part.title[: AROUND // 2].strip()} …"
    return QueryName(f"{part.start:,}–{part.end:,}, {title}", query.query_id, part.document_id)


def _with_evidence(part: by_query.Passage) -> Markup:
    """Mark the evidence of a passage and show some words around the evidence; without evidence, show the
    first words.
    """
    if not part.text:
        return Markup("<small>text not known</small>")
    pieces: list[str] = [] if part.evidence else [part.text[:AROUND], "…"]
    done = 0
    for start, end in part.evidence:
        first, last = start - part.start, end - part.start
        marked = Markup("<mark>{}</mark>").format(part.text[first:last])
        pieces += ["…" * (first - AROUND > done), part.text[max(done, first - AROUND) : first], marked]
        done = last
    return Markup(" ").join(pieces)  # escaped


def _row(
    query: QueryValues, document: by_query.ListedDocument, colours: Mapping[int | None, str]
) -> tuple[object, ...]:
    name = QueryName(document.title, query.query_id, document.document_id)
    elsewhere = f"not in top {LISTED}"
    if document.elsewhere is not None:
        higher, lower = document.elsewhere < document.rank, document.elsewhere > document.rank
        elsewhere = f"{document.elsewhere}{' ↑' if higher else ' ↓' if lower else ''}"
    return document.rank, _grade(document, colours), name, elsewhere


def _grade(document: by_query.ListedDocument, colours: Mapping[int | None, str]) -> GradeCell:
    return GradeCell(document.grade, colours.get(document.grade, "currentColor"), document.lacking)


def _send(store: Store, acts: Acts, query: QueryValues, systems: Sequence[str], lists: Lists) -> None:
    """Offer to send documents of the ranked lists to a new round; unjudged documents are preselected."""
    places = [
        (document, system) for system, documents in zip(systems, lists, strict=True) for document in documents
    ]
    titles = {document.document_id: document.title for document, _ in places}
    unjudged = list(dict.fromkeys(document.document_id for document, _ in places if document.is_unjudged))
    proposed = {document.document_id: f"{RUN_PREFIX}{system}" for document, system in places}
    send_documents(store, acts, query.query_id, query.text, titles, unjudged, proposed)
