"""Releases: the way to the next one, rule, gate, split and freeze; and the frozen gold sets."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.page import LEADS, RELEASE, AppPage
from app.views.curate.jobs import look
from app.views.releases import freezing, gate, release, rule, split
from curation.store import Annotator

STAGES = {
    "Releases": release.show,
    "Rule": rule.show,
    "Gate": gate.show,
    "Split": split.show,
    "Freeze": freezing.show,
}
JOBS = (split.PREVIEWING, split.STORING, freezing.KIND)


def show(annotator: Annotator) -> None:
    ui.lead("The frozen gold sets, and the way to the next one: rule, gate, split, freeze.")
    context = look(annotator, JOBS)
    stage = st.segmented_control(
        "Stage",
        list(STAGES),
        default="Releases",
        required=True,
        key="stage",
        bind="query-params",  # so that a reload stays there
        label_visibility="collapsed",
    )
    STAGES[stage or "Releases"](context)


PAGE = AppPage(70, "Releases", "releases", LEADS, show, group=RELEASE)
