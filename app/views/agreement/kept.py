"""What the page Agreement shows of a round, computed as one figure each."""

from __future__ import annotations

from typing import NamedTuple

from curation.agreement.annotators.details import annotator_details
from curation.agreement.between.disagreement_sources import DisagreementSources
from curation.agreement.report.quality import RoundQuality, round_quality
from curation.agreement.report.report import (
    agreement_report,
    not_checked,
    other_findings,
)
from curation.agreement.report.sections import agreement_page, feedback_section, layers
from curation.agreement.report.verdict import Verdict, verdict_of
from curation.core.reports.page import Section
from curation.store import Store


class FirstLook(NamedTuple):
    """What the page shows before anything else, and whether there is more; `quality` is of a round."""

    not_checked: list[str]
    verdict: Verdict
    findings: list[str]
    units: int
    quality: RoundQuality | None


class Shown(NamedTuple):
    """What the page shows of one state of the project below the first look."""

    origins: list[Section]
    coefficients: list[Section]
    sources: DisagreementSources | None
    feedback: Section
    page: str | None


def first_look(store: Store, round_name: str | None) -> FirstLook:
    """The verdict: an eighth of the work, so nobody waits with the rest."""
    report = agreement_report(store, round_name)
    return FirstLook(
        not_checked(report),
        verdict_of(report.between),
        other_findings(report),
        report.between.units,
        round_quality(store, round_name, report) if round_name else None,
    )


def computed(store: Store, round_name: str | None) -> Shown:
    """The whole report."""
    report, people = agreement_report(store, round_name, details=True), annotator_details(store, round_name)
    return Shown(
        *layers(report),
        report.details.sources if report.details else None,
        feedback_section(people),
        agreement_page(report, people) if report.between.units else None,
    )
