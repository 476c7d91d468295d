"""`goldgrade round`: open rounds of labeling, follow them and change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import refuse_by_without, refuse_unused
from curation.cli.output import emit, left_out, say, say_withheld, show_tables, table
from curation.cli.program import (
    Annotators,
    BlindDuplicates,
    By,
    Json,
    RoundName,
    SealReason,
    Seed,
    command_group,
    listed,
    project_store,
)
from curation.core.text import amount
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.labeling.rounds.create_round import RoundOpened
    from curation.labeling.rounds.lifecycle import RoundState
    from curation.labeling.rounds.pilot import PilotReport
    from curation.labeling.rounds.status import RoundStatus

rounds = command_group("round", "Open, follow, pause, extend and close rounds of labeling.")
Overlap = Annotated[int, typer.Option(help="How many different annotators judge each candidate.")]
Reason = Annotated[str, typer.Option(help="Why; stored in the audit trail.")]


@rounds.command("open")
def round_open(
    context: typer.Context,
    name: RoundName,
    annotators: Annotators,
    overlap: Overlap = 2,
    duplicates: BlindDuplicates = 0.08,
    control_items: Annotated[
        float,
        typer.Option(
            help="Control items as a share of each annotator's items. 0 to 0.5. They are decided pairs, "
            "shown unmarked."
        ),
    ] = 0.0,
    per_day: Annotated[
        int | None,
        typer.Option(
            help="Answers expected of an annotator per day. Blind duplicates then come on another day."
        ),
    ] = None,
    seed: Seed = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Also show candidates of earlier rounds and judged ones.")
    ] = False,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Make it a pilot: few queries, for everyone, not counted.")
    ] = False,
    queries: Annotated[int, typer.Option(help="Number of queries of a pilot.")] = 10,
    ask_from: Annotated[
        int,
        typer.Option(
            help="Documents after which “does the corpus answer?” is asked. They are those of the query "
            "that the annotator has. 0 never asks."
        ),
    ] = 5,
    lists: Annotated[
        bool, typer.Option("--lists", help="Show the documents of a query as a list on one page.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Open a round of labeling.

    Each candidate goes to exactly --overlap annotators. Who judges what, and in which order, is fixed now.

    \b
    Examples:
      goldgrade round open first --annotators ada,grace --overlap 2 --duplicates 0.08 --seed 7
      goldgrade round open second --annotators ada,grace,joan --control-items 0.05 --per-day 400
      goldgrade round open third --annotators ada,grace --lists
      goldgrade round open pilot --pilot --queries 10 --annotators ada,grace,joan --seed 1
    """
    from curation.labeling.rounds.create_round import open_round

    if not pilot:
        refuse_unused(context, "only a pilot has a number of queries; add --pilot", "queries")
    opened = open_round(
        project_store(),
        name,
        listed(annotators),
        overlap=overlap,
        duplicates=duplicates,
        seed=seed,
        again=again,
        kind="pilot" if pilot else "labeling",
        control_items=control_items,
        per_day=per_day,
        queries=queries,
        ask_from=ask_from,
        lists=lists,
    )
    emit(as_json, opened, lambda: show_opened(opened, pilot))


@rounds.command("status")
def round_status_command(name: RoundName, as_json: Json = False) -> None:
    """Show a round's progress.

    It has each annotator's answers, the distance of blind duplicates, and control items.

    \b
    Examples:
      goldgrade round status first
      goldgrade round status first --json
    """
    from curation.labeling.rounds.status import round_status

    status = round_status(project_store(), name)
    emit(as_json, status, lambda: _show_status(status))


@rounds.command("list")
def round_list(as_json: Json = False) -> None:
    """List the rounds with their state, oldest first.

    \b
    Examples:
      goldgrade round list
    """
    from curation.labeling.rounds.lifecycle import all_states

    with project_store().reading() as cursor:
        states = all_states(cursor)
    columns = ["name", "kind", "opened (UTC)", "state", "open items"]
    rows = [(r.round, r.kind, r.opened_at, _state_name(r), r.open_items) for r in states]
    emit(as_json, {"rounds": states}, lambda: table("Rounds", columns, rows))


