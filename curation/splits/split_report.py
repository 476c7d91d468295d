"""The report of a split, with the ties and leakage groups that determined its parts."""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.text import describe_left_out, pluralize
from curation.splits.by_time import ByTime
from curation.splits.certificate import Certificate
from curation.splits.cuts import RemainingTies, describe_cuts
from curation.splits.edges import Edge
from curation.splits.groups import LeakageGroup

NO_PARAPHRASES = "goldgrade did not look for paraphrases, which need an embedding model."


@dataclass(frozen=True)
class SplitReport:
    """The report of a split, with the ties and leakage groups that determined its parts.

    Attributes
    ----------
    created: False if the project has this split already, so that nothing was added.
    certificate: parameters, part sizes, and the ties that the exhaustive check across the parts found.
    ties: kind → number of ties: pairs of similar query texts; pairs of queries for each document that is
        relevant to both; pairs of nearly identical relevant documents.
    edges: kind → number of stored edges, which are the strongest ties that hold the groups together.
    cut: the ties that were cut by name, whether or not they cross the parts.
    remaining_ties: pairs that were cut and that other ties still join.
    large_groups: groups with more than 5 % of the queries; a split into one part has no such groups.
    kept: queries whose part is carried over from a release.
    disagreeing: kept queries that releases have in different parts; the newest release decides.
    by_time: facts about the cut by time; None if parts were balanced.
    left_out: reason → number.
    """

    split_id: str
    created: bool
    certificate: Certificate
    ties: dict[str, int]
    edges: dict[str, int]
    cut: tuple[Edge, ...]
    remaining_ties: tuple[RemainingTies, ...]
    large_groups: tuple[LeakageGroup, ...]
    kept: int
    disagreeing: int
    by_time: ByTime | None
    left_out: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        """Describe in sentences the split's queries and groups, the kept parts, and the queries left out."""
        current = "This is the current split now"
        state = current if self.created else "This split already exists, and is current"
        queries = pluralize(self.certificate.queries, "query", "queries")
        groups = pluralize(self.certificate.groups, "leakage group")
        carried_over = pluralize(self.kept, "query keeps", "queries keep")
        return [
            f"{state}: {queries} in {groups}.",
            *([f"{carried_over} the part from an earlier release."] if self.kept else []),
            *describe_left_out(self.left_out),
            *([NO_PARAPHRASES] if self.certificate.parameters["paraphrase_threshold"] is None else []),
            f"The seed is {self.certificate.parameters['seed']}.",
        ]

    @property
    def details(self) -> list[str]:
        """List how many ties of each kind there are, the cut ties, and the large leakage groups."""
        tie_counts = ", ".join(f"{count:,} by {kind}" for kind, count in self.ties.items() if count)
        lines = [
            f"Ties between queries: {tie_counts or 'none'}. The {sum(self.edges.values()):,} strongest ties, "
            "which connect the queries of each leakage group, are stored.",
            *describe_cuts(self.cut, self.remaining_ties, self.certificate.texts),
        ]
        if self.disagreeing:
            queries = pluralize(self.disagreeing, "query", "queries")
            lines.append(f"Releases put {queries} into different parts: the newest release decides.")
        if self.by_time is not None:
            lines += self.by_time.sentences
        for group in self.large_groups:
            consequence = group.spoils or "the parts have the requested sizes"
            lines += [
                "",
                f"WARNING: one leakage group contains {group.size}, and {consequence}.",
                *group.lines,
            ]
        return lines
