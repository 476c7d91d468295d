"""Re-label: the stale pairs of the gold set, the pairs that people judge again each quarter, and the
report.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_stage import missing_stage
from app.page_context import PageContext
from app.views.releases import relabel_due, relabel_plan
from app.views.releases.relabel_plan import OPENING
from curation.core.text import pluralize
from curation.operations.jobs.figures import figures_of
from curation.relabeling.calendar import DONE, QuarterWork, read_work
from curation.relabeling.report import drift_report
from curation.relabeling.report_sections import drift_findings, drift_page, drift_sections
from curation.relabeling.staleness import staleness
from curation.store import utc_now

OPEN = 2
"""Number of sections of a report that are initially open."""

PARTS = ("Due", "Plan", "Report")
JOBS = (relabel_plan.KIND, OPENING)


def show_report(context: PageContext) -> None:
    with context.store.reading() as cursor:
        work = {row.quarter: row for row in reversed(read_work(cursor)) if row.round is not None}
    if not work:
        st.info("No quarter is open yet. The report of a quarter appears here once people have judged pairs.")
        return
    chosen = work[st.selectbox("Quarter", list(work), width=320)]
    ui.quiet(_state(chosen))
    report = figures_of(context.store).now(drift_report, chosen.quarter)
    ui.findings(drift_findings(report))
    if report.pairs:
        page_name = f"re-labeling-{report.name}.html"
        ui.download("Download the report", lambda: drift_page(report), page_name)
        ui.folded(drift_sections(report), OPEN, words=True)


def _state(work: QuarterWork) -> str:
    of = f"of {pluralize(work.pairs, 'pair')}"
    done = f"{pluralize(work.whole, f'{of} is', f'{of} are')} judged by everybody who was asked"
    if work.state == DONE:
        return f"Round {work.round}, done: {done}."
    return f"Round {work.round}, {work.state}: {done}. The figures include only fully judged pairs."


def show(context: PageContext) -> None:
    figures = figures_of(context.store)
    of = figures.state()
    with st.spinner("Reading how stale the set is…"):
        set_staleness = figures.figure(of, staleness, utc_now().date())
    ui.as_of(of)
    if not set_staleness.pairs:
        st.info(
            "Nothing is judged yet. Once people have judged a round, this page shows which labels are out of "
            "date."
        )
        missing_stage(context.store, context.annotator, "round")
        return
    part = ui.part("Part", PARTS, "quarter")
    if part == "Plan":
        relabel_plan.show(context)
    elif part == "Report":
        show_report(context)
    else:
        relabel_due.show(context.store, set_staleness)
