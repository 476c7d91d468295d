"""Re-label, the report: old grades against new ones, and how much of the whole set is wrong."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page_context import PageContext
from app.views.relabel import past_evaluations
from app.views.relabel.kept import ShownDrift, shown_drift
from curation.core.text import amount
from curation.operations.jobs.figures import figures_of
from curation.relabeling.staleness.calendar import DONE, QuarterWork, read_work

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
