"""`goldgrade answers nuggets`: facts that a good answer has, proposed by a model."""

from __future__ import annotations

from typing import Annotated

import typer

from curation.cli.language_model import MostCalls, Parallel, Send, Sender, note
from curation.cli.output import emit, say, table
from curation.cli.program import (
    By,
    Json,
    project_store,
)
from curation.core.text import amount
from curation.store import COMMAND_LINE

nuggets = typer.Typer(help="Nuggets that a model proposes.", no_args_is_help=True, rich_markup_mode=None)


@nuggets.command("propose")
def nuggets_propose(
    query: Annotated[
        list[str] | None,
        typer.Option(help="A query, by id or text. Repeatable.", show_default="every query without nuggets"),
    ] = None,
    send: Send = False,
    calls: MostCalls = None,
    parallel: Parallel = 4,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Have a model propose the facts that a good answer has.

    It is the model of GOLDGRADE_LLM_URL. Without --send the command only says what it would send.

    One call a query has its text and need, the ten best documents that people judged relevant, and what they
    marked there as evidence. Nothing of a query that a release seals is sent. A proposal is no nugget: people
    change, drop and save them on the query's page.

    \b
    Examples:
      goldgrade answers nuggets propose
      goldgrade answers nuggets propose --send --calls 200
      goldgrade answers nuggets propose --query q42 --send --by rosa --json
    """
    from curation.labeling.written_answers.proposals import proposal_calls, read_proposed, store_proposals
    from curation.queries.coverage.language_model.endpoint import model_name

    store, sender = project_store(), Sender(send, calls, parallel, as_json)
    found = proposal_calls(store, model_name(), query or (), by)
    note(*(f"left out: {count:,}: {reason}" for reason, count in found.left_out.items()))
    if not sender.ask(store, [*found.calls.values()], read_proposed, found.cut):
        return
    proposed = store_proposals(store, found.calls, by)
    number, none = sum(proposed.values()), list(proposed.values()).count(0)
    sentence = (
        f"{amount(number, 'nugget')} proposed for {amount(len(proposed), 'query', 'queries')}; for {none:,} "
        "of these the model found no fact. Next: people review them on the page of each query. goldgrade "
        "answers nuggets show lists what waits."
    )
    emit(as_json, {"proposed": proposed, "left_out": found.left_out, "sent": sender.spent}, sentence)


@nuggets.command("show")
def nuggets_show(as_json: Json = False) -> None:
    """Show how much people took of proposals, and which wait.

    \b
    Examples:
      goldgrade answers nuggets show
      goldgrade answers nuggets show --json
    """
    from curation.labeling.written_answers.proposals import read_proposals

    with project_store().reading() as cursor:
        proposals = read_proposals(cursor)
    rows = [
        {"query_id": proposal.query_id, "model": proposal.model, "taken": proposal.taken}
        for proposal in proposals
    ]

    def show() -> None:
        from curation.labeling.written_answers.proposals import share_sentences

        say(*share_sentences(proposals) or ["No model has proposed nuggets."])
        waiting = [
            (proposal.query_id, proposal.model, len(proposal.proposed))
            for proposal in proposals
            if proposal.written is None
        ]
        table("Proposals that nobody has reviewed", ["query", "model", "nuggets"], waiting)

    emit(as_json, {"proposals": rows}, show)
