"""Annotators' agreement: its report (`agreement`), and the agreement that a freeze requires (`gate`)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from curation.cli.invocation import actor, is_json, open_seal, project_store
from curation.cli.options import Page, Seed
from curation.cli.output import emit, say, show, write_file
from curation.cli.program import app
from curation.core.digests import to_json_value

if TYPE_CHECKING:
    from curation.agreement.annotator_metrics import AnnotatorMetrics
    from curation.agreement.report import AgreementReport
    from curation.agreement.round_findings import RoundQuality


class BreakdownBy(StrEnum):
    """The groups for which the agreement can be reported separately."""

    TYPE = "type"
    BOUNDARY = "boundary"
    PAIR = "pair"
    ANNOTATOR = "annotator"


@app.command()
def agreement(
    round_name: Annotated[
        str | None,
        Option(
            "--round", help="Report on this round, and check the annotators' work.", show_default="all rounds"
        ),
    ] = None,
    breakdown: Annotated[
        BreakdownBy | None,
        Option(
            help="Also report figures broken down by groups. Groups are query types, grade boundaries, pairs "
            "of annotators, or annotators (with bias, consistency and feedback).",
            show_default="all in --json and --html, none else",
        ),
    ] = None,
    page: Page = None,
    seed: Seed = 0,
) -> None:
    """Show how well annotators agree with others and themselves.

    Agreement between annotators is Krippendorff's alpha, ordinal and nominal, Gwet's AC2 and the share of
    equal grades, with 95 % intervals by bootstrap over queries. An annotator's consistency is the share of
    identical grades on blind duplicates. The report also counts the pairs with a consensus and the disputed
    pairs. Blind duplicates, control items and pilots never count toward agreement between annotators. With
    --round the report names annotators whose agreement is near chance, who gave the same grade to nearly all
    pairs, or who were too fast to have read the documents. Pairs that a release seals are listed only if you
    give --reason.

    \b
    Examples:
      goldgrade agreement
      goldgrade agreement --round first --breakdown annotator
      goldgrade agreement --html agreement.html
    """
    from curation.agreement.feedback import compute_annotator_details
    from curation.agreement.report import make_agreement_report
    from curation.agreement.report_sections import make_agreement_page
    from curation.agreement.round_findings import check_round

    details = breakdown not in (None, BreakdownBy.ANNOTATOR) or page is not None or is_json()
    store = project_store()
    access = open_seal(store, "report agreement")
    report = make_agreement_report(store, round_name, seed, details=details, access=access)
    quality = None if round_name is None else check_round(store, round_name, report)
    annotators = []
    if page is not None or breakdown is BreakdownBy.ANNOTATOR:
        annotators = compute_annotator_details(store, round_name, seed)
    if page is not None:
        write_file(page, make_agreement_page(report, annotators))
    if breakdown is BreakdownBy.ANNOTATOR:
        result = build_json(report, None) | {"by": {"annotator": annotators}}
    else:
        result = build_json(report, breakdown)
    if quality is not None:
        result["quality"] = _build_quality_json(quality)
    emit(result, lambda: _print_report(report, breakdown, annotators, quality, page))


def _build_quality_json(quality: RoundQuality) -> dict[str, object]:
    findings = [{"annotator": name, **finding._asdict()} for name, finding in quality.findings]
    checks = {"checks": quality.checks, "conclusion": quality.conclusion}
    return {"not_checked": quality.not_checked, "findings": findings, **checks}


def build_json(report: AgreementReport, breakdown: BreakdownBy | None) -> dict[str, Any]:
    """Make one JSON object of the report; a breakdown limits the report's parts to its groups."""
    result: dict[str, Any] = to_json_value(report)
    between = result["between"]
    result["between"] = between.pop("figures") | between
    details: dict[str, Any] | None = result.pop("details")
    if details is None:
        return result
    details["origins"] = details.pop("sources")
    keys = {"type": "types", "boundary": "boundaries", "pair": "annotator_pairs"}
    parts = {name: details.pop(key) for name, key in keys.items()}
    result["by"] = {breakdown.value: parts[breakdown.value]} if breakdown else parts
    return result | details


def _print_report(
    report: AgreementReport,
    breakdown: BreakdownBy | None,
    annotators: Sequence[AnnotatorMetrics],
    quality: RoundQuality | None,
    page: Path | None,
) -> None:
    from curation.agreement import report_sections
    from curation.agreement.report_findings import list_findings
    from curation.agreement.section_sentences import describe_cannot_tell
    from curation.core.reports.terminal import show_sections

    if report.round_name:
        say(f"Agreement in round {report.round_name}.")
    overall, within, consensus = report_sections.make_overview(report)
    details = []
    if breakdown is BreakdownBy.ANNOTATOR:
        makers = (report_sections.make_annotators_section, report_sections.make_feedback_section)
        details = [make_section(annotators) for make_section in makers]
    elif breakdown and report.details:
        details = [report_sections.make_breakdown_sections(report, report.details)[breakdown.value]]
    evidence = report_sections.make_evidence_sections(report.evidence)
    show_sections(filter(None, [overall, *details, *evidence, within, consensus]))
    if quality is not None:
        show(quality)
    say("", *list_findings(report))
    if report.between.cannot_tell:
        say(describe_cannot_tell(report.between))
    if report.disputed:
        say("Next: goldgrade disputes")
    if page is not None:
        say(f"Wrote {page}.")


@app.command()
def gate(
    alpha: Annotated[
        float | None,
        Option(
            help="Minimum for the low end of ordinal alpha's 95 % interval.",
            show_default="0.667, or the current minimum",
        ),
    ] = None,
    consistency: Annotated[
        float | None,
        Option(
            help="Minimum for the low end of consistency's 95 % interval.",
            show_default="0.8, or the current minimum",
        ),
    ] = None,
    single_annotator: Annotated[
        bool | None,
        Option(
            "--single-annotator/--several-annotators",
            help="Declare that only one person judges. The gate then requires no agreement.",
            show_default="several, or the current setting",
        ),
    ] = None,
) -> None:
    """Show or set the agreement that a freeze demands. The command also shows the current figures.

    A project with a single annotator has no agreement. With --single-annotator such a project can be frozen
    without `--override`; the audit trail, the release and its card say that one person judged. A freeze still
    demands consistency of judgments on screen.

    \b
    Examples:
      goldgrade gate
      goldgrade gate --alpha 0.7 --consistency 0.75
      goldgrade gate --single-annotator
      goldgrade gate --json
    """
    from curation.agreement.gate import compute_gate, read_demand, set_demand

    store = project_store()
    demand = store.read(read_demand)
    options = {"alpha": alpha, "consistency": consistency, "single_judge": single_annotator}
    changes: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if changes:
        set_demand(store, demand._replace(**changes), actor())
    gate = compute_gate(store)
    show(gate, as_json={"open": gate.open, "checks": gate.checks, "note": gate.note})
