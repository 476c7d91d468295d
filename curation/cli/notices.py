"""`goldset notices`: send what a lead asked to hear of."""

from __future__ import annotations

from typing import Annotated

import typer

from curation.cli.goldset import Json, app, project_store
from curation.cli.output import emit
from curation.text import amount


@app.command()
def notices(
    test: Annotated[
        bool, typer.Option("--send-test", help="Send a test by each way. Exit 1 if one was not sent.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Send the notices that are due, each once.

    The app does this each minute; this is for a timer where no app runs. A lead chooses on the page Backup
    what is sent. The environment names the ways: GOLDSET_SMTP, GOLDSET_MAIL_FROM and GOLDSET_MAIL_TO for
    e-mail, GOLDSET_WEBHOOK for a webhook.

    \b
    Examples:
      goldset notices
      goldset notices --send-test
      goldset notices --json
    """
    from curation.notices.notices import send_due, send_test

    if not test:
        made = send_due(project_store())
        emit(as_json, {"attempts": made}, f"{amount(made, 'attempt')} to send a notice.")
        return
    found = send_test()
    words = [f"{way}: {problem or 'sent'}." for way, problem in found.items()]
    emit(as_json, found, "\n".join(words) or "The environment names no way to send a notice.")
    if any(found.values()):
        raise typer.Exit(1)
