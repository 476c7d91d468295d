"""JSON routes: endpoints that answer messages from a screen's browser code with JSON.

A refused request gets a response with a sentence in `message`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.monitoring.failures import current_request_id
from curation.core import log
from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError, StoreBusyError
from curation.ingest.readers.json_records import UnreadJSONError, read_json
from curation.people.annotators import require_role

MAX_BODY_BYTES = 256 * 1024
HTTP_STATUS = {NotFoundError: 404, RefusedError: 403, InputError: 422, StoreBusyError: 503}

Handler = Callable[[Request], Any]
Endpoint = Callable[[Request], Awaitable[Response]]
Message = TypeVar("Message", bound=BaseModel)


class StrictMessage(BaseModel):
    """A message from the browser; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class KeyedMessage(BaseModel):
    """An answer with its client key; its other fields are validated later."""

    model_config = ConfigDict(extra="allow")

    client_key: Annotated[str, Field(max_length=128)]


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


def log_refusals(annotator: str, outcomes: Sequence[dict[str, Any]]) -> None:
    """Log a line for each refused answer, without its grade or its words.

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
    """Describe for the log the problems that pydantic found, without the names of unknown fields."""
    return "; ".join(f"{_name_field(item)}: {item['msg']}" for item in error.errors(include_input=False))


def _name_field(item: ErrorDetails) -> str:
    is_known = item["type"] != "extra_forbidden"
    return ".".join(map(str, item["loc"])) if is_known else "an unknown name"


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
        raise InputError("the request's content type is wrong; expected application/json")
    body = await _read_body(request)
    try:
        return read_json(body.decode())
    except UnicodeDecodeError as error:
        raise InputError("the request is not UTF-8 text") from error
    except UnreadJSONError as error:
        problem = "it is not JSON" if error.is_broken else error.found  # the log has no words of a request
        raise InputError(f"the request cannot be read: line {error.line}: {problem}") from None
