"""`goldset agreement`: how far annotators agree with each other and with themselves."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, plain, print_json, say, table, write_page

if TYPE_CHECKING:
    from curation.agreement import AgreementReport
    from curation.agreement.report import Details


class By(StrEnum):
    """In which parts agreement can be told."""

    TYPE = "type"
    BOUNDARY = "boundary"
    ANNOTATOR = "annotator"
    PAIR = "pair"
    WEEK = "week"


@app.command()
def agreement(
    context: typer.Context,
    round_name: Annotated[
        str | None,
        typer.Option("--round", help="Only the judgments of this round.", show_default="all rounds"),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            help="Also in parts: query type, grade boundary, annotator left out, pair of annotators, week.",
            show_default="all in --json and --html, none else",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Also write a page with all figures, drawn; it needs no network."),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell how far annotators agree with each other and with themselves.

    Krippendorff's alpha at four levels, Fleiss' kappa, Gwet's AC1 and AC2 and the plain share of equal
    grades, with 95 % intervals by bootstrap over queries; each annotator's share of identical grades on blind
    duplicates; and how many pairs are settled or disputed. Blind duplicates, known answers and pilots never
    count between annotators.

    \b
    Examples:
      goldset agreement
      goldset agreement --round first --seed 7 --by annotator
      goldset agreement --html agreement.html
      goldset agreement --by week --json
    """
    from curation.agreement import agreement_report
    from curation.agreement.page import agreement_page
    from curation.agreement.talking import annotator_details

    details = by is not None or page is not None or as_json
    store = project_store(context)
    report = agreement_report(store, round_name, seed, details=details)
    if page is not None:
        write_page(page, agreement_page(report, annotator_details(store, round_name, seed)))
    if as_json:
        print_json(_told(report, by))
        return
    _show_report(report, by)
    if page is not None:
        say(f"Wrote {page}.")


def _told(report: AgreementReport, by: By | None) -> dict[str, Any]:
    """The report as one object; with `by`, of the parts only those."""
    told: dict[str, Any] = plain(report)
    details: dict[str, Any] = told.pop("details")
    couples = details["cohen"].pop("couples")
    parts = {**details.pop("by"), "pair": couples}
    told["by"] = {by.value: parts[by.value]} if by else parts
    return told | details


def _show_report(report: AgreementReport, by: By | None) -> None:
    from curation.agreement.findings import section_findings
    from curation.agreement.report import findings

    _show_between(report)
    _show_within(report)
    counts = report.consensus
    columns = ["rule", "pairs", "majority", "single grade", "adjudicated", "disputed", "unjudgeable"]
    row = (counts.rule, counts.pairs, counts.majority, counts.single, counts.adjudicated, counts.disputed)
    table("Consensus", columns, [(*row, counts.unjudgeable)])
    told = section_findings(report)
    if by is not None and report.details is not None:
        _show_parts(report.details, by)
    say("", *findings(report))
    if report.between.cannot_tell:
        say(told["cannot tell"])
    if by is not None:
        say(told[by.value])
    if report.consensus.disputed:
        say("Next: goldset adjudicate list")


def _show_between(report: AgreementReport) -> None:
    from curation.agreement.between import LEVELS, NO_TRUE_ZERO

    result = report.between
    figures = [(f"alpha, {level}", getattr(result, level), getattr(result, level).alpha) for level in LEVELS]
    figures += [
        ("Fleiss' kappa", result.fleiss, result.fleiss.value),
        ("Gwet's AC1", result.ac1, result.ac1.value),
        ("Gwet's AC2, quadratic", result.ac2, result.ac2.value),
        ("Gwet's AC2, ordinal", result.ac2_ordinal, result.ac2_ordinal.value),
    ]
    rows = [
        (*_row(name, figure, value), f"{figure.units:,} pairs", _note(figure))
        for name, figure, value in figures
    ]
    raw = result.raw
    rows.append((*_row("same grade", raw, raw.share), f"{raw.pairs:,} pairs of grades", _note(raw)))
    where = f" in round {report.round_name}" if report.round_name else ""
    table(f"Between annotators{where}", ["statistic", "value", "low", "high", "rests on", "note"], rows)
    marginals = ", ".join(f"{g}: {n:,}" for g, n in zip(result.scale, result.marginals, strict=True))
    say(
        f"{result.judgments:,} grades by {result.annotators:,} annotators; {result.units:,} pairs of "
        f"{result.queries:,} queries have two or more (grades {marginals}); pairs with one say nothing "
        f"here: {result.single:,}; {result.cannot_tell:,} times cannot tell, kept apart.",
        f"Of alpha, {NO_TRUE_ZERO}.",
        "",
    )


def _show_within(report: AgreementReport) -> None:
    from curation.agreement.within import MINIMUM_REPEATS

    rows = []
    for person in report.within:
        why = person.undefined and f"undefined: {person.undefined}"
        if person.too_few:
            why = f"too few: at least {MINIMUM_REPEATS}"
        figures = (None, None, None) if why else (person.identical, person.low, person.high)
        rest = (person.n, person.cannot_tell, person.distance, why or "")
        rows.append((person.annotator, *figures, *rest))
    columns = ["annotator", "identical", "low", "high", "n", "cannot tell", "mean distance", "note"]
    table("Within annotators, on blind duplicates", columns, rows)


def _show_parts(details: Details, by: By) -> None:
    if by is By.PAIR:
        _show_couples(details)
        return
    parts = getattr(details.by, by.value)
    head = {By.BOUNDARY: "boundary", By.ANNOTATOR: "without", By.WEEK: "week of"}.get(by, "type")
    columns = [head, "alpha", "low", "high", "same grade", "pairs", "queries", "note"]
    rows = []
    for part in parts:
        name = f"{part.kind}: {part.name}" if by is By.TYPE else part.name
        same = None if part.raw.too_few else part.raw.share
        size = (same, part.alpha.units, part.queries)
        rows.append((*_row(name, part.alpha, part.alpha.alpha), *size, _note(part.alpha)))
    table(f"Between annotators, by {by.value}", columns, rows)


def _show_couples(details: Details) -> None:
    columns = [
        "first",
        "second",
        "same grade",
        "kappa",
        "linear",
        "quadratic",
        "low",
        "high",
        "higher by",
        "pairs",
    ]
    rows = [
        (
            couple.first,
            couple.second,
            couple.raw.value,
            couple.plain.value,
            couple.linear.value,
            couple.quadratic.value,
            couple.quadratic.low,
            couple.quadratic.high,
            couple.difference.value,
            couple.raw.units,
        )
        for couple in details.cohen.couples
    ]
    table("Each two annotators (Cohen's kappa; the interval is that of quadratic weights)", columns, rows)
    for reason, count in details.cohen.left_out.items():
        say(f"left out: {count:,} couples: {reason}")


def _row(name: str, figure: Any, value: float | None) -> tuple[object, ...]:
    from curation.agreement.report import not_shown

    return (name, None, None, None) if not_shown(figure) else (name, value, figure.low, figure.high)


def _note(figure: Any) -> str:
    from curation.agreement.report import not_shown

    return not_shown(figure) or figure.no_interval or ""
