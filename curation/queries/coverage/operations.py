"""The operation that measures which regions of the corpus the queries cover."""

from __future__ import annotations

from curation.core.operation import Operation, OperationOutcome
from curation.core.progress import Progress
from curation.core.text import amount, percent
from curation.queries.coverage import CoverageRequest
from curation.queries.coverage.coverage_map import MapSettings
from curation.queries.coverage.report import CoverageReport, find_coverage
from curation.retrieval.embeddings import refuse_without_model
from curation.store import Cursor, Store
from curation.store.documents import current_snapshot, refuse_held


def _check(cursor: Cursor, request: CoverageRequest | None) -> None:
    current_snapshot(cursor)
    refuse_held(cursor, "coverage")
    if request is not None:
        MapSettings(**vars(request)).parameters()
        refuse_without_model(cursor, request.model)


def _measure(store: Store, request: CoverageRequest, progress: Progress, author: str) -> CoverageReport:
    return find_coverage(store, MapSettings(**vars(request)), progress)


def _measured(_request: CoverageRequest, report: CoverageReport) -> OperationOutcome:
    share = "unknown" if report.msc is None else percent(report.msc)
    return OperationOutcome(
        f"{amount(report.regions.clusters, 'region')} at a resolution of {report.resolution:g}, "
        f"{report.chosen}. {share} of them have a query; {report.zqc:,} have none."
    )


OPERATIONS = {
    "coverage": Operation(
        CoverageRequest,
        _measure,
        _measured,
        doing="coverage is being measured",
        kept="The map is as before: measure again, what was embedded is kept.",
        check=_check,
        first="reading the corpus",
    )
}
