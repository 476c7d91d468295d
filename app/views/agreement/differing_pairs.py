"""Agreement, differing pairs: the query-document pairs on which annotators' grades differ."""

from __future__ import annotations

import streamlit as st

from app import ui
from curation.agreement.disagreement_sources import NAMED, GuideLine, QueryShare
from curation.core.reports.tables import QueryName
from curation.core.text import percent, pluralize


def ask_cell(lines: tuple[GuideLine, ...]) -> None:
    """Ask for two grades that annotators gave to the same pairs, and show these pairs."""
    cells = {f"{line.lower} and {line.upper}: {pluralize(line.pairs, 'pair')}": line for line in lines}
    chosen = st.pills("Pairs to which people gave both grades", sorted(cells), key="cell") if cells else None
    if chosen in cells:
        line = cells[chosen]
        rows = [(QueryName(*pair), pair[2]) for pair in line.named]
        ui.table(f"{len(rows):,} of {pluralize(line.pairs, 'pair')}", ["Query", "Document"], rows, words=True)
        if len(rows) < min(line.pairs, NAMED):
            ui.note("The other pairs are in sealed parts of a release, so they are not listed.")


def show_disputed_pairs(queries: tuple[QueryShare, ...]) -> None:
    """Show, for each query, the pairs on which annotators' grades differ, with each annotator's grade."""
    for query in queries:
        ui.remarks(
            QueryName(query.text, query.query_id),
            f"{percent(query.disagreement, 1)} of the disagreement, {query.disputed:,} of {query.units:,} "
            "pairs differ",
        )
        with st.expander("Pairs that annotators graded differently"):
            rows = [
                (
                    QueryName(document_id, query.query_id, document_id),
                    ", ".join(f"{name}: {_describe_grade(grade)}" for name, grade in opinions),
                )
                for document_id, opinions in query.opinions
            ]
            ui.table("Largest difference first", ["Document", "Grades"], rows, words=True)


def _describe_grade(grade: int | None) -> str:
    return "cannot tell" if grade is None else str(grade)
