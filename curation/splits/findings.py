"""Records of the exhaustive check of a split, from the queries with their parts to the leaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from curation.core.progress import Progress

if TYPE_CHECKING:
    from curation.splits.inputs import SplitInputs
    from curation.splits.rules import Rules

QUERY_TEXT = "query text"
PARAPHRASE = "paraphrase"
SHARED_DOCUMENT = "shared document"
SAME_KEY = "same key"
NEAR_DUPLICATE = "near-duplicate document"


@dataclass(frozen=True)
class AssignedSplit:
    """A split's queries with their parts, which the checks compare.

    Attributes
    ----------
    parts: query id → part, for every query of the inputs.
    """

    inputs: SplitInputs
    parts: Mapping[str, str]
    rules: Rules
    progress: Progress

    @cached_property
    def cut_pairs(self) -> set[frozenset[str]]:
        """Return the pairs of queries that people cut from each other by name."""
        return {frozenset(pair) for pair in self.rules.cut}


@dataclass(frozen=True, order=True)
class Crossing:
    """A leak: a tie between two queries (query_a < query_b) in different parts of the split.

    documents: the shared document, or the two similar documents (the document of query_a first), or empty.
    """

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClosestPair:
    """The two most similar texts in different parts of a split, as ids and beginnings."""

    first: str
    second: str
    similarity: float
    first_text: str
    second_text: str


@dataclass(frozen=True)
class TieCheck:
    """The result of the check for one kind of tie between queries in different parts.

    Attributes
    ----------
    threshold: the least similarity of a leak; None where a tie has no degrees, or where the kind is not
        looked for, so that the similarities are for information only.
    looked_for: whether a pair of this kind is a leak.
    compared: number of compared pairs of texts, or of documents and keys that several parts have. None where
        a release seals the number of relevant documents.
    highest: the most similar pair that is not cut by name; None if no two texts have anything in common.
    told_apart: the most similar pair of queries or documents that both have a group, where groups are a tie.
    crossing, cut: numbers of pairs that are leaks (for each text the closest), and that were cut by name.
    """

    kind: str
    looked_for: bool
    threshold: float | None
    compared: int | None
    highest: ClosestPair | None
    told_apart: ClosestPair | None
    crossing: int
    cut: int


@dataclass(frozen=True)
class Findings:
    """Ties between parts of a split found by the exhaustive checks.

    Attributes
    ----------
    leaks: ties that must not cross the parts. The split is sound if there are no leaks.
    residual: ties that cross the parts because they were cut by name.
    """

    checks: tuple[TieCheck, ...]
    leaks: tuple[Crossing, ...]
    residual: tuple[Crossing, ...]
