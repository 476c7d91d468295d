"""Agreement: the page that shows how well annotators agree, and where they disagree."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app import ui
from app.app_page import LEADS, QUALITY, REVIEWERS, AppPage
from app.context import project_store
from app.next_stage import show_missing_stage
from curation.agreement import report_findings, report_sections, round_findings
from curation.agreement.disagreement_sources import NAMED, DisagreementSources, GuideLine, QueryShare
from curation.agreement.report import AgreementReport, make_agreement_report
from curation.agreement.signals import DURING_ROUND, compute_annotator_details
from curation.agreement.verdict import judge_alpha
from curation.core.reports.page import Section
from curation.core.reports.tables import QueryName
from curation.core.text import percent, pluralize
from curation.labeling.rounds.control_items import build_control_table
from curation.labeling.rounds.pilot import PilotReport, report_pilot
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.rounds.status import RoundStatus, build_spacing_table, read_round_status
from curation.operations.jobs.figures import DataState, FigureCache, figures_of
from curation.people.seal_access import withheld
from curation.store import Annotator, Store

ALL_ROUNDS = "All rounds"


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        names = [row.name for row in reversed(list_rounds(cursor))]
    if not names:
        st.info("Nothing is judged yet. Once two people have judged the same pairs, you see their agreement.")
        show_missing_stage(store, annotator, "round")
        return
    chosen = st.selectbox("Judgments of", [ALL_ROUNDS, *names], width=320, key="round", bind="query-params")
    round_name = None if chosen == ALL_ROUNDS else chosen
    figures = figures_of(store)
    data_state = figures.state()
    with st.spinner("Computing the verdict…"):
        report, quality = figures.figure(data_state, compute_verdict, round_name)
    ui.data_time(data_state)
    if missing_checks := report_findings.list_unchecked(report):
        ui.sentences(*missing_checks)
    verdict = judge_alpha(report.between)
    ui.verdict(verdict.figure, verdict.state.capitalize(), verdict.sentence)
    if not report.between.units:
        show_missing_stage(store, annotator, "round")
    ui.findings(report_findings.list_other_findings(report))
    if quality is not None and annotator.role in LEADS:
        _show_checks(quality)
    with st.spinner("Computing the sources of disagreement…"):
        details = figures.figure(data_state, compute_details, round_name)
    for section in [*details.sources_sections, details.feedback]:
        ui.heading(section.heading)
        if section.heading == report_sections.QUERIES:
            ui.sentences(section.sentence)
            _show_disputed_pairs(details.sources.queries if details.sources else ())
        else:
            ui.section(section)
        if section.heading == report_sections.GRADES:
            _ask_cell(details.sources.lines if details.sources else ())
    if round_name is not None and annotator.role in LEADS:
        _show_planted_items(figures, data_state, round_name)
    with st.expander("All agreement coefficients and their data"):
        for section in details.coefficients:
            ui.heading(section.heading)
            ui.section(section)
    if details.page is not None:
        ui.download("Download this page", details.page, "agreement.html")


PAGE = AppPage(32, "Agreement", "agreement", REVIEWERS, show, group=QUALITY)


def _ask_cell(lines: tuple[GuideLine, ...]) -> None:
    """Ask for a cell of the confusion table, and show its pairs."""
    cells = {f"{line.lower} and {line.upper}: {pluralize(line.pairs, 'pair')}": line for line in lines}
    chosen = st.pills("Pairs that got both grades", sorted(cells), key="cell") if cells else None
    if chosen in cells:
        line = cells[chosen]
        rows = [(QueryName(*pair), pair[2]) for pair in line.named]
        ui.table(f"{len(rows):,} of {pluralize(line.pairs, 'pair')}", ["Query", "Document"], rows, words=True)
        if len(rows) < min(line.pairs, NAMED):
            ui.quiet("The remaining pairs are in sealed parts of a release and are not named.")


def _show_disputed_pairs(queries: tuple[QueryShare, ...]) -> None:
    """Show, for each query, the pairs on which annotators' grades differ, with each annotator's grade."""
    for query in queries:
        ui.remarks(
            QueryName(query.text, query.query_id),
            f"{percent(query.disagreement, 1)} of the disagreement, {query.disputed:,} of {query.units:,} "
            "pairs differ",
        )
        with st.expander("Pairs on which annotators' grades differ"):
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


def _show_checks(round_quality: round_findings.RoundQuality) -> None:
    """Show the findings of the checks of a round that need attention, and the checks that could not be
    made.
    """
    ui.heading("Worth a look")
    for annotator, finding in round_quality.findings:
        prefix = f"{annotator}: " if annotator and not finding.sentence.startswith(annotator) else ""
        st.warning(ui.plain(f"{prefix}{finding.sentence}"), icon=":material/visibility:")
    ui.quiet(round_quality.conclusion)
    with st.expander("Checks of this round"):
        ui.tables(round_findings.make_unchecked_table(round_quality))
        labels = round_findings.CHECKS | {signal.name: signal.label for signal in DURING_ROUND}
        ui.sentences(*(f"{name.capitalize()}: {label}." for name, label in labels.items()))
        ui.sentences(
            f"A round in which nothing is wrong shows a signal about a person in at most "
            f"{percent(round_findings.FALSE_ROUNDS)} of cases, if answers are independent and you look once."
        )


def _show_planted_items(figures: FigureCache, data_state: DataState, round_name: str) -> None:
    """Show the results of a round's pilot, blind duplicates and control items."""
    status = figures.figure(data_state, read_round_status, round_name)
    if status.kind == "pilot":
        _show_pilot(figures.figure(data_state, report_pilot, round_name))
    _show_duplicates(status)
    if status.control_items:
        ui.heading("Control items")
        ui.tables(build_control_table(status.control_items))


def _show_pilot(report: PilotReport) -> None:
    """Show the results of the pilot."""
    ui.heading("Results of the pilot")
    ui.tables(*report.tables)
    ui.sentences(withheld(report.sealed))


def _show_duplicates(status: RoundStatus) -> None:
    """Show how many answers lie between the first and the repeated showing of blind duplicates."""
    spacing = status.spacing
    if not spacing.duplicates:
        return
    ui.heading("Blind duplicates")
    ui.tables(build_spacing_table(spacing.distances, spacing.hours))
    ui.quiet(
        f"{spacing.duplicates:,} planted, {spacing.judged:,} answered both times, {spacing.another_day:,} "
        "of these on different days."
    )


class AgreementDetails(NamedTuple):
    """The parts of the page below the verdict, for one state of the project."""

    sources_sections: list[Section]
    coefficients: list[Section]
    sources: DisagreementSources | None
    feedback: Section
    page: str | None


def compute_verdict(
    store: Store, round_name: str | None
) -> tuple[AgreementReport, round_findings.RoundQuality | None]:
    """Compute the report without details. It takes an eighth of the time, so the verdict appears first."""
    report = make_agreement_report(store, round_name)
    return report, round_findings.check_round(store, round_name, report) if round_name else None


def compute_details(store: Store, round_name: str | None) -> AgreementDetails:
    """Compute the whole agreement report."""
    report, people = (
        make_agreement_report(store, round_name, details=True),
        compute_annotator_details(store, round_name),
    )
    return AgreementDetails(
        *report_sections.make_section_layers(report),
        report.details.sources if report.details else None,
        report_sections.make_feedback_section(people),
        report_sections.make_agreement_page(report, people) if report.between.units else None,
    )
