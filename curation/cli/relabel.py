"""`goldgrade relabel`: a quarter's re-labeling, from its plan to its report."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from typing import Annotated

from typer import Argument, Context, Exit, Option

from curation.cli.invocation import actor, project_store, refuse_unused
from curation.cli.options import Page, switch, with_options_of
from curation.cli.output import emit, say, show, write_file
from curation.cli.program import command_group
from curation.cli.progress import progress_bar, run_operation
from curation.core.errors import InputError
from curation.relabeling.request import PlanRequest, QuarterRequest

relabeling = command_group("relabel", "Judge some pairs again each quarter, blind to old grades.")

EXIT_DUE = 3
"""The exit code of `relabel plan --due` where re-labeling is due."""

PlanName = Annotated[
    str | None, Argument(help="A quarter such as 2026-Q4, or a plan's id.", show_default="the newest")
]


@relabeling.command("plan")
@with_options_of(PlanRequest)
def relabel_plan(
    request: PlanRequest,
    context: Context,
    today: Annotated[
        datetime | None,
        Option(formats=["%Y-%m-%d"], help="A day in the quarter to plan for.", show_default="the clock's"),
    ] = None,
    dry_run: Annotated[
        bool, switch("--dry-run", "Show which pairs the plan would have. Store nothing.")
    ] = False,
    due: Annotated[bool, switch("--due", "Show which pairs are outdated and due. Plan nothing.")] = False,
    stored: Annotated[
        str | None,
        Option(
            "--stored",
            metavar="PLAN",
            help="Show a stored plan, by its quarter or id. Plan nothing.",
            show_default="none",
        ),
    ] = None,
) -> None:
    """Plan the pairs that this quarter judges again. Nothing changes for annotators until the plan is opened.

    Three quarters of the planned pairs are the stalest pairs of the gold set; the other pairs are drawn at
    random. Queries that the logs no longer contain are replaced by new queries.

    With --due the exit code is 0 if nothing is due, 3 if re-labeling is due, and 1 or 2 after an error.
    --stored shows grades, so do not show its output to annotators. Grades of parts that a release seals are
    not shown.

    \b
    Examples:
      goldgrade relabel plan --due
      goldgrade relabel plan --share 0.15 --seed 7
      goldgrade relabel plan --share 0.2 --overlap 3 --dry-run
      goldgrade relabel plan --stored 2026-Q4
      goldgrade relabel plan --due --json
    """
    from curation.relabeling.plan import make_plan
    from curation.relabeling.planning_sections import describe_plan, describe_stored_plan
    from curation.relabeling.stored_plans import show_plan

    plan_options = ("fraction", "seed", "overlap", "dry_run")
    day = today.date() if today else None
    if due:
        refuse_unused(context, "--due plans nothing", "stored", *plan_options)
        _print_due(day)
    elif stored is not None:
        refuse_unused(context, "--stored plans nothing", "today", *plan_options)
        stored_plan = show_plan(project_store(), stored)
        show(describe_stored_plan(stored_plan), as_json=stored_plan)
    else:
        plan = make_plan(project_store(), request, day, actor(), dry_run=dry_run)
        show(describe_plan(plan, dry_run), as_json=plan)


def _print_due(today: date | None) -> None:
    from curation.relabeling.planning_sections import describe_due
    from curation.relabeling.staleness import compute_staleness

    set_staleness = compute_staleness(project_store(), today)
    show(describe_due(set_staleness), as_json=set_staleness)
    if set_staleness.calendar.is_due:
        raise Exit(EXIT_DUE)


@relabeling.command("open")
@with_options_of(QuarterRequest)
def relabel_open(request: QuarterRequest, plan: PlanName = None) -> None:
    """Open the round of a plan. Annotators do not see the old grades.

    \b
    Examples:
      goldgrade relabel open --annotators ada,grace,joan --systems bm25,dense --dry-run
      goldgrade relabel open --annotators ada,grace,joan --systems bm25,dense --depth 10
      goldgrade relabel open 2026-Q4 --annotators ada,grace --round autumn
    """
    if not request.annotators:
        raise InputError("Give --annotators: names, separated by commas.")
    opened = run_operation("relabel", replace(request, plan=plan))
    next_steps = [] if request.dry_run else ["Next: goldgrade app, then goldgrade relabel report"]
    show(opened, *next_steps)


@relabeling.command("report")
def relabel_report(
    plan: PlanName = None,
    rounds: Annotated[
        tuple[str, str] | None,
        Option(
            metavar="OLD NEW",
            help="Compare two rounds instead of reporting on a plan. Name the old round first.",
            show_default="none",
        ),
    ] = None,
    page: Page = None,
) -> None:
    """Compare old grades with new grades.

    The report has the agreement of old and new grades, overall and by type, the effect of changed documents
    and guides, and the share of wrong grades in the whole set. A quarter's report no longer changes once its
    round is closed or the next quarter is opened.

    \b
    Examples:
      goldgrade relabel report
      goldgrade relabel report 2026-Q4 --html drift.html
      goldgrade relabel report --rounds "imported: spring.csv" "imported: autumn.csv" --json
    """
    from curation.relabeling.report import compare_rounds, make_drift_report
    from curation.relabeling.report_sections import list_drift_findings, make_drift_page, make_drift_sections

    if plan and rounds:
        raise InputError(f"the plan {plan!r} cannot be combined with --rounds; expected a plan or two rounds")
    store = project_store()
    with progress_bar():
        report = compare_rounds(store, *rounds) if rounds else make_drift_report(store, plan)
    if page is not None:
        write_file(page, make_drift_page(report))

    def print_report() -> None:
        from curation.core.reports.terminal import show_sections

        say(f"Re-labeling {report.name}:", *(f"  {sentence}" for sentence in list_drift_findings(report)))
        show_sections(make_drift_sections(report))
        if page is not None:
            say(f"Wrote {page}.")

    emit(report, print_report)
