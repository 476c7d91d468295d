"""`goldset gate` and `plan-overlap`: the agreement that a freeze demands, and what reaching it takes."""

from __future__ import annotations

from typing import Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, print_json, say, table


@app.command()
def gate(
    context: typer.Context,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Least lower end of ordinal alpha's 95 % interval.", show_default="0.667 or as it is"
        ),
    ] = None,
    consistency: Annotated[
        float | None,
        typer.Option(
            help="Least share of blind duplicates graded alike, of all together.",
            show_default="0.8 or as it is",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show or set the agreement that `goldset freeze` demands, beside the figures of now.

    \b
    Examples:
      goldset gate
      goldset gate --alpha 0.7 --consistency 0.75
      goldset gate --json
    """
    from curation.agreement.gate import gate_now, read_demand, set_demand

    store = project_store(context)
    with store.reading() as cursor:
        demand = read_demand(cursor)
    asked = {"alpha": alpha, "consistency": consistency}
    given = {name: value for name, value in asked.items() if value is not None}
    if given:
        set_demand(store, demand._replace(**given))
    found = gate_now(store)
    if as_json:
        print_json({"open": found.open, "checks": found.checks})
        return
    say(*(check.sentence for check in found.checks))
    say(
        "The gate is open." if found.open else 'The gate is shut: goldset freeze NAME needs --override "why".'
    )


@app.command("plan-overlap")
def plan_overlap(
    context: typer.Context,
    half_width: Annotated[
        float, typer.Option(help="Half of the width that alpha's 95 % interval shall have.")
    ] = 0.05,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Plan double judging: how many more pairs two people must judge, and what overlap costs.

    \b
    Examples:
      goldset plan-overlap
      goldset plan-overlap --half-width 0.03 --json
    """
    from curation.agreement.planner import plan_overlap as planned

    plan = planned(project_store(context), half_width, seed)
    if as_json:
        print_json(plan)
        return
    if plan.undefined is not None:
        say(f"There is no plan: {plan.undefined}.")
    else:
        checked = plan.not_simulated or f"±{plan.simulated:.3f} in simulated projects of that size"
        say(
            f"Ordinal alpha is {plan.alpha:.3f} ± {plan.half_width:.3f} on {plan.units:,} doubly judged "
            f"pairs of {plan.queries:,} queries.",
            f"± {plan.wanted:g} takes {plan.units_needed:,} pairs of {plan.queries_needed:,} queries: "
            f"{plan.more:,} more ({checked}).",
        )
    table(
        f"Judging the {plan.open_pairs:,} pairs that nobody has judged",
        ["overlap", "judgments", "hours", "doubly judged then", "± then"],
        [(one.overlap, one.judgments, one.hours, one.doubly_judged, one.half_width) for one in plan.overlaps],
    )
