"""The JSON routes of the grading screen.

Every request acts for the annotator who is signed in. The role of the annotator must allow to judge, and
`curation.labeling` decides whether an item belongs to the annotator. A refused request gets a response with a
sentence in `message`.

The browser treats the outcome of an answer as final only if the outcome names the client key of the answer.
The browser keeps every other answer and sends the answer again, because the error may come from a proxy.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
)
from pydantic_core import ErrorDetails
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from app.context import image_hosts, project_store
from app.grading import make_guide_json
from app.monitoring.failures import current_request_id
from curation.core import log
from curation.core.errors import (
    CurationError,
    InputError,
    NotFoundError,
    RefusedError,
    StoreBusyError,
    StoreError,
)
from curation.guides.guide import load_guide
from curation.guides.questions import ask_about_item, list_readable_questions
from curation.ingest.readers.json_records import UnreadJSONError, read_json
from curation.labeling.judging import Submission
from curation.labeling.rounds.practice import read_feedback
from curation.labeling.session.history import HistoryFilter, read_history_page
from curation.labeling.session.item_views import AnsweredItem, draw_whole_document, read_previous_answer
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import AnnotatorQueue, read_queue, read_skipped_items
from curation.labeling.session.recent_answers import count_answered_since
from curation.labeling.session.submit import submit_judgments
from curation.people.annotators import JUDGING, require_role

MAX_BODY_BYTES = 256 * 1024
MAX_ITEMS = 20
HTTP_STATUS: dict[type[CurationError], int] = {
    NotFoundError: 404,
    RefusedError: 403,
    InputError: 422,
    StoreBusyError: 503,
}

Id = Annotated[str, Field(min_length=1, max_length=64)]
Handler = Callable[[Request], Any]
Endpoint = Callable[[Request], Awaitable[Response]]
Message = TypeVar("Message", bound=BaseModel)


class StrictMessage(BaseModel):
    """A message from the grading screen; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class JudgmentMessage(StrictMessage):
    """An action of an annotator, such as a grade, as the browser sends the action."""

    presentation_id: Id
    revision: Annotated[StrictInt, Field(ge=0, le=1_000_000)]
    kind: Annotated[str, Field(max_length=20)]
    client_key: Annotated[str, Field(max_length=128)]
    grade: StrictInt | None = None
    reason: Annotated[str, Field(max_length=200)] | None = None
    note: Annotated[str, Field(max_length=4_000)] | None = None
    flagged: StrictBool = False
    shown_at: AwareDatetime | None = None
    guide_hash: Id | None = None
    active_ms: StrictInt | None = None
    evidence: Annotated[list[tuple[StrictInt, StrictInt]], Field(max_length=500)] = []

    def to_submission(self) -> Submission:
        """Return the action as a record of the package `curation`, with times in UTC."""
        values = self.model_dump()
        values["evidence"] = tuple(self.evidence)
        shown_at: datetime | None = values.pop("shown_at")
        with suppress(OverflowError):  # a clock that is centuries off is no reason to lose a grade
            values["shown_at"] = shown_at and shown_at.astimezone(UTC).replace(tzinfo=None)
        return Submission(**values)


class KeyedMessage(BaseModel):
    """An answer with its client key; the other fields of each answer are validated later."""

    model_config = ConfigDict(extra="allow")

    client_key: Annotated[str, Field(max_length=128)]


class JudgmentsMessage(StrictMessage):
    """An annotator's actions in order of time, and the ids of the items that the browser holds already.

    `explain` names practice items whose expected grades the screen shows once the annotator has answered.
    """

    submissions: Annotated[list[KeyedMessage], Field(max_length=50)]
    holding: Annotated[list[Id], Field(max_length=100)] = []
    limit: Annotated[int, Field(ge=0, le=MAX_ITEMS)] = 5
    explain: Annotated[list[Id], Field(max_length=20)] = []


class QueryAnswerMessage(StrictMessage):
    """An annotator's answer to the question whether the corpus answers the query of an item."""

    presentation_id: Id
    answer: Annotated[str, Field(max_length=20)]
    client_key: Annotated[str, Field(max_length=128)]


class QueryAnswersMessage(StrictMessage):
    """An annotator's answers to the question whether the corpus answers a query, in order of time."""

    answers: Annotated[list[KeyedMessage], Field(max_length=50)]


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time is outside the range that UTC can express") from error


