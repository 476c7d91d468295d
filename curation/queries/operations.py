"""Operations on queries: tag queries by rules, and measure coverage."""

from __future__ import annotations

from curation.core.operation import Operation
from curation.queries.coverage.coverage_map import make_parameters
from curation.queries.coverage.report import find_coverage
from curation.queries.requests import CoverageRequest, TagsRequest
from curation.queries.tag_rules import find_tags, read_queries_to_tag
from curation.retrieval.embeddings import refuse_without_model
from curation.store import Cursor
from curation.store.documents import current_snapshot, refuse_held


def _check_tags(cursor: Cursor, request: TagsRequest | None) -> None:
    read_queries_to_tag(cursor)


def _check_coverage(cursor: Cursor, request: CoverageRequest | None) -> None:
    current_snapshot(cursor)
    refuse_held(cursor, "coverage")
    if request is not None:
        make_parameters(request)
        refuse_without_model(cursor, request.model)


OPERATIONS = {
    "tags": Operation(
        TagsRequest,
        lambda store, request, progress, author: find_tags(store, author),
        in_progress="tagging queries by rule",
        on_interrupt="No tag was changed. Look for tags again.",
        check=_check_tags,
        first_step="reading the queries",
        stage="sample",
    ),
    "coverage": Operation(
        CoverageRequest,
        lambda store, request, progress, author: find_coverage(store, request, progress),
        in_progress="measuring coverage",
        on_interrupt="The coverage map has not changed. Measure coverage again; the embeddings are kept.",
        check=_check_coverage,
        first_step="reading the corpus",
    ),
}
