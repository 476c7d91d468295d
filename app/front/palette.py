"""The palette's route: queries, documents and people by words, each with the address of its page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route

from app.api import answered_for
from app.components.links import query_address
from app.context import project_store
from curation.operations.find_by_words import FoundItem, find_by_words
from curation.operations.query_facts import READERS
from curation.store import Annotator

MAX_SEARCH_LENGTH = 200
"""Characters of what is searched for."""


@answered_for(*READERS)
async def found(request: Request) -> Any:
    """GET: what has all the words."""
    words = request.query_params.get("words", "")[:MAX_SEARCH_LENGTH]
    return await run_in_threadpool(_found, words, request.state.account)


ROUTES = [Route("/api/palette", found)]


def _found(words: str, reader: Annotator) -> list[dict[str, str]]:
    with project_store().reading() as cursor:
        return [
            {"title": word.title, "about": word.kind, "address": _address(word)}
            for word in find_by_words(cursor, words, reader)
        ]


def _address(found_item: FoundItem) -> str:
    if found_item.kind == "person":
        return f"/team?{urlencode({'person': found_item.title})}"
    return query_address(found_item.query_id, found_item.document_id)
