"""`goldgrade consistency`: each annotator's work, and what to discuss with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say, table
from curation.cli.program import Json, Seed, app, project_store
from curation.core.text import p_cell

if TYPE_CHECKING:
    from curation.agreement.annotators.signals import AnnotatorMetrics


@app.command()
def consistency(
    annotator: Annotated[str | None, typer.Option(help="Only this annotator.", show_default="all")] = None,
    round_name: Annotated[
        str | None, typer.Option("--round", help="Only what was judged in this round.", show_default="all")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show each annotator's consistency and bias. Feedback to discuss with them follows.

    On blind duplicates: the share of identical grades. Against the others: weighted kappa, bias in grades and
    its drift over time. Feedback also tells of one grade for nearly all pairs, and of answers that came too
    fast.

    \b
    Examples:
      goldgrade consistency
      goldgrade consistency --annotator grace
      goldgrade consistency --round first --seed 7 --json
    """
    from curation.agreement.annotators.details import annotator_details
    from curation.core.errors import NotFoundError

    found = annotator_details(project_store(), round_name, seed)
    shown = [one for one in found if annotator in (None, one.annotator)]
    if annotator is not None and not shown:
        names = ", ".join(one.annotator for one in found) or "nobody"
        raise NotFoundError(f"{annotator!r} has no items here. Those with items: {names}.")
    result = {"round": round_name, "seed": seed, "annotators": shown}
    emit(as_json, result, lambda: _show_consistency(shown))


def _show_consistency(shown: list[AnnotatorMetrics]) -> None:
    from curation.agreement.report.sections import feedback_section
    from curation.core.reports.terminal import show_sections

    columns = ["annotator", "identical", "repeats", "control items correct", "control items", "agreement"]
    columns += ["others'", "bias", "low", "high", "compared", "drift p", "feedback"]
    table("Annotators", columns, [_details_row(one) for one in shown])
    left_out = [f"{one.annotator} ({one.left_out})" for one in shown if one.left_out]
    if left_out:
        say(f"Nobody is compared with {', '.join(left_out)}: they differ by what is in parentheses.")
    show_sections([feedback_section(shown)])


def _details_row(metrics: AnnotatorMetrics) -> tuple[object, ...]:
    own, control, agreement, bias = (
        metrics.consistency,
        metrics.control_items,
        metrics.agreement,
        metrics.bias,
    )
    assert own is not None
    assert control is not None
    consistency = (None if own.too_few else own.identical, own.n, control.share, control.answered)
    others = (agreement.kappa, agreement.others) if agreement is not None else (None, None)
    compared: tuple[object, ...] = (None, None, None, 0, None)
    if bias is not None:
        compared = (bias.bias, bias.low, bias.high, bias.grades, p_cell(bias.trend_p))
    return (metrics.annotator, *consistency, *others, *compared, len(metrics.feedback))
