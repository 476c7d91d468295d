"""Evaluate, query by query: two runs against each other; the chosen query has its lists side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st
from markupsafe import Markup

from app import ui
from app.acts import Acts
from app.components.links import query_link
from app.components.queries import QueryBar, queries
from app.views.query.acting import send_documents
from curation.core.errors import NotFoundError
from curation.core.reports.page import GradeCell, QueryName
from curation.core.reports.plots import PlotPoint, scatter
from curation.core.spans import Span
from curation.core.text import amount, decimal, percent
from curation.evaluation import by_query
from curation.evaluation.report.query_by_query import QUERY_BY_QUERY, RESULTS, QueryValues
from curation.evaluation.submitted import LISTED, SubmittedEvaluation
from curation.guides.guide import current_guide
from curation.retrieval import RUN_PREFIX
from curation.store import Annotator, Store

MOST = 500
"""Queries in the picture."""
AROUND = 80
"""Characters of a chunk before its evidence, or of one that has none."""
ALL, NONE = "All", by_query.EvaluatedRun("", "")
Lists = Sequence[Sequence[by_query.ListedDocument]]


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
    own = [by_query.EvaluatedRun(evaluation.evaluation_id, name) for name in evaluation.systems]
    named = {run: run.system for run in own} | {
        by_query.EvaluatedRun(one.evaluation_id, name): f"{name} ({one.made_at:%d %b %H:%M})"
        for one in others
        for name in one.systems
    }
    places = st.columns(4)
    first = places[0].selectbox("System", list(named), format_func=named.__getitem__)
    offered = {NONE: "No other system", **named}
    at = next((place for place, run in enumerate(named, 1) if run.system != own[0].system), 0)
    second = places[1].selectbox("Compared with it", list(offered), at, format_func=offered.__getitem__)
    runs = [first] if second in (NONE, first) else [first, second]
    while (found := _values_of(store, annotator, runs)) is None:  # the other one may not be comparable
        runs = runs[:-1]
        if not runs:
            return
    kinds = _kinds(str(store.path), found.release_id, store)
    kind = places[2].selectbox("Kind of query or region", [ALL, *kinds])
    results = RESULTS if len(runs) > 1 else RESULTS[-1:]
    result = places[3].selectbox("Result", [ALL, *results], format_func=str.capitalize)
    rows = [row for row in found.rows if kind == ALL or row.query_id in kinds[kind]]
    rows = [row for row in rows if result in (ALL, row.result)]
    ui.sentences(found.remark)
    if not rows:
        ui.quiet("No query is of this kind with this result.")
        return
    names = [named[run] for run in runs]
    query = _chosen(found, rows, names)
    with store.reading() as cursor:
        lists = by_query.side_by_side(cursor, runs, query, annotator)
        chunks = by_query.chunk_lists(cursor, runs, query, annotator)
        colours: dict[int | None, str] = {step.value: step.colour for step in current_guide(cursor).scale}
    _show_lists(query, found, names, lists, colours, all(chunks))
    for name, documents, listed in zip(names, lists, chunks, strict=True):
        if listed is not None and all(chunks):
            _show_chunks(
                query, name, {document.document_id: document for document in documents}, listed, colours
            )
    if any(lists) and annotator.role == "lead":
        _send(store, Acts(annotator), query, [run.system for run in runs], lists)


def _values_of(
    store: Store, annotator: Annotator, runs: Sequence[by_query.EvaluatedRun]
) -> by_query.ByQuery | None:
    """The values of these runs; None, and why, where an evaluation has none to compare."""
    try:
        with store.reading() as cursor:
            return by_query.by_query(cursor, runs, annotator)
    except NotFoundError as missing:
        ui.quiet(missing.found)
        return None


@st.cache_resource(max_entries=8, show_spinner=False)
def _kinds(path: str, release_id: str, _store: Store) -> dict[str, frozenset[str]]:
    with _store.reading() as cursor:
        return by_query.kinds_of_queries(cursor, release_id)


def _chosen(found: by_query.ByQuery, rows: Sequence[QueryValues], names: Sequence[str]) -> QueryValues:
    """The picture of queries, and the one that is chosen in it."""
    both, drawn = len(names) > 1, rows[:MOST]
    points = [
        PlotPoint(row.first, row.second, f"{row.text}: {_values(row)}", key=row.query_id) for row in drawn
    ]
    fits = both and all(max(row.first, row.second) <= 1 for row in drawn)
    svg = scatter(f"{found.measure}, query by query", names[0], names[1], points) if fits else ""
    figure = partial(decimal, sign="+" if both else "")
    largest = max(1.0, *(abs(row.difference) for row in drawn))
    bars = [
        QueryBar(*one[:2], one.difference / largest, figure(one.difference), one.result if both else "")
        for one in drawn
    ]
    legend = f"{amount(len(rows), 'query', 'queries')}: {found.measure} of {' − '.join(names[::-1])}"
    if len(rows) > MOST:
        legend += f"; the first {MOST:,}"
    chosen = queries(" ".join(names), legend, svg, bars)
    return next(row for row in rows if row.query_id == chosen)


def _values(query: QueryValues) -> str:
    return f"{decimal(query.first)} → {decimal(query.second)}"


def _show_lists(
    query: QueryValues,
    found: by_query.ByQuery,
    names: Sequence[str],
    lists: Lists,
    colours: Mapping[int | None, str],
    chunked: bool,
) -> None:
    st.html(f'<p class="gs-query" dir="auto">{query_link(query.text, query.query_id)}</p>')
    ui.quiet(f"{found.measure}: {_values(query) if len(names) > 1 else decimal(query.second)}")
    if not any(lists):
        ui.quiet("No list was returned, or none was kept: evaluate the runs again to read them.")
        return
    if chunked:
        return
    if len(names) > 1:
        ui.sentences("\n".join(by_query.first_differences(lists, names)))
    for place, column in enumerate(st.columns(len(lists), gap="large")):
        columns = ["Rank", "Grade", "Document", *(f"In {name}" for name in names if name != names[place])]
        rows = [_row(query, one, colours)[: len(columns)] for one in lists[place]]
        with column:
            ui.table(names[place], columns, rows, words=True)


def _show_chunks(
    query: QueryValues,
    name: str,
    documents: Mapping[str, by_query.ListedDocument],
    found: by_query.ChunkList,
    colours: Mapping[int | None, str],
) -> None:
    """The chunks of a system with the evidence in them, and the evidence that none of them has."""
    rows = []
    for one in found.chunks:
        part, document = one.passage, documents.get(one.passage.document_id)
        grade = "–" if document is None else _grade(document, colours)
        cells = (grade, _place(query, part), _with_evidence(part, one.evidence))
        rows.append((one.rank, *cells, percent(one.recall), one.words))
    if found.missing:
        lacking = [(_place(query, one), _with_evidence(one, [(one.start, one.end)])) for one in found.missing]
        first = amount(len(found.chunks), "chunk")
        ui.table(f"{name}: evidence in none of its first {first}", ["Place", "Evidence"], lacking, words=True)
    columns = ["Rank", "Grade", "Chunk", "Its text, evidence marked", "Evidence so far", "Words so far"]
    ui.table(name, columns, rows, words=True)


def _place(query: QueryValues, part: by_query.Passage) -> QueryName:
    title = part.title if len(part.title) <= AROUND // 2 else f"{part.title[: AROUND // 2].strip()} …"
    return QueryName(f"{part.start:,}–{part.end:,}, {title}", query.query_id, part.document_id)


def _with_evidence(part: by_query.Passage, evidence: Sequence[Span]) -> Markup:
    """A passage's evidence, each with some words around it; the beginning of one without."""
    if not part.text:
        return Markup("<small>text not known</small>")
    pieces: list[str] = [] if evidence else [part.text[:AROUND], "…"]
    done = 0
    for start, end in evidence:
        first, last = start - part.start, end - part.start
        marked = Markup("<mark>{}</mark>").format(part.text[first:last])
        pieces += ["…" * (first - AROUND > done), part.text[max(done, first - AROUND) : first], marked]
        done = last
    return Markup(" ").join(pieces)  # escaped


