"""The JSON routes of the grading component: the next items, and what was answered.

Every request is for the annotator who is signed in. Their role must allow to judge, and `curation.labeling`
decides whether an item is theirs. A refusal is a sentence in `message`.

What became of an answer is final only where an outcome names its client key. The component keeps everything
else and sends it again, because an error may come from a proxy, too.
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
from app.grading import guide_json
from app.monitoring.failures import request_id
from curation.core import log
from curation.core.errors import (
    CurationError,
    InputError,
    NotFoundError,
    RefusedError,
    StoreBusyError,
    StoreError,
)
from curation.guides.guide import guide_by_hash
from curation.guides.questions import ask_at_item, readable_questions
from curation.ingest.readers.json_records import UnreadJSONError, read_json
from curation.labeling.judging import Submission
from curation.labeling.rounds.practice import feedback
from curation.labeling.session.history import HistoryFilter, history_page
from curation.labeling.session.item_views import AnsweredItem, previous_answered, whole_document
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import Queue, next_showings, put_off_showings
from curation.labeling.session.recent_answers import answered_since
from curation.labeling.session.submit import submit
from curation.people.annotators import JUDGING, require_role

LARGEST_BODY = 256 * 1024
MAX_SHOWINGS = 20
STATUS: dict[type[CurationError], int] = {
    NotFoundError: 404,
    RefusedError: 403,
    InputError: 422,
    StoreBusyError: 503,
}

Id = Annotated[str, Field(min_length=1, max_length=64)]
Handler = Callable[[Request], Awaitable[Any]]
Read = TypeVar("Read", bound=BaseModel)


class Sent(BaseModel):
    """What a screen sends: nothing but its fields."""

    model_config = ConfigDict(extra="forbid")


class Judgment(Sent):
    """One action as the component sends it."""

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

    def submission(self) -> Submission:
        """The action as `curation` takes it; times are UTC there."""
        values = self.model_dump()
        values["evidence"] = tuple(self.evidence)
        shown: datetime | None = values.pop("shown_at")
        with suppress(OverflowError):  # a clock that far off is no reason to lose a grade
            values["shown_at"] = shown and shown.astimezone(UTC).replace(tzinfo=None)
        return Submission(**values)


class Keyed(BaseModel):
    """Something that was answered, known by its key; what else is in it is validated by itself."""

    model_config = ConfigDict(extra="allow")

    client_key: Annotated[str, Field(max_length=128)]


class Judgments(Sent):
    """Actions in the order in which they were done, and the items that the screen holds already.

    `explain` names practice items whose expected grade the screen will show once they are answered.
    """

    submissions: Annotated[list[Keyed], Field(max_length=50)]
    holding: Annotated[list[Id], Field(max_length=100)] = []
    limit: Annotated[int, Field(ge=0, le=MAX_SHOWINGS)] = 5
    explain: Annotated[list[Id], Field(max_length=20)] = []


class QueryAnswer(Sent):
    """Whether the corpus answers the query of one of the annotator's items."""

    presentation_id: Id
    answer: Annotated[str, Field(max_length=20)]
    client_key: Annotated[str, Field(max_length=128)]


class QueryAnswers(Sent):
    """Answers about queries in the order in which they were given."""

    answers: Annotated[list[Keyed], Field(max_length=50)]


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a moment is too far off to be known in UTC") from error


class Worked(Sent):
    """Moments since which to count answers."""

    since: Annotated[list[Annotated[AwareDatetime, AfterValidator(_in_utc)]], Field(max_length=3)]


class AskedQuestion(Sent):
    """A question about the guide, at one of the annotator's items or about the whole."""

    words: Annotated[str, Field(min_length=1, max_length=4_000)]
    presentation_id: Id | None = None


