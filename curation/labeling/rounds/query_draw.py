"""The stratified random draw of the queries whose human grades correct a judge.

Each stratum gives at least one query; further queries are drawn in proportion to the strata's sizes. Within a
stratum, queries are drawn at random without replacement, with a fixed seed. So a query's inclusion
probability is the share of its stratum that was drawn. The draw is stored among the round's parameters.
Nuggets of one query of a gold set (`evaluation.answers.graded_answers`) are drawn together, because the score
of an answer needs all nuggets of the query.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from curation.core.digests import sort_by_seed
from curation.core.errors import InputError
from curation.core.reports.tables import Table
from curation.core.statistics.stratified_sampling import allocate
from curation.core.text import pluralize
from curation.labeling.rounds.candidates import CandidateRow, Selection
from curation.store import Cursor, get_setting

UNIT_FIELD = "goldset_gold_query"
"""Metadata field with a query's sampling unit: queries of the same unit are drawn together."""
NO_STRATUM = "not drawn from traffic"
NO_POOL = "the query has no pool"
DrawFrame = tuple[Mapping[str, str], Mapping[str, str]]
"""Query id → stratum, of the sample's queries; and query id → unit, of queries that are drawn together."""
NOT_DRAWN = "the query was not drawn"


@dataclass(frozen=True)
class QueryDraw:
    """A stratified random draw of queries.

    Attributes
    ----------
    strata: query id → stratum, of the population of queries.
    drawn: the ids of the drawn queries, which people grade.
    units: query id → sampling unit, of queries that are drawn together; every other query is a separate unit.
    """

    strata: Mapping[str, str]
    drawn: frozenset[str]
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Return the number of units (queries drawn together) and of drawn units in each stratum, in the
        order of the strata's names."""
        strata = {self.units.get(query_id, query_id): stratum for query_id, stratum in self.strata.items()}
        population = Counter(strata.values())
        drawn = Counter(strata[unit] for unit in {self.units.get(name, name) for name in self.drawn})
        return {stratum: (population[stratum], drawn[stratum]) for stratum in sorted(population)}

    @property
    def probabilities(self) -> dict[str, float]:
        """Return each query's inclusion probability: the share of its stratum that was drawn."""
        shares = {stratum: drawn / size for stratum, (size, drawn) in self.counts.items()}
        return {query_id: shares[stratum] for query_id, stratum in sorted(self.strata.items())}

    @property
    def by_stratum(self) -> Table:
        """Return a table of strata with their queries, drawn queries and inclusion probabilities."""
        rows = tuple((stratum, size, drawn, drawn / size) for stratum, (size, drawn) in self.counts.items())
        return Table("Drawn queries", ("Stratum", "Queries", "Drawn", "Probability"), rows)


def draw_candidates(
    chosen: Selection, rows: Sequence[CandidateRow], active: set[str], frame: DrawFrame, count: int, seed: int
) -> Selection:
    """Choose the candidates of a random sample of current queries that have pools.

    Parameters
    ----------
    count: the number of queries to draw.

    Raises
    ------
    InputError: `count` is below the number of strata, or not below the number of queries.
    """
    strata, units = frame
    pooled_queries = {row.query_id for row in rows if row.content_hash is not None} & active
    draw = draw_queries({name: strata.get(name, NO_STRATUM) for name in pooled_queries}, count, seed, units)
    drawn_candidates = [candidate for candidate in chosen.candidates if candidate.query_id in draw.drawn]
    undrawn_count = len(chosen.candidates) - len(drawn_candidates)
    left_out = {**chosen.left_out, NOT_DRAWN: undrawn_count, NO_POOL: len(active - pooled_queries)}
    stored_draw = {"strata": dict(sorted(draw.strata.items())), "drawn": sorted(draw.drawn)}
    stored_draw |= {"units": dict(sorted(draw.units.items()))} if draw.units else {}
    counts = {reason: count for reason, count in left_out.items() if count}
    parameters = {**chosen.parameters, "query_draw": stored_draw}
    return replace(chosen, candidates=drawn_candidates, parameters=parameters, left_out=counts)


def draw_queries(strata: Mapping[str, str], size: int, seed: int, units: Mapping[str, str] = {}) -> QueryDraw:
    """Draw a stratified random sample of queries.

    Parameters
    ----------
    strata: query id → stratum, for the population of queries.
    units: query id → sampling unit, for queries that are drawn together.

    Raises
    ------
    InputError: `count` is below the number of strata, or not below the number of units.
    """
    units_by_stratum: defaultdict[str, list[str]] = defaultdict(list)
    unit_of = {query_id: units[query_id] for query_id in strata if query_id in units}
    unit_strata = {unit_of.get(query_id, query_id): stratum for query_id, stratum in sorted(strata.items())}
    for unit, stratum in unit_strata.items():
        units_by_stratum[stratum].append(unit)
    if not len(units_by_stratum) <= size < len(unit_strata):
        raise InputError(
            f"The draw asks for {pluralize(size, 'query', 'queries')}, and "
            f"{pluralize(len(unit_strata), 'query', 'queries')} of {len(units_by_stratum):,} strata have a "
            "pool: expected at least one query per stratum, but not all queries, because a judge adds "
            "nothing if people grade everything."
        )
    names = sorted(units_by_stratum)
    limits = [len(units_by_stratum[name]) - 1 for name in names]
    drawn_units: set[str] = set()
    for name, extra_count in zip(names, allocate(size - len(names), limits, limits), strict=True):
        shuffled = sort_by_seed(units_by_stratum[name], seed, lambda unit: ["query draw", unit])
        drawn_units.update(shuffled[: extra_count + 1])
    drawn_ids = frozenset(query_id for query_id in strata if unit_of.get(query_id, query_id) in drawn_units)
    return QueryDraw(strata, drawn_ids, unit_of)


def read_draws(cursor: Cursor) -> list[QueryDraw]:
    """Read the project's draws, newest first."""
    rows = cursor.execute(
        "SELECT json_extract(parameters, 'query_draw') FROM rounds WHERE json_exists(parameters, "
        "'query_draw') ORDER BY sequence DESC"
    ).fetchall()
    return [load_draw(json.loads(row[0])) for row in rows]


def load_draw(draw: Mapping[str, Any]) -> QueryDraw:
    """Restore a draw from its round's parameters."""
    return QueryDraw(draw["strata"], frozenset(draw["drawn"]), draw.get("units", {}))


def read_frame(cursor: Cursor) -> DrawFrame:
    """Read the strata of the sample's queries, and the units in which queries are drawn together."""
    sql = "SELECT query_id, stratum FROM sample_queries WHERE sample_id = ?"
    strata = cursor.execute(sql, [get_setting(cursor, "sample")]).fetchall()
    sql = "SELECT query_id, metadata->>$unit FROM queries WHERE metadata->>$unit IS NOT NULL"
    return dict(strata), dict(cursor.execute(sql, {"unit": UNIT_FIELD}).fetchall())
