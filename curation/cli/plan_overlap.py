"""`goldgrade plan-overlap`: how much more double judging a narrower interval needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.output import emit, say, table
from curation.cli.program import Json, Seed, app, project_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.agreement.between.overlap_plan import OverlapPlan


@app.command("plan-overlap")
def plan_overlap(
    half_width: Annotated[float, typer.Option(help="Half-width of alpha's 95 % interval to reach.")] = 0.05,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Plan double judging: how many pairs, at what cost.

    It says how many more pairs two annotators must judge, and how long that takes.

    \b
    Examples:
      goldgrade plan-overlap
      goldgrade plan-overlap --half-width 0.03 --json
    """
    from curation.agreement.between.overlap_plan import plan_overlap as planned

    plan = planned(project_store(), half_width, seed)
    emit(as_json, plan, lambda: _show_plan(plan))


def _show_plan(plan: OverlapPlan) -> None:
    if plan.undefined is not None:
        say(f"There is no plan: {plan.undefined}.")
    else:
        assert plan.units_needed is not None
        assert plan.queries_needed is not None
        checked = plan.not_simulated or f"±{plan.simulated:.3f} in simulated projects of that size"
        say(
            f"Ordinal alpha is {plan.alpha:.3f} ± {plan.half_width:.3f} on {plan.units:,} doubly judged "
            f"pairs of {amount(plan.queries, 'query', 'queries')}.",
            f"± {plan.wanted:g} takes {amount(plan.units_needed, 'pair')} of "
            f"{amount(plan.queries_needed, 'query', 'queries')}: {plan.more:,} more ({checked}).",
        )
    table(
        f"Judging the {amount(plan.open_pairs, 'pair')} that nobody has judged",
        ["overlap", "judgments", "hours", "doubly judged then", "± then"],
        [
            (overlap.overlap, overlap.judgments, overlap.hours, overlap.doubly_judged, overlap.half_width)
            for overlap in plan.overlaps
        ],
    )
