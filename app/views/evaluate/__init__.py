"""Evaluate: a page to score runs on a release, to read the report, and to compare runs on the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import ui
from app.app_page import RELEASE, AppPage
from app.components.widgets import drawing
from app.next_stage import show_missing_stage
from app.page_context import read_context
from app.views.evaluate import by_query, submit
from app.views.evaluate.submit import FORM
from curation.core.reports.charts import weeks
from curation.core.text import decimal, pluralize
from curation.evaluation.evaluable_release import EvaluableRelease, read_choices
from curation.evaluation.evaluate import Submitted
from curation.evaluation.figures.ranks import LeaderboardRow
from curation.evaluation.leaderboard import (
    SubmittedRun,
    collect_histories,
    list_rounded_evaluations,
    list_runs,
    rank_runs,
)
from curation.evaluation.report.systems import QUERY_BY_QUERY
from curation.evaluation.stored_evaluations import SubmittedEvaluation, list_evaluations, read_report
from curation.people.annotators import EVALUATING
from curation.releases.gate_override import mark_name, read_overrides, warn_of_override
from curation.releases.release_rows import ReleaseRow, list_releases
from curation.store import Annotator, Store

KEPT = 8
"""Maximum number of leaderboards that are kept in memory."""


def show(annotator: Annotator) -> None:
    ui.lead("Scores of systems on a release, each with its interval and size.")
    context = read_context(annotator, (FORM,))
    with context.store.reading() as cursor:
        releases, overrides = list_releases(cursor), read_overrides(cursor)
        evaluations = list_evaluations(cursor, annotator)
    if not releases:
        st.info("There is no release yet. Freeze a release to score runs here.")
        show_missing_stage(context.store, annotator, "freeze")
        return
    *places, column = st.columns([1, 1, 2])
    release, part = _choose(context.store, releases, overrides, places)
    ui.warnings(warn_of_override(release.row.name, release.mark))
    job = context.jobs.get(FORM)
    if job is not None and job.started_by == annotator.name:
        context.show_result(FORM)
    result: Submitted | None = context.acts.form(FORM).result
    if result and result.evaluation_id is None:
        ui.result(result)
    if evaluations:
        newest = result.evaluation_id if result else None
        _show_result(context.store, annotator, column, release, part, evaluations, newest, overrides)
    _show_leaderboard(context.store, release, part, annotator)
    with st.expander("Evaluate runs", expanded=not evaluations):
        submit.show(context, release, part)


PAGE = AppPage(42, "Evaluate", "evaluate", EVALUATING, show, group=RELEASE)


def _choose(
    store: Store,
    releases: Sequence[ReleaseRow],
    overrides: Mapping[str, str],
    places: Sequence[DeltaGenerator],
) -> tuple[EvaluableRelease, str]:
    """Ask for a release and one of its parts; `overrides` says which releases were frozen against the
    gate.
    """
    by_name = {row.name: row for row in reversed(releases)}
    name = places[0].selectbox(
        "Release", list(by_name), format_func=lambda name: mark_name(name, overrides.get(name))
    )
    with store.reading() as cursor:
        release = read_choices(cursor, by_name[name])
    parts = release.parts
    part = places[1].selectbox(
        "Part", list(parts), format_func=lambda part: f"{part} (sealed)" if parts[part] else part
    )
    return release, part


def _show_leaderboard(store: Store, release: EvaluableRelease, part: str, annotator: Annotator) -> None:
    if release.parts[part] and annotator.role != "lead":
        _show_rounded(store, release, part)
        return
    with store.reading() as cursor:
        runs = list_runs(cursor, release.row.release_id, [part], release.parts[part])
    ui.heading(f"Leaderboard of {part}")
    if not runs:
        ui.quiet("Nobody has scored a run on this part yet.")
        return
    state = (str(store.path), release.row.release_id, part, len(runs))
    measure = release.measures[0]
    rows, remark, left_out = _ranked(runs, measure, state)
    columns = ["Rank", "System", f"{measure} (95 %)", "Queries", "Group", "By"]
    caption = f"Runs on {mark_name(release.row.name, release.mark)}, {part}"
    ui.table(caption, columns, [_row(*submitted) for submitted in rows], words=True)
    ui.quiet(
        "Paired tests of all pairs of systems, with Holm's correction, find no difference between the "
        "systems of a group. A rank such as 1–3 is the range of ranks that the tests allow."
    )
    ui.sentences(remark)
    for why, count in left_out.items():
        ui.quiet(f"Not in the table: {pluralize(count, 'run')} ({why}).")
    with store.reading() as cursor:
        past = collect_histories(cursor, part, measure, annotator)
    if series := [(system, marks) for system, marks in past.items() if len(marks) > 1]:
        ui.heading("History")
        drawing(weeks(f"{measure} of {part}, evaluation by evaluation", series[:6], joined=True))


def _show_rounded(store: Store, release: EvaluableRelease, part: str) -> None:
    """Show the rounded figures of a sealed part that evaluators have received."""
    with store.reading() as cursor:
        rounded = list_rounded_evaluations(cursor, release.row.release_id, part)
    ui.heading(f"Sealed evaluations of {part}")
    if not rounded:
        ui.quiet("Nobody has scored a run on this part yet.")
        return
    rows = [
        (row.system, measure, figure["value"], f"{row.evaluated_by}, {row.evaluated_at:%d\u00a0%b\u00a0%Y}")
        for row in rounded
        for measure, figure in row.shown.items()
    ]
    columns = ["System", "Measure", "Figure", "By"]
    ui.table(f"Runs on {mark_name(release.row.name, release.mark)}, {part}", columns, rows, words=True)
    ui.quiet("Each figure is rounded to its standard error. Only leads see full results on a sealed part.")


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _ranked(
    _runs: list[SubmittedRun], measure: str, state: tuple[object, ...]
) -> tuple[list[tuple[LeaderboardRow, SubmittedRun]], str, dict[str, int]]:
    """Rank the runs. The result stays in the cache until a run is added, because `state` holds the number of
    runs.
    """
    return rank_runs(_runs, measure)


def _row(row: LeaderboardRow, run: SubmittedRun) -> tuple[object, ...]:
    rank = f"{row.best_rank}" if row.best_rank == row.worst_rank else f"{row.best_rank}–{row.worst_rank}"
    low, high = run.figure["low"], run.figure["high"]
    span = "" if low is None or high is None else f" ({decimal(low)}\u00a0to\u00a0{decimal(high)})"
    by = f"{run.by}, {run.at:%d\u00a0%b\u00a0%Y}"
    return rank, row.system, f"{decimal(row.value)}{span}", run.figure["n"], row.letters, by


def _show_result(
    store: Store,
    annotator: Annotator,
    column: DeltaGenerator,
    release: EvaluableRelease,
    part: str,
    evaluations: list[SubmittedEvaluation],
    newest: str | None,
    overrides: Mapping[str, str],
) -> None:
    """Show an evaluation that this person may see, initially the newest evaluation on the chosen part."""
    here = [
        evaluation
        for evaluation in evaluations
        if (evaluation.name, evaluation.parts) == (release.row.name, [part])
    ]
    at = next((number for number, evaluation in enumerate(here) if evaluation.evaluation_id == newest), 0)
    evaluation = column.selectbox(
        "Evaluation",
        [*here, *(evaluation for evaluation in evaluations if evaluation not in here)],
        at if here else None,
        format_func=lambda evaluation: _label(evaluation, overrides),
        key=f"evaluation {release.row.release_id} {part} {newest}",
        placeholder=f"No evaluation on {part} of {release.row.name} yet: choose a different evaluation",
    )
    if evaluation is None:
        return
    with store.reading() as cursor:
        report, result = read_report(cursor, evaluation.evaluation_id, annotator)
    above = warn_of_override(release.row.name, release.mark)  # the page has them as warnings
    ui.sentences(*(line for line in (report.lead, *report.findings) if line not in above))
    by_query.show(
        store, annotator, evaluation, [other for other in here if other != evaluation and evaluation in here]
    )
    ui.folded((section for section in report.sections if section.heading != QUERY_BY_QUERY), words=True)
    ui.quiet(report.remark)
    with st.container(horizontal=True):
        ui.download("Download the report", report.html, "report.html")
        ui.download("Download the tables", report.markdown, "tables.md")
        ui.download("Download all figures", result, "evaluation.json")


def _label(evaluation: SubmittedEvaluation, overrides: Mapping[str, str]) -> str:
    systems = ", ".join(evaluation.systems[:4]) + (" …" if len(evaluation.systems) > 4 else "")
    name = mark_name(evaluation.name, overrides.get(evaluation.name))
    return (
        f"{evaluation.made_at:%d %b %Y %H:%M} UTC, {evaluation.author}: {systems} on {name}, "
        f"{', '.join(evaluation.parts)}"
    )
