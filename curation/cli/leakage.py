"""`goldgrade leakage`: what ties queries, before a split is made."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import option, with_options_of
from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.cli.program import Json, Limit, command_group, project_store
from curation.core.errors import InputError, refuse_problems
from curation.core.text import amount, percent
from curation.splits.request import NewSplit
from curation.splits.rules import Rules

if TYPE_CHECKING:
    from curation.splits.leakage_groups import Overview

leakage = command_group("leakage", "Show what ties queries.")

RelevantGrade = Annotated[int | None, option(NewSplit, "relevant_grade")]
NoTimeBlock = Annotated[str | None, typer.Option(help="Gone.", hidden=True)]


def refuse_time_block(given: str | None) -> None:
    """Refuse an option that went, with what does the work now."""
    if given is not None:
        raise InputError(
            "--time-block is gone: import queries with a field that holds the block and give its name to "
            "--same, or split by --by-time."
        )


@leakage.command("groups")
@with_options_of(Rules)
def leakage_groups(
    rules: Rules,
    limit: Limit = 5,
    time_block: NoTimeBlock = None,
    relevant_grade: RelevantGrade = None,
    as_json: Json = False,
) -> None:
    """Show the largest leakage groups.

    Each has the chain that made it: a tie of the chain that is no leak can be cut.

    \b
    Examples:
      goldgrade leakage groups
      goldgrade leakage groups --limit 1 --cut "ipad case~iphone case" --json
    """
    from curation.splits.leakage_groups import overview, project_inputs
    from curation.splits.ties.kinds import problems

    refuse_time_block(time_block)
    refuse_problems(problems(rules))
    with progress_bar() as progress:
        inputs = project_inputs(project_store(), rules, relevant_grade, progress)
        found = overview(inputs, rules, sys.maxsize if as_json else limit, progress=progress)
    emit(as_json, found, lambda: _show_groups(found, dict(inputs.queries)))


def _show_groups(overview: Overview, texts: dict[str, str]) -> None:
    from curation.splits.refusals import chain_lines, edge_sentence, remaining_lines

    say(
        f"{overview.queries:,} graded queries form {sum(overview.sizes.values()):,} leakage groups; "
        f"{amount(overview.sizes.get(1, 0), 'query is', 'queries are')} tied to no other."
    )
    rows = [[kind, overview.found[kind], overview.methods[kind]] for kind in overview.found]
    table("Ties", ["kind", "ties", "searched"], rows)
    left_out(overview.left_out)
    for group in overview.groups:
        share = percent(group.share, 1)
        say(
            f"A group of {amount(len(group.queries), 'query', 'queries')} ({share}), from one far end to "
            "the other:"
        )
        say(*chain_lines(group.chain, texts))
    for edge in overview.cut:
        say(f"cut: {edge_sentence(edge, texts)}")
    for pair in overview.remaining_ties:
        say(*remaining_lines(pair, texts))
