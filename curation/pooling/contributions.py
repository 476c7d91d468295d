"""Systems' contributions to a pool: the relevant documents that only one system found.

The contribution of a system is measured by leaving the system out of the pool (Zobel, How reliable are the
results of large-scale information retrieval experiments?, SIGIR 1998). Without the system, relevant documents
that no other system proposed would not have been judged. A new system may lose about as many relevant
documents, because documents that only the new system finds have no judgments. If the contributions are large,
the pool is too shallow or has too few systems.

The grades of sealed queries are hidden (`pooling.relevance`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.reports.tables import ShareCell, Table
from curation.core.text import pluralize
from curation.people.seal_access import describe_withheld_pairs, read_closed_access
from curation.pooling import RANDOM
from curation.pooling.relevance import Pair, Relevance
from curation.pooling.stored_pool import find_pool
from curation.pooling.systems import TOP
from curation.store import Store, fetch

_RANKED = """
SELECT query_id, document_id, system, rank, score FROM candidate_sources WHERE pool_id = ? AND system <> ?
"""
_RANDOM_PAIRS = "SELECT query_id, document_id FROM candidate_sources WHERE pool_id = ? AND system = ?"


class RankedPair(NamedTuple):
    """The rank and score of a pair in one system's list."""

    query_id: str
    document_id: str
    system: str
    rank: int
    score: float | None


class Contribution(NamedTuple):
    """One system's contribution to a pool.

    Attributes
    ----------
    candidates, alone: number of pairs that the system proposed, and number of pairs that only the system
        proposed.
    graded, relevant: number of the system's candidates with a grade, and with a grade above the scale's
        lowest grade.
    lost: number of relevant pairs that only the system proposed.
    lost_share: `lost` as a share of all relevant pairs of systems; None without relevant pairs.
    top: number of the system's results within the first `TOP`.
    judged_at_10: share of these results that have a grade; None without results.
    """

    system: str
    candidates: int
    alone: int
    graded: int
    relevant: int
    lost: int
    lost_share: float | None
    top: int
    judged_at_10: float | None


@dataclass(frozen=True)
class Contributions:
    """The contributions of a pool's systems, in the pool's order.

    Attributes
    ----------
    candidates: number of pairs that systems proposed, without random pairs.
    relevant: number of candidates graded above the scale's lowest grade.
    relevant_at_random: number of relevant pairs that no system proposed, a sign that systems miss documents.
    random_graded: number of random pairs with a grade.
    left_out: reason → number of candidates without a grade.
    sealed: number of judged pairs of sealed queries; they count as graded and not as relevant.
    """

    pool_id: str
    depth: int
    queries: int
    candidates: int
    graded: int
    relevant: int
    relevant_at_random: int
    random_graded: int
    systems: list[Contribution]
    left_out: dict[str, int]
    sealed: int

    @property
    def sentences(self) -> list[str]:
        """Return sentences about the numbers of graded and relevant pairs."""
        candidates = pluralize(self.candidates, "candidate")
        graded = f"{self.graded:,} of {candidates} have a grade"
        lines = [f"{graded}; {self.relevant:,} are relevant (graded above the scale's lowest)."]
        if self.random_graded:
            random_pairs = (
                f"{self.random_graded:,} graded pairs that were drawn at random and that no system proposed"
            )
            lines.append(f"{self.relevant_at_random:,} of {random_pairs} are relevant.")
        lines += [self.withheld] if self.withheld else []
        return [*lines, *(f"{pluralize(count, 'candidate')}: {why}" for why, count in self.left_out.items())]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show each system's contribution."""
        return (build_contribution_table(self),)

    @property
    def withheld(self) -> str:
        """Return a sentence about pairs of sealed queries, or ''."""
        sentence = describe_withheld_pairs(self.sealed, "judged pair")
        return sentence and f"{sentence} Judged pairs of sealed queries do not count as relevant."


