"""Releases, Re-label: stale grades, and the judging that renews some of them each quarter."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from app import ui
from app.next_stage import show_missing_stage
from app.page_context import PageContext
from app.views.releases import relabel_due, relabel_plan
from app.views.releases.relabel_plan import OPEN_ROUND_JOB
from curation.agreement.gate import compute_gate
from curation.core.errors import CurationError
from curation.core.text import pluralize
from curation.operations.jobs.figures import figures_of
from curation.relabeling.calendar import DONE, QuarterWork, read_work
from curation.relabeling.report import make_drift_report
from curation.relabeling.report_sections import list_drift_findings, make_drift_page, make_drift_sections
from curation.relabeling.staleness import compute_staleness
from curation.store import utc_now

OPEN_SECTION_COUNT = 2
PARTS = ("Due", "Plan", "Report")
JOBS = (relabel_plan.PLAN_JOB, OPEN_ROUND_JOB)


def show(context: PageContext) -> None:
    figures = figures_of(context.store)
    data_state = figures.state()
    with st.spinner("Finding outdated labels…"):
        set_staleness = figures.figure(data_state, compute_staleness, utc_now().date())
    ui.data_time(data_state)
    if not set_staleness.pairs:
        st.info("Nobody has judged a pair yet. This page shows outdated labels once a round is judged.")
        show_missing_stage(context.store, context.annotator, "round")
        return
    with suppress(CurationError):  # there is no gate if grades are off the scale
        advice = figures.figure(data_state, compute_gate).advice
        ui.sentences(f"Before you plan the re-labeling, {advice[0].lower()}{advice[1:]}" if advice else "")
    part = ui.choose_part("Part", PARTS, "quarter")
    if part == "Plan":
        relabel_plan.show(context)
    elif part == "Report":
        _show_report(context)
    else:
        relabel_due.show(context.store, set_staleness)


def _show_report(context: PageContext) -> None:
    with context.store.reading() as cursor:
        by_quarter = {row.quarter: row for row in reversed(read_work(cursor)) if row.round is not None}
    if not by_quarter:
        st.info(
            "No re-labeling has been opened yet. A quarter's report appears here once people have "
            "judged its pairs."
        )
        return
    work = by_quarter[st.selectbox("Quarter", list(by_quarter), width=320)]
    ui.note(_describe_round(work))
    report = figures_of(context.store).now(make_drift_report, work.quarter)
    ui.findings(list_drift_findings(report))
    if report.pairs:
        page_name = f"re-labeling-{report.name}.html"
        ui.download("Download the report", lambda: make_drift_page(report), page_name)
        ui.folded(make_drift_sections(report), OPEN_SECTION_COUNT, words=True)


def _describe_round(work: QuarterWork) -> str:
    of_pairs = f"of {pluralize(work.pairs, 'pair')}"
    done = f"{pluralize(work.whole, f'{of_pairs} is', f'{of_pairs} are')} complete"
    if work.state == DONE:
        return f"Round {work.round}, done: {done}."
    return (
        f"Round {work.round}, {work.state}: {done}. A pair is complete once every "
        "annotator who got it has judged it. The values count only complete pairs."
    )