def answered_for(*roles: str) -> Callable[[Handler], Handler]:
    """For these roles, make JSON of what a handler returns, and a sentence with a fitting status of what it
    raises.
    """

    def decorate(handler: Handler) -> Handler:
        async def wrapped(request: Request) -> Response:
            try:
                require_role(request.state.account, *roles)
                return JSONResponse(await handler(request), headers={"Cache-Control": "no-store"})
            except ValidationError as error:
                return JSONResponse({"message": _sentence(error)}, 422)
            except CurationError as error:
                return JSONResponse({"message": str(error)}, STATUS.get(type(error), 500))

        return wrapped

    return decorate


answered = answered_for(*JUDGING)


@answered
async def presentations(request: Request) -> Any:
    """GET: the annotator's next items, without those named by `holding`."""
    query = request.query_params
    asked = Judgments(submissions=[], holding=query.getlist("holding"), limit=query.get("limit", "5"))  # type: ignore[arg-type]
    who = request.state.annotator
    asking = (asked.limit, asked.holding, image_hosts(), query.get("list", ""))
    return _queue(await run_in_threadpool(next_showings, project_store(), who, *asking))


@answered
async def previous(request: Request) -> Any:
    """GET: the item answered last, with the answer, or null."""
    item = await run_in_threadpool(previous_answered, project_store(), request.state.annotator, image_hosts())
    return item and _answered(item)


@answered
async def history(request: Request) -> Any:
    """GET: a page of the annotator's answers, newest first, each with the revision that a change needs."""
    wanted = HistoryFilter.model_validate(dict(request.query_params))
    who = request.state.annotator
    page = await run_in_threadpool(history_page, project_store(), who, wanted, image_hosts())
    return {**page._asdict(), "answers": [_answered(answer) for answer in page.answers]}


@answered
async def put_off(request: Request) -> Any:
    """GET: the open items that the annotator has put off, in the order in which they were."""
    who = request.state.annotator
    views = await run_in_threadpool(put_off_showings, project_store(), who, image_hosts())
    return [view._asdict() for view in views]


@answered
async def worked(request: Request) -> Any:
    """GET: how many items the annotator has answered since each `since`."""
    asked = Worked.model_validate({"since": request.query_params.getlist("since")})
    return await run_in_threadpool(_worked, request.state.annotator, asked)


@answered
async def document(request: Request) -> Any:
    """GET: the whole document of one of the annotator's items, as text in segments or safe elements."""
    who, which = request.state.annotator, request.path_params["presentation_id"]
    return {"body": await run_in_threadpool(whole_document, project_store(), who, which, image_hosts())}


@answered
async def guide(request: Request) -> Any:
    """GET: a labeling guide: title, scale, and its text as HTML in which no foreign HTML survives."""
    return await run_in_threadpool(_guide, request.path_params["guide_hash"])


@answered
async def judgments(request: Request) -> Any:
    """POST: record actions, in order; the response has the outcome of each, and the next items."""
    asked = Judgments.model_validate(await json_of(request))
    return await run_in_threadpool(_record, request.state.annotator, asked)


@answered
async def answers(request: Request) -> Any:
    """POST: record whether the corpus answers queries; the response has the outcome of each."""
    asked = QueryAnswers.model_validate(await json_of(request))
    return await run_in_threadpool(_record_answers, request.state.annotator, asked)


@answered
async def questions(request: Request) -> Any:
    """GET: the annotator's questions about the guide, and answers for everyone. POST: ask one."""
    who, asked = request.state.annotator, None
    if request.method == "POST":
        asked = AskedQuestion.model_validate(await json_of(request))
    return await run_in_threadpool(_questions, who, asked)


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


def _record(annotator: str, asked: Judgments) -> dict[str, Any]:
    store = project_store()
    read, refused = validated(Judgment, asked.submissions)
    done = [outcome._asdict() for outcome in submit(store, annotator, [item.submission() for item in read])]
    log_refused(annotator, [*refused, *done])
    answer: dict[str, Any] = {"outcomes": [*refused, *done], "queue": None}
    if asked.explain:
        answer["feedback"] = [shown._asdict() for shown in feedback(store, annotator, asked.explain)]
    if asked.limit:
        with suppress(StoreError):  # all is saved; the browser asks for its next items again
            answer["queue"] = _queue(
                next_showings(store, annotator, asked.limit, asked.holding, image_hosts())
            )
    return answer


