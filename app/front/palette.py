"""The JSON route of the command palette, which finds queries, documents and people by the words entered."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.routing import Route

from app.components.links import query_address
from app.context import project_store
from app.json_routes import json_route
from curation.operations.palette_search import SearchHit, find_items
from curation.operations.query_facts import READER_ROLES

MAX_SEARCH_LENGTH = 200


@json_route(*READER_ROLES)
def search(request: Request) -> Any:
    """GET: return the queries, documents and people that contain all the search words."""
    search_text = request.query_params.get("words", "")[:MAX_SEARCH_LENGTH]
    with project_store().reading() as cursor:
        return [
            {"title": item.title, "about": item.kind, "address": _make_address(item)}
            for item in find_items(cursor, search_text, request.state.account)
        ]


ROUTES = [Route("/api/palette", search)]


def _make_address(found_item: SearchHit) -> str:
    if found_item.kind == "person":
        return f"/team?{urlencode({'person': found_item.title})}"
    return query_address(found_item.query_id, found_item.document_id)
