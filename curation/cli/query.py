"""`goldgrade query`: write queries by hand."""

from __future__ import annotations

from typing import Annotated

import typer

from curation.cli.output import emit
from curation.cli.program import By, Json, command_group, project_store
from curation.store import COMMAND_LINE

query = command_group("query", "Write queries by hand.")


@query.command("add")
def query_add(
    text: Annotated[str, typer.Argument(help="The query, as a user would type it.")],
    id: Annotated[str | None, typer.Option(help="Its id.", show_default="made from the text")] = None,
    information_need: Annotated[
        str | None, typer.Option(help="The information need behind it, shown to annotators.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag of the query. Repeatable.")] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Add a query that is not in the log. It is judged like those of the sample.

    A text that the project already has is refused, and so is a text with personal data.

    \b
    Examples:
      goldgrade query add "cable for two 4k screens"
      goldgrade query add "who repairs phones in space" --id odd-1 --tag unanswerable --tag question
      goldgrade query add "usb c hub" --information-need "A hub that charges the laptop too" --by ada --json
    """
    from curation.queries.sampling.tags.stored_tags import write_query

    added = write_query(project_store(), text, id, information_need, tag or [], by)
    emit(as_json, added, f"Added query {added.query_id}: {added.text}")
