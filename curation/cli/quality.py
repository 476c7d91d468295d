"""`goldset agreement` and `goldset adjudicate`: how far the labels can be believed, and settling disputes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, left_out, print_json, say, table
from curation.store.settings import COMMAND_LINE

if TYPE_CHECKING:
    from curation.agreement import AgreementReport
    from curation.labeling.adjudication import Decided, Decision, Dispute

adjudication = typer.Typer(
    help="List disputed pairs and decide them.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(adjudication, name="adjudicate")

Reviewer = Annotated[
    str, typer.Option(help="Who decides: an annotator with the role reviewer or lead, or the command line.")
]


@app.command()
def agreement(
    context: typer.Context,
    round_name: Annotated[
        str | None,
        typer.Option("--round", help="Only the judgments of this round.", show_default="all rounds"),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell how far annotators agree with each other and with themselves.

    Krippendorff's alpha between annotators, with 95 % intervals by bootstrap over queries; each annotator's
    share of identical grades on blind duplicates; and how many pairs are settled or disputed.

    \b
    Examples:
      goldset agreement
      goldset agreement --round first --seed 7
      goldset agreement --json
    """
    from curation.agreement import agreement_report

    report = agreement_report(project_store(context), round_name, seed)
    if as_json:
        print_json(report)
    else:
        _show_report(report)


@adjudication.command("list")
def adjudicate_list(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="How many to show.")] = 20,
    settled: Annotated[bool, typer.Option("--settled", help="Show decided pairs too.")] = False,
    as_json: Json = False,
) -> None:
    """List disputed pairs, the largest disagreement first, without the names of those who graded.

    \b
    Examples:
      goldset adjudicate list
      goldset adjudicate list --limit 100 --json
    """
    from curation.labeling.adjudication import disputes

    found = disputes(project_store(context), include_settled=settled)
    shown = found[:limit]
    if as_json:
        print_json({"total": len(found), "shown": len(shown), "disputes": shown})
        return
    columns = ["query", "query id", "document", "document id", "grades", "cannot tell", "decision"]
    table("Disputed pairs", columns, [_dispute_row(item) for item in shown])
    say(f"{len(shown):,} of {len(found):,} shown.")
    if shown:
        say('Next: goldset adjudicate decide QUERY_ID DOCUMENT_ID --grade G --reason "..."')


