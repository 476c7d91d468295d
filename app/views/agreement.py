"""Agreement: between annotators, where it is low and why, within each, and how many pairs are settled."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from app import ui
from app.context import project_store
from app.page import REVIEWERS, AppPage
from curation.agreement import agreement_report
from curation.agreement.annotators.details import annotator_details
from curation.agreement.report.fingerprint import read_fingerprint
from curation.agreement.report.page import agreement_page, feedback_section
from curation.agreement.report.report import findings
from curation.agreement.report.sections import sections
from curation.labeling.rounds.rounds import list_rounds
from curation.reports.page import Section
from curation.store import Annotator, Store

ALL = "All rounds"
KEPT = 4
"""Reports that are kept in memory, of all rounds and states of the project together."""


class Shown(NamedTuple):
    """What the page shows of one state of the project."""

    findings: list[str]
    sections: list[Section]
    page: str | None


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        names = [item.name for item in reversed(list_rounds(cursor))]
        fingerprint = read_fingerprint(cursor)
    chosen = st.selectbox("Judgments of", [ALL, *names], width=320) if names else ALL
    with st.spinner("Computing intervals…"):
        shown = computed(store, str(store.path), fingerprint, None if chosen == ALL else chosen)
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in shown.findings))
    for section in shown.sections:
        ui.heading(section.heading)
        ui.section(section)
    if shown.page is not None:
        st.download_button(
            "Download this page", shown.page, "agreement.html", "text/html", icon=":material/download:"
        )


PAGE = AppPage(60, "Agreement", "agreement", REVIEWERS, show)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def computed(_store: Store, path: str, fingerprint: str, round_name: str | None) -> Shown:
    """The report, kept for as long as the fingerprint of that project stays the same."""
    report, people = agreement_report(_store, round_name, details=True), annotator_details(_store, round_name)
    page = agreement_page(report, people) if report.between.units else None
    return Shown(findings(report), [*sections(report), feedback_section(people)], page)
