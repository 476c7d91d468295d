"""Which candidates a round can show: the candidates of all queries in play, or of a random draw of them.

Documents with the same title and body are one item. A round shows one of a query's identical
candidates, and none of them where one was shown or judged before, under any id. A pool ensures that for what
it adds itself; judgments that are imported later bring their own ids.

People's grades of a draw of queries correct a judge that graded all (`curation.evaluation.llm_judges`). Each
stratum of the sample gives at least one query, and the rest in proportion to its size; within it queries are
drawn without replacement, by seed. So a query's inclusion probability is the share of its stratum that was
drawn. The round keeps the draw among its parameters. Nuggets of one query of a gold set
(`evaluation.answers.graded_answers`) are drawn together: a score of its answer needs all of them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.digests import seeded
from curation.core.errors import InputError, RefusedError
from curation.core.reports.page import Table, csv_table
from curation.core.statistics.allocation import allocate
from curation.core.text import pluralize
from curation.ingest.filters import outside_pairs
from curation.ingest.importers.queries import active_queries
from curation.store import Cursor, fetch, get_setting
from curation.store.documents import VERSION, current_snapshot

OUTSIDE_FILTER = "the document is outside the filter of its query"

UNIT = "goldset_gold_query"
"""The field of a query's metadata with what is drawn instead of it, together with all others that have it."""
NO_STRATUM = "not drawn from traffic"
NO_POOL = "the query has no pool, which would find its documents"
DrawFrame = tuple[Mapping[str, str], Mapping[str, str]]
"""By query id: the stratum, of the sample's queries; and the unit, of queries that are drawn together."""
NOT_DRAWN = "the query was not drawn"


class CandidateRow(NamedTuple):
    """A candidate; `content_hash` is None if its document has left the corpus.

    Attributes
    ----------
    text_hash: the same for documents with the same title and body; None for those without any text.
    outside: whether it is outside the filter of its query.
    """

    query_id: str
    document_id: str
    content_hash: str | None
    shown: bool
    text_hash: str | None = None
    outside: bool = False


@dataclass(frozen=True)
class Chosen:
    """What a round will show.

    Attributes
    ----------
    parameters: what is stored with the round besides its layout.
    left_out: reason → number of candidates.
    sources: (query id, document id) → system, of pairs that no pool proposed. They are stored under the
        round's id and become candidates.
    """

    candidates: Sequence[Candidate]
    parameters: Mapping[str, Any]
    left_out: Mapping[str, int]
    sources: Mapping[tuple[str, str], str] = field(default_factory=dict)


_CANDIDATES = f"""
SELECT c.query_id, c.document_id, s.content_hash,
       EXISTS (
           FROM live_presentations p JOIN rounds r USING (round_id)
           WHERE p.query_id = c.query_id AND p.document_id = c.document_id
             AND r.kind <> 'practice' AND (r.kind <> 'pilot' OR ?)),
       CASE WHEN trim(d.title || d.body) <> '' THEN md5(concat(length(d.title), ':', d.title, d.body)) END
FROM candidates c
LEFT JOIN snapshot_documents s ON s.document_id = c.document_id AND s.snapshot_id = ?
LEFT JOIN {VERSION}
ORDER BY c.query_id, c.document_id
"""  # noqa: S608


def read_candidates(cursor: Cursor, pilots: bool = False) -> tuple[list[CandidateRow], set[str]]:
    """Every candidate, and the ids of the queries in play.

    Parameters
    ----------
    pilots: also count what a pilot has shown as shown.
    """
    rows = fetch(cursor, CandidateRow, _CANDIDATES, [pilots, current_snapshot(cursor)])
    if outside := outside_pairs(cursor):
        rows = [row._replace(outside=(row.query_id, row.document_id) in outside) for row in rows]
    return rows, {query.query_id for query in active_queries(cursor)}


def choose_candidates(rows: Sequence[CandidateRow], active: set[str], again: bool) -> Chosen:
    """The candidates to be judged, and the others by reason; `again` includes those shown before.

    Of identical documents the one shown before represents all, else the one with the smallest id.
    """
    left_out: Counter[str] = Counter()
    chosen = []
    representatives = _representatives(rows)
    for row in rows:
        if row.content_hash is None:
            left_out["the document is not in the current corpus"] += 1
        elif row.query_id not in active:
            left_out["the query is not in the current sample"] += 1
        elif row.outside:
            left_out[OUTSIDE_FILTER] += 1
        elif row.shown and not again:
            left_out["already in a round or judged"] += 1
        elif representatives[row.query_id, row.text_hash or row.document_id] != row.document_id:
            left_out["an identical document stands for it"] += 1
        else:
            chosen.append(Candidate(row.query_id, row.document_id, row.content_hash))
    return Chosen(chosen, {"again": again}, dict(left_out))


def _representatives(rows: Sequence[CandidateRow]) -> dict[tuple[str, str], str]:
    """(query id, text) → the document that is shown for it, of those that are in the corpus."""
    representatives: dict[tuple[str, str], str] = {}
    for row in sorted(rows, key=lambda row: (not row.shown, row.document_id)):
        if row.content_hash is not None and not row.outside:
            representatives.setdefault((row.query_id, row.text_hash or row.document_id), row.document_id)
    return representatives


