"""`goldgrade agreement`: how far annotators agree with each other and with themselves."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli.options import refuse_by_without
from curation.cli.output import emit, say, write_page
from curation.cli.program import By, Json, Page, SealReason, Seed, app, project_store
from curation.core.errors import InputError
from curation.core.text import plain
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.agreement.report.report import AgreementReport


class BreakdownBy(StrEnum):
    """What agreement can be broken down by."""

    TYPE = "type"
    BOUNDARY = "boundary"
    PAIR = "pair"
    WEEK = "week"


def _breakdown(value: str) -> BreakdownBy:
    """What was asked for; leaving annotators out went."""
    if value == "annotator":
        raise InputError(
            "--breakdown annotator is gone: --breakdown pair shows each two annotators, and "
            "`goldgrade consistency` each annotator against the others."
        )
    if value not in list(BreakdownBy):
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(BreakdownBy)}.")
    return BreakdownBy(value)


@app.command()
def agreement(
    context: typer.Context,
    round_name: Annotated[
        str | None,
        typer.Option("--round", help="Only the judgments of this round.", show_default="all rounds"),
    ] = None,
    breakdown: Annotated[
        BreakdownBy | None,
        typer.Option(
            help="Also broken down by one of these. That is by query type, grade boundary, pair of "
            "annotators or week.",
            parser=_breakdown,
            metavar="[type|boundary|pair|week]",
            show_default="all in --json and --html, none else",
        ),
    ] = None,
    annotators: Annotated[
        str | None,
        typer.Option(help="Only what these annotators said, separated by commas.", show_default="everybody"),
    ] = None,
    boundary: Annotated[
        int | None,
        typer.Option(help="Compare only on which side of this grade annotators are. It counts as above."),
    ] = None,
    page: Page = None,
    seed: Seed = 0,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Show how far annotators agree with others and themselves.

    Between annotators: Krippendorff's alpha, ordinal and nominal, Gwet's AC2 and the share of equal grades,
    with 95 % intervals by bootstrap over queries. Within each annotator: the share of identical grades on
    blind duplicates. Then how many pairs are settled or disputed. Blind duplicates, control items and pilots
    never count between annotators. What was said of pairs that a release seals is in the figures, and listed
    pair by pair with --reason only.

    \b
    Examples:
      goldgrade agreement
      goldgrade agreement --round first --seed 7 --breakdown pair
      goldgrade agreement --html agreement.html
      goldgrade agreement --breakdown week --json
      goldgrade agreement --annotators ada,grace --boundary 2
    """
    from curation.agreement.annotators.details import annotator_details
    from curation.agreement.report.report import agreement_report
    from curation.agreement.report.sections import agreement_page
    from curation.people.seal_access import unseal

    refuse_by_without(context, reason)
    details = breakdown is not None or page is not None or as_json
    store = project_store()
    names = None if annotators is None else [name.strip() for name in annotators.split(",")]
    report = agreement_report(
        store,
        round_name,
        seed,
        details=details,
        annotators=names,
        boundary=boundary,
        door=unseal(store, "report agreement", reason, by),
    )
    if page is not None:
        write_page(page, agreement_page(report, annotator_details(store, round_name, seed)))
    emit(as_json, as_object(report, breakdown), lambda: _show_report(report, breakdown, page))


def as_object(report: AgreementReport, breakdown: BreakdownBy | None) -> dict[str, Any]:
    """The report as one object; with a breakdown, of the parts only that."""
    result: dict[str, Any] = plain(report)
    between = result["between"]
    result["between"] = between.pop("figures") | between
    details: dict[str, Any] | None = result.pop("details")
    if details is None:
        return result
    details["origins"] = details.pop("sources")
    pairs = details.pop("annotator_pairs")
    parts = {**details.pop("by"), "pair": pairs}
    result["untimed"] = parts.pop("untimed")
    result["by"] = {breakdown.value: parts[breakdown.value]} if breakdown else parts
    return result | details


def _show_report(report: AgreementReport, breakdown: BreakdownBy | None, page: Path | None) -> None:
    from curation.agreement.report.findings import cannot_tell
    from curation.agreement.report.report import agreement_findings
    from curation.agreement.report.sections import evidence_sections, overview, parts
    from curation.core.reports.terminal import show_sections

    say(*_restricted(report))
    overall, within, consensus = overview(report)
    part = parts(report, report.details)[breakdown.value] if breakdown and report.details else None
    further = evidence_sections(report.evidence)
    show_sections(filter(None, [overall, part, *further, within, consensus]))
    say("", *agreement_findings(report))
    if report.between.cannot_tell:
        say(cannot_tell(report.between))
    if report.disputed:
        say("Next: goldgrade adjudicate list")
    if page is not None:
        say(f"Wrote {page}.")


def _restricted(report: AgreementReport) -> list[str]:
    """What the report is about, where it is not about everything."""
    where = f" in round {report.round_name}" if report.round_name else ""
    if report.annotators:
        where += f", {', '.join(report.annotators)} only"
    if report.boundary is not None:
        where += f", grades below {report.boundary} against {report.boundary} and above"
    return [f"Agreement{where}."] * bool(where)
