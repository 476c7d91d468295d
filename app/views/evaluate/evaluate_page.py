"""Evaluate: score runs on a release, read the report, and compare with everybody's on the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import ui
from app.app_page import RELEASE, AppPage
from app.components.drawing import drawing
from app.next_step import missing_step
from app.page_context import PageContext, read_context
from app.views.evaluate import by_query, submit
from app.views.evaluate.further import ChosenPart
from app.views.evaluate.submit import FORM
from curation.core.reports.charts import weeks
from curation.core.text import amount, decimal
from curation.evaluation.report.query_by_query import QUERY_BY_QUERY
from curation.evaluation.submission import Submitted
from curation.evaluation.submitted import (
    SubmittedBoard,
    SubmittedEvaluation,
    SubmittedRow,
    SubmittedRun,
    board,
    evaluable_release,
    histories,
    ranked,
    rounded_evaluations,
    submitted_evaluations,
    submitted_report,
)
from curation.people.annotators import EVALUATING
from curation.releases.release_rows import ReleaseRow, list_releases, mark_sentence, marked, release_marks
from curation.store import Annotator, Store

KEPT = 8
"""Leaderboards that are kept in memory."""


def show(annotator: Annotator) -> None:
    ui.lead("Scores of systems on a release, each with its interval and size.")
    context = read_context(annotator, (FORM,))
    with context.store.reading() as cursor:
        releases = list_releases(cursor)
        found = submitted_evaluations(cursor, annotator)
    if not releases:
        st.info("Nothing is frozen yet. Once there is a release, runs are scored on it here.")
        missing_step(context.store, annotator, "freeze")
        return
    *places, place = st.columns([1, 1, 2])
    chosen = _chosen(context.store, releases, places)
    ui.warnings(mark_sentence(chosen.release, chosen.mark))
    _ending(context)
    result: Submitted | None = context.acts.form(FORM).result
    if result and result.evaluation_id is None:
        ui.sentences(result.sentences)
    if found:
        newest = result.evaluation_id if result else None
        _show_result(context.store, annotator, place, chosen, found, newest)
    _show_leaderboard(context.store, chosen, annotator)
    with st.expander("Evaluate runs", expanded=not found):
        submit.show(context, chosen)


PAGE = AppPage(42, "Evaluate", "evaluate", EVALUATING, show, group=RELEASE)


def _chosen(store: Store, releases: list[ReleaseRow], places: Sequence[DeltaGenerator]) -> ChosenPart:
    by_name = {row.name: row for row in reversed(releases)}
    with store.reading() as cursor:
        marks = release_marks(cursor)
    name = places[0].selectbox("Release", list(by_name), format_func=lambda one: marked(one, marks.get(one)))
    with store.reading() as cursor:
        offered = evaluable_release(cursor, by_name[name].release_id)
    parts = offered.parts
    part = places[1].selectbox(
        "Part", list(parts), format_func=lambda one: f"{one} (sealed)" if parts[one] else one
    )
    return ChosenPart(
        *(name, by_name[name].release_id, part, parts[part]),
        *(offered.measures, offered.facets, offered.scale),
        mark=offered.mark,
    )


def _ending(context: PageContext) -> None:
    """How this person's last job ended."""
    job = context.jobs.get(FORM)
    if job is not None and job.started_by == context.annotator.name:
        context.ending(FORM)


def _show_leaderboard(store: Store, chosen: ChosenPart, annotator: Annotator) -> None:
    if chosen.sealed and annotator.role != "lead":
        _show_rounded(store, chosen)
        return
    with store.reading() as cursor:
        runs = board(cursor, chosen.release_id, [chosen.part], chosen.sealed)
    ui.heading(f"Leaderboard of {chosen.part}")
    if not runs:
        ui.quiet("Nobody has scored a run on this part yet.")
        return
    state = (str(store.path), chosen.release_id, chosen.part, len(runs))
    found = _ranked(runs, chosen.measures[0], state)
    columns = ["Rank", "System", f"{found.measure} (95 %)", "Queries", "Group", "By"]
    caption = f"Runs on {marked(chosen.release, chosen.mark)}, {chosen.part}"
    ui.table(caption, columns, map(_row, found.rows), words=True)
    ui.quiet(
        "Systems in one group cannot be distinguished, by paired tests of all pairs, corrected by Holm. A "
        "rank such as 1–3 is the range that the tests allow."
    )
    ui.sentences(found.remark)
    for why, count in found.left_out.items():
        ui.quiet(f"Not in the table: {amount(count, 'run')} ({why}).")
    with store.reading() as cursor:
        past = histories(cursor, chosen.part, found.measure, annotator)
    if series := [(system, marks) for system, marks in past.items() if len(marks) > 1]:
        ui.heading("History")
        drawing(weeks(f"{found.measure} of {chosen.part}, evaluation by evaluation", series[:6], joined=True))


