"""The operations that draw a sample of queries and top up the current one.

They are in the room of releases because a draw leaves out released queries, and can be allocated by how
figures vary among the queries of a release.
"""

from __future__ import annotations

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.text import amount
from curation.ingest.importers.query_tags import check_tags
from curation.queries.coverage.stored_map import map_in_force
from curation.queries.sampling.designs import strata_table
from curation.queries.sampling.frame.limits import check_limits
from curation.queries.sampling.request import DrawRequest, TopUpRequest
from curation.queries.sampling.sample import SampleReport, draw_sample, refuse_too_few
from curation.queries.sampling.sample_plan import check_plan
from curation.queries.sampling.strata import CLUSTER, TAG, check_dimensions, names_after
from curation.queries.sampling.top_up import (
    refuse_nothing_asked,
    refuse_taking_away,
    sample_to_top_up,
    top_up,
)
from curation.releases.release_rows import released_queries
from curation.releases.spread import spread_if_asked
from curation.store import Cursor, Store


def _check_draw(cursor: Cursor, request: DrawRequest | None) -> None:
    refuse_too_few(cursor, request.size if request else 1)
    if request is None:
        return
    plan = request.plan
    if not (plan.from_release or plan.run):
        check_plan(request.size, plan, None)
    check_dimensions(plan.strata)
    check_tags(cursor, names_after(TAG, plan.strata))
    check_limits(request.limits)
    if CLUSTER in plan.strata:
        map_in_force(cursor)


def _draw(store: Store, request: DrawRequest, progress: Progress, author: str) -> SampleReport:
    plan, released = request.plan, released_queries(store)
    spread = spread_if_asked(store, plan.from_release, plan.run)
    return draw_sample(
        *(store, request.size, request.seed, plan, request.limits, progress, request.model, author),
        released=released,
        spread=spread,
    )


def _check_top_up(cursor: Cursor, request: TopUpRequest | None) -> None:
    earlier = sample_to_top_up(cursor)
    if request is not None:
        refuse_nothing_asked(request.quotas, request.size)
        refuse_taking_away(earlier, request.size)


def _top_up(store: Store, request: TopUpRequest, progress: Progress, author: str) -> SampleReport:
    return top_up(store, request.quotas, request.size, progress, author, released_queries(store))


def _drawn(_request: object, report: SampleReport) -> OperationOutcome:
    sentence = f"Drew {amount(report.size, 'query', 'queries')}; {report.added:,} new to the project."
    if report.drawn_before:
        sentence = "This sample was drawn before; it is the current one, and nothing was added."
    spellings = amount(report.grouped, "rarer spelling counts as its", "rarer spellings count as their")
    grouped = [f"{spellings} most frequent one."] if report.grouped else []
    strata = strata_table(report.sample_id, report.strata)
    return OperationOutcome(
        sentence, (strata,), report.left_out, "rows of traffic", tuple(grouped), tuple(report.warnings)
    )


OPERATIONS = {
    "sample": Operation(
        DrawRequest,
        _draw,
        _drawn,
        doing="a sample is being drawn",
        kept="Nothing was changed: draw it again.",
        check=_check_draw,
        first="reading the traffic",
        on_path="sample",
    ),
    "top up": Operation(
        TopUpRequest,
        _top_up,
        _drawn,
        doing="a sample is being topped up",
        kept="Nothing was changed: top it up again.",
        check=_check_top_up,
        first="reading the traffic",
        on_path="sample",
    ),
}
