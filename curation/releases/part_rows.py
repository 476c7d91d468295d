"""The rows of a release's parts: the rows' types, and functions that read a row and that several rooms
use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from curation.store.release_parts import PartText

FORMAT = 2
"""The version of the format of a release's content."""
NO_NUMBER = "somebody who judged nothing of this release"
"""Replacement in a release for the name of a person who has no annotator number."""
Rows = list[dict[str, Any]]
"""Type of the rows of a release's part."""
PartRows = Rows | PartText
"""Type of the rows of a draft's part: a list, or a text for a part with many rows."""


def find_without_relevant(
    queries: Iterable[Mapping[str, Any]], qrels: Iterable[Mapping[str, Any]], relevant_grade: int
) -> list[str]:
    """List the ids of a release's queries that have no relevant document."""
    relevant = {row["query_id"] for row in qrels if row["grade"] >= relevant_grade}
    return [row["query_id"] for row in queries if row["query_id"] not in relevant]


def get_pair(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the query id and the document id of a row of a release's part."""
    return row["query_id"], row["document_id"]
