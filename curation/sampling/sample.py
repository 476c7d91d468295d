"""The draw: which distinct queries of the traffic will be judged, and how likely each was to be drawn.

A stratified random sample without replacement. The strata are the frequency bands; each gets an equal
share of the sample. As the bands carry about equal traffic, that is the allocation proportional to
traffic, with what a small head cannot use going to the others; allocation by number of distinct
queries would draw almost nothing but tail. Within a stratum every query is equally likely, so that
its inclusion probability is exactly drawn / population, and an estimate over all traffic can weigh by
its inverse.

The random order is a hash of seed and query (`_POPULATION`), computed where the rows are: it depends
on nothing else, so the sample is the same on any machine and whatever the order of the log, and a log
that has grown keeps most of the earlier sample.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from curation.errors import InputError, RefusedError
from curation.sampling.allocation import allocate
from curation.sampling.bands import BANDS, HEAD, TORSO, band_of
from curation.sources.queries import query_id_of
from curation.store import Cursor, Store, append, fetch, get_setting, put_setting, record_event, utc_now
from curation.text import canonical_json, digest

_DESIGN = "stratified by traffic band, equal allocation, simple random within a stratum"


class Stratum(NamedTuple):
    """One row of the report; the probability of an empty stratum is None."""

    name: str
    population: int
    traffic: int
    drawn: int
    probability: float | None


@dataclass(frozen=True)
class SampleReport:
    """A sample that is now the current one.

    Attributes
    ----------
    added: queries that the project did not know before.
    drawn_before: this very sample was stored already; nothing was added.
    left_out: reason → number of logged rows that could not be drawn from.
    warnings: what the numbers will not be able to say.
    """

    sample_id: str
    size: int
    seed: int
    strata: list[Stratum]
    added: int
    drawn_before: bool
    left_out: dict[str, int]
    warnings: list[str]


class _Drawn(NamedTuple):
    normalised: str
    stratum: str
    traffic: int
    probability: float


class _Spelling(NamedTuple):
    normalised: str
    text: str
    segment: str | None


def draw_sample(store: Store, size: int, seed: int, head: float = HEAD, torso: float = TORSO) -> SampleReport:
    """Draw `size` distinct queries of all traffic, store them and make them the current sample.

    Parameters
    ----------
    head, torso: shares of traffic at which these bands end; see `sampling.bands`.

    Raises
    ------
    InputError: a size below 1, or bands that are none.
    RefusedError: there is no traffic, fewer distinct queries than asked for, or traffic arrived meanwhile.
    """
    if size < 1:
        raise InputError(f"A sample of {size} queries was asked for; expected at least 1.")
    queries, traffic, imports, left_out = _population(store, seed)
    if size > len(traffic):
        raise RefusedError(_too_few(size, len(traffic)))
    bands = band_of(traffic, head, torso)
    members = [np.flatnonzero(bands == band) for band in range(len(BANDS))]
    numbers = allocate(size, [len(rows) for rows in members], [1] * len(BANDS))
    strata = [
        Stratum(name, len(rows), int(traffic[rows].sum()), number, number / len(rows) if len(rows) else None)
        for name, rows, number in zip(BANDS, members, numbers, strict=True)
    ]
    drawn = [
        _Drawn(queries[int(row)].as_py(), stratum.name, int(traffic[row]), stratum.drawn / stratum.population)
        for stratum, rows in zip(strata, members, strict=True)
        for row in rows[: stratum.drawn]
    ]
    parameters = {"design": _DESIGN, "head": head, "seed": seed, "size": size, "torso": torso}
    sample_id = digest("sample", parameters, strata, sorted(drawn))
    known, added = _keep(store, sample_id, parameters, strata, drawn, imports)
    return SampleReport(sample_id, size, seed, strata, added, known, left_out, _warnings(strata))


# In random order: the lower half of the MD5 of seed and query. A SHA-256 would be as good and slower.
_POPULATION = """
    SELECT normalised, sum(count)::BIGINT AS traffic
    FROM traffic WHERE normalised <> '' GROUP BY normalised
    ORDER BY md5_number_lower(?::VARCHAR || chr(31) || normalised), normalised
"""

# How each drawn query is shown: its most frequent spelling, and its most frequent segment; ties by text.
# White space is folded first, all that Python's str.split knows: nobody sees it, so it makes no spelling.
_SPELLINGS = r"""
    WITH drawn AS (SELECT unnest(?::VARCHAR[]) AS normalised),
    asked AS (SELECT t.* FROM traffic t SEMI JOIN drawn USING (normalised)),
    spelled AS (
        SELECT normalised, trim(regexp_replace(text, '[\p{Z}\x09-\x0d\x1c-\x1f\x{85}]+', ' ', 'g')) AS text,
               sum(count) AS times
        FROM asked GROUP BY ALL),
    segments AS (
        SELECT normalised, segment, sum(count) AS times FROM asked WHERE segment IS NOT NULL GROUP BY ALL)
    SELECT normalised, first(text ORDER BY spelled.times DESC, text) AS text,
           (SELECT first(segment ORDER BY s.times DESC, segment) FROM segments s
            WHERE s.normalised = spelled.normalised) AS segment
    FROM spelled GROUP BY normalised ORDER BY normalised
