"""`goldgrade relabel`: what of the set is stale, and the part of it that is judged again each quarter."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import refuse_by_without, refuse_unused, with_options_of
from curation.cli.output import carry_out, emit, progress_bar, say, show_outcome, show_tables, write_page
from curation.cli.program import By, Json, Limit, Page, command_group, project_store
from curation.core.errors import InputError, refuse_problems
from curation.core.text import amount, percent, plain
from curation.relabeling.request import PastRunsRequest, PlanRequest, QuarterRequest
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.relabeling.plan.plan import RelabelingPlan
    from curation.relabeling.staleness.staleness import SetStaleness

relabeling = command_group("relabel", "Judge a part of the set again, blind, each quarter.")

NO_SAME = "--same-annotators is gone: all of --annotators get even shares, also of what they judged before."
DUE = 3
"""The exit code of `relabel status` where something is due."""

Today = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], help="The day whose quarter it is.", show_default="the clock's"),
]

PlanName = Annotated[
    str | None,
    typer.Argument(help="A quarter such as 2026-Q4, or a plan's id.", show_default="the newest"),
]


@relabeling.command("status")
def relabel_status(
    release: Annotated[
        str | None, typer.Option(help="Only the pairs of this release.", show_default="all judged pairs")
    ] = None,
    today: Today = None,
    limit: Limit = 10,
    as_json: Json = False,
) -> None:
    """Say how stale the set is, and what is due this quarter.

    It is said by pair and by query.

    Exits with 0 where nothing is due and with 3 where something is; with 1 or 2 after an error.

    \b
    Examples:
      goldgrade relabel status
      goldgrade relabel status --release v1 --limit 50
      goldgrade relabel status --json --today 2027-01-04
    """
    from curation.relabeling.staleness.staleness import staleness

    found = staleness(project_store(), today.date() if today else None, release)
    emit(as_json, found, lambda: _show_status(found, limit))
    if found.calendar.due.is_due:
        raise typer.Exit(DUE)


@relabeling.command("plan")
@with_options_of(PlanRequest)
def relabel_plan(
    request: PlanRequest,
    today: Today = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what the plan would be. Store nothing.")
    ] = False,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Plan what this quarter judges again. Nothing changes for annotators until it is opened.

    It takes the stalest pairs, and a quarter of its pairs at random from all others. Queries that the traffic
    has left are replaced by new ones.

    \b
    Examples:
      goldgrade relabel plan --share 0.15 --seed 7
      goldgrade relabel plan --share 0.2 --half-width 0.1 --dry-run
      goldgrade relabel plan --share 0.2 --overlap 3 --json
    """
    from curation.relabeling.plan.plan import make_plan

    day, more = today.date() if today else None, vars(request)
    plan = make_plan(project_store(), today=day, author=by, dry_run=dry_run, **more)
    emit(as_json, plan, lambda: _show_plan(plan, dry_run))


@relabeling.command("show")
def relabel_show(
    plan: PlanName = None,
    limit: Limit = 20,
    as_json: Json = False,
) -> None:
    """Show the pairs and queries of a plan. It names grades: not for annotators.

    Grades of parts that a release seals are not named, here and in the other commands of this group.

    \b
    Examples:
      goldgrade relabel show
      goldgrade relabel show 2026-Q4 --limit 200
    """
    from curation.relabeling.plan.stored import show_plan

    found = show_plan(project_store(), plan)

    def show() -> None:
        from curation.relabeling.plan.sections import pair_table, plan_sentences, query_table

        state = f"opened as {found.round}" if found.round else "not opened"
        say(f"Plan {found.plan_id[:8]} of {found.quarter}, {state}: {amount(len(found.pairs), 'pair')}.")
        say(*plan_sentences(found.report))
        show_tables(pair_table(found, limit))
        _show_sealed(found.sealed)
        show_tables(query_table(found, limit))

    emit(as_json, found, show)