def log_refused(annotator: str, outcomes: Sequence[dict[str, Any]]) -> None:
    """Write a line for each outcome that refuses an answer; it says neither grade nor words.

    The outcome gets the id of that line as `request`.
    """
    for outcome in outcomes:
        if outcome["status"] == "refused":
            outcome["request"] = request_id()
            log.write(
                logging.WARNING,
                f"An answer was refused: {log.without_content(outcome['message'])}",
                request=outcome["request"],
                annotator=annotator,
                presentation=outcome.get("presentation_id"),
            )


def _record_answers(annotator: str, asked: QueryAnswers) -> dict[str, Any]:
    store = project_store()
    read, refused = validated(QueryAnswer, asked.answers)
    outcomes = [
        answer_query(store, annotator, item.presentation_id, item.answer, item.client_key)._asdict()
        for item in read
    ]
    log_refused(annotator, [*refused, *outcomes])
    return {"outcomes": [*refused, *outcomes]}


def _worked(annotator: str, asked: Worked) -> list[int]:
    moments = [moment.replace(tzinfo=None) for moment in asked.since]
    with project_store().reading() as cursor:
        return answered_since(cursor, annotator, moments)


def _questions(annotator: str, asked: AskedQuestion | None) -> list[dict[str, Any]]:
    store = project_store()
    if asked is not None:
        ask_at_item(store, annotator, asked.words, asked.presentation_id)
    return [readable_question._asdict() for readable_question in readable_questions(store, annotator)]


def validated(model: type[Read], sent: Sequence[Keyed]) -> tuple[list[Read], list[dict[str, str]]]:
    """What can be read, and for each that cannot the outcome that refuses it."""
    read, refused = [], []
    for item in sent:
        try:
            read.append(model.model_validate(item.model_dump()))
        except ValidationError as error:
            outcome = {"client_key": item.client_key, "status": "refused", "message": _sentence(error)}
            refused.append(outcome)
    return read, refused


def _sentence(error: ValidationError) -> str:
    """What pydantic found. Names that no model knows are words of the request: the log has none of them."""
    return "; ".join(f"{_place(item)}: {item['msg']}" for item in error.errors(include_input=False))


def _place(item: ErrorDetails) -> str:
    known = item["type"] != "extra_forbidden"
    return ".".join(map(str, item["loc"])) if known else "an unknown name"


def _answered(answered: AnsweredItem) -> dict[str, Any]:
    return {**answered._asdict(), "showing": answered.showing._asdict()}


def _queue(queue: Queue) -> dict[str, Any]:
    practice = queue.practice and queue.practice._asdict()
    showings = [showing._asdict() for showing in queue.showings]
    listing = [_answered(item) for item in queue.listing]
    return {**queue._asdict(), "practice": practice, "showings": showings, "listing": listing}


def _guide(guide_hash: str) -> dict[str, Any]:
    with project_store().reading() as cursor:
        return guide_json(guide_by_hash(cursor, guide_hash))


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise InputError(f"the request is larger than {LARGEST_BODY:,} bytes")
    return body


async def json_of(request: Request) -> Any:
    """The JSON that a request posts; raises `InputError` if the body is not JSON."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InputError("expected JSON with the content type application/json")
    body = await _body(request)
    try:
        return read_json(body.decode())
    except UnicodeDecodeError as error:
        raise InputError("the request is not UTF-8") from error
    except UnreadJSONError as error:
        problem = "it is not JSON" if error.is_broken else error.found  # the log has no words of a request
        raise InputError(f"the request cannot be read: line {error.line}: {problem}") from None
