"""Re-label, what is kept in memory: figures of one state of the project, until anything is appended to it."""

from __future__ import annotations

from collections.abc import Hashable
from datetime import date
from typing import NamedTuple

import streamlit as st

from curation.relabeling.drift.report import DriftReport, drift_report
from curation.relabeling.drift.sections import drift_findings, drift_page, drift_sections
from curation.relabeling.opening import opening_problem
from curation.relabeling.staleness.fingerprint import set_fingerprint
from curation.relabeling.staleness.staleness import SetStaleness, staleness
from curation.reports.page import Section
from curation.store import Store, utc_now

KEPT = 4
"""States of each kind that are kept."""


class ShownDrift(NamedTuple):
    """A drift report as the page shows it, and as one HTML file."""

    report: DriftReport
    findings: list[str]
    sections: list[Section]
    html: str


def kept_staleness(store: Store) -> SetStaleness:
    """The staleness of the set today."""
    return _staleness(store, _state(store), utc_now().date())


def kept_drift(store: Store, quarter: str) -> ShownDrift:
    """The drift report of a quarter."""
    return _drift(store, _state(store), quarter)


def kept_problem(store: Store, plan_id: str) -> str | None:
    """Why a plan cannot be opened, no matter who judges; None where it can."""
    return _problem(store, _state(store), plan_id)


def _state(store: Store) -> Hashable:
    with store.reading() as cursor:
        return str(store.path), set_fingerprint(cursor)


@st.cache_resource(max_entries=KEPT, show_spinner="Reading how stale the set is…")
def _staleness(_store: Store, state: Hashable, today: date) -> SetStaleness:
    return staleness(_store, today)


@st.cache_resource(max_entries=KEPT, show_spinner="Comparing old and new grades…")
def _drift(_store: Store, state: Hashable, quarter: str) -> ShownDrift:
    found = drift_report(_store, quarter)
    return ShownDrift(found, drift_findings(found), drift_sections(found), drift_page(found))


@st.cache_resource(max_entries=KEPT, show_spinner="Looking whether the plan can be opened…")
def _problem(_store: Store, state: Hashable, plan_id: str) -> str | None:
    return opening_problem(_store, plan_id)