@rounds.command("pause")
def round_pause(name: RoundName, reason: Reason = "", as_json: Json = False) -> None:
    """Take a round out of all queues until it is resumed. What is on a screen can still be answered.

    \b
    Examples:
      goldgrade round pause first --reason "the guide is being revised"
    """
    from curation.labeling.rounds.lifecycle import pause_round

    _emit_state(pause_round(project_store(), name, reason=reason), "is paused", as_json)


@rounds.command("resume")
def round_resume(name: RoundName, reason: Reason = "", as_json: Json = False) -> None:
    """Resume a paused round.

    \b
    Examples:
      goldgrade round resume first
    """
    from curation.labeling.rounds.lifecycle import resume_round

    _emit_state(resume_round(project_store(), name, reason=reason), "is resumed", as_json)


@rounds.command("close")
def round_close(name: RoundName, reason: Reason = "", as_json: Json = False) -> None:
    """Close a round: no more items of it are shown. Late answers are kept and marked.

    Closing the round of a re-labeling fixes its report.

    \b
    Examples:
      goldgrade round close first
    """
    from curation.relabeling.drift.closing import close_round

    closed = close_round(project_store(), name, reason=reason)
    _emit_state(closed.state, "is closed", as_json, closed.remark)


@rounds.command("reopen")
def round_reopen(name: RoundName, reason: Reason = "", as_json: Json = False) -> None:
    """Reopen a closed round.

    \b
    Examples:
      goldgrade round reopen first --reason "two queries were forgotten"
    """
    from curation.labeling.rounds.lifecycle import reopen_round

    _emit_state(reopen_round(project_store(), name, reason=reason), "is open again", as_json)


@rounds.command("delete")
def round_delete(name: RoundName, reason: Reason = "", as_json: Json = False) -> None:
    """Delete a round that was opened by mistake.

    Nobody may have answered in it. Who judges what, blind duplicates and control items go; queries, pools and
    the guide stay, and the audit trail has a line.

    \b
    Examples:
      goldgrade round delete first --reason "opened with all queries instead of three"
    """
    from curation.labeling.rounds.lifecycle import delete_round

    deleted = delete_round(project_store(), name, reason=reason)
    gone = amount(deleted.presentations, "presentation")
    emit(as_json, deleted, f"{deleted.round} is deleted, with {gone}. Nobody had answered.")


