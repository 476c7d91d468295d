"""The JSON routes of the grading screen.

Every request acts for the annotator who is signed in. The role of the annotator must allow to judge, and
`curation.labeling` decides whether an item belongs to the annotator.

The browser treats the outcome of an answer as final only if the outcome names the client key of the answer.
The browser keeps every other answer and sends the answer again, because the error may come from a proxy.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, Field, StrictBool, StrictInt
from starlette.requests import Request
from starlette.routing import Route

from app.context import image_hosts, project_store
from app.grading import make_guide_json
from app.json_routes import KeyedMessage, StrictMessage, json_route, log_refusals, validate_messages
from curation.core.errors import StoreError
from curation.guides.guide import current_guide, load_guide
from curation.guides.questions import ask_about_item, list_readable_questions
from curation.labeling.judging import Submission
from curation.labeling.rounds.practice import read_feedback
from curation.labeling.session.history import HistoryFilter, read_history_page
from curation.labeling.session.item_views import AnsweredItem, draw_whole_document, read_previous_answer
from curation.labeling.session.query_answers import answer_query
from curation.labeling.session.queue import AnnotatorQueue, read_queue, read_skipped_items
from curation.labeling.session.recent_answers import count_answered_since
from curation.labeling.session.submit import submit_judgments
from curation.people.annotators import JUDGING_ROLES

MAX_ITEMS = 20

Id = Annotated[str, Field(min_length=1, max_length=64)]
annotator_route = json_route(*JUDGING_ROLES)


class JudgmentMessage(StrictMessage):
    """An action of an annotator, such as a grade, as sent by the browser."""

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
    evidence: list[tuple[StrictInt, StrictInt]] = Field([], max_length=500)

    def to_submission(self) -> Submission:
        """Return the action as a record of the package `curation`, with times in UTC."""
        values = self.model_dump()
        values["evidence"] = tuple(self.evidence)
        shown_at: datetime | None = values.pop("shown_at")
        with suppress(OverflowError):  # a browser's wrong clock must not lose a grade
            values["shown_at"] = shown_at and shown_at.astimezone(UTC).replace(tzinfo=None)
        return Submission(**values)


class JudgmentBatch(StrictMessage):
    """An annotator's actions in chronological order, and the ids of the items that the browser already has.

    `explain` names practice items whose expected grades the screen shows once the annotator has answered.
    """

    submissions: Annotated[list[KeyedMessage], Field(max_length=50)]
    holding: list[Id] = Field([], max_length=100)
    limit: Annotated[int, Field(ge=0, le=MAX_ITEMS)] = 5
    explain: list[Id] = Field([], max_length=20)


class QueryAnswerMessage(StrictMessage):
    """An annotator's answer to the question of whether the corpus answers an item's query."""

    presentation_id: Id
    answer: Annotated[str, Field(max_length=20)]
    client_key: Annotated[str, Field(max_length=128)]


class QueryAnswerBatch(StrictMessage):
    """An annotator's answers, in chronological order, to the question of whether the corpus answers a
    query."""

    answers: Annotated[list[KeyedMessage], Field(max_length=50)]


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time is outside the range of dates that UTC supports") from error


class CountRequest(StrictMessage):
    """A request to count the annotator's answers since each of these times."""

    since: Annotated[list[Annotated[AwareDatetime, AfterValidator(_to_utc)]], Field(max_length=3)]


class QuestionMessage(StrictMessage):
    """A question about the labeling guide, asked about one of the annotator's items or about the whole
    guide."""

    words: Annotated[str, Field(min_length=1, max_length=4_000)]
    presentation_id: Id | None = None


@annotator_route
def list_items(request: Request) -> Any:
    """GET: return the annotator's next items, except those named in `holding`."""
    parameters, annotator = request.query_params, request.state.annotator
    holding, limit = parameters.getlist("holding"), parameters.get("limit", "5")
    options = JudgmentBatch.model_validate({"submissions": [], "holding": holding, "limit": limit})
    list_name = parameters.get("list", "")
    queue = read_queue(project_store(), annotator, options.limit, options.holding, image_hosts(), list_name)
    return _queue_json(queue)


@annotator_route
def read_previous_item(request: Request) -> Any:
    """GET: return the item that the annotator answered last with its answer, or null."""
    item = read_previous_answer(project_store(), request.state.annotator, image_hosts())
    return item and _answer_json(item)


@annotator_route
def read_history(request: Request) -> Any:
    """GET: return a page of the annotator's answers, newest first, each with its revision."""
    history_filter = HistoryFilter.model_validate(dict(request.query_params))
    page = read_history_page(project_store(), request.state.annotator, history_filter, image_hosts())
    return {**page._asdict(), "answers": [_answer_json(answer) for answer in page.answers]}


