"""Re-label, the drift report of a quarter, computed as one figure."""

from __future__ import annotations

from typing import NamedTuple

from curation.core.reports.page import Section
from curation.relabeling.drift.report import DriftReport, drift_report
from curation.relabeling.drift.sections import drift_findings, drift_page, drift_sections
from curation.store import Store


class ShownDrift(NamedTuple):
    """A drift report as the page shows it, and as one HTML file."""

    report: DriftReport
    findings: list[str]
    sections: list[Section]
    html: str


def shown_drift(store: Store, quarter: str) -> ShownDrift:
    """The drift report of a quarter."""
    found = drift_report(store, quarter)
    return ShownDrift(found, drift_findings(found), drift_sections(found), drift_page(found))
