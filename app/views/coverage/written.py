"""Coverage, what was written: tasks by writer, the queries with their source, and unanswerable ones."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from curation.core.reports.page import QueryName
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.writing.coverage_queries import coverage_queries
from curation.queries.coverage.writing.progress import batch_table, batches
from curation.queries.sampling.tags.answerable import UnanswerableCheck, written_unanswerable

SHOWN = 100
SOURCES = {"written": "person", "synthetic": "model"}
VERDICTS = {
    "not pooled": "not pooled yet",
    "not judged": "nobody has said yet",
    "confirmed": "the corpus does not answer it",
    "answered": "the corpus answers it",
    "undecided": "people disagree",
}


def show_written(context: PageContext, state: CoverageState) -> None:
    with context.store.reading() as cursor:
        tasks, queries = batches(cursor), coverage_queries(cursor)
        checks = written_unanswerable(cursor)
    if not tasks and not queries:
        st.info("Nobody was asked for queries yet. Open tasks under Gaps.")
        return
    ui.tables(batch_table(tasks))
    names = {cluster.number: cluster.name for cluster in state.map.clusters}
    rows = [
        (
            QueryName(query.text, query.query_id),
            f"{query.writer} ({SOURCES[query.source]})",
            names.get(query.cluster, "") if query.map_id == state.map.map_id else "of another map",
            query.document_id,
            query.style,
        )
        for query in reversed(queries)
    ]
    if not rows:
        ui.quiet("Nobody has written a query yet.")
        return
    more = f", the last {SHOWN} of {len(rows):,}" if len(rows) > SHOWN else ""
    ui.table(
        f"Queries written{more}", ["Query", "By", "Region", "Document", "Style"], rows[:SHOWN], words=True
    )
    if checks:
        ui.table(
            "Written as unanswerable",
            ["Query", "Candidates", "Answered: yes, partly, no", "So far"],
            [_check(check) for check in checks],
            words=True,
        )
    ui.quiet(
        "Written queries are judged like others: build the pool again, then open a round. After "
        "the last document of each query people say whether the corpus answers it."
    )


def _check(check: UnanswerableCheck) -> tuple[object, ...]:
    said = f"{check.said.yes}, {check.said.partly}, {check.said.no}"
    return QueryName(check.text, check.query_id), check.candidates, said, VERDICTS[check.verdict]
