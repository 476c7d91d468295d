"""The operations of a re-labeling: making a quarter's plan, and opening the plan as a round."""

from __future__ import annotations

from curation.core.operation import Operation
from curation.core.progress import Progress
from curation.relabeling.calendar import find_present_quarter, read_work, refuse_second_relabeling
from curation.relabeling.open_quarter import (
    QuarterOpened,
    find_quarter_plan,
    make_round_request,
    open_plan,
    preview_opening,
    read_current_plan,
)
from curation.relabeling.plan import RelabelingPlan, make_plan
from curation.relabeling.request import PlanRequest, QuarterRequest
from curation.store import Cursor, Store


def _check_plan(cursor: Cursor, _request: PlanRequest | None) -> None:
    refuse_second_relabeling(read_work(cursor), find_present_quarter(cursor, None))


def _make_plan(store: Store, request: PlanRequest, progress: Progress, author: str) -> RelabelingPlan:
    return make_plan(store, request, author=author, progress=progress)


def _open_or_preview(store: Store, request: QuarterRequest, progress: Progress, author: str) -> QuarterOpened:
    if request.dry_run:
        return preview_opening(store, request, progress, author)
    return open_plan(store, request, progress, author)


def _check_opening(cursor: Cursor, request: QuarterRequest | None) -> None:
    if request is None:
        return
    plan_id = request.plan or find_quarter_plan(cursor)
    if plan_id is None:
        refuse_second_relabeling(read_work(cursor), find_present_quarter(cursor, None))
    else:
        make_round_request(cursor, read_current_plan(cursor, plan_id), request)


OPERATIONS = {
    "plan re-labeling": Operation(
        PlanRequest,
        _make_plan,
        in_progress="planning the re-labeling",
        on_interrupt="No plan was stored. Plan the re-labeling again.",
        check=_check_plan,
        first_step="reading judgments and traffic",
        stage="re-label",
    ),
    "relabel": Operation(
        QuarterRequest,
        _open_or_preview,
        in_progress="opening the re-labeling round",
        on_interrupt="No round was opened. Open the plan again; finished steps are kept.",
        check=_check_opening,
        stage="re-label",
    ),
}
