"""The JSON routes of the adjudication screen.

Only reviewers and leads may use these routes. As in `app.api`, the browser treats the outcome of a decision
as final only if the outcome names the client key of the decision.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.routing import Route

from app.context import image_hosts, project_store
from app.json_routes import KeyedMessage, StrictMessage, json_route, log_refusals, validate_messages
from curation.labeling.consensus import case_views, queue
from curation.labeling.consensus.reviewer_actions import ReviewerAction, submit_actions
from curation.people.annotators import REVIEWERS

MAX_CASES = 10
MAX_HELD_PAIRS = 500
"""Maximum number of pairs in a request: pairs on the screen, and pairs that the reviewer skipped."""
OUTCOME_FIELDS = ("client_key", "status", "message")
OPINION_FIELDS = ("grade", "words", "other_text", "evidence")
"""The fields of an outcome, and of an annotator's opinion, that the browser receives."""
PairId = Annotated[str, Field(min_length=1, max_length=32)]
reviewer_route = json_route(*REVIEWERS)


class CaseRequest(StrictMessage):
    """The number of pairs that the browser requests, and the pairs that it already has."""

    holding: list[PairId] = Field([], max_length=MAX_HELD_PAIRS)
    limit: Annotated[int, Field(ge=0, le=MAX_CASES)] = 8


class DecisionBatch(StrictMessage):
    """A reviewer's decisions on disputed pairs, in chronological order."""

    submissions: Annotated[list[KeyedMessage], Field(max_length=50)]


@reviewer_route
def list_cases(request: Request) -> Any:
    """GET: return the next disputed pairs, except those named in `holding`."""
    parameters, reviewer = request.query_params, request.state.annotator
    holding, limit = parameters.getlist("holding"), parameters.get("limit", "8")
    case_request = CaseRequest.model_validate({"holding": holding, "limit": limit})
    upcoming = queue.read_case_queue(
        project_store(), reviewer, case_request.limit, case_request.holding, image_hosts()
    )
    return {**upcoming._asdict(), "cases": [_case_json(case) for case in upcoming.cases]}


@reviewer_route
def read_case(request: Request) -> Any:
    """GET: return the current state of a judged query-document pair."""
    return _case_json(case_views.read_case_view(project_store(), *_read_pair(request), image_hosts()))


@reviewer_route
def read_context(request: Request) -> Any:
    """GET: return the query's other decided documents with their grades, and the comments on the pair."""
    anchors, comments = case_views.read_case_context(project_store(), *_read_pair(request))
    return {
        "anchors": [anchor._asdict() for anchor in anchors],
        "comments": [
            comment._asdict() | {"commented_at": f"{comment.commented_at.isoformat()}Z"}
            for comment in comments
        ],
    }


@reviewer_route
def read_document(request: Request) -> Any:
    """GET: return the whole document of a judged pair, as text segments or safe HTML elements."""
    return {"body": case_views.draw_whole_case(project_store(), *_read_pair(request), image_hosts())}


@reviewer_route
def list_recent_decisions(request: Request) -> Any:
    """GET: return the pairs that the reviewer decided last, newest first."""
    return [
        _case_json(case)
        for case in queue.read_recent_cases(project_store(), request.state.annotator, image_hosts())
    ]


@reviewer_route
def record_decisions(request: Request) -> Any:
    """POST: record decisions in order; return each decision's outcome."""
    batch, reviewer = DecisionBatch.model_validate(request.state.message), request.state.annotator
    actions, refusals = validate_messages(ReviewerAction, batch.submissions)
    results = submit_actions(project_store(), reviewer, actions)
    outcomes = [*refusals, *({name: getattr(result, name) for name in OUTCOME_FIELDS} for result in results)]
    log_refusals(reviewer, outcomes)
    return {"outcomes": outcomes}


ROUTES = [
    Route("/api/disputes/next", list_cases),
    Route("/api/disputes/one", read_case),
    Route("/api/disputes/context", read_context),
    Route("/api/disputes/document", read_document),
    Route("/api/decisions/recent", list_recent_decisions),
    Route("/api/decisions", record_decisions, methods=["POST"]),
]


def _case_json(case: case_views.CaseView) -> dict[str, Any]:
    opinions = [{name: getattr(opinion, name) for name in OPINION_FIELDS} for opinion in case.opinions]
    return {**case._asdict(), "opinions": opinions, "decision": case.decision and case.decision._asdict()}


def _read_pair(request: Request) -> tuple[str, str, str]:
    """Return a request's reviewer, query id and document id."""
    parameters = request.query_params
    return request.state.annotator, parameters.get("query", ""), parameters.get("document", "")
