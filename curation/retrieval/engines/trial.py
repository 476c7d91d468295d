"""Trials of an engine's template, which ask for one query's list and store nothing."""

from __future__ import annotations

from typing import NamedTuple

from curation.retrieval.engines.client import EngineClient, EngineList
from curation.retrieval.engines.documents import fetch_documents
from curation.retrieval.engines.stored_engines import find_engine
from curation.retrieval.engines.template import WebCall
from curation.store import Document, Store


class EngineTrial(NamedTuple):
    """A trial of an engine's template: the request, without address or key, and the engine's answer.

    Attributes
    ----------
    documents: documents of the hits by id, as the project would store them.
    left_out: reason → number of documents.
    """

    host: str
    request: WebCall
    hits: EngineList
    documents: dict[str, Document]
    left_out: dict[str, int]


def try_engine(store: Store, name: str, query: str, depth: int) -> EngineTrial:
    """Request an engine's list for a query, and the documents of its hits (see `EngineClient.search`)."""
    with store.reading() as cursor:
        client = EngineClient(find_engine(cursor, name))
    hits = client.search(query, depth)
    documents, left_out = fetch_documents(client, hits.ids)
    return EngineTrial(client.host, client.make_search_call(query, depth), hits, documents, left_out)
