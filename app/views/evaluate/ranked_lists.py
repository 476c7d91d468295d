"""Evaluate, ranked lists: the documents or chunks that one or two systems returned for a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from app import ui
from app.components.links import query_link
from curation.core.reports.tables import GradeCell, QueryName
from curation.core.text import decimal, percent, pluralize
from curation.evaluation import by_query, result_lists
from curation.evaluation.report.query_sections import QueryValues
from curation.evaluation.scored_system import STORED_RANKS

CONTEXT_LENGTH = 80
"""Number of characters of a chunk to show before and after its evidence, or from its beginning."""
RankedLists = Sequence[Sequence[result_lists.ListedDocument]]


def show_lists(
    query: QueryValues,
    values: by_query.ByQuery,
    names: Sequence[str],
    lists: RankedLists,
    colours: Mapping[int | None, str],
    has_chunks: bool,
) -> None:
    """Show a query with its values and, if there are no chunks, each system's ranked documents."""
    st.html(f'<p class="gs-query" dir="auto">{query_link(query.text, query.query_id)}</p>')
    ui.note(f"{values.measure}: {describe_values(query) if len(names) > 1 else decimal(query.second)}")
    if not any(lists):
        ui.note("This query's ranked lists are not stored. Evaluate the runs again to store the lists.")
        return
    if has_chunks:
        return
    for index, column in enumerate(st.columns(len(lists), gap="large")):
        columns = ["Rank", "Grade", "Document", *(f"In {name}" for name in names if name != names[index])]
        rows = [_make_row(query, document, colours)[: len(columns)] for document in lists[index]]
        with column:
            ui.table(names[index], columns, rows, words=True)


def show_chunks(
    query: QueryValues,
    name: str,
    documents: Mapping[str, result_lists.ListedDocument],
    passages: Sequence[result_lists.Passage],
    colours: Mapping[int | None, str],
) -> None:
    """Show the chunks that a system returned, with the evidence in them, and evidence that is in no chunk."""
    rows, missing = [], []
    for chunk in passages:
        document = documents.get(chunk.document_id)
        cells = (_name_passage(query, chunk), mark_evidence(chunk))
        if chunk.rank is None:
            missing.append(cells)
            continue
        grade = "–" if document is None else _make_grade_cell(document, colours)
        rows.append((chunk.rank, grade, *cells, percent(chunk.recall), chunk.words))
    if missing:
        caption = f"{name}: no evidence in the first {pluralize(len(rows), 'chunk')}"
        ui.table(caption, ["Place", "Evidence"], missing, words=True)
    columns = ["Rank", "Grade", "Chunk", "Text, evidence marked", "Evidence so far", "Words so far"]
    ui.table(name, columns, rows, words=True)


def describe_values(query: QueryValues) -> str:
    """Return both runs' values for a query as text."""
    return f"{decimal(query.first)} → {decimal(query.second)}"


def mark_evidence(passage: result_lists.Passage) -> Markup:
    """Mark a passage's evidence, with some words around it; for a passage without evidence, return its first
    words."""
    if not passage.text:
        return Markup("<small>text not known</small>")
    html, position = Markup(), 0
    for start, end in passage.evidence:
        first, last = start - passage.start, end - passage.start
        head_length = CONTEXT_LENGTH if html else 0
        html += _shorten(passage.text[position:first], head_length, CONTEXT_LENGTH)  # escaped
        html += Markup("<mark>{}</mark>").format(passage.text[first:last])
        position = last
    return html + _shorten(passage.text[position:], CONTEXT_LENGTH, 0)


def _name_passage(query: QueryValues, passage: result_lists.Passage) -> QueryName:
    title = passage.title
    if len(title) > CONTEXT_LENGTH // 2:
        title = f"{title[: CONTEXT_LENGTH // 2].strip()} …"
    return QueryName(f"{passage.start:,}–{passage.end:,}, {title}", query.query_id, passage.document_id)


def _shorten(text: str, head: int, tail: int) -> str:
    """Shorten a text to its first `head` and its last `tail` characters if it is longer than both
    together."""
    return text if len(text) <= head + tail else f"{text[:head]} … {text[len(text) - tail :]}"


def _make_row(
    query: QueryValues, document: result_lists.ListedDocument, colours: Mapping[int | None, str]
) -> tuple[object, ...]:
    name = QueryName(document.title, query.query_id, document.document_id)
    other_rank_text = f"not in top {STORED_RANKS}"
    if document.other_rank is not None:
        other_rank_text = str(document.other_rank)
        if document.other_rank != document.rank:
            other_rank_text += " ↑" if document.other_rank < document.rank else " ↓"
    return document.rank, _make_grade_cell(document, colours), name, other_rank_text


def _make_grade_cell(document: result_lists.ListedDocument, colours: Mapping[int | None, str]) -> GradeCell:
    return GradeCell(
        document.grade, colours.get(document.grade, "currentColor"), document.reason_without_grade
    )
