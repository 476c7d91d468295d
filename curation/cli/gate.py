"""`goldgrade gate`: the agreement that a freeze demands."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from curation.cli.output import emit, say
from curation.cli.program import Json, app, project_store


@app.command()
def gate(
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Minimum of the lower end of ordinal alpha's 95 % interval.",
            show_default="0.667 or as it is",
        ),
    ] = None,
    consistency: Annotated[
        float | None,
        typer.Option(
            help="Minimum of the lower end of consistency's 95 % interval.",
            show_default="0.8 or as it is",
        ),
    ] = None,
    single_annotator: Annotated[
        bool | None,
        typer.Option(
            "--single-annotator/--several-annotators",
            help="Whether one person judges this project. No agreement is demanded while that is so.",
            show_default="several, or as it is",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show or set the agreement that a freeze demands. The current figures are shown with it.

    With one judge nobody knows the agreement. A project that says so can be frozen without `--override`. The
    audit trail, the release and its card say it, too. Consistency is still demanded of judgments on screen.

    \b
    Examples:
      goldgrade gate
      goldgrade gate --alpha 0.7 --consistency 0.75
      goldgrade gate --single-annotator
      goldgrade gate --json
    """
    from curation.agreement.gate import gate_now, read_demand, set_demand

    store = project_store()
    with store.reading() as cursor:
        demand = read_demand(cursor)
    asked = {"alpha": alpha, "consistency": consistency, "single_judge": single_annotator}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if given:
        set_demand(store, demand._replace(**given))
    found = gate_now(store)

    def show() -> None:
        say(*(check.sentence for check in found.checks))
        if found.note:
            say(found.note)
        say(
            "The gate is open."
            if found.open
            else 'The gate is shut: goldgrade freeze NAME needs --override "why".'
        )

    emit(as_json, {"open": found.open, "checks": found.checks, "note": found.note}, show)