class Candidate(NamedTuple):
    """A pair to be judged, and the document version that will be shown."""

    query_id: str
    document_id: str
    content_hash: str


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
    def counts(self) -> dict[str, tuple[int, int]]:
        """Stratum, ordered by name → how many units it has, and how many of them were drawn."""
        strata = {self.units.get(query_id, query_id): stratum for query_id, stratum in self.strata.items()}
        population = Counter(strata.values())
        drawn = Counter(strata[unit] for unit in {self.units.get(name, name) for name in self.drawn})
        return {stratum: (population[stratum], drawn[stratum]) for stratum in sorted(population)}

    @property
    def probabilities(self) -> dict[str, float]:
        """Query id → how likely it was to be drawn: the share of its stratum."""
        counts = self.counts
        return {
            name: counts[stratum][1] / counts[stratum][0] for name, stratum in sorted(self.strata.items())
        }

    @property
    def by_stratum(self) -> Table:
        """How many queries each stratum has, how many were drawn, and how likely each was."""
        rows = tuple((stratum, of, drawn, drawn / of) for stratum, (of, drawn) in self.counts.items())
        return Table("Drawn queries", ("Stratum", "Queries", "Drawn", "Probability"), rows)

    @property
    def table(self) -> str:
        """CSV of all queries: query_id, stratum, drawn (0 or 1), inclusion_probability."""
        columns = ("query_id", "stratum", "drawn", "inclusion_probability")
        rows = (
            (query_id, self.strata[query_id], int(query_id in self.drawn), f"{probability:.6g}")
            for query_id, probability in self.probabilities.items()
        )
        return csv_table(Table("", columns, tuple(rows)))


def drawn_candidates(
    chosen: Chosen, rows: Sequence[CandidateRow], active: set[str], frame: DrawFrame, queries: int, seed: int
) -> Chosen:
    """The candidates of a random sample of the queries in play that have a pool.

    Parameters
    ----------
    queries: how many are drawn.

    Raises
    ------
    InputError: fewer queries than strata, or as many as there are.
    """
    strata, units = frame
    pooled = {row.query_id for row in rows if row.content_hash is not None} & active
    draw = draw_queries({name: strata.get(name, NO_STRATUM) for name in pooled}, queries, seed, units)
    kept = [candidate for candidate in chosen.candidates if candidate.query_id in draw.drawn]
    left_out = {
        **chosen.left_out,
        NOT_DRAWN: len(chosen.candidates) - len(kept),
        NO_POOL: len(active - pooled),
    }
    stored = {"strata": dict(sorted(draw.strata.items())), "drawn": sorted(draw.drawn)}
    stored |= {"units": dict(sorted(draw.units.items()))} if draw.units else {}
    counts = {reason: count for reason, count in left_out.items() if count}
    return replace(
        chosen, candidates=kept, parameters={**chosen.parameters, "query_draw": stored}, left_out=counts
    )


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
    unit_of = {query_id: units[query_id] for query_id in strata if query_id in units}
    by_unit = {unit_of.get(query_id, query_id): stratum for query_id, stratum in sorted(strata.items())}
    for unit, stratum in by_unit.items():
        members[stratum].append(unit)
    if not len(members) <= queries < len(by_unit):
        raise InputError(
            f"A draw of {pluralize(queries, 'query', 'queries')} was asked for, and "
            f"{pluralize(len(by_unit), 'query', 'queries')} of {len(members):,} "
            "strata have a pool: expected at least one a stratum, and fewer than all, because a judge has "
            "nothing to add where people grade everything."
        )
    names = sorted(members)
    left = [len(members[name]) - 1 for name in names]
    drawn: set[str] = set()
    for name, more in zip(names, allocate(queries - len(names), left, left), strict=True):
        drawn.update(seeded(members[name], seed, lambda query_id: ["query draw", query_id])[: more + 1])
    chosen = frozenset(query_id for query_id in strata if unit_of.get(query_id, query_id) in drawn)
    return QueryDraw(strata, chosen, unit_of)


def read_draws(cursor: Cursor) -> list[QueryDraw]:
    """The draws of the project, the newest first."""
    rows = cursor.execute(
        "SELECT json_extract(parameters, 'query_draw') FROM rounds "
        "WHERE json_exists(parameters, 'query_draw') ORDER BY sequence DESC"
    ).fetchall()
    return [stored_draw(json.loads(row[0])) for row in rows]


def stored_draw(draw: Mapping[str, Any]) -> QueryDraw:
    """A draw as a round keeps it among its parameters."""
    return QueryDraw(draw["strata"], frozenset(draw["drawn"]), draw.get("units", {}))


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


def read_draw_frame(cursor: Cursor) -> DrawFrame:
    """The strata of the sample's queries, and the units of queries that are drawn together."""
    strata = cursor.execute(
        "SELECT query_id, stratum FROM sample_queries WHERE sample_id = ?", [get_setting(cursor, "sample")]
    ).fetchall()
    units = cursor.execute(
        "SELECT query_id, metadata->>$unit FROM queries WHERE metadata->>$unit IS NOT NULL", {"unit": UNIT}
    ).fetchall()
    return dict(strata), dict(units)
