"""Hiding documents that tie sealed queries, in certificates, reports and refusals of a split.

A shared document that ties two queries is relevant to both. So if a release seals one of them, people see the
tie without its documents. The closest documents of different parts are hidden if any query is sealed, because
a certificate does not store to which queries they are relevant. So is the number of compared pairs of
documents: it is a product of numbers of relevant documents, so splits with many seeds would reveal the number
of each query.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from curation.splits.edges import Edge
from curation.splits.findings import NEAR_DUPLICATE, ClosestPair, Crossing, TieCheck

Record = TypeVar("Record")
SEALED_TEXT = "not named, because a release seals which documents are relevant"


def hide_sealed_documents(record: Record, sealed: Collection[str]) -> Record:
    """Copy a record without the documents that tie `sealed` queries, including in nested fields."""
    return _hide_in_value(record, sealed) if sealed else record


def _hide_in_value(value: Any, sealed: Collection[str]) -> Any:
    if isinstance(value, Edge | Crossing):
        return _hide_in_tie(value, sealed)
    if isinstance(value, TieCheck):
        return _hide_in_check(value)
    if is_dataclass(value) and not isinstance(value, type):
        hidden = {field.name: _hide_in_value(getattr(value, field.name), sealed) for field in fields(value)}
        return replace(value, **hidden)
    if isinstance(value, Mapping):
        return {key: _hide_in_value(item, sealed) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [_hide_in_value(item, sealed) for item in value]
        is_named_tuple = hasattr(value, "_fields")
        return type(value)(*items) if is_named_tuple else type(value)(items)
    return value


def _hide_in_tie(tie: Edge | Crossing, sealed: Collection[str]) -> Edge | Crossing:
    if tie.query_a not in sealed and tie.query_b not in sealed:
        return tie
    return tie._replace(documents=()) if isinstance(tie, Edge) else replace(tie, documents=())


def _hide_in_check(check: TieCheck) -> TieCheck:
    if check.kind != NEAR_DUPLICATE:
        return check
    highest, told_apart = _hide_pair(check.highest), _hide_pair(check.told_apart)
    return replace(check, compared=None, highest=highest, told_apart=told_apart)


def _hide_pair(pair: ClosestPair | None) -> ClosestPair | None:
    return pair and ClosestPair("–", "–", pair.similarity, SEALED_TEXT, SEALED_TEXT)