class CountRequest(StrictMessage):
    """The times from which answers are counted."""

    since: Annotated[list[Annotated[AwareDatetime, AfterValidator(_to_utc)]], Field(max_length=3)]


class QuestionMessage(StrictMessage):
    """A question about the labeling guide, asked at one of the annotator's items or about the whole guide."""

    words: Annotated[str, Field(min_length=1, max_length=4_000)]
    presentation_id: Id | None = None


def json_route(*roles: str) -> Callable[[Handler], Endpoint]:
    """Make an endpoint for these roles from a function that returns the content of a JSON response.

    The function runs in a thread and reads the posted JSON from `message` in the state of the request. An
    error becomes a response with the sentence of the error and a fitting HTTP status.
    """

    def decorate(handler: Handler) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                require_role(request.state.account, *roles)
                if request.method == "POST":
                    request.state.message = await _read_json(request)
                content = await run_in_threadpool(handler, request)
                return JSONResponse(content, headers={"Cache-Control": "no-store"})
            except ValidationError as error:
                return JSONResponse({"message": _describe_error(error)}, 422)
            except CurationError as error:
                return JSONResponse({"message": str(error)}, HTTP_STATUS.get(type(error), 500))

        return endpoint

    return decorate


annotator_route = json_route(*JUDGING)


@annotator_route
def presentations(request: Request) -> Any:
    """GET: return the annotator's next items, except the items that `holding` names."""
    parameters, annotator = request.query_params, request.state.annotator
    holding, limit = parameters.getlist("holding"), parameters.get("limit", "5")
    options = JudgmentsMessage.model_validate({"submissions": [], "holding": holding, "limit": limit})
    list_name = parameters.get("list", "")
    queue = read_queue(project_store(), annotator, options.limit, options.holding, image_hosts(), list_name)
    return _queue_json(queue)


@annotator_route
def previous(request: Request) -> Any:
    """GET: return the item that the annotator answered last, with the answer, or null."""
    item = read_previous_answer(project_store(), request.state.annotator, image_hosts())
    return item and _answer_json(item)


@annotator_route
def history(request: Request) -> Any:
    """GET: return a page of the annotator's answers, newest first, each with the revision that a change
    needs.
    """
    history_filter = HistoryFilter.model_validate(dict(request.query_params))
    page = read_history_page(project_store(), request.state.annotator, history_filter, image_hosts())
    return {**page._asdict(), "answers": [_answer_json(answer) for answer in page.answers]}


@annotator_route
def put_off(request: Request) -> Any:
    """GET: return the open items that the annotator has put off, the earliest first."""
    views = read_skipped_items(project_store(), request.state.annotator, image_hosts())
    return [view._asdict() for view in views]


@annotator_route
def worked(request: Request) -> Any:
    """GET: return, for each time in `since`, the number of items that the annotator answered after this
    time.
    """
    count_request = CountRequest.model_validate({"since": request.query_params.getlist("since")})
    moments = [moment.replace(tzinfo=None) for moment in count_request.since]
    with project_store().reading() as cursor:
        return count_answered_since(cursor, request.state.annotator, moments)


@annotator_route
def document(request: Request) -> Any:
    """GET: return the whole document of one of the annotator's items, as text segments or safe HTML
    elements.
    """
    annotator, presentation_id = request.state.annotator, request.path_params["presentation_id"]
    return {"body": draw_whole_document(project_store(), annotator, presentation_id, image_hosts())}


@annotator_route
def guide(request: Request) -> Any:
    """GET: return a labeling guide: its title, its scale, and its text as safe HTML."""
    with project_store().reading() as cursor:
        return make_guide_json(load_guide(cursor, request.path_params["guide_hash"]))


@annotator_route
def judgments(request: Request) -> Any:
    """POST: record actions in their order; return the outcome of each action, and the next items."""
    posted, annotator = JudgmentsMessage.model_validate(request.state.message), request.state.annotator
    store = project_store()
    messages, refusals = validate_messages(JudgmentMessage, posted.submissions)
    submissions = [message.to_submission() for message in messages]
    outcomes = [outcome._asdict() for outcome in submit_judgments(store, annotator, submissions)]
    log_refusals(annotator, [*refusals, *outcomes])
    response: dict[str, Any] = {"outcomes": [*refusals, *outcomes], "queue": None}
    if posted.explain:
        response["feedback"] = [item._asdict() for item in read_feedback(store, annotator, posted.explain)]
    if posted.limit:
        with suppress(StoreError):  # all is saved; the browser asks for its next items again
            queue = read_queue(store, annotator, posted.limit, posted.holding, image_hosts())
            response["queue"] = _queue_json(queue)
    return response


