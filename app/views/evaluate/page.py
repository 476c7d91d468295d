"""Evaluate: score runs on a release, read the report, and compare with everybody's on the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app import ui
from app.next_step import missing_step
from app.page import RELEASE, AppPage, PageContext, read_context
from app.views.evaluate import submit
from app.views.evaluate.further import ChosenPart
from app.views.evaluate.submit import FORM
from curation.evaluation.report.page import EvaluationReport
from curation.evaluation.submission import Submitted
from curation.evaluation.submitted import (
    SubmittedBoard,
    SubmittedEvaluation,
    SubmittedRow,
    SubmittedRun,
    board,
    evaluable_release,
    part_rungs,
    ranked,
    submitted_evaluations,
    submitted_report,
)
from curation.people.annotators import EVALUATING
from curation.releases.stored import ReleaseRow, list_releases, mark_sentence, marked, release_marks
from curation.store import Annotator, Store
from curation.text import amount, decimal

KEPT = 8
"""Leaderboards that are kept in memory."""
OPEN = 2
"""Sections that are open when a report is shown."""


def show(annotator: Annotator) -> None:
    ui.lead("What systems reach on a release, with the size and the interval of each figure.")
    context = read_context(annotator, (FORM,))
    with context.store.reading() as cursor:
        releases = list_releases(cursor)
        found = submitted_evaluations(cursor, annotator)
    if not releases:
        st.info("Nothing is frozen yet. Once there is a release, runs are scored on it here.")
        missing_step(context.store, annotator, "freeze")
        return
    left, right = st.columns([1, 2], gap="large")
    with left:
        chosen = _chosen(context.store, releases)
        submit.show(context, chosen)
        _ending(context)
    with right:
        _show_leaderboard(context.store, chosen, annotator.role == "lead")
    if found:
        result: Submitted | None = context.acts.form(FORM).result
        _show_report(context.store, annotator, found, result.evaluation_id if result else None)


PAGE = AppPage(42, "Evaluate", "evaluate", EVALUATING, show, group=RELEASE)


def _chosen(store: Store, releases: list[ReleaseRow]) -> ChosenPart:
    by_name = {row.name: row for row in reversed(releases)}
    with store.reading() as cursor:
        marks = release_marks(cursor)
    name = st.selectbox("Release", list(by_name), format_func=lambda one: marked(one, marks.get(one)))
    ui.warnings(mark_sentence(name, marks.get(name)))
    with store.reading() as cursor:
        offered = evaluable_release(cursor, by_name[name].release_id)
    parts = offered.parts
    part = st.selectbox("Part", list(parts), format_func=lambda one: f"{one} (sealed)" if parts[one] else one)
    return ChosenPart(
        *(name, by_name[name].release_id, part, parts[part]),
        *(offered.measures, offered.facets, offered.scale, offered.pool_sample),
        mark=offered.mark,
    )


def _ending(context: PageContext) -> None:
    """How this person's last job ended."""
    job = context.jobs.get(FORM)
    if job is None or context.is_running(job):
        return
    if job.started_by == context.annotator.name:
        context.ending(FORM)


def _show_leaderboard(store: Store, chosen: ChosenPart, is_lead: bool) -> None:
    if chosen.sealed and not is_lead:
        _show_ladder(store, chosen)
        return
    with store.reading() as cursor:
        runs = board(cursor, chosen.release_id, [chosen.part], chosen.sealed)
    ui.heading(f"Leaderboard of {chosen.part}")
    if not runs:
        ui.quiet("Nobody has scored a run on this part yet.")
        return
    state = (str(store.path), chosen.release_id, chosen.part, len(runs))
    found = _ranked(runs, chosen.measures[0], state)
    columns = ["Rank", "System", f"{found.measure} (95 %)", "Queries", "Same as", "By"]
    caption = f"Runs on {marked(chosen.release, chosen.mark)}, {chosen.part}"
    ui.table(caption, columns, map(_row, found.rows), words=True)
    ui.quiet(
        "Systems with a letter in common cannot be distinguished, by paired tests of all pairs, corrected by "
        "Holm. A rank such as 1–3 is the range that the tests allow."
    )
    for why, count in found.left_out.items():
        ui.quiet(f"Not in the table: {amount(count, 'run')} ({why}).")


def _show_ladder(store: Store, chosen: ChosenPart) -> None:
    """What the Ladder of a sealed part showed: no interval and no test, which would tell of grades."""
    with store.reading() as cursor:
        ladder = part_rungs(cursor, chosen.release_id, chosen.part)
    ui.heading(f"Ladder of {chosen.part}")
    if not ladder.rungs:
        ui.quiet("Nobody has scored a run on this part yet.")
        return
    rows = [
        (
            rung.look.system,
            decimal(rung.shown),
            f"{rung.look.looked_by}, {rung.look.looked_at:%d\u00a0%b\u00a0%Y}",
        )
        for rung in reversed(ladder.rungs)
    ]
    columns = ["System", f"{ladder.scored_by}", "By"]
    ui.table(f"Runs on {marked(chosen.release, chosen.mark)}, {chosen.part}", columns, rows, words=True)
    ui.quiet(
        f"Only runs that were better than all before them by more than noise, in steps of {ladder.step:.2f}. "
        f"{amount(ladder.state.looks, 'look')} so far."
    )


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


def _show_report(
    store: Store, annotator: Annotator, found: list[SubmittedEvaluation], newest: str | None
) -> None:
    """Choose one of the evaluations that this person may see, and show it."""
    ui.heading("Evaluations")
    ids = [one.evaluation_id for one in found]
    with store.reading() as cursor:
        marks = release_marks(cursor)
    labels = {one.evaluation_id: _label(one, marks) for one in found}
    chosen = st.selectbox(
        "Evaluation",
        ids,
        ids.index(newest) if newest in ids else 0,
        format_func=labels.__getitem__,
        key=f"of {newest}",
    )
    with store.reading() as cursor:
        report, result = submitted_report(cursor, chosen, annotator)
    _report(report)
    with st.container(horizontal=True):
        icon = ":material/download:"
        st.download_button("Download the report", report.html, "report.html", "text/html", icon=icon)
        st.download_button("Download the tables", report.markdown, "tables.md", "text/markdown", icon=icon)
        st.download_button("Download all figures", result, "evaluation.json", "application/json", icon=icon)


def _label(one: SubmittedEvaluation, marks: Mapping[str, str]) -> str:
    systems = ", ".join(one.systems[:4]) + (" …" if len(one.systems) > 4 else "")
    name = marked(one.name, marks.get(one.name))
    return f"{one.made_at:%d %b %Y %H:%M} UTC, {one.author}: {systems} on {name}, {', '.join(one.parts)}"


def _report(report: EvaluationReport) -> None:
    ui.sentences("\n".join([report.lead, *report.findings]))
    for number, section in enumerate(report.sections):
        with st.expander(section.heading, expanded=number < OPEN):
            ui.section(section, words=True)
    ui.quiet(report.remark)