@relabeling.command("open")
@with_options_of(QuarterRequest)
def relabel_open(
    request: QuarterRequest,
    plan: PlanName = None,
    same_annotators: Annotated[float | None, typer.Option("--same-annotators", hidden=True)] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Open the round of a plan. Nobody sees an old grade in it.

    \b
    Examples:
      goldgrade relabel open --annotators ada,grace,joan --systems bm25,dense --dry-run
      goldgrade relabel open --annotators ada,grace,joan --systems bm25,dense --depth 10
      goldgrade relabel open 2026-Q4 --annotators ada,grace --round autumn
    """
    from curation.operations.registry import OPERATIONS

    if same_annotators is not None:
        raise InputError(NO_SAME)
    if not request.annotators:
        raise InputError("No --annotators were given; expected names with commas between.")
    opened, outcome = carry_out(OPERATIONS["relabel"], replace(request, plan=plan), by)
    emit(as_json, opened, lambda: show_outcome(outcome))


@relabeling.command("report")
@with_options_of(PastRunsRequest)
def relabel_report(
    request: PastRunsRequest,
    context: typer.Context,
    plan: PlanName = None,
    old_round: Annotated[
        str | None, typer.Option(help="Instead of a plan: the round with the old grades.")
    ] = None,
    new_round: Annotated[
        str | None, typer.Option(help="Instead of a plan: the round with the new grades.")
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(help="A run file, or NAME=FILE, to evaluate on both. Repeatable."),
    ] = None,
    page: Page = None,
    limit: Limit = 20,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Compare old grades with new ones.

    It has agreement, types, what had changed, and how much of the whole set is wrong. The report of a quarter
    does not change any more once its round is closed, or the next quarter is opened.

    \b
    Examples:
      goldgrade relabel report
      goldgrade relabel report 2026-Q4 --html drift.html
      goldgrade relabel report --old-release v1 --new-release v2 --run bm25.trec --run dense=dense.trec
      goldgrade relabel report --old-release v1 --new-release v2 --run bm25.trec --part all \\
        --reason "the quarter's report"
      goldgrade relabel report --old-round "imported: spring.csv" --new-round "imported: autumn.csv" --json
    """
    from curation.evaluation.evaluation import EvaluationOptions
    from curation.evaluation.scoring.inputs.run_sources import named_runs
    from curation.relabeling.drift.past_evaluations import compare_releases, order_changes
    from curation.relabeling.drift.report import campaign_report, drift_report
    from curation.relabeling.drift.sections import drift_page

    refuse_problems(_report_problems(plan, old_round, new_round, request, run))
    if not run:
        refuse_unused(context, "no run is evaluated; add --run", "reason", "by")
    refuse_by_without(context, request.reason)
    store = project_store()
    runs, part, reason = named_runs(run or []), request.part, request.reason
    asked = (request.old, request.new, runs) if run else None
    with progress_bar() as progress:
        if old_round and new_round:
            options = EvaluationOptions(part)
            orders = order_changes(store, *asked, options, reason, by, progress) if asked else ()
            found = campaign_report(store, old_round, new_round, orders)
        else:
            if asked:
                compare_releases(store, plan, *asked, part, reason, by, progress)
            found = drift_report(store, plan)
    if page is not None:
        write_page(page, drift_page(found))

    def show() -> None:
        from curation.core.reports.terminal import show_sections
        from curation.relabeling.drift.sections import drift_findings, drift_sections

        say(f"Re-labeling {found.name}:", *(f"  {sentence}" for sentence in drift_findings(found)))
        show_sections(drift_sections(found, limit))
        if page is not None:
            say(f"Wrote {page}.")

    emit(as_json, found, show)


def _report_problems(
    plan: str | None,
    old_round: str | None,
    new_round: str | None,
    request: PastRunsRequest,
    run: list[str] | None,
) -> list[str]:
    """What does not fit together."""
    problems = []
    if (old_round is None) != (new_round is None):
        problems.append("--old-round and --new-round name two rounds: expected both or neither")
    if plan and old_round:
        problems.append(f"the plan {plan!r} and --old-round: expected one of the two")
    if len({bool(request.old), bool(request.new), bool(run)}) > 1:
        problems.append(
            "--old-release, --new-release and --run go together: two releases, and runs to evaluate on both"
        )
    elif request.part and not run:
        problems.append(f"--part {request.part}: it needs --old-release, --new-release and --run")
    return problems


def _show_plan(plan: RelabelingPlan, dry_run: bool) -> None:
    from curation.core.reports.page import Section
    from curation.core.reports.terminal import show_sections
    from curation.relabeling.plan.sections import plan_sentences, plan_tables

    say(
        f"Plan {plan.plan_id[:8]} of {plan.quarter}: {plan.pairs:,} of {amount(plan.set_pairs, 'pair')} "
        f"({percent(plan.fraction_of_pairs, 1)} of those that can be judged)."
    )
    report = plain(plan)
    show_sections([Section("", "\n".join(plan_sentences(report)), (), tuple(plan_tables(report)))])
    say(f"Each pair had a probability of {plan.inclusion_probability:.3f} to be in the random part.")
    more = "goldgrade relabel show, then goldgrade relabel open --annotators NAMES"
    say("Nothing was stored." if dry_run else f"Next: {more}")


def _show_sealed(pairs: int) -> None:
    if pairs:
        say(
            f"{amount(pairs, 'pair is', 'pairs are')} of parts that a release seals: their grades are "
            "not named."
        )


def _show_status(set_staleness: SetStaleness, limit: int) -> None:
    from curation.relabeling.staleness.tables import (
        calendar_table,
        due_sentences,
        expected_table,
        new_query_table,
        pair_table,
        query_table,
    )

    whose = f"of the release {set_staleness.release}" if set_staleness.release else "of the project"
    say(f"{set_staleness.quarter}: {amount(len(set_staleness.pairs), 'judged pair')} {whose}.")
    if not set_staleness.has_new_traffic:
        say("No log was imported since the sample was drawn, so traffic now is unknown.")
    show_tables(calendar_table(set_staleness.calendar))
    if set_staleness.calendar.renewed_share is not None:
        share = percent(set_staleness.calendar.renewed_share, 1)
        say(f"Renewed in the last four quarters: {amount(set_staleness.calendar.renewed, 'pair')} ({share}).")
    say(*due_sentences(set_staleness.calendar))
    show_tables(
        expected_table(set_staleness),
        query_table(set_staleness, limit),
        pair_table(set_staleness, limit),
        new_query_table(set_staleness, limit),
    )
    _show_sealed(set_staleness.sealed)
