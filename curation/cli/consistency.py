"""`goldset consistency`: each annotator's work, and what to discuss with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, Seed, app, project_store
from curation.cli.output import emit, say, table
from curation.text import p_cell

if TYPE_CHECKING:
    from curation.agreement.annotators.details import AnnotatorDetails
    from curation.agreement.annotators.intra_annotator import SelfConsistency


@app.command()
def consistency(
    annotator: Annotated[
        str | None, typer.Option(help="Only this annotator, with all change points.", show_default="all")
    ] = None,
    round_name: Annotated[
        str | None, typer.Option("--round", help="Only what was judged in this round.", show_default="all")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show each annotator's consistency and bias. Feedback to discuss with them follows.

    On blind duplicates: share of identical grades, distance in grades, weighted kappa, by near and far
    repeats, with change points. Against the others: bias in grades and its drift over the
    weeks. Also fast and slow answers.

    \b
    Examples:
      goldset consistency
      goldset consistency --annotator grace
      goldset consistency --round first --seed 7 --json
    """
    from curation.agreement.annotators.details import annotator_details
    from curation.errors import NotFoundError

    found = annotator_details(project_store(), round_name, seed)
    shown = [one for one in found if annotator in (None, one.annotator)]
    if annotator is not None and not shown:
        names = ", ".join(one.annotator for one in found) or "nobody"
        raise NotFoundError(f"{annotator!r} has no items here. Those with items: {names}.")
    result = {"round": round_name, "seed": seed, "annotators": shown}
    emit(as_json, result, lambda: _show_consistency(shown, with_changes=annotator is not None))


def _show_consistency(shown: list[AnnotatorDetails], with_changes: bool) -> None:
    from curation.agreement.report.sections import feedback_section
    from curation.reports.terminal import show_sections

    _show_details(shown)
    for one in shown:
        if with_changes and one.repeats is not None:
            _show_changes(one.repeats)
    show_sections([feedback_section(shown)])


def _show_details(shown: list[AnnotatorDetails]) -> None:
    columns = ["annotator", "identical", "kappa", "repeats", "control items correct", "control items"]
    columns += ["agreement", "others'", "bias", "low", "high", "compared", "drift p", "feedback"]
    table("Annotators", columns, [_details_row(one) for one in shown])
    left_out = [f"{one.annotator} ({one.left_out})" for one in shown if one.left_out]
    if left_out:
        say(f"Nobody is compared with {', '.join(left_out)}: they differ by what is in parentheses.")


def _details_row(one: AnnotatorDetails) -> tuple[object, ...]:
    own, control, bias = one.consistency, one.control_items, one.bias
    identical = None if own.too_few else own.identical
    kappa = None if own.too_few or one.repeats is None else one.repeats.kappa
    compared: tuple[object, ...] = (None, None, None, 0, None)
    if bias is not None:
        compared = (bias.bias, bias.low, bias.high, bias.grades, p_cell(bias.trend_p))
    consistency = (identical, kappa, own.n, control.share, control.answered)
    agreement = (one.agreement.kappa, one.agreement.others) if one.agreement is not None else (None, None)
    return (one.annotator, *consistency, *agreement, *compared, len(one.feedback))


def _show_changes(one: SelfConsistency) -> None:
    rows = [
        (f"{change.at:%Y-%m-%d %H:%M}", change.before, change.after, p_cell(change.p))
        for change in one.changes
    ]
    if rows:
        table(f"Changes of {one.annotator}", ["from", "identical before", "since then", "p"], rows)
    else:
        say(f"No change of {one.annotator}'s share of identical grades, or too few repeats to see one.")
