"""Query draws: a round over a random sample of the queries, whose grades correct a judge that graded all.

The unit is the query: people grade the whole pool of each that is drawn (`curation.evaluation.llm_judges`).
Each stratum of the sample gives at least one query, and the rest in proportion to its size; within it
queries are drawn without replacement, by seed. So a query's inclusion probability is the share of its
stratum that was drawn. The round keeps the draw among its parameters: the queries that it was drawn from, by
stratum, and those that were drawn.

Nuggets of one query of a gold set (`evaluation.answers.to_grade`) are drawn together: a score of its answer
needs all of them. So that query is the unit there.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import InputError, RefusedError
from curation.core.reports.page import Table
from curation.core.reports.table_files import csv_table
from curation.core.statistics.allocation import allocate
from curation.core.text import amount, seeded
from curation.labeling.rounds.candidates import CandidateRow, Chosen, choose_candidates, read_candidates
from curation.labeling.rounds.create_round import RoundOpened, open_over
from curation.labeling.rounds.layout import RoundLayout
from curation.store import COMMAND_LINE, Cursor, Store, get_setting

UNIT = "goldset_gold_query"
"""The field of a query's metadata with what is drawn instead of it, together with all others that have it."""
NO_STRATUM = "not drawn from traffic"
NO_POOL = "the query has no pool, which would find its documents"
NOT_DRAWN = "the query was not drawn"


class StratumDraw(NamedTuple):
    """How many queries a stratum has, and how many of them were drawn."""

    stratum: str
    population: int
    drawn: int

    @property
    def probability(self) -> float:
        """How likely each of its queries was to be drawn."""
        return self.drawn / self.population


@dataclass(frozen=True)
class QueryDraw:
    """A draw of queries.

    Attributes
    ----------
    strata: query id → stratum, of all queries that were drawn from.
    drawn: their ids, of those that people grade.
    units: query id → what was drawn instead of it; others were drawn themselves.
    """

    strata: Mapping[str, str]
    drawn: frozenset[str]
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> tuple[StratumDraw, ...]:
        """By stratum, ordered by name; of units."""
        strata = {self.units.get(query_id, query_id): stratum for query_id, stratum in self.strata.items()}
        population = Counter(strata.values())
        drawn = Counter(strata[unit] for unit in {self.units.get(one, one) for one in self.drawn})
        return tuple(StratumDraw(name, population[name], drawn[name]) for name in sorted(population))

    @property
    def probabilities(self) -> dict[str, float]:
        """Query id → how likely it was to be drawn."""
        by_stratum = {count.stratum: count.probability for count in self.counts}
        return {query_id: by_stratum[stratum] for query_id, stratum in sorted(self.strata.items())}

    @property
    def table(self) -> str:
        """CSV of all queries: query_id, stratum, drawn (0 or 1), inclusion_probability."""
        columns = ("query_id", "stratum", "drawn", "inclusion_probability")
        rows = (
            (query_id, self.strata[query_id], int(query_id in self.drawn), f"{probability:.6g}")
            for query_id, probability in self.probabilities.items()
        )
        return csv_table(Table("", columns, tuple(rows)))


@dataclass(frozen=True)
class DrawnRound:
    """A round over drawn queries, as it was opened; `draw` has the probabilities."""

    opened: RoundOpened
    queries: int
    drawn: int
    strata: tuple[StratumDraw, ...]
    draw: QueryDraw


