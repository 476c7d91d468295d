"""Rounds: the page on which a lead opens, follows and manages rounds of judging."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.acts import Acts
from app.app_page import LEADS, QUALITY, AppPage
from app.context import project_store
from app.views.rounds import create_round, manage, progress, questions
from curation.core.text import pluralize
from curation.labeling.rounds.rounds import list_rounds
from curation.labeling.rounds.status import RoundStatus, read_round_status
from curation.operations.workflow.judging import MANAGE, OPEN, QUESTIONS
from curation.store import Annotator

KINDS = {
    "labeling": "Labeling",
    "audit": "Audit",
    "pilot": "Pilot: judgments do not count",
    "practice": "Practice: answers do not count",
}
PARTS = {"Progress": progress.show, QUESTIONS: questions.show, MANAGE: manage.show}


def show(annotator: Annotator) -> None:
    acts, store = Acts(annotator), project_store()
    with store.reading() as cursor:
        names = [item.name for item in reversed(list_rounds(cursor)) if item.kind != "imported"]
    part = ui.choose_part("Part", [*PARTS, OPEN], "part") if names else OPEN
    if part == OPEN:
        create_round.show(store, acts, annotator)
        return
    name = st.selectbox("Round", names, width=320, key="round", bind="query-params")
    status = read_round_status(store, name)
    ui.note(_describe_round(status))
    PARTS[part](store, status, acts)


PAGE = AppPage(30, "Rounds", "rounds", LEADS, show, menu=QUALITY)


def _describe_round(status: RoundStatus) -> str:
    facts = [KINDS.get(status.kind, status.kind), f"opened {status.opened_at:%d %b %Y}"]
    if status.closed_at is not None:
        facts.append(f"closed {status.closed_at:%d %b %Y}")
    elif status.paused:
        facts.append("paused")
    if status.late:
        facts.append(f"{pluralize(status.late, 'answer')} came in after the round was closed")
    if status.withdrawn:
        facts.append(f"{pluralize(status.withdrawn, 'item was', 'items were')} moved to another annotator")
    return "  ·  ".join(facts)
