"""Coverage: the regions of the corpus that no query tests, and people who write queries for them.

Coverage, the map: every region by documents, queries and results; a click shows what is known of it.

Coverage, what is kept in memory: one state of the project, until anything is appended to it.

Coverage, what was written: tasks by writer, the queries with their source, and unanswerable ones.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.page import DATA, LEADS, AppPage, PageContext, read_context
from app.views.coverage import gaps, region
from app.views.coverage.gaps import MEASURING, show_measuring
from curation.coverage.writing.tasks import (
    CoverageState,
    batch_table,
    batches,
    coverage_queries,
    read_state,
    state_fingerprint,
)
from curation.errors import CurationError, RefusedError
from curation.evaluation.coverage_report import (
    EvaluatedValues,
    RegionGraph,
    comparison_sections,
    coverage_page,
    map_sections,
    region_graph_of,
    stored_values,
)
from curation.evaluation.submitted import submitted_evaluations
from curation.reports.page import QueryName
from curation.sampling.tags.answerable import UnanswerableCheck, written_unanswerable
from curation.store import Annotator, Store

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
            QueryName(one.text, one.query_id),
            f"{one.writer} ({SOURCES[one.source]})",
            names.get(one.cluster, "") if one.map_id == state.map.map_id else "of another map",
            one.document_id,
            one.style,
        )
        for one in reversed(queries)
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


KEPT = 4
"""States that are kept."""


def kept_state(store: Store) -> CoverageState | None:
    """The state of coverage; None where there is no map of the corpus in force."""
    with store.reading() as cursor:
        fingerprint = state_fingerprint(cursor)
    return _state(store, (str(store.path), fingerprint))


@st.cache_resource(max_entries=KEPT, show_spinner="Reading the coverage map…")
def _state(_store: Store, state: tuple[str, str]) -> CoverageState | None:
    try:
        with _store.reading() as cursor:
            return read_state(cursor)
    except RefusedError:
        return None


def kept_graph(store: Store, state: CoverageState) -> RegionGraph:
    """The regions and their places, which depend on the map alone."""
    return _graph(state, (str(store.path), state.map.map_id))


@st.cache_resource(max_entries=KEPT, show_spinner="Placing the regions…")
def _graph(_state: CoverageState, key: tuple[str, str]) -> RegionGraph:
    return region_graph_of(_state)


NO_RUN = "no run"


def show_map(context: PageContext, state: CoverageState) -> None:
    found = _chosen(context)
    system = None
    if found is not None:
        system = st.selectbox("Coloured by", list(found.systems), width=320)
    graph = kept_graph(context.store, state)
    for section in map_sections(state, graph, found, system, _link):
        ui.heading(section.heading)
        ui.section(section)
    region.show(context, state, found.systems if found else None)
    if found is not None:
        for section in comparison_sections(state, found):
            ui.heading(section.heading)
            ui.section(section)
    st.download_button(
        "Download the map",
        lambda: coverage_page(context.store, found),
        "coverage.html",
        "text/html",
        icon=":material/download:",
    )


def _link(number: int) -> str:
    return f"?of=Map&{region.LINKED}={number}"


def _chosen(context: PageContext) -> EvaluatedValues | None:
    """The evaluation whose results are drawn; those of sealed parts have none of single queries."""
    with context.store.reading() as cursor:
        listed = [one for one in submitted_evaluations(cursor, context.annotator) if not one.sealed]
    if not listed:
        ui.quiet("No run was evaluated on the page Evaluate yet, so the map has no results.")
        return None
    labels = {
        one.evaluation_id: f"{one.made_at:%d %b %Y %H:%M} UTC: {', '.join(one.systems)} on {one.name}, "
        f"{', '.join(one.parts)}"
        for one in listed
    }
    chosen = st.selectbox("Results", [*labels, NO_RUN], format_func=lambda one: labels.get(one, one))
    if chosen == NO_RUN:
        return None
    try:
        with context.store.reading() as cursor:
            return stored_values(cursor, chosen, context.annotator)
    except CurationError as error:
        ui.problem(error)
        return None


PARTS = {"Gaps": gaps.show, "Map": show_map, "Written": show_written}


def show(annotator: Annotator) -> None:
    ui.lead("Which regions of the corpus no query tests, and who writes queries for them.")
    context = read_context(annotator, (MEASURING,))
    state = kept_state(context.store)
    if state is None:
        st.info(
            "There is no coverage map of this corpus yet. Measuring makes one: it finds topics in the "
            "documents and groups them by meaning. The first run reads the whole corpus and can take minutes."
        )
        missing_step(context.store, annotator, "import")
        show_measuring(context, None)
        return
    PARTS[ui.part("Part", PARTS, "of")](context, state)


PAGE = AppPage(16, "Coverage", "coverage", LEADS, show, group=DATA)
