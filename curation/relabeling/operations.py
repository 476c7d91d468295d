"""The operations of re-labeling: plan a quarter, open its round, compare runs before and after it."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.reports.page import Table
from curation.core.text import amount
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.relabeling.drift.past_evaluations import OrderChange, compare_releases
from curation.relabeling.opening import QuarterOpened, checked_layout, open_plan, preview_opening
from curation.relabeling.plan.plan import RelabelingPlan, make_plan, refuse_open_work
from curation.relabeling.plan.stored import find_plan
from curation.relabeling.request import PastRunsRequest, PlanRequest, QuarterRequest
from curation.relabeling.staleness.calendar import present_quarter, read_work
from curation.store import Cursor, Store


def _check_plan(cursor: Cursor, _request: PlanRequest | None) -> None:
    refuse_open_work(read_work(cursor), present_quarter(cursor, None))


def _plan(store: Store, request: PlanRequest, progress: Progress, author: str) -> RelabelingPlan:
    return make_plan(store, author=author, progress=progress, **vars(request))


def _planned(_request: PlanRequest, plan: RelabelingPlan) -> OperationOutcome:
    return OperationOutcome(f"Planned {plan.quarter}: {plan.pairs:,} of {amount(plan.set_pairs, 'pair')}.")


def _open(store: Store, request: QuarterRequest, progress: Progress, author: str) -> QuarterOpened:
    return (preview_opening if request.dry_run else open_plan)(store, request, progress, author)


def _check_opening(cursor: Cursor, request: QuarterRequest | None) -> None:
    if request is not None:
        checked_layout(cursor, find_plan(cursor, request.plan), request)


def _opened(request: QuarterRequest, opened: QuarterOpened) -> OperationOutcome:
    done = "A preview, nothing was opened:" if request.dry_run else "Opened"
    return OperationOutcome(
        f"{done} {opened.quarter} as the round {opened.round.round}: {amount(opened.pairs, 'pair')} again, "
        f"{opened.new_pairs:,} new ones, {amount(opened.round.presentations, 'presentation')}.",
        (Table("Items by annotator", ("annotator", "items"), tuple(opened.round.per_annotator.items())),),
        remarks=(
            f"{amount(opened.added, 'query', 'queries')} joined, {opened.retired:,} left.",
            *(f"Left out: {number:,} {why}." for why, number in opened.left_out.items()),
        ),
        more=() if request.dry_run else ("Next: goldgrade app, then goldgrade relabel report",),
    )


def _compare(
    store: Store, request: PastRunsRequest, progress: Progress, author: str
) -> tuple[OrderChange, ...]:
    """Compare uploaded runs on two releases; their folder is removed whatever comes of it."""
    sources = [RunSource(name, Path(path)) for name, path in request.runs]
    releases = (request.plan, request.old, request.new)
    try:
        return compare_releases(*(store, *releases, sources, request.part, request.reason, author, progress))
    finally:
        rmtree(request.folder, ignore_errors=True)


def _compared(request: PastRunsRequest, changes: tuple[OrderChange, ...]) -> OperationOutcome:
    runs, kept = amount(len(request.runs), "run"), sum(change.kept for change in changes)
    on = f"{request.old} and {request.new}"
    return OperationOutcome(f"Compared {runs} on {on}: {kept:,} of {len(changes):,} orders are kept.")


OPERATIONS = {
    "plan re-labeling": Operation(
        PlanRequest,
        _plan,
        _planned,
        doing="a re-labeling is being planned",
        kept="No plan was stored: plan it again.",
        check=_check_plan,
        first="reading judgments and traffic",
        on_path="re-label",
    ),
    "relabel": Operation(
        QuarterRequest,
        _open,
        _opened,
        doing="a re-labeling is being opened",
        kept="No round was opened: open the plan again, what was done of it is kept.",
        check=_check_opening,
        on_path="re-label",
    ),
    "past evaluations": Operation(
        PastRunsRequest,
        _compare,
        _compared,
        doing="runs are being compared on two releases",
        kept="Nothing was kept: upload the runs again.",
        on_path="re-label",
    ),
}
