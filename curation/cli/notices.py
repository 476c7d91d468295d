"""`goldgrade notices`: send what a lead asked to hear of."""

from __future__ import annotations

from typing import Annotated

import typer

from curation.cli.output import emit
from curation.cli.program import Json, app, project_store
from curation.core.text import amount


@app.command()
def notices(
    test: Annotated[
        bool, typer.Option("--send-test", help="Send a test. Exit 1 if it was not sent.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send the notices that are due, each once.

    The app does this each minute; this is for a timer where no app runs. A lead chooses on the page Backup
    what is sent. GOLDGRADE_WEBHOOK in the environment is the address that notices go to.

    \b
    Examples:
      goldgrade notices
      goldgrade notices --send-test
      goldgrade notices --json
    """
    from curation.operations.notices.notices import send_due, send_test

    if not test:
        made = send_due(project_store())
        emit(as_json, {"attempts": made}, f"{amount(made, 'attempt')} to send a notice.")
        return
    problem = send_test()
    sentence = "The test was sent." if problem == "" else f"The test was not sent: {problem}."
    if problem is None:
        sentence = "No webhook is set up: set GOLDGRADE_WEBHOOK to its address."
    emit(as_json, {"webhook": problem}, sentence)
    if problem:
        raise typer.Exit(1)
