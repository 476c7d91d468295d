"""`goldset agreement`: how far annotators agree with each other and with themselves."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli.goldset import Json, SealAuthor, SealReason, Seed, app, project_store
from curation.cli.output import emit, say, table, write_page
from curation.store import COMMAND_LINE
from curation.text import amount, plain

if TYPE_CHECKING:
    from curation.agreement.report.report import AgreementReport, Details


class By(StrEnum):
    """What agreement can be broken down by."""

    TYPE = "type"
    BOUNDARY = "boundary"
    ANNOTATOR = "annotator"
    PAIR = "pair"
    WEEK = "week"


@app.command()
def agreement(
    round_name: Annotated[
        str | None,
        typer.Option("--round", help="Only the judgments of this round.", show_default="all rounds"),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            help="Also broken down by query type, grade boundary, annotator left out, pair of annotators or "
            "week.",
            show_default="all in --json and --html, none else",
        ),
    ] = None,
    annotators: Annotated[
        str | None,
        typer.Option(help="Only what these said, separated by commas.", show_default="everybody"),
    ] = None,
    boundary: Annotated[
        int | None,
        typer.Option(
            help="Between annotators, count only whether a grade is below this one, or this one and above."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Also write a page with all figures and charts; it needs no network."),
    ] = None,
    seed: Seed = 0,
    reason: SealReason = None,
    author: SealAuthor = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Show how far annotators agree with each other and with themselves.

    Between annotators: Krippendorff's alpha at four levels, Fleiss' kappa, Gwet's AC1 and AC2 and the share
    of equal grades, with 95 % intervals by bootstrap over queries. Within each annotator: the share of
    identical grades on blind duplicates. Then how many pairs are settled or disputed. Blind duplicates,
    control items and pilots never count between annotators. What was said of pairs that a release seals is in
    the figures, and listed pair by pair with --reason only.

    \b
    Examples:
      goldset agreement
      goldset agreement --round first --seed 7 --by annotator
      goldset agreement --html agreement.html
      goldset agreement --by week --json
      goldset agreement --annotators ada,grace --boundary 2
    """
    from curation.agreement.annotators.details import annotator_details
    from curation.agreement.report.page import agreement_page
    from curation.agreement.report.report import agreement_report
    from curation.door import open_door

    details = by is not None or page is not None or as_json
    store = project_store()
    names = None if annotators is None else [name.strip() for name in annotators.split(",")]
    report = agreement_report(
        store,
        round_name,
        seed,
        details=details,
        annotators=names,
        boundary=boundary,
        door=open_door(store, "report agreement", reason, author),
    )
    if page is not None:
        write_page(page, agreement_page(report, annotator_details(store, round_name, seed)))
    emit(as_json, as_object(report, by), lambda: _show_report(report, by, page))


def as_object(report: AgreementReport, by: By | None) -> dict[str, Any]:
    """The report as one object; with `by`, of the parts only those."""
    result: dict[str, Any] = plain(report)
    between = result["between"]
    result["between"] = between.pop("figures") | between
    details: dict[str, Any] | None = result.pop("details")
    if details is None:
        return result
    details["origins"] = details.pop("sources")
    pairs = details["cohen"].pop("annotator_pairs")
    parts = {**details.pop("by"), "pair": pairs}
    result["untimed"] = parts.pop("untimed")
    result["by"] = {by.value: parts[by.value]} if by else parts
    return result | details


def _show_report(report: AgreementReport, by: By | None, page: Path | None) -> None:
    from curation.agreement.report.findings import section_findings
    from curation.agreement.report.report import findings

    _show_between(report)
    _show_within(report)
    counts = report.consensus
    columns = ["rule", "pairs", "majority", "single grade", "adjudicated", "disputed", "unjudgeable"]
    row = (counts.rule, counts.pairs, counts.majority, counts.single, counts.adjudicated, counts.disputed)
    table("Consensus", columns, [(*row, counts.unjudgeable)])
    sentences = section_findings(report)
    if by is not None and report.details is not None:
        _show_parts(report.details, by)
    say("", *findings(report))
    if report.between.cannot_tell:
        say(sentences["cannot tell"])
    if by is not None:
        say(sentences[by.value])
    if report.consensus.disputed:
        say("Next: goldset adjudicate list")
    if page is not None:
        say(f"Wrote {page}.")


def _show_between(report: AgreementReport) -> None:
    from curation.agreement.between.coefficients import COEFFICIENTS
    from curation.agreement.between.inter_annotator import NO_TRUE_ZERO

    result = report.between
    figures = [(one, result.figures[one.name]) for one in COEFFICIENTS]
    rows = [
        (
            *_row(one.label, figure, figure.value),
            figure.rests_on,
            _note(figure) or result.doubts.get(one.name, ""),
        )
        for one, figure in figures
    ]
    where = f" in round {report.round_name}" if report.round_name else ""
    if report.annotators:
        where += f", {', '.join(report.annotators)} only"
    if report.boundary is not None:
        where += f", grades below {report.boundary} against {report.boundary} and above"
    table(f"Between annotators{where}", ["statistic", "value", "low", "high", "based on", "note"], rows)
    marginals = ", ".join(f"{g}: {n:,}" for g, n in zip(result.scale, result.marginals, strict=True))
    say(
        f"{amount(result.judgments, 'grade')} by {amount(result.annotators, 'annotator')}; "
        f"{amount(result.units, 'pair')} of "
        f"{amount(result.queries, 'query', 'queries')} have two or more (grades {marginals}); pairs with "
        "one say nothing "
        f"here: {result.single:,}; {result.cannot_tell:,} times cannot tell, kept apart.",
        f"Of alpha, {NO_TRUE_ZERO}.",
        "",
    )


def _show_within(report: AgreementReport) -> None:
    from curation.agreement.annotators.intra_annotator import MINIMUM_REPEATS

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
        _show_pairs(details)
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


def _show_pairs(details: Details) -> None:
    columns = [
        "first",
        "second",
        "same grade",
        "kappa",
        "linear",
        "quadratic",
        "low",
        "high",
        "alpha",
        "alpha low",
        "alpha high",
        "higher by",
        "pairs",
    ]
    rows = [
        (
            pair.first,
            pair.second,
            pair.raw.value,
            pair.plain.value,
            pair.linear.value,
            pair.quadratic.value,
            pair.quadratic.low,
            pair.quadratic.high,
            pair.alpha.value,
            pair.alpha.low,
            pair.alpha.high,
            pair.difference.value,
            pair.raw.units,
        )
        for pair in details.cohen.annotator_pairs
    ]
    table(
        "Pairwise agreement (Cohen's kappa, low and high of quadratic weights; ordinal alpha)", columns, rows
    )
    for reason, count in details.cohen.left_out.items():
        say(f"left out: {count:,} annotator pairs: {reason}")


def _row(name: str, figure: Any, value: float | None) -> tuple[object, ...]:
    from curation.agreement.report.verdict import not_shown

    return (name, None, None, None) if not_shown(figure) else (name, value, figure.low, figure.high)


def _note(figure: Any) -> str:
    from curation.agreement.report.verdict import not_shown

    return not_shown(figure) or figure.no_interval or ""
