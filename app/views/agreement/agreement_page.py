"""Agreement: between annotators, where it is low and why, within each, and how many pairs are settled."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.app_page import LEADS, QUALITY, REVIEWERS, AppPage
from app.context import project_store
from app.next_step import missing_step
from app.views.agreement import checks
from app.views.agreement.kept import computed, first_look
from curation.agreement.between.disagreement_sources import NAMED, ConfusedGrades, QueryShare
from curation.agreement.report.sections import GRADES, QUERIES
from curation.core.reports.page import QueryName
from curation.core.text import amount, percent
from curation.labeling.rounds.rounds import list_rounds
from curation.operations.jobs.figures import figures_of
from curation.store import Annotator

ALL = "All rounds"


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        names = [item.name for item in reversed(list_rounds(cursor))]
    if not names:
        st.info("Nothing is judged yet. Once two people have judged the same pairs, their agreement is here.")
        missing_step(store, annotator, "round")
        return
    chosen = st.selectbox("Judgments of", [ALL, *names], width=320, key="round", bind="query-params")
    round_name = None if chosen == ALL else chosen
    figures = figures_of(store)
    of = figures.state()
    with st.spinner("Computing the verdict…"):
        first = figures.figure(of, first_look, round_name)
    ui.as_of(of)
    if first.not_checked:
        ui.sentences("\n".join(first.not_checked))
    ui.verdict(first.verdict.figure, first.verdict.state.capitalize(), first.verdict.sentence)
    if not first.units:
        missing_step(store, annotator, "round")
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in first.findings))
    if first.quality is not None and annotator.role in LEADS:
        checks.worth_a_look(first.quality)
    with st.spinner("Computing where it comes from…"):
        shown = figures.figure(of, computed, round_name)
    for section in [*shown.origins, shown.feedback]:
        ui.heading(section.heading)
        if section.heading == QUERIES:
            ui.sentences(section.sentence)
            _pairs(shown.sources.queries if shown.sources else ())
        else:
            ui.section(section)
        if section.heading == GRADES:
            _met(shown.sources.met if shown.sources else ())
    if round_name is not None and annotator.role in LEADS:
        checks.blind_items(figures, of, round_name)
    with st.expander("All coefficients and their data"):
        for section in shown.coefficients:
            ui.heading(section.heading)
            ui.section(section)
    if shown.page is not None:
        st.download_button(
            "Download this page", shown.page, "agreement.html", "text/html", icon=":material/download:"
        )


PAGE = AppPage(32, "Agreement", "agreement", REVIEWERS, show, group=QUALITY)


def _met(mets: tuple[ConfusedGrades, ...]) -> None:
    """The pairs of a cell of the confusion table."""
    cells = {f"{met.lower} and {met.higher}: {amount(met.pairs, 'pair')}": met for met in mets}
    chosen = st.pills("Pairs that got both grades", list(cells), key="cell") if cells else None
    if chosen in cells:
        cell = cells[chosen]
        rows = [
            (QueryName(pair.text, pair.query_id, pair.document_id), pair.document_id) for pair in cell.named
        ]
        ui.table(f"{len(rows):,} of {amount(cell.pairs, 'pair')}", ["Query", "Document"], rows, words=True)
        if len(rows) < min(cell.pairs, NAMED):
            ui.quiet("The others are of parts that a release seals: they are not named.")


def _pairs(queries: tuple[QueryShare, ...]) -> None:
    """The pairs of each query on which grades differ, and who said what."""
    for query in queries:
        ui.said(
            QueryName(query.text, query.query_id),
            f"{percent(query.disagreement, 1)} of the disagreement, {query.disputed:,} of {query.units:,} "
            "pairs differ",
        )
        with st.expander("Pairs on which grades differ"):
            rows = [
                (
                    QueryName(pair.document_id, query.query_id, pair.document_id),
                    ", ".join(f"{name}: {_grade(grade)}" for name, grade in pair.said),
                )
                for pair in query.opinions
            ]
            ui.table("Largest difference first", ["Document", "Who said what"], rows, words=True)


def _grade(grade: int | None) -> str:
    return "cannot tell" if grade is None else str(grade)
