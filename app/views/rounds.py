"""Rounds: how far each round and each annotator is."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.workplace import project_store
from curation.labeling.rounds import list_rounds, round_status
from curation.store.rows import Annotator

COLUMNS = ["Annotator", "Share", "Answered", "Of", "Cannot tell", "Put off", "Flagged", "Last answer (UTC)"]


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        names = [item.name for item in reversed(list_rounds(cursor)) if item.kind == "labeling"]
    if not names:
        st.info("No round is open yet. Open one with `goldset round open NAME --annotators a,b`.")
        return
    name = st.selectbox("Round", names, width=320) if len(names) > 1 else names[0]
    status = round_status(store, name)
    left, middle, right = st.columns(3, gap="large")
    left.metric("Round", ui.plain(status.round))
    middle.metric("Pairs complete", f"{status.complete:,} of {status.candidates:,}")
    right.metric("Opened", f"{status.opened_at:%d %b %Y}")
    rows = [
        (
            one.annotator,
            ui.Bar(one.answered, one.presentations),
            one.answered,
            one.presentations,
            one.cannot_tell,
            one.later,
            one.flagged,
            "–" if one.last_at is None else f"{one.last_at:%Y-%m-%d %H:%M}",
        )
        for one in status.annotators
    ]
    ui.table("Progress by annotator", COLUMNS, rows)
    ui.quiet(
        "Blind duplicates are counted here. A pair is complete when all its first showings are answered."
    )
    st.button("Look again", icon=":material/refresh:")
