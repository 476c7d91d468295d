"""Evaluate, the leaderboard: the runs on a part of a release, ranked by their first measure."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.send_documents import show_missing_form
from curation.core.text import decimal, percent, pluralize
from curation.evaluation import leaderboard
from curation.evaluation.evaluable_release import EvaluableRelease
from curation.evaluation.figures.ranks import LeaderboardRow
from curation.evaluation.top_ten import read_top_ten
from curation.releases.gate_override import mark_name
from curation.store import Annotator, Store

MAX_CACHED_LEADERBOARDS = 8


def show(store: Store, annotator: Annotator, release: EvaluableRelease, part: str) -> None:
    """Show the runs that were scored on a part; on a sealed part, leads see ranks, and others see rounded
    figures."""
    is_sealed = release.parts[part]
    if is_sealed and annotator.role != "lead":
        _show_rounded(store, release, part)
        return
    with store.reading() as cursor:
        runs = leaderboard.list_runs(cursor, release.row.release_id, [part], is_sealed)
    ui.heading(f"Leaderboard for {part}")
    if not runs:
        ui.note("No run has been scored on this part yet.")
        return
    _show_ranks(store, release, part, runs)
    if annotator.role == "lead" and not is_sealed:
        with store.reading() as cursor:
            top_ten = read_top_ten(cursor, release.row.release_id, part)
        show_missing_form(store, Acts(annotator), release.row.name, top_ten)


def _show_ranks(
    store: Store, release: EvaluableRelease, part: str, runs: list[leaderboard.SubmittedRun]
) -> None:
    measure = release.measures[0]
    cache_key = (str(store.path), release.row.release_id, part, len(runs))
    ranked_runs, left_out = _rank_runs(runs, measure, cache_key)
    columns = ["Rank", "System", f"{measure} (95 %)", "Judged", "Queries", "Group", "By"]
    rows = [_make_row(row, run) for row, run in ranked_runs]
    ui.table(f"Runs on {mark_name(release.row.name, release.mark)}, {part}", columns, rows, words=True)
    ui.note(
        "Systems with the same group letter are not significantly different (paired tests of all pairs, "
        "with Holm's correction). A rank such as 1–3 means that the tests allow any rank from 1 to 3. "
        "“Judged” is the share of the ranked documents that have a grade."
    )
    ui.sentences(leaderboard.warn_of_unsure_runs(ranked_runs))
    for reason, count in left_out.items():
        ui.note(f"Not in the table: {pluralize(count, 'run')} ({reason}).")


def _show_rounded(store: Store, release: EvaluableRelease, part: str) -> None:
    """Show the rounded figures on a sealed part that evaluators have received."""
    with store.reading() as cursor:
        rounded_evaluations = leaderboard.list_rounded_evaluations(cursor, release.row.release_id, part)
    ui.heading(f"Sealed evaluations on {part}")
    if not rounded_evaluations:
        ui.note("No run has been scored on this part yet.")
        return
    rows = [
        (row.system, measure, figure["value"], f"{row.evaluated_by}, {row.evaluated_at:%d\u00a0%b\u00a0%Y}")
        for row in rounded_evaluations
        for measure, figure in row.shown.items()
    ]
    columns = ["System", "Measure", "Figure", "By"]
    ui.table(f"Runs on {mark_name(release.row.name, release.mark)}, {part}", columns, rows, words=True)
    ui.note("Scores are rounded to their standard error. Only leads see full results on a sealed part.")


@st.cache_resource(max_entries=MAX_CACHED_LEADERBOARDS, show_spinner=False)
def _rank_runs(
    _runs: list[leaderboard.SubmittedRun], measure: str, cache_key: tuple[object, ...]
) -> tuple[list[tuple[LeaderboardRow, leaderboard.SubmittedRun]], dict[str, int]]:
    """Rank the runs. `cache_key` holds the number of runs, so that a new run replaces the cached result."""
    return leaderboard.rank_runs(_runs, measure)


def _make_row(row: LeaderboardRow, run: leaderboard.SubmittedRun) -> tuple[object, ...]:
    rank = f"{row.best_rank}" if row.best_rank == row.worst_rank else f"{row.best_rank}–{row.worst_rank}"
    low, high = run.figure["low"], run.figure["high"]
    interval = "" if low is None or high is None else f" ({decimal(low)}\u00a0to\u00a0{decimal(high)})"
    author = f"{run.author}, {run.scored_at:%d\u00a0%b\u00a0%Y}"
    judged = percent(run.figure.get("judged"))
    return rank, row.system, f"{decimal(row.value)}{interval}", judged, run.figure["n"], row.letters, author
