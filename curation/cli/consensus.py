"""`goldset consensus` and `consistency`: the grade that a pair ends up with, and each annotator's work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, print_json, say, table

if TYPE_CHECKING:
    from curation.agreement.consensus import ConsensusCounts, Errors
    from curation.agreement.talking import AnnotatorDetails
    from curation.agreement.within import SelfConsistency


@app.command()
def consensus(
    context: typer.Context,
    rule: Annotated[
        str | None,
        typer.Option(
            help="The project's rule from now on: majority, median, dawid-skene or ordinal-dawid-skene.",
            show_default="as it is",
        ),
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(
            help="dawid-skene: cases added to each cell of a confusion matrix.",
            show_default="0.1 or as it is",
        ),
    ] = None,
    least: Annotated[
        float | None,
        typer.Option(
            help="Dawid and Skene's rules: a grade must be more probable than this, or the pair is disputed.",
            show_default="0.5 or as it is",
        ),
    ] = None,
    round_name: Annotated[
        str | None, typer.Option("--round", help="Count only the pairs of this round.", show_default="all")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show or set the rule by which votes become a grade, and annotators' estimated errors.

    A reviewer's decision comes before any rule. Majority needs more than half of the votes; median takes the
    middle one, and no grade where two middle votes differ; Dawid and Skene's model estimates how often each
    annotator confuses which grades, and takes the most probable one. What the rule leaves open is disputed.

    \b
    Examples:
      goldset consensus
      goldset consensus --rule median
      goldset consensus --rule ordinal-dawid-skene --least 0.7 --json
    """
    from curation.agreement.consensus import counted, errors, read_votes
    from curation.agreement.rule import Rule, read_rule, set_rule
    from curation.labeling.rounds import find_round

    store = project_store(context)
    with store.reading() as cursor:
        now = read_rule(cursor)
        round_id = find_round(cursor, round_name).round_id if round_name else None
    wanted = Rule(
        now.name if rule is None else rule,
        now.smoothing if smoothing is None else smoothing,
        now.least if least is None else least,
    )
    if wanted != now:
        set_rule(store, wanted)
    with store.reading() as cursor:
        votes = read_votes(cursor, round_id)
    counts, found = counted(votes), errors(votes, votes.rule.ordinal)
    if as_json:
        print_json({"settings": votes.rule.settings, "consensus": counts, "errors": found})
        return
    _show_counts(counts)
    if found is not None:
        _show_errors(found)


@app.command()
def consistency(
    context: typer.Context,
    annotator: Annotated[
        str | None, typer.Option(help="Only this annotator, with the whole chart.", show_default="all")
    ] = None,
    round_name: Annotated[
        str | None, typer.Option("--round", help="Only what was judged in this round.", show_default="all")
    ] = None,
    by_week: Annotated[
        bool, typer.Option("--by-week", help="Control chart by week instead of by tens of repeats.")
    ] = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Tell what each annotator's work is like, and what to talk about with them.

    Blind duplicates: identical share, distance in grades, weighted kappa, near and far showings, control
    chart and change points. Beside the others: bias in grades, its course over the weeks, fast and slow
    answers.

    \b
    Examples:
      goldset consistency
      goldset consistency --annotator grace --by-week
      goldset consistency --round first --seed 7 --json
    """
    from curation.agreement.talking import annotator_details
    from curation.errors import NotFoundError

    found = annotator_details(project_store(context), round_name, seed, by_week)
    shown = [one for one in found if annotator in (None, one.annotator)]
    if annotator is not None and not shown:
        names = ", ".join(one.annotator for one in found) or "nobody"
        raise NotFoundError(f"{annotator!r} has no items here. Those with items: {names}.")
    if as_json:
        print_json({"round": round_name, "seed": seed, "annotators": shown})
        return
    _show_details(shown)
    for one in shown:
        if annotator is not None and one.repeats is not None:
            _show_chart(one.repeats)
        say("", f"{one.annotator}:", *(f"  {point.sentence}" for point in one.points))
        if not one.points:
            say("  nothing stands out")


def _show_counts(counts: ConsensusCounts) -> None:
    columns = ["rule", "pairs", "by the rule", "single grade", "adjudicated", "disputed", "unjudgeable"]
    by_rule = counts.majority + counts.ruled
    row = (counts.rule, counts.pairs, by_rule, counts.single, counts.adjudicated, counts.disputed)
    table("Consensus", columns, [(*row, counts.unjudgeable)])


def _show_errors(found: Errors) -> None:
    scale = [f"says {value}" for value in found.values]
    rows = []
    for one in found.annotators:
        for value, given in zip(found.values, one.matrix, strict=True):
            first = (one.annotator, one.grades, one.right, one.bias)
            rows.append((*(first if value == found.values[0] else ("", None, None, None)), value, *given))
    columns = ["annotator", "grades", "right", "bias", "where true is", *scale]
    table("Annotators' errors, as Dawid and Skene's model estimates them", columns, rows)
    if not found.converged:
        say(f"EM had not settled after {found.iterations} steps: read these with care.")


def _show_details(shown: list[AnnotatorDetails]) -> None:
    rows = []
    for one in shown:
        own, repeats, beside = one.consistency, one.repeats, one.tendency
        rows.append(
            (
                one.annotator,
                *((None, None) if own.too_few else (own.identical, repeats and repeats.kappa)),
                own.n,
                one.known.share,
                one.known.answered,
                *((beside.bias, beside.low, beside.high) if beside else (None, None, None)),
                beside.grades if beside else 0,
                beside and beside.trend_p,
                len(one.points),
            )
        )
    columns = ["annotator", "identical", "kappa", "repeats", "known right", "known"]
    columns += ["bias", "low", "high", "compared", "drift p", "to talk about"]
    table("Annotators' work", columns, rows)


def _show_chart(one: SelfConsistency) -> None:
    rows = [
        (
            f"{point.begins:%Y-%m-%d %H:%M}",
            point.n,
            point.share,
            point.lower,
            point.upper,
            "!" * point.outside,
        )
        for point in one.chart
    ]
    table(f"Control chart of {one.annotator}", ["from", "repeats", "identical", "lower", "upper", ""], rows)
    say(
        one.cusum.sentence
        if one.cusum
        else "CUSUM: none, there are too few repeats or they are all the same."
    )