def open_drawn_round(
    store: Store,
    name: str,
    annotators: Sequence[str],
    queries: int,
    *,
    overlap: int = 2,
    duplicates: float = 0.08,
    seed: int = 0,
    author: str = COMMAND_LINE,
) -> DrawnRound:
    """Open a labeling round over the pools of a random sample of the queries in play.

    Parameters
    ----------
    queries: how many are drawn.
    overlap, duplicates, author: as for `create_round.open_round`.

    Raises
    ------
    InputError: the numbers do not fit together, or are too many or too few queries for the strata.
    NotFoundError, RefusedError: as for `create_round.open_round`.
    """
    layout = RoundLayout(name, "labeling", annotators, overlap, duplicates, seed).checked()
    draws: list[QueryDraw] = []

    def choose(inputs: tuple[list[CandidateRow], set[str], dict[str, str], dict[str, str]]) -> Chosen:
        candidates, active, stratum_of, units = inputs
        pooled = {row.query_id for row in candidates if row.content_hash is not None} & active
        strata = {one: stratum_of.get(one, NO_STRATUM) for one in pooled}
        draw = draw_queries(strata, queries, seed, units)
        draws[:] = [draw]
        chosen = choose_candidates(candidates, active, again=False)
        kept = [candidate for candidate in chosen.candidates if candidate.query_id in draw.drawn]
        left_out = {
            **chosen.left_out,
            NOT_DRAWN: len(chosen.candidates) - len(kept),
            NO_POOL: len(active - pooled),
        }
        stored = {"strata": dict(sorted(draw.strata.items())), "drawn": sorted(draw.drawn)}
        stored |= {"units": dict(sorted(draw.units.items()))} if draw.units else {}
        counts = {reason: count for reason, count in left_out.items() if count}
        return Chosen(kept, {**chosen.parameters, "query_draw": stored}, counts)

    opened = open_over(store, layout, _read, choose, author)
    [draw] = draws
    everything, drawn = (sum(numbers) for numbers in list(zip(*draw.counts, strict=True))[1:])
    return DrawnRound(opened, everything, drawn, draw.counts, draw)


def draw_queries(
    strata: Mapping[str, str], queries: int, seed: int, units: Mapping[str, str] = {}
) -> QueryDraw:
    """Draw queries by stratum.

    Parameters
    ----------
    strata: query id → stratum, of the queries to draw from.
    units: query id → what is drawn instead of it.

    Raises
    ------
    InputError: fewer queries than strata, or more than there are.
    """
    members: defaultdict[str, list[str]] = defaultdict(list)
    own = {query_id: units[query_id] for query_id in strata if query_id in units}
    by_unit = {own.get(query_id, query_id): stratum for query_id, stratum in sorted(strata.items())}
    for unit, stratum in by_unit.items():
        members[stratum].append(unit)
    if not len(members) <= queries < len(by_unit):
        raise InputError(
            f"A draw of {amount(queries, 'query', 'queries')} was asked for, and "
            f"{amount(len(by_unit), 'query', 'queries')} of {len(members):,} "
            "strata have a pool: expected at least one a stratum, and fewer than all, because a judge has "
            "nothing to add where people grade everything."
        )
    names = sorted(members)
    left = [len(members[name]) - 1 for name in names]
    drawn: set[str] = set()
    for name, more in zip(names, allocate(queries - len(names), left, left), strict=True):
        drawn.update(seeded(members[name], seed, lambda query_id: ["query draw", query_id])[: more + 1])
    return QueryDraw(strata, frozenset(one for one in strata if own.get(one, one) in drawn), own)


def read_draws(cursor: Cursor) -> list[QueryDraw]:
    """The draws of the project, the newest first."""
    rows = cursor.execute(
        "SELECT json_extract(parameters, 'query_draw') FROM rounds "
        "WHERE json_exists(parameters, 'query_draw') ORDER BY sequence DESC"
    ).fetchall()
    draws = [json.loads(row[0]) for row in rows]
    return [QueryDraw(draw["strata"], frozenset(draw["drawn"]), draw.get("units", {})) for draw in draws]


def write_draw(draw: QueryDraw, path: Path) -> None:
    """Write the probabilities as CSV.

    Raises
    ------
    RefusedError: the file cannot be written.
    """
    try:
        path.write_text(draw.table, encoding="utf-8")
    except OSError as error:
        raise RefusedError(f"{path} cannot be written ({error.strerror}). Name another file.") from None


def _read(cursor: Cursor) -> tuple[list[CandidateRow], set[str], dict[str, str], dict[str, str]]:
    rows, active = read_candidates(cursor)
    strata = cursor.execute(
        "SELECT query_id, stratum FROM sample_queries WHERE sample_id = ?", [get_setting(cursor, "sample")]
    ).fetchall()
    units = cursor.execute(
        "SELECT query_id, metadata->>$unit FROM queries WHERE metadata->>$unit IS NOT NULL", {"unit": UNIT}
    )
    return rows, active, dict(strata), dict(units.fetchall())
