"""One query asked of an engine, to see whether its template is right. Nothing is stored."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

from curation.engines.client import EngineClient
from curation.engines.documents import bring
from curation.engines.stored import find_engine
from curation.engines.template import WebCall
from curation.files.values import text_of
from curation.sources.redaction.personal_data import redact
from curation.store import Document, Store
from curation.text import amount

_BEGINS = 60


class TriedHit(NamedTuple):
    """A hit with the title of its document; '' where the engine has it no more."""

    document_id: str
    score: float | None
    title: str


@dataclass(frozen=True)
class EngineTrial:
    """What was asked, and what came.

    Attributes
    ----------
    request: as it was sent, without address and key.
    fields: of the first document, as the project would have it: name → how it begins.
    incomplete: why the answer is not whole; '' where it is.
    left_out: reason → documents.
    """

    host: str
    request: WebCall
    hits: list[TriedHit]
    seconds: float
    incomplete: str
    fields: dict[str, str]
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """What is to be known besides."""
        found = [f"The answer is not whole: {self.incomplete}."] if self.incomplete else []
        return found + [f"{amount(count, why)}." for why, count in self.left_out.items()]


def try_engine(store: Store, name: str, query: str, depth: int) -> EngineTrial:
    """Ask an engine for a query, and for the documents of its hits; see `EngineClient.search`."""
    with store.reading() as cursor:
        engine = find_engine(cursor, name)
    client, template, text = EngineClient(engine), engine.template, redact(query).text
    found = client.search(text, depth)
    brought = bring(client, found.ids)
    titles = {one.document_id: one.title or one.body for one in brought.documents.values()}
    scores: list[float | None] = list(found.scores) if found.scores else [None] * len(found.ids)
    hits = [
        TriedHit(one, score, titles.get(one, "")[:_BEGINS])
        for one, score in zip(found.ids, scores, strict=True)
    ]
    first = brought.documents.get(found.ids[0]) if found.ids else None
    return EngineTrial(
        host=client.host,
        request=template.call(template.search, query=text, depth=depth),
        hits=hits,
        seconds=found.seconds,
        incomplete=found.incomplete,
        fields={} if first is None else _fields(first),
        left_out=brought.left_out,
    )


def _fields(document: Document) -> dict[str, str]:
    own = {"title": document.title, "text": document.body, "url": document.url, "date": document.published}
    kept = {f"metadata {name}": value for name, value in json.loads(document.metadata).items()}
    return {
        name: text_of(value)[:_BEGINS] for name, value in {**own, "group": document.group_key, **kept}.items()
    }