@annotator_route
def list_skipped_items(request: Request) -> Any:
    """GET: return the open items that the annotator has skipped, earliest first."""
    views = read_skipped_items(project_store(), request.state.annotator, image_hosts())
    return [view._asdict() for view in views]


@annotator_route
def count_answers(request: Request) -> Any:
    """GET: count the items that the annotator answered after each time in `since`."""
    count_request = CountRequest.model_validate({"since": request.query_params.getlist("since")})
    moments = [moment.replace(tzinfo=None) for moment in count_request.since]
    with project_store().reading() as cursor:
        return count_answered_since(cursor, request.state.annotator, moments)


@annotator_route
def read_document(request: Request) -> Any:
    """GET: return the whole document of an annotator's item, as text segments or safe HTML elements."""
    annotator, presentation_id = request.state.annotator, request.path_params["presentation_id"]
    return {"body": draw_whole_document(project_store(), annotator, presentation_id, image_hosts())}


@annotator_route
def read_guide(request: Request) -> Any:
    """GET: return a labeling guide, or the `current` one: its title, its scale, and its text as safe HTML."""
    guide_hash = request.path_params["guide_hash"]
    with project_store().reading() as cursor:
        guide = current_guide(cursor) if guide_hash == "current" else load_guide(cursor, guide_hash)
    return make_guide_json(guide)


@annotator_route
def record_judgments(request: Request) -> Any:
    """POST: record actions in order; return each action's outcome, and the next items."""
    batch, annotator = JudgmentBatch.model_validate(request.state.message), request.state.annotator
    store = project_store()
    messages, refusals = validate_messages(JudgmentMessage, batch.submissions)
    submissions = [message.to_submission() for message in messages]
    outcomes = [outcome._asdict() for outcome in submit_judgments(store, annotator, submissions)]
    log_refusals(annotator, [*refusals, *outcomes])
    response: dict[str, Any] = {"outcomes": [*refusals, *outcomes], "queue": None}
    if batch.explain:
        response["feedback"] = [item._asdict() for item in read_feedback(store, annotator, batch.explain)]
    if batch.limit:
        with suppress(StoreError):  # the answers are saved, and the browser asks for its next items again
            queue = read_queue(store, annotator, batch.limit, batch.holding, image_hosts())
            response["queue"] = _queue_json(queue)
    return response


@annotator_route
def record_query_answers(request: Request) -> Any:
    """POST: record whether the corpus answers queries; return each answer's outcome."""
    batch, annotator = QueryAnswerBatch.model_validate(request.state.message), request.state.annotator
    messages, refusals = validate_messages(QueryAnswerMessage, batch.answers)
    outcomes = [
        answer_query(project_store(), annotator, item.presentation_id, item.answer, item.client_key)._asdict()
        for item in messages
    ]
    log_refusals(annotator, [*refusals, *outcomes])
    return {"outcomes": [*refusals, *outcomes]}


@annotator_route
def handle_questions(request: Request) -> Any:
    """GET: return the annotator's questions about the guide, and the public answers. POST: store a
    question."""
    store, annotator = project_store(), request.state.annotator
    if request.method == "POST":
        question = QuestionMessage.model_validate(request.state.message)
        ask_about_item(store, annotator, question.words, question.presentation_id)
    return [question._asdict() for question in list_readable_questions(store, annotator)]


ROUTES = [
    Route("/api/presentations", list_items),
    Route("/api/presentations/previous", read_previous_item),
    Route("/api/presentations/{presentation_id}/document", read_document),
    Route("/api/guides/{guide_hash}", read_guide),
    Route("/api/judgments", record_judgments, methods=["POST"]),
    Route("/api/answers", record_query_answers, methods=["POST"]),
    Route("/api/history", read_history),
    Route("/api/skipped", list_skipped_items),
    Route("/api/worked", count_answers),
    Route("/api/questions", handle_questions, methods=["GET", "POST"]),
]


def _answer_json(answered: AnsweredItem) -> dict[str, Any]:
    return {**answered._asdict(), "showing": answered.showing._asdict()}


def _queue_json(queue: AnnotatorQueue) -> dict[str, Any]:
    practice = queue.practice and queue.practice._asdict()
    showings = [showing._asdict() for showing in queue.showings]
    listing = [_answer_json(item) for item in queue.listing]
    return {**queue._asdict(), "practice": practice, "showings": showings, "listing": listing}
