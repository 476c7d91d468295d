"""Evaluate, by query: the values of one or two runs for each query, and the ranked lists of a query."""

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
from curation.evaluation import by_query, result_lists
from curation.evaluation.report.query_sections import QUERY_BY_QUERY, QUERY_RESULTS, QueryValues
from curation.evaluation.scored_system import STORED_RANKS
from curation.evaluation.stored_evaluations import SubmittedEvaluation
from curation.guides.guide import current_guide
from curation.retrieval import RUN_PREFIX
from curation.store import Annotator, Store

MAX_QUERIES = 500
"""Maximum number of queries in the plot."""
CONTEXT = 80
"""Number of characters of a chunk to show before and after its evidence, or from its beginning."""
ALL = "All"
NO_RUN: by_query.EvaluatedRun = ("", "")
Lists = Sequence[Sequence[result_lists.ListedDocument]]


@st.fragment
def show(
    store: Store, annotator: Annotator, evaluation: SubmittedEvaluation, peers: Sequence[SubmittedEvaluation]
) -> None:
    """Ask for runs, for kinds of queries and for a query, and show the results of the chosen query.

    Parameters
    ----------
    peers: other evaluations on the same parts, whose runs can be compared with the runs of `evaluation`.
    """
    ui.heading(QUERY_BY_QUERY)
    if evaluation.sealed:
        ui.quiet(f"{', '.join(evaluation.sealed)} is sealed: a sealed part has no values by query.")
        return
    systems = {(evaluation.evaluation_id, name): name for name in evaluation.systems}
    for other in peers:
        for name in other.systems:
            systems[other.evaluation_id, name] = f"{name} ({other.made_at:%d %b %H:%M})"
    first_column, second_column, kind_column, result_column = st.columns(4)
    first = first_column.selectbox("System", list(systems), format_func=systems.__getitem__)
    choices = {NO_RUN: "No other system", **systems}
    index = next((index for index, (_, name) in enumerate(systems, 1) if name != evaluation.systems[0]), 0)
    second = second_column.selectbox("Compared with it", [*choices], index, format_func=choices.__getitem__)
    runs = [first] if second in (NO_RUN, first) else [first, second]
    while (values := _read_values(store, annotator, runs)) is None:  # the second run may not be comparable
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
        ui.quiet("No query is of this kind with this result.")
        return
    names = [systems[run] for run in runs]
    query = _ask_query(values, rows, names)
    with store.reading() as cursor:
        lists = result_lists.read_result_lists(cursor, runs, query, annotator)
        chunks = result_lists.read_chunk_lists(cursor, runs, query, annotator)
        colours: dict[int | None, str] = {step.value: step.colour for step in current_guide(cursor).scale}
    _show_lists(query, values, names, lists, colours, all(chunks))
    for name, documents, passages in zip(names, lists, chunks, strict=True):
        if passages is not None and all(chunks):
            by_id = {document.document_id: document for document in documents}
            _show_chunks(query, name, by_id, passages, colours)
    if any(lists) and annotator.role == "lead":
        _offer_round(store, Acts(annotator), query, [system for _, system in runs], lists)


def mark_evidence(passage: result_lists.Passage) -> Markup:
    """Mark the evidence of a passage, with some words around it; without evidence, give the first words."""
    if not passage.text:
        return Markup("<small>text not known</small>")
    html, position = Markup(), 0
    for start, end in passage.evidence:
        first, last = start - passage.start, end - passage.start
        html += _shorten(passage.text[position:first], CONTEXT if html else 0, CONTEXT)  # escaped
        html += Markup("<mark>{}</mark>").format(passage.text[first:last])
        position = last
    return html + _shorten(passage.text[position:], CONTEXT, 0)


def _read_values(
    store: Store, annotator: Annotator, runs: Sequence[by_query.EvaluatedRun]
) -> by_query.ByQuery | None:
    """Read the values of these runs by query; if the runs cannot be compared, show the reason and return
    None.
    """
    try:
        with store.reading() as cursor:
            return by_query.compare_by_query(cursor, runs, annotator)
    except NotFoundError as error:
        ui.quiet(error.found)
        return None


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=BY_PATH)
def _read_kinds(store: Store, release_id: str) -> dict[str, frozenset[str]]:
    with store.reading() as cursor:
        return by_query.read_query_kinds(cursor, release_id)


