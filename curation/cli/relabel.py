"""`goldgrade relabel`: a quarter's re-labeling, from its plan to its report."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from typer import Argument, Context, Exit, Option

from curation.cli.invocation import actor, project_store, refuse_unused
from curation.cli.options import Page, switch, with_options_of
from curation.cli.output import emit, say, show, write_file
from curation.cli.program import command_group
from curation.cli.progress import progress_bar, run_operation
from curation.core.errors import InputError
from curation.relabeling.request import ChosenRequest, PlanRequest, QuarterRequest

relabeling = command_group("relabel", "Judge some pairs again each quarter, blind to old grades.")

NEXT = "Next: goldgrade relabel open --annotators NAMES"
EXIT_DUE = 3
"""The exit code of `relabel plan --due` where re-labeling is due."""

PlanName = Annotated[
    str | None,
    Argument(metavar="PLAN", help="A quarter such as 2026-Q4, or a plan's id.", show_default="the newest"),
]


@relabeling.command("plan")
@with_options_of(PlanRequest)
def relabel_plan(
    request: PlanRequest,
    context: Context,
    stored: Annotated[
        str | None,
        Argument(metavar="PLAN", help="Show this stored plan: a quarter or an id.", show_default="none"),
    ] = None,
    today: Annotated[
        datetime | None,
        Option(formats=["%Y-%m-%d"], help="A day in the quarter to plan for.", show_default="the clock's"),
    ] = None,
    due: Annotated[bool, switch("--due", "Show the pairs that are due this quarter. Plan nothing.")] = False,
) -> None:
    """Plan the pairs that this quarter judges again. Nothing changes for annotators until the plan is opened.

    Three quarters of the planned pairs are due: first those whose document changed, then those whose
    grade's definition changed, then those not judged for two years. The other pairs are drawn at random.
    Queries that the logs no longer contain are replaced by new queries.

    --due shows the stored plan of the quarter, or else the plan that would be made. Its exit code is 0 if
    nothing is due, 3 if re-labeling is due, and 1 or 2 after an error. A stored plan shows grades, so do not
    show it to annotators. Grades of parts that a release seals are not shown.

    \b
    Examples:
      goldgrade relabel plan --due
      goldgrade relabel plan --due --share 0.2 --overlap 3
      goldgrade relabel plan --share 0.15 --seed 7
      goldgrade relabel plan 2026-Q4
      goldgrade relabel plan --due --json
    """
    from curation.relabeling.due_list import describe_stored_plan, read_due
    from curation.relabeling.plan import make_plan
    from curation.relabeling.stored_plans import show_plan

    day = today.date() if today else None
    if stored is not None:
        refuse_unused(context, "a stored plan is only shown", "today", "due", "fraction", "seed", "overlap")
        plan = show_plan(project_store(), stored)
        show(describe_stored_plan(plan), as_json=plan)
    elif due:
        due_list = read_due(project_store(), day, request)
        show(due_list)
        if due_list.is_due:
            raise Exit(EXIT_DUE)
    else:
        show(make_plan(project_store(), request, day, actor()), NEXT)


@relabeling.command("open")
@with_options_of(QuarterRequest)
def relabel_open(request: QuarterRequest, plan: PlanName = None) -> None:
    """Open the round of a plan. Annotators do not see the old grades.

    Without a plan of this quarter, the command makes the plan with the default settings.

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


@relabeling.command("again")
@with_options_of(ChosenRequest)
def relabel_again(
    request: ChosenRequest,
    slice: Annotated[
        list[str], Argument(metavar="KEY=VALUE", help="The pairs: query, document, tag, grade or person.")
    ],
) -> None:
    """Judge a slice of the gold set again now, for a reason.

    A slice is, for example, all pairs of a tag. Filters with the same key widen the slice, filters with
    different keys narrow it. The slice gets a round and a report of its own, called 2026-Q4.1, and its new
    grades replace the old ones. The quarter's plan and its random part stay as they are. The command needs
    --reason.

    \b
    Examples:
      goldgrade relabel again tag=typo --annotators ada,grace --reason "the guide was unclear on typos"
      goldgrade relabel again person=joan grade=3 --annotators ada,grace --reason "joan graded too high"
      goldgrade relabel again document=faq-12 --annotators ada,grace --reason "the page was wrong"
    """
    from curation.relabeling.chosen_pairs import judge_again

    with progress_bar() as progress:
        opened = judge_again(project_store(), replace(request, slice=tuple(slice)), progress, actor())
    show(opened, f"Next: goldgrade app, then goldgrade relabel report {opened.quarter}")


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
