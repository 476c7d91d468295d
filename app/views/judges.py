"""Judges: the page on which a lead has language models grade pairs, and sees how far these judges can be
trusted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import ui
from app.app_page import LEADS, QUALITY, AppPage
from app.components.forms import Form
from app.page_context import PageContext, read_context
from curation.core.errors import CurationError
from curation.core.reports.tables import Table
from curation.evaluation.llm_judges.ask_judge import plan_judge
from curation.evaluation.llm_judges.judge_agreement import JudgeAgreement
from curation.evaluation.llm_judges.judge_judgments import list_judges
from curation.evaluation.llm_judges.judge_requests import JudgeRequest
from curation.evaluation.llm_judges.measure_agreement import measure_judge_agreement
from curation.evaluation.llm_judges.side_by_side import compare_judges
from curation.labeling.rounds.rounds import list_rounds
from curation.operations.jobs.figures import figures_of
from curation.releases.release_rows import list_releases
from curation.store import Annotator, Store

JOB = "ask judge"
FORM = "judge"


def show(annotator: Annotator) -> None:
    ui.purpose("Language models that grade pairs, checked as people are. Their grades never count as votes.")
    context = read_context(annotator, (JOB,))
    context.show_result(JOB)
    has_judges = _show_judges(context.store)
    with st.expander("Ask a language model", expanded=not has_judges):
        _ask_model(context)


PAGE = AppPage(34, "Judges", "judges", LEADS, show, menu=QUALITY)


def _show_judges(store: Store) -> bool:
    """Show each judge with one sentence, the judges side by side, and their figures; return whether there is
    a judge."""
    figures = figures_of(store)
    state = figures.state()
    with store.reading() as cursor:
        judges = list_judges(cursor)
    if not judges:
        st.info("The project has no judge yet. Ask a language model below, or import a judge's grades.")
        return False
    with st.spinner("Comparing the judges with people…"):
        compared = {judge.judge: figures.figure(state, compare_with_people, judge.judge) for judge in judges}
        side_by_side = figures.figure(state, compare_all)
    verdicts = {name: item if isinstance(item, str) else item.verdict for name, item in compared.items()}
    rows = [(judge.judge, judge.judgments, judge.cannot_tell, verdicts[judge.judge]) for judge in judges]
    ui.table("Compared with people", ("Judge", "Pairs", "Cannot tell", "Verdict"), rows, words=True)
    ui.tables(*([side_by_side] if side_by_side else []))
    for name, item in compared.items():
        if not isinstance(item, str):
            with st.expander(f"Details for {ui.literal(name)}"):
                ui.result(item)
    return True


def compare_with_people(store: Store, judge: str) -> JudgeAgreement | str:
    """Compare a judge with people, or return the reason why it cannot be compared."""
    try:
        return measure_judge_agreement(store, judge)
    except CurationError as error:
        return error.found


def compare_all(store: Store) -> Table | None:
    """Compare all judges on the pairs that all of them graded."""
    with store.reading() as cursor:
        return compare_judges(cursor)


def _ask_model(context: PageContext) -> None:
    """Ask which pairs to have judged, show what would be sent, and start the job after a second click."""
    with context.store.reading() as cursor:
        releases = [row.name for row in list_releases(cursor)]
        rounds = [row.name for row in list_rounds(cursor)]
    form = Form(JudgeRequest, choices={"release": releases, "round": rounds})
    form.ask("name", "model", "release", "round")
    with st.expander("More options"):
        form.ask_rest()
    request = form.request()
    state = context.acts.form(FORM)
    if st.button("Show what would be sent", key=f"plan {state.key}"):
        context.acts.do(state, partial(_plan, context.store, request))
    ui.note("The server's environment names the endpoint. Sealed queries are not sent.")
    planned: tuple[JudgeRequest, Sequence[str]] | None = state.result
    if planned is not None and planned[0] == request:
        ui.sentences(*planned[1])
        if context.button("Send", JOB, remark="The model receives these texts and may cost money."):
            context.request_job(JOB, request)


def _plan(store: Store, request: JudgeRequest) -> tuple[JudgeRequest, Sequence[str]]:
    return request, plan_judge(store, request).sentences
