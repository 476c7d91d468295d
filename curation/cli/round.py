"""`goldgrade round`: the rounds in which annotators judge pairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Argument, Option

from curation.cli.invocation import actor, project_store, stated_reason
from curation.cli.options import RoundName, switch, with_options_of
from curation.cli.output import emit, print_table, show
from curation.cli.program import command_group
from curation.core.errors import InputError
from curation.labeling.requests import MoveRequest, RoundRequest

rounds = command_group("round", "Open, follow, change and close rounds of labeling.")
STATES = ("open", "paused", "closed", "deleted")
"""The states that `round set` takes."""


@rounds.command("open")
@with_options_of(RoundRequest)
def round_open(
    request: RoundRequest,
    name: RoundName,
    dry_run: Annotated[
        bool, switch("--dry-run", "Show which items annotators would get. Open nothing.")
    ] = False,
    top_ten: Annotated[
        str | None,
        Option(
            metavar="RELEASE",
            help="Take only ungraded pairs from the top ten of a release. The top ten come from all "
            "systems that the page Evaluate scored on open parts of this release.",
        ),
    ] = None,
) -> None:
    """Open a round of labeling.

    Each candidate goes to exactly --overlap annotators. Opening the round fixes the items of each annotator
    and their order.

    With --draw the round contains a random sample of the queries. The project keeps the sample and its
    population, which `goldgrade evaluate --judge` uses.

    \b
    Examples:
      goldgrade round open first --annotators ada,grace --overlap 2 --duplicates 0.08 --seed 7
      goldgrade round open second --annotators ada,grace,joan --control-items 0.05 --per-day 400
      goldgrade round open third --annotators ada,grace --lists --dry-run
      goldgrade round open pilot --pilot --queries 10 --annotators ada,grace,joan --seed 1
      goldgrade round open missing --top-ten v1 --annotators ada,grace
      goldgrade round open correction --draw 150 --annotators ada,grace
    """
    from curation.evaluation.top_ten import read_top_ten
    from curation.labeling.rounds.create_round import open_round
    from curation.releases.release_rows import find_release

    store, pairs = project_store(), None
    if top_ten is not None:
        with store.reading() as cursor:
            pairs = read_top_ten(cursor, find_release(cursor, top_ten).release_id).missing
    opened = open_round(store, replace(request, name=name), actor(), pairs, dry_run)
    show(opened, "Dry run: no round was opened." if dry_run else "Next: goldgrade app")


@rounds.command("status")
def round_status_command(
    name: Annotated[
        str | None, Argument(metavar="ROUND", help="Round name. Default: a list of all rounds.")
    ] = None,
) -> None:
    """Show the rounds, or one round's progress.

    The status shows each annotator's answers, the blind duplicates, and the results of control items.

    \b
    Examples:
      goldgrade round status
      goldgrade round status first --json
    """
    from curation.labeling.rounds.round_states import read_round_states
    from curation.labeling.rounds.status import read_round_status

    store = project_store()
    if name is None:
        states = store.read(read_round_states)
        columns = ["name", "kind", "opened (UTC)", "state", "open items"]
        rows = [(row.round, row.kind, row.opened_at, row.state, row.open_items) for row in states]
        emit({"rounds": states}, lambda: print_table("Rounds", columns, rows))
        return
    status = read_round_status(store, name)
    then = f"To see the agreement by grade: goldgrade agreement --round {name} --breakdown boundary"
    show(status, *([then] if status.kind == "pilot" else []))


@rounds.command("set")
def round_set(
    name: RoundName, state: Annotated[str, Argument(help="New state: open, paused, closed or deleted.")]
) -> None:
    """Pause or close a round, open it again, or delete it.

    A paused round gives no more items to annotators; an item that is on a screen can still be answered. A
    closed round shows no items; late answers are kept and marked. Closing the round of a re-labeling plan
    makes the plan's report final.

    A round that was opened by mistake can be deleted while it has no answer. The items of the round are
    removed; queries, pools and the guide stay, and the audit trail records the deletion.

    \b
    Examples:
      goldgrade round set first paused --reason "the guide is being revised"
      goldgrade round set first open
      goldgrade round set first closed
      goldgrade round set first deleted --reason "opened with all queries instead of three"
    """
    from curation.labeling.rounds.delete_round import delete_round
    from curation.labeling.rounds.round_states import set_round_state
    from curation.relabeling.fixed_reports import close_round

    if state not in STATES:
        raise InputError(f"{state!r} is not a state of a round; expected {', '.join(STATES)}.")
    store, reason = project_store(), stated_reason()
    if state == "deleted":
        show(delete_round(store, name, actor(), reason))
    elif state == "closed":
        closed = close_round(store, name, actor(), reason)
        show(closed, as_json=closed.state._asdict() | {"remark": closed.remark})
    else:
        show(set_round_state(store, name, state, actor(), reason))


@rounds.command("move")
@with_options_of(MoveRequest)
def round_move(request: MoveRequest, name: RoundName) -> None:
    """Move open items to other or new annotators. Only untouched items move, and no annotator gets a pair
    twice. The overlap stays exact.

    \b
    Examples:
      goldgrade round move first --from ada
      goldgrade round move first --from ada --to grace,joan
      goldgrade round move first --join joan
      goldgrade round move first --new
    """
    from curation.labeling.rounds.move_request import move_work

    show(move_work(project_store(), replace(request, round=name), actor()))
