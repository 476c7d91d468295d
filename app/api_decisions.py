"""The JSON routes of the page Adjudicate: the disputed pairs that come next, and what was decided.

These routes are for reviewers and leads, and work as the routes of the grading screen do (`app.api`): what
became of a decision is final only where an outcome names its client key.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from app.api import Keyed, Sent, answered_for, json_of, log_refused, validated
from app.context import image_hosts, project_store
from curation.labeling.consensus.adjudication import REVIEWERS
from curation.labeling.consensus.queue import (
    CaseQueue,
    CaseShowing,
    ReviewerSubmission,
    context_of_case,
    next_cases,
    one_case,
    recent_cases,
    submit_decisions,
    whole_case,
)

MAX_CASES = 10
MAX_HOLDING = 500
"""Pairs that a screen may name: those that it has, and those that its reviewer put off."""
OUTCOME = ("client_key", "status", "message")
OPINION = ("grade", "words", "other_text", "evidence")
"""What a screen gets of an outcome, and of what an annotator said."""
PairId = Annotated[str, Field(min_length=1, max_length=32)]
answered = answered_for(*REVIEWERS)


class Asked(Sent):
    """How many pairs the screen wants, and those that it has already."""

    holding: list[PairId] = Field([], max_length=MAX_HOLDING)
    limit: Annotated[int, Field(ge=0, le=MAX_CASES)] = 8


class Decisions(Sent):
    """Actions in the order in which they were done."""

    submissions: Annotated[list[Keyed], Field(max_length=50)]


@answered
async def disputes_next(request: Request) -> Any:
    """GET: the next disputed pairs, without those named by `holding`."""
    query = request.query_params
    asked = Asked(holding=query.getlist("holding"), limit=query.get("limit", "8"))  # type: ignore[arg-type]
    return await run_in_threadpool(_queue, request.state.annotator, asked)


@answered
async def dispute(request: Request) -> Any:
    """GET: one judged pair as it is now."""
    asking = (*_who_and_pair(request), image_hosts())
    return _case(await run_in_threadpool(one_case, project_store(), *asking))


@answered
async def case_context(request: Request) -> Any:
    """GET: the query's other decided documents with their grades, and the comments on the pair."""
    anchors, comments = await run_in_threadpool(context_of_case, project_store(), *_who_and_pair(request))
    return {
        "anchors": [anchor._asdict() for anchor in anchors],
        "comments": [
            comment._asdict() | {"commented_at": f"{comment.commented_at.isoformat()}Z"}
            for comment in comments
        ],
    }


@answered
async def document(request: Request) -> Any:
    """GET: the whole document of a judged pair, as text in segments or safe elements."""
    asking = (*_who_and_pair(request), image_hosts())
    return {"body": await run_in_threadpool(whole_case, project_store(), *asking)}


@answered
async def recent(request: Request) -> Any:
    """GET: the pairs that the reviewer decided last, newest first."""
    cases = await run_in_threadpool(recent_cases, project_store(), request.state.annotator, image_hosts())
    return [_case(case) for case in cases]


@answered
async def decisions(request: Request) -> Any:
    """POST: do what was decided, in order; the response has the outcome of each."""
    asked = Decisions.model_validate(await json_of(request))
    return await run_in_threadpool(_record, request.state.annotator, asked)


ROUTES = [
    Route("/api/disputes/next", disputes_next),
    Route("/api/disputes/one", dispute),
    Route("/api/disputes/context", case_context),
    Route("/api/disputes/document", document),
    Route("/api/decisions/recent", recent),
    Route("/api/decisions", decisions, methods=["POST"]),
]


def _record(reviewer: str, asked: Decisions) -> dict[str, Any]:
    read, refused = validated(ReviewerSubmission, asked.submissions)
    done = submit_decisions(project_store(), reviewer, read)
    outcomes = [*refused, *({name: getattr(outcome, name) for name in OUTCOME} for outcome in done)]
    log_refused(reviewer, outcomes)
    return {"outcomes": outcomes}


def _queue(reviewer: str, asked: Asked) -> dict[str, Any]:
    case_queue: CaseQueue = next_cases(project_store(), reviewer, asked.limit, asked.holding, image_hosts())
    return {**case_queue._asdict(), "showings": [_case(showing) for showing in case_queue.showings]}


def _case(case: CaseShowing) -> dict[str, Any]:
    opinions = [{name: getattr(opinion, name) for name in OPINION} for opinion in case.opinions]
    return {**case._asdict(), "opinions": opinions, "decision": case.decision and case.decision._asdict()}


def _who_and_pair(request: Request) -> tuple[str, str, str]:
    query = request.query_params
    return request.state.annotator, query.get("query", ""), query.get("document", "")
