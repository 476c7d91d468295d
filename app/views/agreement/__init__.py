"""Agreement: the page that shows how well annotators agree, and where they disagree."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app import ui
from app.app_page import LEADS, QUALITY, AppPage
from app.context import project_store
from app.next_stage import show_missing_stage
from app.views.agreement import planted_items
from app.views.agreement.differing_pairs import ask_cell, show_disputed_pairs
from curation.agreement import report_findings, report_sections, round_findings
from curation.agreement.disagreement_sources import DisagreementSources
from curation.agreement.feedback import compute_annotator_details
from curation.agreement.report import AgreementReport, make_agreement_report
from curation.agreement.signals import ROUND_SIGNALS
from curation.agreement.verdict import judge_alpha
from curation.core.reports.page import Section
from curation.core.text import percent
from curation.labeling.rounds.rounds import list_rounds
from curation.operations.jobs.figures import DataState, FigureCache, figures_of
from curation.people.annotators import REVIEWERS
from curation.store import Annotator, Store

ALL_ROUNDS = "All rounds"


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        names = [row.name for row in reversed(list_rounds(cursor))]
    if not names:
        st.info(
            "Nobody has judged a pair yet. Agreement appears here once two people have judged the same pairs."
        )
        show_missing_stage(store, annotator, "round")
        return
    chosen = st.selectbox("Judgments of", [ALL_ROUNDS, *names], width=320, key="round", bind="query-params")
    round_name = None if chosen == ALL_ROUNDS else chosen
    figures = figures_of(store)
    data_state = figures.state()
    _show_verdict(figures, data_state, annotator, round_name)
    with st.spinner("Finding where people disagree…"):
        details = figures.figure(data_state, compute_details, round_name)
    _show_sources(details)
    if round_name is not None and annotator.role in LEADS:
        planted_items.show(figures, data_state, round_name)
    with st.expander("All agreement coefficients, and the data behind them"):
        for section in details.coefficients:
            ui.heading(section.heading)
            ui.section(section)
    if details.page is not None:
        ui.download("Download this page", details.page, "agreement.html")


PAGE = AppPage(32, "Agreement", "agreement", REVIEWERS, show, menu=QUALITY)


def _show_verdict(
    figures: FigureCache, data_state: DataState, annotator: Annotator, round_name: str | None
) -> None:
    """Show the verdict on agreement and, to leads, the findings of a round's checks."""
    with st.spinner("Computing the verdict…"):
        report, quality = figures.figure(data_state, compute_verdict, round_name)
    ui.data_time(data_state)
    ui.sentences(*report_findings.list_unchecked(report))
    verdict = judge_alpha(report.between)
    ui.verdict(verdict.figure, verdict.state.capitalize(), verdict.sentence)
    if not report.between.units:
        show_missing_stage(project_store(), annotator, "round")
    ui.findings(report_findings.list_other_findings(report))
    if quality is not None and annotator.role in LEADS:
        _show_checks(quality)


def _show_sources(details: AgreementDetails) -> None:
    """Show the sources of disagreement, with the pairs on which annotators differ, and the feedback."""
    lines = details.sources.lines if details.sources else ()
    queries = details.sources.queries if details.sources else ()
    for section in [*details.sources_sections, details.feedback]:
        ui.heading(section.heading)
        if section.heading == report_sections.QUERIES:
            ui.sentences(section.sentence)
            show_disputed_pairs(queries)
        else:
            ui.section(section)
        if section.heading == report_sections.GRADES:
            ask_cell(lines)


def _show_checks(round_quality: round_findings.RoundQuality) -> None:
    """Show the findings of a round's checks that need attention, and the checks that could not be made."""
    ui.heading("Worth a look")
    for annotator, finding in round_quality.findings:
        prefix = f"{annotator}: " if annotator and not finding.sentence.startswith(annotator) else ""
        st.warning(ui.literal(f"{prefix}{finding.sentence}"), icon=":material/visibility:")
    ui.note(round_quality.conclusion)
    with st.expander("What was checked in this round"):
        ui.tables(round_findings.make_unchecked_table(round_quality))
        labels = round_findings.CHECKS | {signal.name: signal.label for signal in ROUND_SIGNALS}
        ui.sentences(*(f"{name.capitalize()}: {label}." for name, label in labels.items()))
        ui.sentences(
            "If everybody grades as usual, chance alone lists a person here in at most "
            f"{percent(round_findings.FALSE_ROUNDS)} of rounds, provided that answers are independent and "
            "you look only once."
        )


class AgreementDetails(NamedTuple):
    """The page's sections below the verdict, and the report as an HTML page if pairs were compared."""

    sources_sections: list[Section]
    coefficients: list[Section]
    sources: DisagreementSources | None
    feedback: Section
    page: str | None


def compute_verdict(
    store: Store, round_name: str | None
) -> tuple[AgreementReport, round_findings.RoundQuality | None]:
    """Compute the agreement report without details, and check the round if there is one.

    The verdict takes an eighth of the time of the details, so the page shows the verdict first.
    """
    report = make_agreement_report(store, round_name)
    quality = round_findings.check_round(store, round_name, report) if round_name else None
    return report, quality


def compute_details(store: Store, round_name: str | None) -> AgreementDetails:
    """Compute the agreement report with details, as sections of the page."""
    report = make_agreement_report(store, round_name, details=True)
    people = compute_annotator_details(store, round_name)
    sources_sections, coefficients = report_sections.make_section_layers(report)
    return AgreementDetails(
        sources_sections=sources_sections,
        coefficients=coefficients,
        sources=report.details.sources if report.details else None,
        feedback=report_sections.make_feedback_section(people),
        page=report_sections.make_agreement_page(report, people) if report.between.units else None,
    )
