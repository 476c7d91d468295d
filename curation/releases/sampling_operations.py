"""Background operations that draw or top up a sample of queries, with or without released queries."""

from __future__ import annotations

from curation.core.operation import Operation
from curation.core.progress import Progress
from curation.queries.sampling.draw import check_draw, draw_sample
from curation.queries.sampling.requests import DrawRequest, TopUpRequest
from curation.queries.sampling.stored_sample import SampleReport
from curation.queries.sampling.top_up import check_top_up, top_up
from curation.releases.release_rows import read_released_queries
from curation.store import Store


def _draw_sample(store: Store, request: DrawRequest, progress: Progress, author: str) -> SampleReport:
    return draw_sample(store, request, progress, author, read_released_queries(store))


def _top_up(store: Store, request: TopUpRequest, progress: Progress, author: str) -> SampleReport:
    return top_up(store, request, progress, author, read_released_queries(store))


OPERATIONS = {
    "sample": Operation(
        DrawRequest,
        _draw_sample,
        in_progress="drawing the sample",
        on_interrupt="Nothing was changed: draw the sample again.",
        check=check_draw,
        first_step="reading the traffic",
        stage="sample",
    ),
    "top up": Operation(
        TopUpRequest,
        _top_up,
        in_progress="topping up the sample",
        on_interrupt="Nothing was changed: top the sample up again.",
        check=check_top_up,
        first_step="reading the traffic",
        stage="sample",
    ),
}