def _show_rounded(store: Store, chosen: ChosenPart) -> None:
    """The rounded figures of a sealed part that evaluators had."""
    with store.reading() as cursor:
        found = rounded_evaluations(cursor, chosen.release_id, chosen.part)
    ui.heading(f"Sealed evaluations of {chosen.part}")
    if not found:
        ui.quiet("Nobody has scored a run on this part yet.")
        return
    rows = [
        (row.system, measure, figure["value"], f"{row.evaluated_by}, {row.evaluated_at:%d\u00a0%b\u00a0%Y}")
        for row in found
        for measure, figure in row.shown.items()
    ]
    columns = ["System", "Measure", "Figure", "By"]
    ui.table(f"Runs on {marked(chosen.release, chosen.mark)}, {chosen.part}", columns, rows, words=True)
    ui.quiet("Each figure is rounded to its standard error. Only leads see full results on a sealed part.")


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _ranked(_runs: list[SubmittedRun], measure: str, state: tuple[object, ...]) -> SubmittedBoard:
    """The leaderboard, kept until another run is scored: runs are only added, and `state` counts them."""
    return ranked(_runs, measure)


def _row(submitted: SubmittedRow) -> tuple[object, ...]:
    row, run = submitted
    rank = f"{row.best_rank}" if row.best_rank == row.worst_rank else f"{row.best_rank}–{row.worst_rank}"
    low, high = run.figure["low"], run.figure["high"]
    span = "" if low is None or high is None else f" ({decimal(low)}\u00a0to\u00a0{decimal(high)})"
    by = f"{run.by}, {run.at:%d\u00a0%b\u00a0%Y}"
    return rank, row.system, f"{decimal(row.value)}{span}", run.figure["n"], row.letters, by


def _show_result(
    store: Store,
    annotator: Annotator,
    place: DeltaGenerator,
    chosen: ChosenPart,
    evaluations: list[SubmittedEvaluation],
    newest: str | None,
) -> None:
    """One of the evaluations that this person may see: at first the newest one on the chosen part."""
    here = [
        evaluation
        for evaluation in evaluations
        if (evaluation.name, evaluation.parts) == (chosen.release, [chosen.part])
    ]
    with store.reading() as cursor:
        marks = release_marks(cursor)
    at = next((number for number, one in enumerate(here) if one.evaluation_id == newest), 0)
    one = place.selectbox(
        "Evaluation",
        [*here, *(evaluation for evaluation in evaluations if evaluation not in here)],
        at if here else None,
        format_func=lambda one: _label(one, marks),
        key=f"evaluation {chosen.key} {newest}",
        placeholder=f"None on {chosen.part} of {chosen.release} yet: choose another one",
    )
    if one is None:
        return
    with store.reading() as cursor:
        report, result = submitted_report(cursor, one.evaluation_id, annotator)
    above = mark_sentence(chosen.release, chosen.mark)  # is a warning already
    ui.sentences("\n".join(line for line in (report.lead, *report.findings) if line not in above))
    by_query.show(store, annotator, one, [other for other in here if other != one and one in here])
    ui.folded((section for section in report.sections if section.heading != QUERY_BY_QUERY), words=True)
    ui.quiet(report.remark)
    with st.container(horizontal=True):
        icon = ":material/download:"
        st.download_button("Download the report", report.html, "report.html", "text/html", icon=icon)
        st.download_button("Download the tables", report.markdown, "tables.md", "text/markdown", icon=icon)
        st.download_button("Download all figures", result, "evaluation.json", "application/json", icon=icon)


def _label(evaluation: SubmittedEvaluation, marks: Mapping[str, str]) -> str:
    systems = ", ".join(evaluation.systems[:4]) + (" …" if len(evaluation.systems) > 4 else "")
    name = marked(evaluation.name, marks.get(evaluation.name))
    return (
        f"{evaluation.made_at:%d %b %Y %H:%M} UTC, {evaluation.author}: {systems} on {name}, "
        f"{', '.join(evaluation.parts)}"
    )