@rounds.command("extend")
def round_extend(
    name: RoundName,
    annotators: Annotated[
        str,
        typer.Option(
            help="New annotators, separated by commas. Untouched items are shared with them evenly."
        ),
    ] = "",
    no_candidates: Annotated[
        bool, typer.Option("--no-candidates", help="Add no candidates, only annotators.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add new candidates or annotators to a round. The overlap stays exact.

    \b
    Examples:
      goldgrade round extend first
      goldgrade round extend first --annotators joan --no-candidates
    """
    from curation.labeling.transfers.extension import extend_round

    extended = extend_round(project_store(), name, listed(annotators), not no_candidates)

    def show() -> None:
        say(
            f"Extended {extended.round}: {amount(extended.candidates, 'candidate')} added, "
            f"{amount(extended.moved, 'pair')} moved to those who joined."
        )
        _show_new_presentations(extended.per_annotator)
        left_out(extended.left_out)

    emit(as_json, extended, show)


@rounds.command("reassign")
def round_reassign(
    name: RoundName,
    from_: Annotated[str, typer.Option("--from", help="The annotator whose untouched items are moved.")],
    to: Annotated[
        str,
        typer.Option("--to", help="Who gets them, separated by commas. Default: everyone else in the round."),
    ] = "",
    as_json: Json = False,
) -> None:
    """Move an absent annotator's untouched items to others. Nobody gets a pair twice.

    \b
    Examples:
      goldgrade round reassign first --from ada
      goldgrade round reassign first --from ada --to grace,joan
    """
    from curation.labeling.transfers.reassignment import reassign

    done = reassign(project_store(), name, from_, listed(to))

    def show() -> None:
        say(f"Moved {amount(done.moved, 'pair')} of {done.round} away from {from_}; {done.kept:,} stay.")
        _show_new_presentations(done.per_annotator)
        left_out(done.left_out)

    emit(as_json, done, show)


@rounds.command("pilot")
def round_pilot(
    context: typer.Context,
    name: RoundName,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Show a pilot's disagreement at each boundary of the scale.

    The widest differences follow.

    \b
    Examples:
      goldgrade round pilot pilot
      goldgrade round pilot pilot --json
    """
    from curation.labeling.rounds.pilot import pilot_report
    from curation.people.seal_access import unseal

    refuse_by_without(context, reason)
    store = project_store()
    report = pilot_report(store, name, door=unseal(store, f"report the pilot {name}", reason, by))
    emit(as_json, report, lambda: _show_pilot(report))


def show_opened(opened: RoundOpened, pilot: bool) -> None:
    from curation.labeling.rounds.round_tables import spacing_table

    what = "pilot " if pilot else ""
    say(
        f"Opened {what}{opened.round}: {amount(opened.candidates, 'candidate')}, {opened.presentations:,} "
        "presentations."
    )
    rows = [
        (who, count, opened.duplicates[who], opened.control_items.get(who, 0))
        for who, count in opened.per_annotator.items()
    ]
    table("Work", ["annotator", "presentations", "of them blind duplicates", "control items"], rows)
    show_tables(spacing_table(opened.distances, {}))
    left_out(opened.left_out)
    say("Next: goldgrade app")


def _show_status(status: RoundStatus) -> None:
    from curation.labeling.rounds.round_tables import control_item_table, progress_table, spacing_table

    where = ", closed" if status.closed else ", paused" if status.paused else ""
    say(
        f"{status.round} ({status.kind}{where}): {status.complete:,} of "
        f"{amount(status.candidates, 'candidate')} have all their judgments."
    )
    if status.withdrawn:
        say(
            f"{amount(status.withdrawn, 'presentation was', 'presentations were')} withdrawn and moved "
            "to others."
        )
    if status.late:
        one = "answer came after the round was closed. It is"
        many = "answers came after the round was closed. They are"
        say(f"{amount(status.late, one, many)} kept and marked.")
    show_tables(progress_table(status))
    left_out(status.left_out)
    show_tables(spacing_table(status.spacing.distances, status.spacing.hours))
    if status.spacing.judged:
        apart = status.spacing
        say(f"Judged twice: {apart.judged:,}, of them on another day (UTC): {apart.another_day:,}.")
    show_tables(control_item_table(status.control_items))


def _show_new_presentations(per_annotator: dict[str, int]) -> None:
    if per_annotator:
        table("New presentations", ["annotator", "presentations"], list(per_annotator.items()))


def _emit_state(state: RoundState, what: str, as_json: bool, remark: str = "") -> None:
    sentence = f"{state.round} {what}; {amount(state.open_items, 'item is', 'items are')} open."
    emit(as_json, state, " ".join(filter(None, [sentence, remark])))


def _state_name(state: RoundState) -> str:
    if state.kind == "imported":
        return "imported"
    if state.closed:
        return "closed"
    if state.paused:
        return "paused"
    return "open" if state.open_items else "done"


def _show_pilot(report: PilotReport) -> None:
    from curation.labeling.rounds.round_tables import pilot_tables

    versions = ", ".join(f"{version[:8]} ({count:,})" for version, count in report.guide_hashes.items())
    say(
        f"{report.round}: {amount(report.pairs, 'pair')} of {amount(report.queries, 'query', 'queries')}, "
        f"{report.annotators} annotators; {amount(report.compared, 'pair')} can be compared, "
        f"{amount(report.unanswered, 'item is', 'items are')} open.",
        f"Guide: {report.guide}; judgments by version: {versions or 'none yet'}.",
    )
    show_tables(*pilot_tables(report))
    say_withheld(report.sealed)
    say("Next: revise the guide, `goldgrade guide use FILE`, and open the round under it.")
