"""Operations on queries: tagging by rules, measuring coverage, and having a language model write
questions."""

from __future__ import annotations

from curation.core.operation import Operation
from curation.core.progress import Progress
from curation.queries.coverage.coverage_map import make_parameters
from curation.queries.coverage.language_model.call_runs import CallLimits
from curation.queries.coverage.language_model.endpoint import find_check_endpoint, find_endpoint
from curation.queries.coverage.report import find_coverage
from curation.queries.questions.document_draw import check_request
from curation.queries.questions.write_questions import WrittenQuestions, write_questions
from curation.queries.requests import CoverageRequest, QuestionRequest, TagsRequest
from curation.queries.tag_rules import find_tags, read_queries_to_tag
from curation.retrieval.embeddings import refuse_without_model
from curation.store import Cursor, Store
from curation.store.documents import current_snapshot, refuse_held


def _check_tags(cursor: Cursor, request: TagsRequest | None) -> None:
    read_queries_to_tag(cursor)


def _check_coverage(cursor: Cursor, request: CoverageRequest | None) -> None:
    current_snapshot(cursor)
    refuse_held(cursor, "coverage")
    if request is not None:
        make_parameters(request)
        refuse_without_model(cursor, request.model)


def _check_questions(cursor: Cursor, request: QuestionRequest | None) -> None:
    find_endpoint()
    check_request(cursor, request)


def _write_questions(
    store: Store, request: QuestionRequest, progress: Progress, author: str
) -> WrittenQuestions:
    limits = CallLimits(find_endpoint(), request.calls)
    checker = find_check_endpoint(request.check_model)
    return write_questions(store, request, limits, checker, author, progress)


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
    "write questions": Operation(
        QuestionRequest,
        _write_questions,
        in_progress="questions are being written",
        on_interrupt="The stored questions and all answers are kept. Write the questions again to continue.",
        check=_check_questions,
        first_step="drawing documents",
        stage="sample",
    ),
}