@annotator_route
def answers(request: Request) -> Any:
    """POST: record whether the corpus answers queries; return the outcome of each answer."""
    posted, annotator = QueryAnswersMessage.model_validate(request.state.message), request.state.annotator
    messages, refusals = validate_messages(QueryAnswerMessage, posted.answers)
    outcomes = [
        answer_query(project_store(), annotator, item.presentation_id, item.answer, item.client_key)._asdict()
        for item in messages
    ]
    log_refusals(annotator, [*refusals, *outcomes])
    return {"outcomes": [*refusals, *outcomes]}


@annotator_route
def questions(request: Request) -> Any:
    """GET: return the annotator's questions about the guide, and the answers that everyone may read. POST:
    store a new question about the guide.
    """
    store, annotator = project_store(), request.state.annotator
    if request.method == "POST":
        question = QuestionMessage.model_validate(request.state.message)
        ask_about_item(store, annotator, question.words, question.presentation_id)
    return [question._asdict() for question in list_readable_questions(store, annotator)]


ROUTES = [
    Route("/api/presentations", presentations),
    Route("/api/presentations/previous", previous),
    Route("/api/presentations/{presentation_id}/document", document),
    Route("/api/guides/{guide_hash}", guide),
    Route("/api/judgments", judgments, methods=["POST"]),
    Route("/api/answers", answers, methods=["POST"]),
    Route("/api/history", history),
    Route("/api/put-off", put_off),
    Route("/api/worked", worked),
    Route("/api/questions", questions, methods=["GET", "POST"]),
]


def log_refusals(annotator: str, outcomes: Sequence[dict[str, Any]]) -> None:
    """Log a line for each refused answer, without the grade and the words of the answer.

    The outcome gets the id of the log line as `request`.
    """
    for outcome in outcomes:
        if outcome["status"] == "refused":
            outcome["request"] = current_request_id()
            log.write(
                logging.WARNING,
                f"An answer was refused: {log.remove_content(outcome['message'])}",
                request=outcome["request"],
                annotator=annotator,
                presentation=outcome.get("presentation_id"),
            )


def validate_messages(
    model: type[Message], keyed_messages: Sequence[KeyedMessage]
) -> tuple[list[Message], list[dict[str, str]]]:
    """Validate answers; return the valid answers, and a refusal for each invalid answer."""
    messages, refusals = [], []
    for item in keyed_messages:
        try:
            messages.append(model.model_validate(item.model_dump()))
        except ValidationError as error:
            outcome = {"client_key": item.client_key, "status": "refused", "message": _describe_error(error)}
            refusals.append(outcome)
    return messages, refusals


def _describe_error(error: ValidationError) -> str:
    """Return the problems that pydantic found, without the names of unknown fields, which the log must not
    hold.
    """
    return "; ".join(f"{_name_field(item)}: {item['msg']}" for item in error.errors(include_input=False))


def _name_field(item: ErrorDetails) -> str:
    is_known = item["type"] != "extra_forbidden"
    return ".".join(map(str, item["loc"])) if is_known else "an unknown name"


def _answer_json(answered: AnsweredItem) -> dict[str, Any]:
    return {**answered._asdict(), "showing": answered.showing._asdict()}


def _queue_json(queue: AnnotatorQueue) -> dict[str, Any]:
    practice = queue.practice and queue.practice._asdict()
    showings = [showing._asdict() for showing in queue.showings]
    listing = [_answer_json(item) for item in queue.listing]
    return {**queue._asdict(), "practice": practice, "showings": showings, "listing": listing}


async def _read_body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise InputError(f"the request is larger than {MAX_BODY_BYTES:,} bytes")
    return body


async def _read_json(request: Request) -> Any:
    """Read the JSON that a request posts; raise `InputError` if the body is not JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InputError("the request has the wrong content type: expected JSON with application/json")
    body = await _read_body(request)
    try:
        return read_json(body.decode())
    except UnicodeDecodeError as error:
        raise InputError("the request is not text in UTF-8") from error
    except UnreadJSONError as error:
        problem = "it is not JSON" if error.is_broken else error.found  # the log has no words of a request
        raise InputError(f"the request cannot be read: line {error.line}: {problem}") from None