def _ask_query(values: by_query.ByQuery, rows: Sequence[QueryValues], names: Sequence[str]) -> QueryValues:
    """Show the plot of queries; return the query that the person chose in the plot."""
    has_two, shown_rows = len(names) > 1, rows[:MAX_QUERIES]
    points = [
        PlotPoint(row.first, row.second, f"{row.text}: {_describe_values(row)}", key=row.query_id)
        for row in shown_rows
    ]
    is_plottable = has_two and all(max(row.first, row.second) <= 1 for row in shown_rows)
    svg = scatter(f"{values.measure}, query by query", names[0], names[1], points) if is_plottable else ""
    figure = partial(decimal, sign="+" if has_two else "")
    largest = max(1.0, *(abs(row.difference) for row in shown_rows))
    bars = [
        QueryBar(*row[:2], row.difference / largest, figure(row.difference), row.result if has_two else "")
        for row in shown_rows
    ]
    legend = f"{pluralize(len(rows), 'query', 'queries')}: {values.measure} of {' − '.join(names[::-1])}"
    if len(rows) > MAX_QUERIES:
        legend += f"; the first {MAX_QUERIES:,}"
    query_id = queries(" ".join(names), legend, svg, bars)
    return next(row for row in rows if row.query_id == query_id)


def _describe_values(query: QueryValues) -> str:
    return f"{decimal(query.first)} → {decimal(query.second)}"


def _show_lists(
    query: QueryValues,
    values: by_query.ByQuery,
    names: Sequence[str],
    lists: Lists,
    colours: Mapping[int | None, str],
    has_chunks: bool,
) -> None:
    st.html(f'<p class="gs-query" dir="auto">{query_link(query.text, query.query_id)}</p>')
    ui.quiet(f"{values.measure}: {_describe_values(query) if len(names) > 1 else decimal(query.second)}")
    if not any(lists):
        ui.quiet("No ranked lists are stored for this query. Evaluate the runs again to store lists.")
        return
    if has_chunks:
        return
    for index, column in enumerate(st.columns(len(lists), gap="large")):
        columns = ["Rank", "Grade", "Document", *(f"In {name}" for name in names if name != names[index])]
        rows = [_make_row(query, document, colours)[: len(columns)] for document in lists[index]]
        with column:
            ui.table(names[index], columns, rows, words=True)


def _show_chunks(
    query: QueryValues,
    name: str,
    documents: Mapping[str, result_lists.ListedDocument],
    passages: Sequence[result_lists.Passage],
    colours: Mapping[int | None, str],
) -> None:
    """Show the chunks that a system returned, with their evidence, and the evidence that no chunk
    contains.
    """
    rows, missing = [], []
    for chunk in passages:
        document = documents.get(chunk.document_id)
        cells = (_name_passage(query, chunk), mark_evidence(chunk))
        if chunk.rank is None:
            missing.append(cells)
            continue
        grade = "–" if document is None else _grade(document, colours)
        rows.append((chunk.rank, grade, *cells, percent(chunk.recall), chunk.words))
    if missing:
        caption = f"{name}: evidence in none of its first {pluralize(len(rows), 'chunk')}"
        ui.table(caption, ["Place", "Evidence"], missing, words=True)
    columns = ["Rank", "Grade", "Chunk", "Text, evidence marked", "Evidence so far", "Words so far"]
    ui.table(name, columns, rows, words=True)


def _name_passage(query: QueryValues, passage: result_lists.Passage) -> QueryName:
    title = passage.title
    if len(title) > CONTEXT // 2:
        title = f"{title[: CONTEXT // 2].strip()} …"
    return QueryName(f"{passage.start:,}–{passage.end:,}, {title}", query.query_id, passage.document_id)


def _shorten(text: str, head: int, tail: int) -> str:
    """Shorten a text to its first `head` and its last `tail` characters if the text is longer than both."""
    return text if len(text) <= head + tail else f"{text[:head]} … {text[len(text) - tail :]}"


def _make_row(
    query: QueryValues, document: result_lists.ListedDocument, colours: Mapping[int | None, str]
) -> tuple[object, ...]:
    name = QueryName(document.title, query.query_id, document.document_id)
    elsewhere = f"not in top {STORED_RANKS}"
    if document.other_rank is not None:
        higher, lower = document.other_rank < document.rank, document.other_rank > document.rank
        elsewhere = f"{document.other_rank}{' ↑' if higher else ' ↓' if lower else ''}"
    return document.rank, _grade(document, colours), name, elsewhere


def _grade(document: result_lists.ListedDocument, colours: Mapping[int | None, str]) -> GradeCell:
    return GradeCell(
        document.grade, colours.get(document.grade, "currentColor"), document.reason_without_grade
    )


def _offer_round(store: Store, acts: Acts, query: QueryValues, systems: Sequence[str], lists: Lists) -> None:
    """Offer to send documents of the ranked lists to a new round; unjudged documents are preselected."""
    documents = [document for ranked in lists for document in ranked]
    titles = {document.document_id: document.title for document in documents}
    unjudged = list(dict.fromkeys(document.document_id for document in documents if document.is_unjudged))
    names = (f"{RUN_PREFIX}{system}" for system in systems)
    run_names = {item.document_id: name for name, ranked in zip(names, lists, strict=True) for item in ranked}
    send_documents(store, acts, query.query_id, query.text, titles, unjudged, run_names)
