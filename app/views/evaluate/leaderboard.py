"""Evaluate, the leaderboard of a part: everybody's runs, ordered only where that is more than noise."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.views.evaluate.further import ChosenPart
from curation.evaluation.submitted import (
    SubmittedBoard,
    SubmittedRow,
    SubmittedRun,
    board,
    part_rungs,
    ranked,
)
from curation.store import Store
from curation.text import amount, decimal

KEPT = 8
"""Leaderboards that are kept in memory."""


def show(store: Store, chosen: ChosenPart, is_lead: bool) -> None:
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
    ui.table(f"Runs on {chosen.release}, {chosen.part}", columns, map(_row, found.rows), words=True)
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
    ui.table(f"Runs on {chosen.release}, {chosen.part}", columns, rows, words=True)
    ui.quiet(
        f"Only runs that were better than all before them by more than noise, in steps of {ladder.step:.2f}. "
        f"{amount(ladder.state.looks, 'look')} so far."
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _ranked(_runs: list[SubmittedRun], measure: str, state: tuple[object, ...]) -> SubmittedBoard:
    """The leaderboard, kept until another run is scored: runs are only added, and `state` counts them."""
    return ranked(_runs, measure)


def _row(row: SubmittedRow) -> tuple[object, ...]:
    rank = f"{row.best_rank}" if row.best_rank == row.worst_rank else f"{row.best_rank}–{row.worst_rank}"
    known = row.low is not None and row.high is not None
    span = f" ({decimal(row.low)}\u00a0to\u00a0{decimal(row.high)})" if known else ""
    by = f"{row.by}, {row.at:%d\u00a0%b\u00a0%Y}"
    return rank, row.system, f"{decimal(row.value)}{span}", row.n, row.letters, by
