"""`goldset round`: what annotators are given, and what happens to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, left_out, print_json, say, table

if TYPE_CHECKING:
    from curation.labeling.lifecycle import RoundState
    from curation.labeling.round_opening import RoundOpened
    from curation.labeling.round_status import RoundStatus

rounds = typer.Typer(
    help="Open rounds of labeling, see how far they are, pause, share and close them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(rounds, name="round")

Name = Annotated[str, typer.Argument(help="Name of the round.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the audit trail.")]


@rounds.command("open")
def round_open(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name of the round, such as pilot or 2026-q4.")],
    annotators: Annotated[str, typer.Option(help="Names of the annotators, separated by commas.")],
    overlap: Annotated[int, typer.Option(help="How many different annotators judge each candidate.")] = 2,
    duplicates: Annotated[
        float, typer.Option(help="Blind duplicates as a share of each annotator's items, 0 to 0.5.")
    ] = 0.08,
    known: Annotated[
        float,
        typer.Option(help="Decided pairs planted blind, as a share of each annotator's items, 0 to 0.5."),
    ] = 0.0,
    per_day: Annotated[
        int | None,
        typer.Option(help="Answers expected of an annotator in a day: blind duplicates come on another day."),
    ] = None,
    seed: Seed = 0,
    again: Annotated[
        bool, typer.Option("--again", help="Show candidates that were in a round or are judged already, too.")
    ] = False,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="The same few queries for everyone; it does not count.")
    ] = False,
    queries: Annotated[int, typer.Option(help="How many queries a pilot has.")] = 10,
    as_json: Json = False,
) -> None:
    """Open a round: all presentations are computed now, each candidate goes to exactly --overlap people.

    \b
    Examples:
      goldset round open first --annotators ada,grace --overlap 2 --duplicates 0.08 --seed 7
      goldset round open second --annotators ada,grace,joan --known 0.05 --per-day 400
      goldset round open pilot --pilot --queries 10 --annotators ada,grace,joan --seed 1
    """
    from curation.labeling.rounds import open_round

    opened = open_round(
        project_store(context),
        name,
        _names(annotators),
        overlap=overlap,
        duplicates=duplicates,
        seed=seed,
        again=again,
        kind="pilot" if pilot else "labeling",
        known=known,
        per_day=per_day,
        queries=queries,
    )
    if as_json:
        print_json(opened)
    else:
        _show_opened(opened, pilot)


@rounds.command("status")
def round_status_command(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show how far a round is, by annotator, how far apart blind duplicates are, and known answers.

    \b
    Examples:
      goldset round status first
      goldset round status first --json
    """
    from curation.labeling.round_status import round_status

    status = round_status(project_store(context), name)
    if as_json:
        print_json(status)
    else:
        _show_status(status)


@rounds.command("list")
def round_list(context: typer.Context, as_json: Json = False) -> None:
    """List the rounds, oldest first, and where each stands.

    \b
    Examples:
      goldset round list
    """
    from curation.labeling.lifecycle import all_states

    with project_store(context).reading() as cursor:
        found = all_states(cursor)
    if as_json:
        print_json({"rounds": found})
    else:
        columns = ["name", "kind", "opened (UTC)", "state", "open items"]
        rows = [(r.round, r.kind, _minute(r.opened_at), _state(r), r.open_items) for r in found]
        table("Rounds", columns, rows)


@rounds.command("pause")
def round_pause(context: typer.Context, name: Name, reason: Reason = "", as_json: Json = False) -> None:
    """Take a round out of all queues for a while; what is on somebody's screen can still be answered.

    \b
    Examples:
      goldset round pause first --reason "the guide is being revised"
    """
    from curation.labeling.lifecycle import pause_round

    _tell(pause_round(project_store(context), name, reason=reason), "is paused", as_json)


@rounds.command("resume")
def round_resume(context: typer.Context, name: Name, reason: Reason = "", as_json: Json = False) -> None:
    """Let a paused round go on.

    \b
    Examples:
      goldset round resume first
    """
    from curation.labeling.lifecycle import resume_round

    _tell(resume_round(project_store(context), name, reason=reason), "goes on", as_json)


@rounds.command("close")
def round_close(context: typer.Context, name: Name, reason: Reason = "", as_json: Json = False) -> None:
    """End a round: nobody is shown more of it; what still arrives is kept and marked late.

    \b
    Examples:
      goldset round close first
    """
    from curation.labeling.lifecycle import close_round

    _tell(close_round(project_store(context), name, reason=reason), "is closed", as_json)


@rounds.command("reopen")
def round_reopen(context: typer.Context, name: Name, reason: Reason = "", as_json: Json = False) -> None:
    """Take the end of a round back.

    \b
    Examples:
      goldset round reopen first --reason "two queries were forgotten"
    """
    from curation.labeling.lifecycle import reopen_round

    _tell(reopen_round(project_store(context), name, reason=reason), "is open again", as_json)


@rounds.command("extend")
def round_extend(
    context: typer.Context,
    name: Name,
    annotators: Annotated[
        str, typer.Option(help="Who joins, separated by commas: untouched work is shared with them evenly.")
    ] = "",
    candidates: Annotated[bool, typer.Option(help="Add the candidates that no round has shown yet.")] = True,
    as_json: Json = False,
) -> None:
    """Add new candidates to a round, and people who share its work; the overlap stays exact.

    \b
    Examples:
      goldset round extend first
      goldset round extend first --annotators joan --no-candidates
    """
    from curation.labeling.extension import extend_round

    extended = extend_round(project_store(context), name, _names(annotators), candidates)
    if as_json:
        print_json(extended)
        return
    say(
        f"Extended {extended.round}: {extended.candidates:,} candidates added, {extended.moved:,} pairs "
        "moved to those who joined."
    )
    _show_given(extended.per_annotator)
    left_out(extended.left_out)


