"""Agreement: between annotators, where it is low and why, within each, and how many pairs are settled."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.workplace import project_store
from curation.agreement import agreement_report
from curation.agreement.page import agreement_page
from curation.agreement.report import findings
from curation.agreement.sections import Section, sections
from curation.labeling.rounds import list_rounds
from curation.store.rows import Annotator

ALL = "All rounds"


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        names = [item.name for item in reversed(list_rounds(cursor))]
    chosen = st.selectbox("Judgments of", [ALL, *names], width=320) if names else ALL
    with st.spinner("Computing intervals…"):
        report = agreement_report(store, None if chosen == ALL else chosen, details=True)
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in findings(report)))
    for section in sections(report):
        _section(section)
    if report.between.units:
        page = agreement_page(report)
        st.download_button(
            "Download this page", page, "agreement.html", "text/html", icon=":material/download:"
        )


def _section(section: Section) -> None:
    ui.heading(section.heading)
    ui.sentences(section.sentence)
    for drawing in section.drawings:
        ui.drawing(drawing)
    for table in section.tables:
        ui.table(table.caption, table.columns, table.rows, words=table.words)
    if section.remark:
        ui.quiet(section.remark)
