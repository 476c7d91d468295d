"""The report of a split: what it is, what ties were found, and how good the parts are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from curation.splits.assignment.assignment import PartShare
from curation.splits.assignment.by_time import ByTime
from curation.splits.certificate.certificate import Certificate
from curation.splits.groups.cuts import StillTied
from curation.splits.refusals import LargeGroup
from curation.splits.ties.edges import Edge


@dataclass(frozen=True)
class SplitReport:
    """What a split is and how good.

    Attributes
    ----------
    created: False where this very split existed already; nothing was added then.
    certificate: parameters, shares, and what the exhaustive check across the parts found.
    ties: kind → number of ties found: pairs of similar query texts; pairs of queries for each document that
        is relevant to both; pairs of nearly identical relevant documents.
    edges: kind → number of edges kept: the strongest ties that hold the groups together.
    cut: the ties that were cut by name, whether or not they cross the parts.
    still_tied: pairs that were cut and that other ties still join.
    missed: edges that the search missed and the exhaustive check found.
    large_groups: groups with more than 5 % of the queries, and what they spoil.
    groups_across: groups of documents that are relevant in several parts, where groups are no tie.
    kept: queries whose part is carried over from a release.
    disagreeing: of these, queries that releases have in different parts: the newest release decides.
    by_time: how the cut by time went; None where parts were balanced.
    left_out: reason → number.
    """

    split_id: str
    created: bool
    certificate: Certificate
    ties: dict[str, int]
    edges: dict[str, int]
    cut: tuple[Edge, ...]
    still_tied: tuple[StillTied, ...]
    missed: int
    large_groups: tuple[LargeGroup, ...]
    groups_across: int
    kept: int
    disagreeing: int
    by_time: ByTime | None
    left_out: dict[str, int]

    @property
    def parameters(self) -> dict[str, Any]:
        return self.certificate.parameters

    @property
    def queries(self) -> int:
        return self.certificate.queries

    @property
    def groups(self) -> int:
        return self.certificate.groups

    @property
    def largest(self) -> int:
        return self.certificate.largest

    @property
    def shares(self) -> tuple[PartShare, ...]:
        return self.certificate.shares