def build_contribution_table(report: Contributions) -> Table:
    """Show each system's contribution."""
    columns = (
        *("System", "Candidates", "Only here", "Graded", "Relevant", "Relevant only here", "Share only here"),
        *("Top 10 judged", "Places"),
    )
    rows = (
        (*system[:6], ShareCell(system.lost_share), ShareCell(system.judged_at_10), system.top)
        for system in report.systems
    )
    queries = pluralize(report.queries, "query", "queries")
    return Table(f"Pool {report.pool_id[:8]}: {queries} to depth {report.depth:,}", columns, tuple(rows))


def compute_contributions(store: Store, relevance: Relevance, pool: str | None = None) -> Contributions:
    """Compute each system's contribution to a pool.

    Parameters
    ----------
    relevance: relevance of the project's pairs (`labeling.consensus.consensus.read_relevance`).
    pool: id of the pool, or the beginning of the id; None is the pool that was built last.

    Raises
    ------
    RefusedError: there is no pool.
    NotFoundError, InputError: no pool's id, or several pools' ids, begin with the given text.
    """
    with store.reading() as cursor:
        row = find_pool(cursor, pool)
        pool_id, report = row.pool_id, row.report
        ranked = fetch(cursor, RankedPair, _RANKED, [pool_id, RANDOM])
        random_pairs = cursor.execute(_RANDOM_PAIRS, [pool_id, RANDOM]).fetchall()
        access = read_closed_access(cursor)
    relevance = relevance.hide_sealed(access)
    pairs = {row[:2] for row in ranked}
    only_random = {(query_id, document_id) for query_id, document_id in random_pairs} - pairs
    inside_pairs = (pairs | only_random) - relevance.outside
    top = {system["system"]: system["top"] for system in report["systems"]}
    return Contributions(
        pool_id=pool_id,
        depth=row.parameters["depth"],
        queries=report["queries"],
        candidates=len(pairs),
        graded=sum(pair in relevance.grades for pair in pairs),
        relevant=sum(map(relevance.is_relevant, pairs)),
        relevant_at_random=sum(map(relevance.is_relevant, only_random)),
        random_graded=sum(pair in relevance.grades for pair in only_random),
        systems=count_contributions(ranked, top, relevance),
        left_out=relevance.count_ungraded(pairs),
        sealed=sum(pair in relevance.grades and not access.can_show(pair[0]) for pair in inside_pairs),
    )


def count_contributions(
    ranked: Iterable[RankedPair], top: Mapping[str, int], relevance: Relevance
) -> list[Contribution]:
    """Compute each system's contribution to the pool's relevant documents.

    Parameters
    ----------
    top: system → number of its results within the first `TOP`.
    """
    systems_of: defaultdict[Pair, set[str]] = defaultdict(set)
    top_graded = Counter[str]()
    for row in ranked:
        systems_of[row[:2]].add(row.system)
        if row.rank <= TOP and row[:2] in relevance.grades:
            top_graded[row.system] += 1
    relevant_pairs = {pair for pair in systems_of if relevance.is_relevant(pair)}
    contributions = []
    for system, top_results in top.items():
        pairs = {pair for pair, systems in systems_of.items() if system in systems}
        pairs_alone = {pair for pair in pairs if len(systems_of[pair]) == 1}
        lost = len(pairs_alone & relevant_pairs)
        contribution = Contribution(
            system=system,
            candidates=len(pairs),
            alone=len(pairs_alone),
            graded=sum(pair in relevance.grades for pair in pairs),
            relevant=len(pairs & relevant_pairs),
            lost=lost,
            lost_share=_ratio_or_none(lost, len(relevant_pairs)),
            top=top_results,
            judged_at_10=_ratio_or_none(top_graded[system], top_results),
        )
        contributions.append(contribution)
    return contributions


def _ratio_or_none(count: int, total: int) -> float | None:
    return count / total if total else None