"""
_KNOWN = """
    SELECT normalised, min(query_id) FROM queries
    WHERE normalised IN (SELECT unnest(?::VARCHAR[])) GROUP BY normalised
"""


def _population(store: Store, seed: int) -> tuple[Any, Any, int, dict[str, int]]:
    with store.reading() as cursor:
        rows = cursor.sql(_POPULATION, params=[str(seed)]).to_arrow_table()
        empty = _count(cursor, "SELECT count(*) FROM traffic WHERE normalised = ''")
        imports = _count(cursor, "SELECT count(*) FROM traffic_imports")
    left_out = {"empty query": empty} if empty else {}
    return rows["normalised"], rows["traffic"].to_numpy(), imports, left_out


def _count(cursor: Cursor, sql: str) -> int:
    return int(cursor.execute(sql).fetchall()[0][0])


def _keep(
    store: Store,
    sample_id: str,
    parameters: dict[str, Any],
    strata: list[Stratum],
    drawn: list[_Drawn],
    imports: int,
) -> tuple[bool, int]:
    """Store the sample and make it the current one: whether it was known, and how many queries were not."""
    with store.transaction() as cursor:
        if _count(cursor, "SELECT count(*) FROM traffic_imports") != imports:
            raise RefusedError("Traffic was imported while the sample was drawn. Draw it again.")
        known = (
            cursor.execute("SELECT 1 FROM samples WHERE sample_id = ?", [sample_id]).fetchone() is not None
        )
        if known and get_setting(cursor, "sample") == sample_id:
            return True, 0
        added = 0 if known else _append(cursor, sample_id, parameters, strata, drawn)
        put_setting(cursor, "sample", sample_id)
        record_event(cursor, "sample", {"sample": sample_id, **parameters, "queries added": added})
    return known, added


def _append(
    cursor: Cursor,
    sample_id: str,
    parameters: dict[str, Any],
    strata: list[Stratum],
    drawn: list[_Drawn],
) -> int:
    query_ids, added = _add_queries(cursor, [query.normalised for query in drawn])
    report = canonical_json([stratum._asdict() for stratum in strata])
    cursor.execute(
        "INSERT INTO samples VALUES (?, ?, ?, ?)", [sample_id, canonical_json(parameters), report, utc_now()]
    )
    drawn = sorted(drawn, key=lambda query: query_ids[query.normalised])
    append(
        cursor,
        "sample_queries",
        {
            "sample_id": [sample_id] * len(drawn),
            "query_id": [query_ids[query.normalised] for query in drawn],
            "stratum": [query.stratum for query in drawn],
            "traffic": [query.traffic for query in drawn],
            "inclusion_probability": [query.probability for query in drawn],
        },
    )
    return added


def _add_queries(cursor: Cursor, normalised: list[str]) -> tuple[dict[str, str], int]:
    """The query id of each text, and how many queries were new; one known under another id keeps that."""
    known = dict(cursor.execute(_KNOWN, [normalised]).fetchall())
    spellings = fetch(cursor, _Spelling, _SPELLINGS, [normalised])
    new = [spelling for spelling in spellings if spelling.normalised not in known]
    ids = {spelling.normalised: query_id_of(spelling.normalised) for spelling in new}
    append(
        cursor,
        "queries",
        {
            "query_id": [ids[spelling.normalised] for spelling in new],
            "text": [spelling.text for spelling in new],
            "normalised": [spelling.normalised for spelling in new],
            "source": ["traffic"] * len(new),
            "metadata": [json.dumps({"segment": s.segment} if s.segment else {}) for s in new],
        },
    )
    return known | ids, len(new)


def _too_few(size: int, population: int) -> str:
    if not population:
        return "There is no traffic to sample from. Bring a log in with `goldset import traffic`."
    return (
        f"The traffic holds {population:,} distinct queries and {size:,} were asked for. "
        f"Ask for at most {population:,}, or import more traffic."
    )


def _warnings(strata: list[Stratum]) -> list[str]:
    return [
        f"No query of the {stratum.name} was drawn, though it has {stratum.population:,}: "
        "results will say nothing about it."
        for stratum in strata
        if stratum.population and not stratum.drawn
    ]