def _row(
    query: QueryValues, one: by_query.ListedDocument, colours: Mapping[int | None, str]
) -> tuple[object, ...]:
    name = QueryName(one.title, query.query_id, one.document_id)
    elsewhere = f"not in top {LISTED}"
    if one.elsewhere is not None:
        arrow = "" if one.elsewhere == one.rank else " ↑" if one.elsewhere < one.rank else " ↓"
        elsewhere = f"{one.elsewhere}{arrow}"
    return one.rank, _grade(one, colours), name, elsewhere


def _grade(one: by_query.ListedDocument, colours: Mapping[int | None, str]) -> GradeCell:
    return GradeCell(one.grade, colours.get(one.grade, "currentColor"), one.lacking)


def _send(store: Store, acts: Acts, query: QueryValues, systems: Sequence[str], lists: Lists) -> None:
    """Documents of the lists to a round, at first those that nobody judged."""
    places = [(one, system) for system, found in zip(systems, lists, strict=True) for one in found]
    titles = {one.document_id: one.title for one, _ in places}
    unjudged = list(dict.fromkeys(one.document_id for one, _ in places if one.is_unjudged))
    proposed = {one.document_id: f"{RUN_PREFIX}{system}" for one, system in places}
    send_documents(store, acts, query.query_id, query.text, titles, unjudged, proposed)
