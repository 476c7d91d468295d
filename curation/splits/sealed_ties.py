"""Ties of sealed queries, as they may be shown: without the documents that tie them.

A document that ties two queries is relevant to both. So where a release seals one of them, the tie is named
and its documents are not. Which queries the closest documents across the parts are relevant to is not kept:
where any query is sealed, they have no names. How many pairs were compared is not said, either: it is a
product of numbers of relevant documents, and splits by many seeds would tell that of each query.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from curation.door import shut_door
from curation.splits.certificate.certificate import Certificate, read_certificate
from curation.splits.certificate.documents import NEAR_DUPLICATE
from curation.splits.certificate.findings import ClosestPair, Crossing, TieCheck
from curation.splits.ties.edges import Edge
from curation.store import Cursor

Shown = TypeVar("Shown")
SEALED_TEXT = "not named, as a release seals what is relevant"


def without_sealed(found: Shown, closed: Collection[str]) -> Shown:
    """What was found of ties, at any depth, without the documents that tie queries of `closed`."""
    return _shown(found, closed) if closed else found


def shown_certificate(cursor: Cursor, release: str | None = None) -> Certificate:
    """The certificate of the split in force, or of a release, as it may be shown.

    Raises
    ------
    NotFoundError, RefusedError: as `read_certificate`.
    """
    return without_sealed(read_certificate(cursor, release), shut_door(cursor).closed)


def _shown(found: Any, closed: Collection[str]) -> Any:
    if isinstance(found, Edge | Crossing):
        return _tie(found, closed)
    if isinstance(found, TieCheck):
        return _check(found)
    if is_dataclass(found) and not isinstance(found, type):
        return replace(found, **{one.name: _shown(getattr(found, one.name), closed) for one in fields(found)})
    if isinstance(found, Mapping):
        return {key: _shown(value, closed) for key, value in found.items()}
    if isinstance(found, list | tuple):
        items = [_shown(item, closed) for item in found]
        return type(found)(*items) if hasattr(found, "_fields") else type(found)(items)
    return found


def _tie(found: Edge | Crossing, closed: Collection[str]) -> Edge | Crossing:
    if found.query_a not in closed and found.query_b not in closed:
        return found
    return found._replace(documents=()) if isinstance(found, Edge) else replace(found, documents=())


def _check(found: TieCheck) -> TieCheck:
    if found.kind != NEAR_DUPLICATE:
        return found
    return replace(found, compared=None, highest=_closest(found.highest))


def _closest(found: ClosestPair | None) -> ClosestPair | None:
    return found and ClosestPair("–", "–", found.similarity, SEALED_TEXT, SEALED_TEXT)
