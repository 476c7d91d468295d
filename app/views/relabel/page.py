"""Re-label: what of the set went stale, the part that is judged again this quarter, and what changed.

Re-label, the report: old grades against new ones, and how much of the whole set is wrong.
"""

from __future__ import annotations

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.page import LEADS, RELEASE, AppPage, PageContext, read_context
from app.views.relabel import due, past_evaluations, plan
from app.views.relabel.kept import ShownDrift, shown_drift
from app.views.relabel.plan import OPENING
from curation.jobs.figures import figures_of
from curation.relabeling.staleness.calendar import DONE, QuarterWork, read_work
from curation.relabeling.staleness.staleness import staleness
from curation.store import Annotator, utc_now
from curation.text import amount

OPEN = 2
"""Sections that are open when a report is shown."""


def show_report(context: PageContext) -> None:
    with context.store.reading() as cursor:
        work = {one.quarter.name: one for one in reversed(read_work(cursor)) if one.round is not None}
    if not work:
        st.info("No quarter was opened yet. Its report is here once people have judged it.")
        return
    chosen = work[st.selectbox("Quarter", list(work), width=320)]
    ui.quiet(_state(chosen))
    shown = figures_of(context.store).now(shown_drift, chosen.quarter.name)
    st.markdown("\n".join(f"- {ui.plain(sentence)}" for sentence in shown.findings))
    if shown.report.pairs or shown.report.orders:
        _sections(shown)
    past_evaluations.show(context, chosen.plan_id)


def _sections(shown: ShownDrift) -> None:
    st.download_button(
        "Download the report",
        shown.html,
        f"re-labeling-{shown.report.name}.html",
        "text/html",
        icon=":material/download:",
    )
    ui.folded(shown.sections, OPEN, words=True)


def _state(work: QuarterWork) -> str:
    of = f"of {amount(work.pairs, 'pair')}"
    done = f"{amount(work.whole, f'{of} is', f'{of} are')} judged by everybody who was asked"
    if work.state == DONE:
        return f"Round {work.round}, done: {done}."
    return f"Round {work.round}, {work.state}: {done}. The figures are of these only."


PARTS = ("Due", "Plan", "Report")
JOBS = (plan.KIND, OPENING, past_evaluations.KIND)


def show(annotator: Annotator) -> None:
    ui.lead("Which labels are out of date, and the plan to renew them.")
    context = read_context(annotator, JOBS)
    figures = figures_of(context.store)
    of = figures.state()
    with st.spinner("Reading how stale the set is…"):
        found = figures.figure(of, staleness, utc_now().date())
    ui.as_of(of)
    if not found.pairs:
        st.info(
            "Nothing is judged yet. Once people have judged a round, this page shows which labels are out of "
            "date."
        )
        missing_step(context.store, annotator, "round")
        return
    part = ui.part("Part", PARTS, "of")
    if part == "Plan":
        plan.show(context, found)
    elif part == "Report":
        show_report(context)
    else:
        due.show(context.store, found)


PAGE = AppPage(44, "Re-label", "relabel", LEADS, show, group=RELEASE)
