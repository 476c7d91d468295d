"""`goldset leakage`: what ties queries, before a split is made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, Limit, command_group, project_store
from curation.cli.options import asks, option
from curation.cli.output import emit, left_out, progress_bar, say, table
from curation.errors import refuse_problems
from curation.splits.request import NewSplit
from curation.splits.rules import Rules
from curation.text import amount, percent

if TYPE_CHECKING:
    from curation.splits.groups.sweep import SweepStep
    from curation.splits.preview import Overview

leakage = command_group("leakage", "Show what ties queries, and where groups explode.")

RelevantGrade = Annotated[int | None, option(NewSplit, "relevant_grade")]


@leakage.command("sweep")
@asks(Rules, besides=("cut",))
def leakage_sweep(
    rules: Rules,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="A kind of tie that has a threshold, such as 'query text'. Repeatable.",
            show_default="all of them",
        ),
    ] = None,
    threshold: Annotated[
        list[float] | None,
        typer.Option(help="Minimum similarity to try. Repeatable.", show_default="0.95 to 0.5"),
    ] = None,
    relevant_grade: RelevantGrade = None,
    as_json: Json = False,
) -> None:
    """Show how leakage groups grow as one threshold falls.

    The other kinds of ties are as in split, and so are their options. Groups explode at some threshold:
    choose one above it. Only embeddings are stored.

    \b
    Examples:
      goldset leakage sweep
      goldset leakage sweep --kind "query text" --threshold 0.7 --threshold 0.65 --threshold 0.6
      goldset leakage sweep --no-paraphrase --numbers apart --json
    """
    from curation.splits.groups.sweep import SWEPT, THRESHOLDS, sweep
    from curation.splits.preview import project_inputs
    from curation.splits.ties.kinds import problems

    refuse_problems(problems(rules))
    with progress_bar() as progress:
        inputs = project_inputs(project_store(), rules, relevant_grade, progress)
        steps = sweep(inputs, rules, threshold or THRESHOLDS, kind or SWEPT, progress)
    emit(
        as_json,
        {"queries": len(inputs.queries), "steps": steps},
        lambda: _show_steps(len(inputs.queries), steps),
    )


@leakage.command("groups")
@asks(Rules)
def leakage_groups(
    rules: Rules,
    limit: Limit = 5,
    relevant_grade: RelevantGrade = None,
    as_json: Json = False,
) -> None:
    """Show the largest leakage groups.

    Each has the chain that made it, and the weakest links that could be cut.

    \b
    Examples:
      goldset leakage groups
      goldset leakage groups --limit 1 --cut "ipad case~iphone case" --json
    """
    from curation.splits.preview import overview, project_inputs
    from curation.splits.ties.kinds import problems

    refuse_problems(problems(rules))
    with progress_bar() as progress:
        inputs = project_inputs(project_store(), rules, relevant_grade, progress)
        found = overview(inputs, rules, sys.maxsize if as_json else limit, progress=progress)
    emit(as_json, found, lambda: _show_groups(found, dict(inputs.queries)))


def _show_groups(found: Overview, texts: dict[str, str]) -> None:
    from curation.splits.refusals import chain_lines, edge_sentence, link_line, still_tied_lines

    say(
        f"{found.queries:,} graded queries form {sum(found.sizes.values()):,} leakage groups; "
        f"{amount(found.sizes.get(1, 0), 'query is', 'queries are')} tied to no other."
    )
    rows = [[kind, found.found[kind], found.methods[kind]] for kind in found.found]
    table("Ties", ["kind", "ties", "searched"], rows)
    left_out(found.left_out)
    for group in found.groups:
        share = percent(group.share, 1)
        say(
            f"A group of {amount(len(group.queries), 'query', 'queries')} ({share}), from one far end to "
            "the other:"
        )
        say(*chain_lines(group.chain, texts))
        if group.weakest:
            say("Its weakest links; cut together they split it:")
            say(*(link_line(link, texts) for link in group.weakest))
        elif group.weakest is None:
            say("It has too many ties to look for the weakest among them.")
        else:
            say("No few ties hold it together: a threshold is too low for these queries (`leakage sweep`).")
    for edge in found.cut:
        say(f"cut: {edge_sentence(edge, texts)}")
    for held in found.still_tied:
        say(*still_tied_lines(held, texts))


def _show_steps(queries: int, steps: Sequence[SweepStep]) -> None:
    rows = [[*step[:4], percent(step.share, 1), step.single] for step in steps]
    columns = ["tied by", "from", "groups", "largest", "its share", "queries alone"]
    table(f"Groups of {amount(queries, 'query', 'queries')} at each threshold", columns, rows)
