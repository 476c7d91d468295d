"""What the checks across a split are given, and what they find: closest pairs, leaks, and cut ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from curation.core.progress import Progress

if TYPE_CHECKING:
    from curation.splits.inputs import SplitInputs
    from curation.splits.rules import Rules

EXCERPT = 280
"""Characters of a text that the certificate shows."""


@dataclass(frozen=True)
class SplitEvidence:
    """A split to be checked.

    Attributes
    ----------
    parts: query id → part, for every query of the inputs.
    cut: pairs of queries that were cut from each other by name.
    """

    inputs: SplitInputs
    parts: Mapping[str, str]
    rules: Rules
    cut: set[frozenset[str]]
    progress: Progress


@dataclass(frozen=True, order=True)
class Crossing:
    """Two queries (query_a < query_b) in different parts that give each other away, and the documents that
    make it so: the shared one; the two similar ones, that of query_a first; or none."""

    query_a: str
    query_b: str
    kind: str
    similarity: float
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClosestPair:
    """The two most similar texts across the parts: ids (of queries or documents) and how the texts begin."""

    first: str
    second: str
    similarity: float
    first_text: str
    second_text: str


@dataclass(frozen=True)
class TieCheck:
    """What the check for one kind of tie found.

    Attributes
    ----------
    threshold: the least similarity of a leak; None where the kind is not looked for, and the figure is for
        information only, or where a tie has no degrees.
    looked_for: whether a pair of this kind is a leak.
    compared: pairs across the parts: of texts; or of queries, documents and keys that could be shared.
        None where a release seals how many documents are relevant.
    highest: the most similar pair that is not cut by name; None where no two have anything in common.
    told_apart: the most similar pair of queries that name different numbers or models, where the rules tell
        those apart; or of queries or documents that both have a group, where groups are a tie.
    crossing, cut: pairs found that are leaks (of each text the closest), and that were cut by name.
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
    """What was found across the split.

    Attributes
    ----------
    leaks: what crosses and must not. Empty exactly when nothing crosses that was not cut by name.
    residual: what crosses because it was cut by name.
    """

    checks: tuple[TieCheck, ...]
    leaks: tuple[Crossing, ...]
    residual: tuple[Crossing, ...]

    def check(self, kind: str) -> TieCheck | None:
        """The check of one kind; None where it was not made."""
        return next((check for check in self.checks if check.kind == kind), None)


class CheckResult(NamedTuple):
    """A check, and the pairs that it found."""

    check: TieCheck
    leaks: list[Crossing]
    residual: list[Crossing]


def closest_pair(
    found: tuple[float, int, int] | None, ids: Sequence[str], texts: Sequence[str]
) -> ClosestPair | None:
    """The pair with its ids and excerpts; `found`: similarity and the positions of the two in `ids`."""
    if found is None:
        return None
    similarity, first, second = found
    return ClosestPair(ids[first], ids[second], similarity, texts[first][:EXCERPT], texts[second][:EXCERPT])
