"""Coverage, writing tasks: the form that asks people to write queries, and the queries that people wrote."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import submit_button
from app.page_context import PageContext
from curation.core.reports.tables import QueryName
from curation.people.annotators import list_eligible_annotators, select_default_names
from curation.queries.coverage.state import CoverageState
from curation.queries.coverage.writing import task_progress
from curation.queries.coverage.writing import tasks as writing_tasks
from curation.queries.coverage.writing.coverage_queries import GAP, UNANSWERABLE, list_queries
from curation.queries.unanswerable import UnanswerableCheck, check_written_queries

FILL_FEW = "Few: fill regions with 1 to 4 queries up to 5"
TASK_KINDS = {
    "Gaps: regions without a query": GAP,
    FILL_FEW: GAP,
    "Unanswerable: topics that the corpus lacks": UNANSWERABLE,
}
MAX_QUERIES = 100
SOURCES = {"written": "person", "synthetic": "synthetic"}
CHECK_RESULTS = {
    "not pooled": "not pooled yet",
    "not judged": "nobody has answered yet",
    "confirmed": "the corpus does not answer the query",
    "answered": "the corpus answers the query",
    "undecided": "people disagree",
}


def ask_tasks(context: PageContext, state: CoverageState) -> None:
    with context.store.reading() as cursor:
        people = list_eligible_annotators(cursor)
    form = context.acts.form("writing tasks")
    with st.form("writing tasks"):
        kind = st.selectbox("For", list(TASK_KINDS))
        queries = st.number_input("Queries", 1, writing_tasks.MAX_AT_ONCE, min(12, max(1, len(state.gaps))))
        writers = st.multiselect(
            "Writers", [person.name for person in people], default=select_default_names(people)
        )
        with st.expander("More options"):
            seed = st.number_input("Seed for choosing documents and styles", value=0, step=1)
        submitted = submit_button("Open the tasks", "open tasks", form, state.map.map_id)
    result: writing_tasks.OpenedTasks | None = form.result
    if submitted:
        values = (int(queries), writers, int(seed), TASK_KINDS[kind], context.acts.by)
        context.acts.do(form, lambda: writing_tasks.open_tasks(context.store, *values, fill=kind == FILL_FEW))
    elif result is not None:
        first_sentence, *sentences = result.sentences
        ui.confirmation(f"{first_sentence} Writers find the tasks under Write.")
        ui.sentences(*sentences)


def show_written(context: PageContext, state: CoverageState) -> None:
    with context.store.reading() as cursor:
        tasks, queries = task_progress.read_batches(cursor), list_queries(cursor)
        checks = check_written_queries(cursor)
    if not tasks and not queries:
        st.info("There are no writing tasks yet. Open the first writing tasks under Gaps.")
        return
    ui.tables(task_progress.build_batch_table(tasks))
    regions: dict[tuple[str | None, int | None], str] = {
        (state.map.map_id, cluster.number): cluster.name for cluster in state.map.clusters
    }
    rows = [
        (
            QueryName(query.text, query.query_id),
            f"{query.writer} ({SOURCES[query.source]})",
            regions.get((query.map_id, query.cluster), "of another map" if query.map_id else ""),
            query.document_id,
            query.style,
        )
        for query in reversed(queries)
    ]
    if not rows:
        ui.note("Nobody has written a query yet.")
        return
    columns = ["Query", "By", "Region", "Document", "Style"]
    ui.table("Written queries, newest first", columns, rows, words=True, max_rows=MAX_QUERIES)
    if checks:
        ui.table(
            "Written as unanswerable",
            ["Query", "Candidates", "Answered: yes, partly, no", "So far"],
            [_make_check_row(check) for check in checks],
            words=True,
        )
    ui.note(
        "To have written queries judged, build the pool again and open a round. After a query's last "
        "document, people say whether the corpus answers it."
    )


def _make_check_row(check: UnanswerableCheck) -> tuple[object, ...]:
    answers = f"{check.yes}, {check.partly}, {check.no}"
    return QueryName(check.text, check.query_id), check.candidates, answers, CHECK_RESULTS[check.verdict]
