"""The JSON routes of the page Adjudicate: disputed pairs, and the reviewer's decisions on disputed pairs.

Only reviewers and leads may use these routes. As in `app.api`, the browser treats the outcome of a decision
as final only if the outcome names the client key of the decision.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.routing import Route

from app.api import Keyed, Sent, answered_for, log_refused, validated
from app.context import image_hosts, project_store
from curation.labeling.consensus.adjudication import REVIEWERS
from curation.labeling.consensus.queue import (
    CaseView,
    ReviewerAction,
    draw_whole_case,
    read_case_context,
    read_case_queue,
    read_case_view,
    read_recent_cases,
    submit_actions,
)

MAX_CASES = 10
MAX_HOLDING = 500
"""Maximum number of pairs in a request: pairs on the screen, and pairs that the reviewer put off."""
OUTCOME = ("client_key", "status", "message")
OPINION = ("grade", "words", "other_text", "evidence")
"""The fields of an outcome, and of an annotator's opinion, that the browser receives."""
PairId = Annotated[str, Field(min_length=1, max_length=32)]
answered = answered_for(*REVIEWERS)


class Asked(Sent):
    """The number of pairs that the browser requests, and the pairs that the browser has already."""

    holding: list[PairId] = Field([], max_length=MAX_HOLDING)
    limit: Annotated[int, Field(ge=0, le=MAX_CASES)] = 8


class Decisions(Sent):
    """A reviewer's decisions on disputed pairs, in order of time."""

    submissions: Annotated[list[Keyed], Field(max_length=50)]


@answered
def disputes_next(request: Request) -> Any:
    """GET: return the next disputed pairs, except the pairs that `holding` names."""
    query, who = request.query_params, request.state.annotator
    asked = Asked(holding=query.getlist("holding"), limit=query.get("limit", "8"))  # type: ignore[arg-type]
    queue = read_case_queue(project_store(), who, asked.limit, asked.holding, image_hosts())
    return {**queue._asdict(), "showings": [_case(showing) for showing in queue.showings]}


@answered
def dispute(request: Request) -> Any:
    """GET: return a judged pair of query and document in its current state."""
    return _case(read_case_view(project_store(), *_reviewer_and_pair(request), image_hosts()))


@answered
def case_context(request: Request) -> Any:
    """GET: return the query's other decided documents with their grades, and the comments on the pair."""
    anchors, comments = read_case_context(project_store(), *_reviewer_and_pair(request))
    return {
        "anchors": [anchor._asdict() for anchor in anchors],
        "comments": [
            comment._asdict() | {"commented_at": f"{comment.commented_at.isoformat()}Z"}
            for comment in comments
        ],
    }


@answered
def document(request: Request) -> Any:
    """GET: return the whole document of a judged pair, as text segments or safe HTML elements."""
    return {"body": draw_whole_case(project_store(), *_reviewer_and_pair(request), image_hosts())}


@answered
def recent(request: Request) -> Any:
    """GET: return the pairs that the reviewer decided last, newest first."""
    return [
        _case(case) for case in read_recent_cases(project_store(), request.state.annotator, image_hosts())
    ]


@answered
def decisions(request: Request) -> Any:
    """POST: record decisions in their order; return the outcome of each decision."""
    asked, who = Decisions.model_validate(request.state.sent), request.state.annotator
    read, refused = validated(ReviewerAction, asked.submissions)
    done = submit_actions(project_store(), who, read)
    outcomes = [*refused, *({name: getattr(outcome, name) for name in OUTCOME} for outcome in done)]
    log_refused(who, outcomes)
    return {"outcomes": outcomes}


ROUTES = [
    Route("/api/disputes/next", disputes_next),
    Route("/api/disputes/one", dispute),
    Route("/api/disputes/context", case_context),
    Route("/api/disputes/document", document),
    Route("/api/decisions/recent", recent),
    Route("/api/decisions", decisions, methods=["POST"]),
]


def _case(case: CaseView) -> dict[str, Any]:
    opinions = [{name: getattr(opinion, name) for name in OPINION} for opinion in case.opinions]
    return {**case._asdict(), "opinions": opinions, "decision": case.decision and case.decision._asdict()}


def _reviewer_and_pair(request: Request) -> tuple[str, str, str]:
    query = request.query_params
    return request.state.annotator, query.get("query", ""), query.get("document", "")
