"""What each system brought to a pool, and what would be lost without it.

Leave one system out (J. Zobel, How reliable are the results of large-scale information retrieval
experiments?, SIGIR 1998): the relevant documents that one system alone proposed would not have been judged
without it, so a new system as unlike the others would be measured without its own. Where each system's share
is large, the pool is too shallow or its systems are too few.

A pool of a run with one document tells that document's grade. So pairs of sealed queries never count as
relevant.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.reports.page import ShareCell, Table
from curation.core.text import amount
from curation.people.seal_access import shut_door, withheld
from curation.pooling.candidates import TOP
from curation.pooling.random_negatives import RANDOM
from curation.pooling.relevance import Pair, Ranked, Relevance
from curation.store import Cursor, Store, fetch

_RANKED = """
SELECT query_id, document_id, system, rank, score FROM candidate_sources WHERE pool_id = ? AND system <> ?
"""
_AT_RANDOM = "SELECT query_id, document_id FROM candidate_sources WHERE pool_id = ? AND system = ?"


class Contribution(NamedTuple):
    """One system's part in a pool.

    Attributes
    ----------
    candidates, alone: pairs that it proposed, and of these the ones that no other system did.
    graded, relevant: of its candidates, those with a grade, and with one above the scale's lowest.
    lost: relevant pairs that it alone proposed: what leaving it out would lose.
    lost_share: of all relevant pairs that systems proposed; None where there are none.
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


class Twins(NamedTuple):
    """Systems that proposed the very same pairs, and the relevant ones that only they proposed.

    Each covers for the other, so leaving out one says nothing of what both found.
    """

    systems: list[str]
    lost: int


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
    twins: list[Twins]
    left_out: dict[str, int]
    sealed: int

    @property
    def withheld(self) -> str:
        """The sentence for pairs of sealed queries; '' where there are none."""
        sentence = withheld(self.sealed, "judged pair")
        return sentence and f"{sentence} None counts as relevant here."


class _StoredPool(NamedTuple):
    pool_id: str
    depth: int
    queries: int
    top: Mapping[str, int]  # system → places within the first TOP, in the order of the pool


def contribution_table(found: Contributions) -> Table:
    """What each system brought."""
    columns = (
        *("System", "Candidates", "Alone", "Graded", "Relevant", "Relevant alone", "Share alone"),
        *("Judged at 10", "Places"),
    )
    rows = (
        (*system[:6], ShareCell(system.lost_share), ShareCell(system.judged_at_10), system.top)
        for system in found.systems
    )
    queries = amount(found.queries, "query", "queries")
    return Table(f"Pool {found.pool_id[:8]}: {queries} to depth {found.depth:,}", columns, tuple(rows))


def contributions(store: Store, relevance: Relevance, pool: str | None = None) -> Contributions:
    """What each system contributed to a pool, and how much of it is judged and relevant.

    Parameters
    ----------
    relevance: of the project's pairs (`labeling.consensus.relevance.relevance_of`).
    pool: the pool's id or the beginning of it; without one the pool that was built last.

    Raises
    ------
    RefusedError: no pool was built yet.
    NotFoundError, InputError: no pool, or several, have an id that begins so.
    """
    with store.reading() as cursor:
        found = _find_pool(cursor, pool)
        ranked = fetch(cursor, Ranked, _RANKED, [found.pool_id, RANDOM])
        random = cursor.execute(_AT_RANDOM, [found.pool_id, RANDOM]).fetchall()
        door = shut_door(cursor)
    relevance = relevance.behind(door)
    at_random = {(row[0], row[1]) for row in random} - {row[:2] for row in ranked}
    pairs = {row[:2] for row in ranked}
    return Contributions(
        pool_id=found.pool_id,
        depth=found.depth,
        queries=found.queries,
        candidates=len(pairs),
        graded=sum(pair in relevance.grades for pair in pairs),
        relevant=sum(map(relevance.is_relevant, pairs)),
        relevant_at_random=sum(map(relevance.is_relevant, at_random)),
        random_graded=sum(pair in relevance.grades for pair in at_random),
        systems=contributions_of(ranked, found.top, relevance),
        twins=twins_of(ranked, relevance),
        left_out=relevance.not_graded(pairs),
        sealed=sum(
            pair in relevance.grades and not door.shows(pair[0])
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
        own = {pair for pair, names in systems_of.items() if system in names}
        alone = {pair for pair in own if len(systems_of[pair]) == 1}
        lost = len(alone & relevant)
        graded = sum(pair in relevance.grades for pair in own)
        found = (len(own), len(alone), graded, len(own & relevant), lost, _share(lost, len(relevant)))
        judged = _share(top_graded[system], places)
        lines.append(Contribution(system, *found, places, top_graded[system], judged))
    return lines


def twins_of(ranked: Iterable[Ranked], relevance: Relevance) -> list[Twins]:
    """The groups of systems that proposed the same pairs, by name."""
    pairs_of: defaultdict[str, set[Pair]] = defaultdict(set)
    for row in ranked:
        pairs_of[row.system].add(row[:2])
    groups: defaultdict[frozenset[Pair], list[str]] = defaultdict(list)
    for system in sorted(pairs_of):
        groups[frozenset(pairs_of[system])].append(system)
    found = []
    for pairs, systems in groups.items():
        others = set().union(*(pairs_of[other] for other in pairs_of.keys() - set(systems)))
        if len(systems) > 1:
            found.append(Twins(systems, sum(map(relevance.is_relevant, pairs - others))))
    return found


def _find_pool(cursor: Cursor, beginning: str | None) -> _StoredPool:
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
    return _pool(*rows[0])


def _pool(pool_id: str, parameters: str, report: str) -> _StoredPool:
    depth = json.loads(parameters)["depth"]
    known: dict[str, Any] = json.loads(report)
    top = {system["system"]: system["top"] for system in known["systems"]}
    return _StoredPool(pool_id, depth, known["queries"], top)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
