"""Relevance of pairs, and what each system brought to a pool and would be lost without it.

Leave one system out (J. Zobel, How reliable are the results of large-scale information retrieval
experiments?, SIGIR 1998): the relevant documents that one system alone proposed would not have been judged
without it, so a new system as unlike the others would be measured without its own. Where each system's share
is large, the pool is too shallow or its systems are too few.

`labeling.consensus.consensus.read_relevance` works the relevance out; this room is handed it. A pool of a run
with one document tells that document's grade. So pairs of sealed queries never count as relevant.
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
    """One system's part in a pool.

    Attributes
    ----------
    candidates, alone: pairs that it proposed, and of these the ones that no other system did.
    graded, relevant: of its candidates, those with a grade, and with one above the scale's lowest.
    lost: relevant pairs that it alone proposed: what leaving it out would lose.
    lost_share: of all relevant pairs that systems proposed; None without any.
    top, top_graded: its places within the first `TOP`, and how many of them have a grade.
    judged_at_10: their share; None without places.
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
    """A pool by its systems, in the order in which they were pooled.

    Attributes
    ----------
    candidates: pairs that systems proposed, without those drawn at random.
    relevant: of these, the ones graded above the scale's lowest.
    relevant_at_random: pairs so graded that nothing but chance proposed: a sign that systems miss some.
    random_graded: how many of the pairs drawn at random have a grade.
    left_out: why candidates have no grade → how many.
    sealed: judged pairs of sealed queries, drawn at random or not: they count as graded, not as relevant.
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
        """How much is graded and relevant, which systems cover for each other, and what has no grade."""
        candidates = pluralize(self.candidates, "candidate")
        lines = [
            f"{self.graded:,} of {candidates} have a grade; {self.relevant:,} are relevant (graded above the "
            "scale's lowest)."
        ]
        if self.random_graded:
            lines.append(
                f"{self.relevant_at_random:,} of {self.random_graded:,} graded pairs that only chance "
                "proposed are relevant."
            )
        lines += [self.withheld] if self.withheld else []
        lines += [
            f"{' and '.join(systems)} proposed the same candidates, so one covers for the other: "
            f"without all of them {lost:,} relevant ones are lost."
            for systems, lost in self.twins
        ]
        return [
            *lines,
            *(f"{pluralize(number, 'candidate')}: {why}" for why, number in self.left_out.items()),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """What each system brought."""
        return (contribution_table(self),)

    @property
    def withheld(self) -> str:
        """The sentence about pairs of sealed queries; '' without such pairs."""
        sentence = withheld(self.sealed, "judged pair")
        return sentence and f"{sentence} None counts as relevant here."


def contribution_table(report: Contributions) -> Table:
    """What each system brought."""
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
    """What each system contributed to a pool, and how much of it is judged and relevant.

    Parameters
    ----------
    relevance: of the project's pairs (`labeling.consensus.consensus.read_relevance`).
    pool: the pool's id or the beginning of it; without one the pool that was built last.

    Raises
    ------
    RefusedError: no pool was built yet.
    NotFoundError, InputError: no pool, or several, have an id that begins so.
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
    """One line a system of `top` (system → its places within the first `TOP`, pooled or not)."""
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
        counts = (len(pairs), len(alone), graded, len(pairs & relevant), lost, _share(lost, len(relevant)))
        judged = _share(top_graded[system], places)
        lines.append(Contribution(system, *counts, places, top_graded[system], judged))
    return lines


def twins_of(ranked: Iterable[Ranked], relevance: Relevance) -> list[tuple[list[str], int]]:
    """The groups of systems that proposed the same pairs, and the relevant pairs that only they proposed.

    Each covers for the other, so leaving out one says nothing about what both found.
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
    """The pool whose id begins so, or the last one: its id, its depth and its report."""
    rows = cursor.execute(
        "SELECT pool_id, parameters, report FROM pools WHERE starts_with(pool_id, ?) ORDER BY rowid DESC",
        [beginning or ""],
    ).fetchall()
    if not rows and beginning is None:
        raise RefusedError("There is no pool yet. Build one.", command="`goldgrade pool` does.")
    if not rows:
        raise NotFoundError(
            f"No pool has an id that begins with {beginning!r}.", command="`goldgrade pool` shows it."
        )
    if beginning is not None and len(rows) > 1:
        ids = ", ".join(sorted(row[0] for row in rows))
        raise InputError(f"Several pools have an id that begins with {beginning!r}: {ids}.")
    pool_id, parameters, report = rows[0]
    return pool_id, json.loads(parameters)["depth"], json.loads(report)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class Ranked(NamedTuple):
    """One system's rank and score for one pair."""

    query_id: str
    document_id: str
    system: str
    rank: int
    score: float | None


class Relevance(NamedTuple):
    """The grades of a project.

    Attributes
    ----------
    grades: pair → consensus grade; pairs without one are absent.
    open: pairs that people judged and that have no grade: disputed, or they could not tell.
    lowest: the scale's lowest grade: not relevant.
    changed: pairs whose grade is about another version of the document than the corpus has.
    outside: pairs outside the filter of their query, which are not relevant.
    """

    grades: Mapping[Pair, int]
    open: frozenset[Pair]
    lowest: int
    changed: frozenset[Pair] = frozenset()
    outside: frozenset[Pair] = frozenset()

    def behind(self, access: SealAccess) -> Relevance:
        """What may be shown of it: judged pairs of sealed queries count as judged, and as not relevant."""
        judged = {pair: self.lowest for pair in self.open if not access.shows(pair[0])}
        grades = {
            pair: grade if access.shows(pair[0]) else self.lowest for pair, grade in self.grades.items()
        }
        return self._replace(grades=grades | judged, open=self.open - judged.keys())

    def with_outside(self, pairs: Iterable[Pair]) -> Relevance:
        """The same where these pairs, which are outside the filter of their query, are not relevant."""
        outside = frozenset(pairs)
        grades = {**self.grades, **dict.fromkeys(outside, self.lowest)}
        relevance = self._replace(grades=grades, outside=outside)
        return relevance._replace(open=self.open - outside, changed=self.changed - outside)

    def is_relevant(self, pair: Pair) -> bool:
        """Whether the pair's grade is above the scale's lowest."""
        return self.grades.get(pair, self.lowest) > self.lowest

    def is_refused(self, pair: Pair) -> bool:
        """Whether people gave the pair the scale's lowest grade, for the text that its document has now."""
        return self.grades.get(pair) == self.lowest and pair not in self.changed

    def is_judged(self, pair: Pair) -> bool:
        """Whether the pair has a judgment that counts, be it in dispute."""
        return pair in self.grades or pair in self.open

    def not_graded(self, pairs: set[Pair]) -> dict[str, int]:
        """Why pairs have no grade → how many."""
        counts = Counter(
            "judged, but without a grade (disputed, or cannot tell)"
            if pair in self.open
            else "not judged yet"
            for pair in pairs
            if pair not in self.grades
        )
        return dict(sorted(counts.items()))