@adjudication.command("decide")
def adjudicate_decide(
    context: typer.Context,
    query: Annotated[str | None, typer.Argument(help="The query's id or its text.")] = None,
    document: Annotated[str | None, typer.Argument(help="The document's id.")] = None,
    grade: Annotated[int | None, typer.Option(help="The grade, one of the guide's scale.")] = None,
    unjudgeable: Annotated[bool, typer.Option("--unjudgeable", help="No grade can be given.")] = False,
    reason: Annotated[str, typer.Option(help="Why: one sentence, kept with the decision.")] = "",
    reviewer: Reviewer = COMMAND_LINE,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Decide the disputed pairs of this file instead of one pair."),
    ] = None,
    query_field: Annotated[
        str, typer.Option(help="With --from: the field with query ids or texts.")
    ] = "query",
    document_field: Annotated[
        str, typer.Option(help="With --from: the field with document ids.")
    ] = "document",
    grade_field: Annotated[str, typer.Option(help="With --from: the field with the grades.")] = "grade",
    reason_field: Annotated[
        str | None,
        typer.Option(help="With --from: the field with the reasons; --reason stands in for empty ones."),
    ] = None,
    every_pair: Annotated[
        bool,
        typer.Option("--all", help="With --from: decide every judged pair of the file, disputed or not."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Decide a disputed pair, or the disputed pairs of a file. Decisions are appended; the last one counts.

    \b
    Examples:
      goldset adjudicate decide "usb hub" 1993197 --grade 2 --reason "A hub without USB-C" --reviewer grace
      goldset adjudicate decide q42 78503000 --unjudgeable --reason "The document is cut off"
      goldset adjudicate decide --from final.csv --query-field query --document-field docid \\
        --grade-field final_rating --reason "Final rating of the campaign"
    """
    pair = _pair_or_file(query, document, grade, unjudgeable, source)
    store = project_store(context)
    if pair is not None:
        from curation.labeling.adjudication import decide

        _show_decision(decide(store, *pair, grade, reason, reviewer), as_json)
    elif source is not None:
        from curation.labeling.adjudication import decide_many
        from curation.sources.decisions import read_proposals

        proposals = read_proposals(source, query_field, document_field, grade_field, reason, reason_field)
        _show_decided(decide_many(store, proposals, reviewer, every_pair, source), as_json)


def _pair_or_file(
    query: str | None, document: str | None, grade: int | None, unjudgeable: bool, source: Path | None
) -> tuple[str, str] | None:
    """The pair to decide, or None for a file."""
    if source is not None:
        if query is not None or grade is not None or unjudgeable:
            raise typer.BadParameter(
                "decides a file; leave QUERY, DOCUMENT and the grade away.", param_hint="--from"
            )
        return None
    if query is None or document is None:
        raise typer.BadParameter("name the pair, or a file with --from.", param_hint="QUERY DOCUMENT")
    if (grade is None) != unjudgeable:
        raise typer.BadParameter("give one of them.", param_hint="--grade, --unjudgeable")
    return query, document


def _show_decision(decision: Decision, as_json: bool) -> None:
    if as_json:
        print_json(decision)
        return
    what = "unjudgeable" if decision.grade is None else f"grade {decision.grade}"
    say(f"Decided: {what} (decision {decision.revision + 1} on this pair, by {decision.reviewer}).")


def _show_decided(decided: Decided, as_json: bool) -> None:
    if as_json:
        print_json(decided)
        return
    say(f"{decided.decided:,} pairs decided.")
    left_out(decided.left_out, "lines")


def _show_report(report: AgreementReport) -> None:
    from curation.agreement.report import findings

    _show_between(report)
    _show_within(report)
    counts = report.consensus
    columns = ["rule", "pairs", "majority", "single grade", "adjudicated", "disputed", "unjudgeable"]
    row = (counts.rule, counts.pairs, counts.majority, counts.single, counts.adjudicated, counts.disputed)
    table("Consensus", columns, [(*row, counts.unjudgeable)])
    say("", *findings(report))
    if report.consensus.disputed:
        say("Next: goldset adjudicate list")


def _show_between(report: AgreementReport) -> None:
    from curation.agreement.between import LEVELS
    from curation.agreement.report import not_shown

    result, rows = report.between, []
    for name in LEVELS:
        alpha = getattr(result, name)
        why = not_shown(alpha)
        figures = (None, None, None) if why else (alpha.alpha, alpha.low, alpha.high)
        rows.append((f"alpha, {name}", *figures, f"{alpha.units:,} pairs", why or alpha.no_interval or ""))
    raw, why = result.raw, not_shown(result.raw)
    figures = (None, None, None) if why else (raw.share, raw.low, raw.high)
    rows.append(("same grade", *figures, f"{raw.pairs:,} pairs of grades", why or raw.no_interval or ""))
    where = f" in round {report.round_name}" if report.round_name else ""
    table(f"Between annotators{where}", ["statistic", "value", "low", "high", "rests on", "note"], rows)
    say(
        f"{result.judgments:,} grades by {result.annotators:,} annotators; {result.units:,} pairs of "
        f"{result.queries:,} queries have two or more; {result.single:,} pairs have one and say nothing "
        f"here; {result.cannot_tell:,} times cannot tell, kept apart.",
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


def _dispute_row(item: Dispute) -> tuple[object, ...]:
    decision = None
    if item.decision is not None:
        decision = "unjudgeable" if item.decision.grade is None else item.decision.grade
    grades = " ".join(map(str, item.grades))
    return item.query, item.query_id, item.title, item.document_id, grades, item.cannot_tell, decision
