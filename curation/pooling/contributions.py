"""Relevance of pairs, and the contribution of each system to a pool.

The contribution of a system is measured by leaving the system out of the pool (Zobel, How reliable are the
results of large-scale information retrieval experiments?, SIGIR 1998). Without the system, relevant documents
that no other system proposed would not have been judged. A new system may lose about as many relevant
documents, because documents that only the new system finds have no judgments. If the contributions are large,
the pool is too shallow or has too few systems.

`labeling.consensus.relevance.read_relevance` computes the relevance, and the functions of this module take
the relevance as an argument. A pool built from a run with one document would reveal the grade of this
document, so pairs of sealed queries never count as relevant.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.reports.page import ShareCell, Table
from curation.core.text import pluralize
from curation.people.seal_access import SealAccess, closed_access, withheld
from curation.pooling.random_negatives import RANDOM
from curation.pooling.systems import TOP
from curation.store import Cursor, Store, fetch

_RANKED = """
SELECT query_id, document_id, system, rank, score FROM candidate_sources WHERE pool_id = ? AND system <> ?
"""
_AT_RANDOM = "SELECT query_id, document_id FROM candidate_sources WHERE pool_id = ? AND system = ?"
Pair = tuple[str, str]


class Contribution(NamedTuple):
    """The contribution of one system to a pool.

    Attributes
    ----------
    candidates, alone: number of pairs that the system proposed, and number of pairs that only the system
        proposed.
    graded, relevant: number of the system's candidates with a grade, and with a grade above the scale's
        lowest grade.
    lost: number of relevant pairs that only the system proposed.
    lost_share: `lost` as a share of all relevant pairs of systems; None without relevant pairs.
    top, top_graded: number of the system's results within the first `TOP`, and number of these results with a
        grade.
    judged_at_10: `top_graded` as a share of `top`; None without results.
    """

    system: str
    candidates: int
    alone: int
    graded: int
    relevant: int
    lost: int
    lost_share: float | None
    top: int
    top_graded: int
    judged_at_10: float | None


@dataclass(frozen=True)
class Contributions:
    """The contributions of a pool's systems, in the pool's order of systems.

    Attributes
    ----------
    candidates: number of pairs that systems proposed, without random pairs.
    relevant: number of candidates graded above the scale's lowest grade.
    relevant_at_random: number of relevant pairs that no system proposed, a sign that systems miss documents.
    random_graded: number of random pairs with a grade.
    twins: groups of systems with the same candidates, and the relevant pairs that only the group proposed.
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
    twins: list[tuple[list[str], int]]
    left_out: dict[str, int]
    sealed: int

    @property
    def sentences(self) -> list[str]:
        """Count graded and relevant pairs, systems with the same candidates, and pairs without a grade."""
        candidates = pluralize(self.candidates, "candidate")
        lines = [
            f"{self.graded:,} of {candidates} have a grade; {self.relevant:,} are relevant (graded above the "
            "scale's lowest)."
        ]
        if self.random_graded:
            lines.append(
                f"{self.relevant_at_random:,} of {self.random_graded:,} graded random pairs that no system "
                "proposed are relevant."
            )
        lines += [self.withheld] if self.withheld else []
        lines += [
            f"{' and '.join(systems)} proposed the same candidates: without all of these systems, "
            f"{lost:,} relevant candidates are lost."
            for systems, lost in self.twins
        ]
        return [
            *lines,
            *(f"{pluralize(number, 'candidate')}: {why}" for why, number in self.left_out.items()),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show the contribution of each system."""
        return (contribution_table(self),)

    @property
    def withheld(self) -> str:
        """Sentence about pairs of sealed queries, or ''."""
        sentence = withheld(self.sealed, "judged pair")
        return sentence and f"{sentence} Judged pairs of sealed queries do not count as relevant."


def contribution_table(report: Contributions) -> Table:
    """Show the contribution of each system."""
    columns = (
        *("System", "Candidates", "Only here", "Graded", "Relevant", "Relevant only here", "Share only here"),
        *("Judged at 10", "Places"),
    )
    rows = (
        (*system[:6], ShareCell(system.lost_share), ShareCell(system.judged_at_10), system.top)
        for system in report.systems
    )
    queries = pluralize(report.queries, "query", "queries")
    return Table(f"Pool {report.pool_id[:8]}: {queries} to depth {report.depth:,}", columns, tuple(rows))


def contributions(store: Store, relevance: Relevance, pool: str | None = None) -> Contributions:
    """Compute the contribution of each system to a pool.

    Parameters
    ----------
    relevance: relevance of the project's pairs (`labeling.consensus.relevance.read_relevance`).
    pool: id of the pool, or the beginning of the id; None is the pool that was built last.

    Raises
    ------
    RefusedError: there is no pool.
    NotFoundError, InputError: no pool's id, or several pools' ids, begin with the given text.
    """
    with store.reading() as cursor:
        pool_id, depth, report = _find_pool(cursor, pool)
        ranked = fetch(cursor, Ranked, _RANKED, [pool_id, RANDOM])
        random = cursor.execute(_AT_RANDOM, [pool_id, RANDOM]).fetchall()
        access = closed_access(cursor)
    relevance = relevance.behind(access)
    at_random = {(row[0], row[1]) for row in random} - {row[:2] for row in ranked}
    pairs = {row[:2] for row in ranked}
    return Contributions(
        pool_id=pool_id,
        depth=depth,
        queries=report["queries"],
        candidates=len(pairs),
        graded=sum(pair in relevance.grades for pair in pairs),
        relevant=sum(map(relevance.is_relevant, pairs)),
        relevant_at_random=sum(map(relevance.is_relevant, at_random)),
        random_graded=sum(pair in relevance.grades for pair in at_random),
        systems=contributions_of(
            ranked, {system["system"]: system["top"] for system in report["systems"]}, relevance
        ),
        twins=twins_of(ranked, relevance),
        left_out=relevance.not_graded(pairs),
        sealed=sum(
            pair in relevance.grades and not access.shows(pair[0])
            for pair in (pairs | at_random) - relevance.outside
        ),
    )


def contributions_of(
    ranked: Iterable[Ranked], top: Mapping[str, int], relevance: Relevance
) -> list[Contribution]:
    """Compute the contribution of each system in `top`, which maps a system to its number of results in the
    first `TOP`.
    """
    systems_of: defaultdict[Pair, set[str]] = defaultdict(set)
    top_graded = Counter[str]()
    for row in ranked:
        systems_of[row[:2]].add(row.system)
        if row.rank <= TOP and row[:2] in relevance.grades:
            top_graded[row.system] += 1
    relevant = {pair for pair in systems_of if relevance.is_relevant(pair)}
    lines = []
    for system, places in top.items():
        pairs = {pair for pair, names in systems_of.items() if system in names}
        alone = {pair for pair in pairs if len(systems_of[pair]) == 1}
        lost = len(alone & relevant)
        graded = sum(pair in relevance.grades for pair in pairs)
        counts = (
            len(pairs),
            len(alone),
            graded,
            len(pairs & relevant),
            lost,
            _ratio_or_none(lost, len(relevant)),
        )
        judged = _ratio_or_none(top_graded[system], places)
        lines.append(Contribution(system, *counts, places, top_graded[system], judged))
    return lines


def twins_of(ranked: Iterable[Ranked], relevance: Relevance) -> list[tuple[list[str], int]]:
    """Find groups of systems that proposed the same pairs, and count relevant pairs that only the group
    proposed.

    Leaving out one system of a group loses no pair, because the other systems of the group proposed the same
    pairs.
    """
    pairs_of: defaultdict[str, set[Pair]] = defaultdict(set)
    for row in ranked:
        pairs_of[row.system].add(row[:2])
    groups: defaultdict[frozenset[Pair], list[str]] = defaultdict(list)
    for system in sorted(pairs_of):
        groups[frozenset(pairs_of[system])].append(system)
    twins = []
    for pairs, systems in groups.items():
        others = set().union(*(pairs_of[other] for other in pairs_of.keys() - set(systems)))
        if len(systems) > 1:
            twins.append((systems, sum(map(relevance.is_relevant, pairs - others))))
    return twins


def _find_pool(cursor: Cursor, beginning: str | None) -> tuple[str, int, dict[str, Any]]:
    """Read the id, depth and report of the pool whose id begins with a text, or of the last pool."""
    rows = cursor.execute(
        "SELECT pool_id, parameters, report FROM pools WHERE starts_with(pool_id, ?) ORDER BY rowid DESC",
        [beginning or ""],
    ).fetchall()
    if not rows and beginning is None:
        raise RefusedError("There is no pool yet. Build one.", command="`goldgrade pool` builds a pool.")
    if not rows:
        raise NotFoundError(
            f"No pool has an id that begins with {beginning!r}.",
            command="`goldgrade pool` shows the id of the pool.",
        )
    if beginning is not None and len(rows) > 1:
        ids = ", ".join(sorted(row[0] for row in rows))
        raise InputError(f"Several pools have an id that begins with {beginning!r}: {ids}.")
    pool_id, parameters, report = rows[0]
    return pool_id, json.loads(parameters)["depth"], json.loads(report)


def _ratio_or_none(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class Ranked(NamedTuple):
    """The rank and score of a pair in one system's list."""

    query_id: str
    document_id: str
    system: str
    rank: int
    score: float | None


class Relevance(NamedTuple):
    """The relevance grades of a project's pairs.

    Attributes
    ----------
    grades: pair → consensus grade; pairs without a grade are absent.
    open: judged pairs without a grade, because they are disputed or people could not tell.
    lowest: the scale's lowest grade, which means not relevant.
    changed: pairs whose grade is about an older version of the document.
    outside: pairs outside the filter of their query, which are not relevant.
    """

    grades: Mapping[Pair, int]
    open: frozenset[Pair]
    lowest: int
    changed: frozenset[Pair] = frozenset()
    outside: frozenset[Pair] = frozenset()

    def behind(self, access: SealAccess) -> Relevance:
        """Hide the grades of sealed queries: their judged pairs count as judged and as not relevant."""
        judged = {pair: self.lowest for pair in self.open if not access.shows(pair[0])}
        grades = {
            pair: grade if access.shows(pair[0]) else self.lowest for pair, grade in self.grades.items()
        }
        return self._replace(grades=grades | judged, open=self.open - judged.keys())

    def with_outside(self, pairs: Iterable[Pair]) -> Relevance:
        """Count pairs outside the filter of their query as not relevant."""
        outside = frozenset(pairs)
        grades = {**self.grades, **dict.fromkeys(outside, self.lowest)}
        relevance = self._replace(grades=grades, outside=outside)
        return relevance._replace(open=self.open - outside, changed=self.changed - outside)

    def is_relevant(self, pair: Pair) -> bool:
        """Tell whether the pair's grade is above the scale's lowest grade."""
        return self.grades.get(pair, self.lowest) > self.lowest

    def is_refused(self, pair: Pair) -> bool:
        """Tell whether the pair has the scale's lowest grade for the current version of its document."""
        return self.grades.get(pair) == self.lowest and pair not in self.changed

    def is_judged(self, pair: Pair) -> bool:
        """Tell whether the pair has a judgment that counts, even a disputed judgment."""
        return pair in self.grades or pair in self.open

    def not_graded(self, pairs: set[Pair]) -> dict[str, int]:
        """Count the pairs without a relevance grade by reason."""
        counts = Counter(
            "judged, but without a grade (disputed, or cannot tell)"
            if pair in self.open
            else "not judged yet"
            for pair in pairs
            if pair not in self.grades
        )
        return dict(sorted(counts.items()))
