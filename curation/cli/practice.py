"""`goldgrade practice`: practice rounds, in which annotators grade pairs with known grades."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from curation.cli import invocation
from curation.cli.file_options import get_columns, map_option
from curation.cli.invocation import actor, project_store, refuse_others, refuse_unused, seal_reason
from curation.cli.options import RoundName, with_options_of
from curation.cli.output import show
from curation.cli.program import app
from curation.core.operation import PlainResult
from curation.labeling.requests import PracticeRequest

FIELDS = ("query", "document", "grade", "explanation")
"""The fields of a file of known pairs."""


@app.command()
@with_options_of(PracticeRequest)
def practice(
    request: PracticeRequest,
    context: Context,
    name: RoundName,
    file: Annotated[
        Path | None,
        Option(
            help="File of practice pairs with grades and explanations. Default: pairs that reviewers decided."
        ),
    ] = None,
    map: Annotated[list[str] | None, map_option(*FIELDS)] = None,
    retry: Annotated[str | None, Option(help="Let this annotator try again with other queries.")] = None,
    pass_: Annotated[
        str | None, Option("--pass", help="Let this annotator grade real items without passing.")
    ] = None,
) -> None:
    """Let annotators practice on known pairs, or show results.

    --annotators opens a practice round. Annotators see the expected grade after their answer, and annotators
    who pass get real items. Pairs that a release seals are left out, and a file with sealed pairs is refused,
    unless --reason gives a reason to show them.

    \b
    Examples:
      goldgrade practice welcome --annotators ada,grace --queries 10 --pass-mark 0.8
      goldgrade practice welcome --annotators ada --file known.csv --within 1
      goldgrade practice welcome
      goldgrade practice welcome --retry ada
      goldgrade practice welcome --pass ada --reason "we talked it through"
    """
    from curation.labeling.rounds.create_practice import open_practice
    from curation.labeling.rounds.practice import practise_again, waive_practice
    from curation.labeling.rounds.round_states import read_round_state

    if file is None:
        refuse_unused(context, "no file is read; name one with --file", "map")
    store = project_store()
    if request.annotators:
        columns = dict(zip(FIELDS, get_columns(map, *FIELDS), strict=True))
        request = replace(request, name=name, file=file, fields=columns, reason=seal_reason())
        show(open_practice(store, request, actor()), "Next: goldgrade app")
        return
    refuse_others(context, "to open practice, add --annotators", "name", "retry" if retry else "pass_")
    if retry is not None:
        show(practise_again(store, name, retry, actor()))
    elif pass_ is not None:
        show(waive_practice(store, name, pass_, invocation.required_reason(), actor()))
    else:
        from curation.labeling.rounds.practice import build_practice_table, read_practice_statuses

        with store.reading() as cursor:
            statuses = read_practice_statuses(cursor, round_id=read_round_state(cursor, name).round_id)
        show(PlainResult((), (build_practice_table(statuses),)), as_json={"standings": statuses})
