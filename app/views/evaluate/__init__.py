"""Evaluate: the page on which people score runs on a release and compare their systems."""

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
from curation.evaluation import leaderboard
from curation.evaluation.evaluable_release import EvaluableRelease, read_choices
from curation.evaluation.evaluate import RunSubmission
from curation.evaluation.figures.ranks import LeaderboardRow
from curation.evaluation.report.query_sections import QUERY_BY_QUERY
from curation.evaluation.stored_evaluations import SubmittedEvaluation, list_evaluations, read_report
from curation.people.annotators import EVALUATING_ROLES
from curation.releases.gate_override import mark_name, read_overrides, warn_of_override
from curation.releases.release_rows import ReleaseRow, list_releases
from curation.store import Annotator, Store

MAX_CACHED_LEADERBOARDS = 8
MAX_SYSTEMS = 6


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
    release_column, part_column, column = st.columns([1, 1, 2])
    with release_column:
        release = _ask_release(context.store, releases, overrides)
    with part_column:
        part = _ask_part(release)
    ui.warnings(warn_of_override(release.row.name, release.mark))
    job = context.jobs.get(FORM)
    if job is not None and job.started_by == annotator.name:
        context.show_result(FORM)
    result: RunSubmission | None = context.acts.form(FORM).result
    if result and result.evaluation_id is None:
        ui.result(result)
    if evaluations:
        newest = result.evaluation_id if result else None
        _show_result(context.store, annotator, column, release, part, evaluations, newest, overrides)
    _show_leaderboard(context.store, release, part, annotator)
    with st.expander("Evaluate runs", expanded=not evaluations):
        submit.show(context, release, part)


PAGE = AppPage(42, "Evaluate", "evaluate", EVALUATING_ROLES, show, group=RELEASE)


def _ask_release(store: Store, rows: Sequence[ReleaseRow], overrides: Mapping[str, str]) -> EvaluableRelease:
    """Ask for a release; `overrides` says which rows were frozen against the gate."""
    by_name = {row.name: row for row in reversed(rows)}
    name = st.selectbox("Release", [*by_name], format_func=lambda name: mark_name(name, overrides.get(name)))
    with store.reading() as cursor:
        return read_choices(cursor, by_name[name])


def _ask_part(release: EvaluableRelease) -> str:
    """Ask for a part of the release; the list marks sealed parts."""
    labels = {name: f"{name} (sealed)" if sealed else name for name, sealed in release.parts.items()}
    part: str = st.selectbox("Part", [*labels], format_func=labels.__getitem__)
    return part


def _show_leaderboard(store: Store, release: EvaluableRelease, part: str, annotator: Annotator) -> None:
    if release.parts[part] and annotator.role != "lead":
        _show_rounded(store, release, part)
        return
    with store.reading() as cursor:
        runs = leaderboard.list_runs(cursor, release.row.release_id, [part], release.parts[part])
    ui.heading(f"Leaderboard of {part}")
    if not runs:
        ui.quiet("Nobody has scored a run on this part yet.")
        return
    cache_key = (str(store.path), release.row.release_id, part, len(runs))
    measure = release.measures[0]
    rows, remark, left_out = _rank(runs, measure, cache_key)
    columns = ["Rank", "System", f"{measure} (95 %)", "Queries", "Group", "By"]
    caption = f"Runs on {mark_name(release.row.name, release.mark)}, {part}"
    ui.table(caption, columns, [_make_row(row, run) for row, run in rows], words=True)
    ui.quiet(
        "Paired tests of all pairs of systems, with Holm's correction, find no difference between the "
        "systems of a group. A rank such as 1–3 is the range of ranks that the tests allow."
    )
    ui.sentences(remark)
    for reason, count in left_out.items():
        ui.quiet(f"Not in the table: {pluralize(count, 'run')} ({reason}).")
    with store.reading() as cursor:
        histories_by_system = leaderboard.collect_histories(cursor, part, measure, annotator)
    if series := [item for item in histories_by_system.items() if len(item[1]) > 1]:
        ui.heading("History")
        drawing(weeks(f"{measure} of {part}, evaluation by evaluation", series[:MAX_SYSTEMS], joined=True))


def _show_rounded(store: Store, release: EvaluableRelease, part: str) -> None:
    """Show the rounded figures of a sealed part that evaluators have received."""
    with store.reading() as cursor:
        rounded = leaderboard.list_rounded_evaluations(cursor, release.row.release_id, part)
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
    ui.quiet(
        "Each figure has the digits that its standard error supports. Only leads see full results on a "
        "sealed part."
    )


@st.cache_resource(max_entries=MAX_CACHED_LEADERBOARDS, show_spinner=False)
def _rank(
    _runs: list[leaderboard.SubmittedRun], measure: str, cache_key: tuple[object, ...]
) -> tuple[list[tuple[LeaderboardRow, leaderboard.SubmittedRun]], str, dict[str, int]]:
    """Rank the runs. `cache_key` holds their number, so that a new run replaces the cached result."""
    return leaderboard.rank_runs(_runs, measure)


def _make_row(row: LeaderboardRow, run: leaderboard.SubmittedRun) -> tuple[object, ...]:
    rank = f"{row.best_rank}" if row.best_rank == row.worst_rank else f"{row.best_rank}–{row.worst_rank}"
    low, high = run.figure["low"], run.figure["high"]
    interval = "" if low is None or high is None else f" ({decimal(low)}\u00a0to\u00a0{decimal(high)})"
    author = f"{run.by}, {run.at:%d\u00a0%b\u00a0%Y}"
    return rank, row.system, f"{decimal(row.value)}{interval}", run.figure["n"], row.letters, author


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
    on_part = [item for item in evaluations if (item.name, item.parts) == (release.row.name, [part])]
    on_others = [item for item in evaluations if item not in on_part]
    ids = [item.evaluation_id for item in on_part]
    index = ids.index(newest) if newest in ids else 0
    evaluation = column.selectbox(
        "Evaluation",
        [*on_part, *on_others],
        index if on_part else None,
        format_func=lambda evaluation: _describe_evaluation(evaluation, overrides),
        key=f"evaluation {release.row.release_id} {part} {newest}",
        placeholder=f"No evaluation on {part} of {release.row.name} yet: choose a different evaluation",
    )
    if evaluation is None:
        return
    with store.reading() as cursor:
        report, result = read_report(cursor, evaluation.evaluation_id, annotator)
    warnings = warn_of_override(release.row.name, release.mark)  # the page shows them already
    ui.sentences(*(line for line in (report.lead, *report.findings) if line not in warnings))
    comparable = [item for item in on_part if item != evaluation] if evaluation in on_part else []
    by_query.show(store, annotator, evaluation, comparable)
    ui.folded((section for section in report.sections if section.heading != QUERY_BY_QUERY), words=True)
    ui.quiet(report.remark)
    with st.container(horizontal=True):
        ui.download("Download the report", report.html, "report.html")
        ui.download("Download the tables", report.markdown, "tables.md")
        ui.download("Download all figures", result, "evaluation.json")


def _describe_evaluation(evaluation: SubmittedEvaluation, overrides: Mapping[str, str]) -> str:
    systems = ", ".join(evaluation.systems[:4]) + (" …" if len(evaluation.systems) > 4 else "")
    name = mark_name(evaluation.name, overrides.get(evaluation.name))
    return (
        f"{evaluation.made_at:%d %b %Y %H:%M} UTC, {evaluation.author}: {systems} on {name}, "
        f"{', '.join(evaluation.parts)}"
    )
