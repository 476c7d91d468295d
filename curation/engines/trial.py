"""One query asked of an engine, to see whether its template is right. Nothing is stored."""

from __future__ import annotations

from typing import NamedTuple

from curation.engines.client import EngineClient, EngineList
from curation.engines.documents import bring
from curation.engines.stored import find_engine
from curation.engines.template import WebCall
from curation.store import Document, Store


class EngineTrial(NamedTuple):
    """What was asked, without address and key, and what came.

    Attributes
    ----------
    documents: of the hits, by id, as the project would have them.
    left_out: reason → documents.
    """

    host: str
    request: WebCall
    hits: EngineList
    documents: dict[str, Document]
    left_out: dict[str, int]


def try_engine(store: Store, name: str, query: str, depth: int) -> EngineTrial:
    """Ask an engine for a query, and for the documents of its hits; see `EngineClient.search`."""
    with store.reading() as cursor:
        engine = find_engine(cursor, name)
    client = EngineClient(engine)
    found = client.search(query, depth)
    return EngineTrial(client.host, client.search_call(query, depth), found, *bring(client, found.ids))
