"""The report of a pool: the candidates by system, and the missing results by reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from textwrap import shorten
from typing import Any, NamedTuple

from curation.core.reports.tables import Table
from curation.core.text import join_names, pluralize
from curation.pooling.candidates import CandidateSource
from curation.pooling.systems import TOP

MAX_SHOWN = 3
"""Largest number of queries that a report names for each finding."""
MAX_TEXT_SHOWN = 60
"""Largest number of characters of a query's text in a sentence of a report."""


class SystemReport(NamedTuple):
    """The report on one system in a pool.

    Attributes
    ----------
    candidates: number of pairs that the system proposed.
    alone: number of pairs that no other system proposed.
    top: number of results within the first `TOP` and the depth, including pairs over the budget.
    unfilled: number of missing results within the depth, because the system found no more documents.
    no_hit: reason → number of queries for which the system found nothing.
    no_hit_ids: reason → ids of the first queries for which the system found nothing; older pools have no ids.
    """

    system: str
    candidates: int
    alone: int
    top: int
    unfilled: int
    no_hit: dict[str, int]
    no_hit_ids: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class PoolReport:
    """The report on a pool built now or earlier.

    Attributes
    ----------
    queries: number of queries, including queries without any hit.
    candidates: number of (query, document) pairs, including random pairs.
    random_negatives: number of random pairs.
    added: number of pairs that became candidates with this call.
    built_before: the same pool was stored already, and nothing was added.
    left_out: reason → number of pairs or queries.
    rank_bm25: number of lists of BM25 that were compared with rank-bm25, and of the documents compared.
    lost_words: number of queries that lose words to BM25's stop list ('queries'), and the shortest of them
        ('shortest': query, searched text, stop words); empty without such queries.
    texts: query id → text, for queries named in the report because a system found nothing for them.
    """

    pool_id: str
    snapshot_id: str
    queries: int
    candidates: int
    random_negatives: int
    added: int
    built_before: bool
    systems: list[SystemReport]
    left_out: dict[str, int]
    seed: int
    rank_bm25: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    lost_words: Mapping[str, object] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Return sentences with the number of the pool's candidates, and the missing results by reason."""
        size = f"{pluralize(self.candidates, 'candidate')} for {pluralize(self.queries, 'query', 'queries')}"
        sentence = f"The pool has {size}, {self.random_negatives:,} of them random negatives."
        change = f"{self.added:,} are new to the project."
        if self.built_before:
            change = "The same inputs already made this pool. Nothing was added."
        return [sentence, change, *self.gaps, f"The seed is {self.seed}."]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the number of candidates by system."""
        rows = tuple((system.system, system.candidates, system.alone) for system in self.systems)
        return (Table(f"Pool {self.pool_id[:8]}", ("System", "Candidates", "Alone"), rows),)

    @property
    def gaps(self) -> list[str]:
        """Count the queries without results, and the missing results, by reason."""
        empty_lists = [
            f"{system.system} found nothing for {pluralize(count, 'query', 'queries')}"
            f"{self._quote_queries(system.no_hit_ids.get(reason, ()), count)}: {reason}."
            for system in self.systems
            for reason, count in system.no_hit.items()
        ]
        missing = [f"{why[0].upper()}{why[1:]} ({count:,})." for why, count in self.left_out.items()]
        return [*empty_lists, *missing, *self._describe_lost_words()]

    def _describe_lost_words(self) -> Iterator[str]:
        """Write what BM25 searches for the shortest queries that lose words, and count the further
        queries."""
        lost: Mapping[str, Any] = self.lost_words
        shortest = lost.get("shortest", ())
        for query in shortest:
            words = join_names([f"“{word}”" for word in query["stop_words"]])
            verb = "is a stop word" if len(query["stop_words"]) == 1 else "are stop words"
            texts = (shorten(query[name], MAX_TEXT_SHOWN, placeholder="…") for name in ("query", "searched"))
            yield f"bm25 searches the query “{'” as “'.join(texts)}”: {words} {verb}."
        if shortest:
            more = lost["queries"] - len(shortest)
            also = f"{pluralize(more, 'more query loses', 'more queries lose')} stop words. " if more else ""
            yield f"{also}A pool can keep stop words that are names in the documents."

    def _quote_queries(self, query_ids: Sequence[str], count: int) -> str:
        """Return the shortened texts of the first queries in parentheses, or ''."""
        texts = [self.texts[query_id] for query_id in query_ids if query_id in self.texts]
        if not texts:
            return ""
        more = f" and {count - len(texts):,} more" if count > len(texts) else ""
        quotes = [f"“{shorten(text, MAX_TEXT_SHOWN, placeholder='…')}”" for text in texts]
        return f" ({', '.join(quotes)}{more})"


def report_systems(
    hit_counts: Mapping[str, Sequence[int]],
    no_hit_ids: Mapping[str, Mapping[str, Sequence[str]]],
    proposals: Iterable[CandidateSource],
    max_results: int,
) -> list[SystemReport]:
    """Make the report on each system of a pool, from its hits and proposals.

    Parameters
    ----------
    hit_counts: system → number of documents that the system found for each query.
    no_hit_ids: system → reason → ids of the queries for which the system found nothing.
    proposals: proposals grouped by query.
    max_results: largest number of documents that a system could propose for a query.
    """
    top = min(max_results, TOP)
    candidates, alone = Counter[str](), Counter[str]()
    for _, proposals_of_query in groupby(proposals, key=attrgetter("query_id")):
        systems_of = defaultdict(set)
        for proposal in proposals_of_query:
            systems_of[proposal.document_id].add(proposal.system)
        for systems in systems_of.values():
            candidates.update(systems)
            if len(systems) == 1:
                alone.update(systems)
    return [
        SystemReport(
            system=system,
            candidates=candidates[system],
            alone=alone[system],
            top=sum(min(top, count) for count in counts),
            unfilled=sum(max(max_results - count, 0) for count in counts),
            no_hit={reason: len(ids) for reason, ids in no_hit_ids[system].items()},
            no_hit_ids={reason: ids[:MAX_SHOWN] for reason, ids in no_hit_ids[system].items()},
        )
        for system, counts in hit_counts.items()
    ]
