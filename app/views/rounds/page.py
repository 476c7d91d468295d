"""Rounds: how far a round is and when it ends, what its judgments are worth, and managing it."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.context import project_store
from app.next_step import missing_step
from app.page import BUILD, LEADS, AppPage
from app.views.rounds import manage, progress, quality, remarks
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.rounds.status import RoundStatus, round_status
from curation.store import Annotator
from curation.text import amount

KINDS = {
    "labeling": "Labeling",
    "audit": "Audit",
    "pilot": "Pilot: its judgments do not count",
    "practice": "Practice: its answers do not count",
}
PARTS = {
    "Progress": progress.show,
    "Quality": quality.show,
    "Questions": remarks.show,
    "Manage": manage.show,
}


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    with store.reading() as cursor:
        names = [item.name for item in reversed(list_rounds(cursor)) if item.kind != "imported"]
    if not names:
        st.info("No round is open yet. Once one is, this page shows how far it is and when it ends.")
        missing_step(store, annotator, "round")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Round", names, width=320, key="round", bind="query-params")
        st.button("Refresh", icon=":material/refresh:")
    status = round_status(store, name)
    ui.quiet(_state(status))
    PARTS[ui.part("Part", PARTS, "part")](store, status, acts)


PAGE = AppPage(50, "Rounds", "rounds", LEADS, show, group=BUILD)


def _state(status: RoundStatus) -> str:
    said = [KINDS.get(status.kind, status.kind), f"opened {status.opened_at:%d %b %Y}"]
    if status.closed_at is not None:
        said.append(f"closed {status.closed_at:%d %b %Y}")
    elif status.paused:
        said.append("paused")
    said.append(f"guide {status.guide_hash[:8]}")
    if status.late:
        said.append(f"{amount(status.late, 'answer')} came after it was closed")
    if status.withdrawn:
        said.append(f"{amount(status.withdrawn, 'item was', 'items were')} moved to somebody else")
    return "  ·  ".join(said)