@rounds.command("reassign")
def round_reassign(
    context: typer.Context,
    name: Name,
    from_: Annotated[str, typer.Option("--from", help="Whose untouched items are moved.")],
    to: Annotated[
        str,
        typer.Option(
            "--to", help="Who takes them, separated by commas; everyone else in the round by default."
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Move what an absent annotator has not touched to others; nobody gets a pair twice.

    \b
    Examples:
      goldset round reassign first --from ada
      goldset round reassign first --from ada --to grace,joan
    """
    from curation.labeling.reassignment import reassign

    done = reassign(project_store(context), name, from_, _names(to))
    if as_json:
        print_json(done)
        return
    say(f"Moved {done.moved:,} pairs of {done.round} away from {from_}; {done.kept:,} stay.")
    _show_given(done.per_annotator)
    left_out(done.left_out)


@rounds.command("pilot")
def round_pilot(context: typer.Context, name: Name, as_json: Json = False) -> None:
    """Show what a pilot teaches: disagreement at each boundary of the scale, and the widest differences.

    \b
    Examples:
      goldset round pilot pilot
      goldset round pilot pilot --json
    """
    from curation.labeling.pilot import pilot_report

    report = pilot_report(project_store(context), name)
    if as_json:
        print_json(report)
        return
    versions = ", ".join(f"{version[:8]} ({count:,})" for version, count in report.guide_hashes.items())
    say(
        f"{report.round}: {report.pairs:,} pairs of {report.queries:,} queries, {report.annotators} "
        f"annotators; {report.compared:,} pairs can be compared, {report.unanswered:,} items are open.",
        f"Guide: {report.guide}; judgments by version: {versions or 'none yet'}.",
    )
    rows = [(f"{b.lower} | {b.upper}", b.apart, b.n, b.share, b.low, b.high) for b in report.boundaries]
    columns = ["boundary", "on different sides", "comparisons", "share", "95 % from", "to"]
    table("Disagreement by grade boundary", columns, rows)
    if report.spreads:
        spreads = [
            (one.query, one.title or one.document_id, " ".join(map(str, one.grades)), " · ".join(one.notes))
            for one in report.spreads
        ]
        shown = f"Widest differences ({len(spreads)} of {report.differing:,})"
        table(shown, ["query", "document", "grades", "notes"], spreads)
    say("Next: revise the guide, `goldset guide use FILE`, and open the round under it.")


def _names(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _show_opened(opened: RoundOpened, pilot: bool) -> None:
    what = "pilot " if pilot else ""
    say(
        f"Opened {what}{opened.round}: {opened.candidates:,} candidates, {opened.presentations:,} "
        "presentations."
    )
    rows = [
        (who, count, opened.duplicates[who], opened.known.get(who, 0))
        for who, count in opened.per_annotator.items()
    ]
    table("Work", ["annotator", "presentations", "of them blind duplicates", "known answers"], rows)
    if opened.distances:
        _show_distances("Blind duplicates come back after this many presentations", opened.distances)
    left_out(opened.left_out)
    say("Next: goldset app")


def _show_status(status: RoundStatus) -> None:
    where = ", closed" if status.closed else ", paused" if status.paused else ""
    say(
        f"{status.round} ({status.kind}{where}): {status.complete:,} of {status.candidates:,} candidates "
        "have all their judgments."
    )
    if status.withdrawn:
        say(f"{status.withdrawn:,} presentations were withdrawn, moved to somebody else.")
    if status.late:
        say(f"{status.late:,} answers came after the round was closed: they are kept and marked.")
    columns = [
        "annotator",
        "presentations",
        "answered",
        "cannot tell",
        "later",
        "flagged",
        "last judgment (UTC)",
    ]
    rows = [
        (p.annotator, p.presentations, p.answered, p.cannot_tell, p.later, p.flagged, _minute(p.last_at))
        for p in status.annotators
    ]
    table("Progress", columns, rows)
    left_out(status.left_out)
    apart = status.spacing
    if apart.distances:
        _show_distances("Blind duplicates come back after this many presentations", apart.distances)
    if apart.judged:
        say(f"Judged twice: {apart.judged:,}, of them on another day (UTC): {apart.another_day:,}.")
        _show_distances("Hours between the two answers", apart.hours)
    if status.known:
        known = [(k.annotator, k.planted, k.answered, k.right, k.share, k.low, k.high) for k in status.known]
        table(
            "Known answers",
            ["annotator", "planted", "answered", "right", "share right", "95 % from", "to"],
            known,
        )


def _show_distances(title: str, quantiles: dict[str, float]) -> None:
    table(
        title, ["least", "first quarter", "median", "third quarter", "largest"], [tuple(quantiles.values())]
    )


def _show_given(per_annotator: dict[str, int]) -> None:
    if per_annotator:
        table("New presentations", ["annotator", "presentations"], list(per_annotator.items()))


def _tell(state: RoundState, what: str, as_json: bool) -> None:
    if as_json:
        print_json(state)
    else:
        say(f"{state.round} {what}; {state.open_items:,} items of it are open.")


def _state(state: RoundState) -> str:
    if state.kind == "imported":
        return "imported"
    if state.closed:
        return "closed"
    return "paused" if state.paused else "open" if state.open_items else "done"


def _minute(moment: Any) -> str | None:
    return None if moment is None else str(moment)[:16]
