"""Samples as they are stored: with their queries, and which one is the current one.

A sample is known by the hash of its parameters, strata and queries: the same draw again adds nothing. Earlier
samples stay; the current one is the project's setting `sample`.

Warnings tell what a sample cannot show: thin strata, and too many or too few unanswerable queries. A gold set
that holds no unanswerable query never sees a system that should have kept silent; one with many of
them measures little else. Which queries are unanswerable only people can say, so before anybody has tagged
failure modes the share is unknown, not 0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from curation.core.errors import RefusedError
from curation.core.text import amount, canonical_json, digest, listed, percent
from curation.ingest.importers.queries import query_id_of
from curation.queries.sampling.designs import Stratum
from curation.queries.sampling.frame.limits import Limits
from curation.queries.sampling.frame.traffic_rows import state_of
from curation.queries.sampling.tags.stored_tags import unanswerable_share
from curation.store import Cursor, Store, append_rows, get_setting, put_setting, record_event, utc_now
from curation.store.settings import COMMAND_LINE

FEW = 10
"""A stratum with fewer queries is too small for figures of its own."""

LEAST_UNANSWERABLE, MOST_UNANSWERABLE = 0.05, 0.2
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


def about_strata(strata: Sequence[Stratum]) -> list[str]:
    """Sentences about strata that are empty, missed or thin."""
    empty = [stratum.name for stratum in strata if not stratum.population]
    missed = [f"{s.name} ({s.population:,})" for s in strata if s.population and not s.drawn]
    few = [f"{s.name} ({s.drawn} of {s.population:,})" for s in strata if 0 < s.drawn < FEW]
    warnings = {
        f"No query of the traffic belongs to {listed(empty)}.": empty,
        f"No query was drawn from {listed(missed)}: results will say nothing about these.": missed,
        f"Fewer than {FEW} queries were drawn from {listed(few)}: too few for figures of their own.": few,
    }
    return [sentence for sentence, names in warnings.items() if names]


def about_failure_modes(cursor: Cursor) -> list[str]:
    """A sentence where the unanswerable queries of the current sample are too few, too many or unknown."""
    share = unanswerable_share(cursor)
    if share is None:
        return [
            "How many queries of the sample are unanswerable is unknown: nobody has tagged any with a "
            "failure mode yet. Look through them, and tag those that the corpus cannot answer."
        ]
    tagged, queries = share
    if LEAST_UNANSWERABLE * queries <= tagged <= MOST_UNANSWERABLE * queries:
        return []
    return [
        f"{tagged:,} of {amount(queries, 'query', 'queries')} of the sample ({percent(tagged / queries)}) "
        f"are tagged unanswerable; {percent(LEAST_UNANSWERABLE)} to {percent(MOST_UNANSWERABLE)} would show "
        "whether systems keep silent when they should, without hiding how well they find."
    ]


@dataclass(frozen=True)
class StoredSample:
    """The current sample, read back.

    Attributes
    ----------
    strata: the report, one row for each stratum, empty ones included; `chart.sample_chart` draws it.
    parameters: what the draw was asked for.
    warnings: what the sample cannot show, as of now.
    """

    sample_id: str
    size: int
    seed: int
    strata: list[Stratum]
    parameters: dict[str, Any]
    warnings: list[str]
    drawn_at: datetime


class DrawnQuery(NamedTuple):
    """A query of a sample, by its normalised text."""

    normalised: str
    stratum: str
    traffic: int
    probability: float


def current_sample(store: Store) -> StoredSample | None:
    """The current sample of the project, or None where nothing was drawn yet."""
    with store.reading() as cursor:
        return read_current(cursor)


def read_current(cursor: Cursor) -> StoredSample | None:
    """The current sample, within a lease of the database."""
    sample_id = get_setting(cursor, "sample")
    rows = cursor.execute(
        "SELECT parameters, report, drawn_at FROM samples WHERE sample_id = ?", [sample_id]
    ).fetchall()
    if sample_id is None or not rows:
        return None
    parameters, strata = json.loads(rows[0][0]), [Stratum(**row) for row in json.loads(rows[0][1])]
    warnings = about_strata(strata) + about_failure_modes(cursor)
    size, seed = parameters["size"], parameters["seed"]
    return StoredSample(sample_id, size, seed, strata, parameters, warnings, rows[0][2])


def judged_queries(cursor: Cursor, sample_id: str) -> int:
    """How many queries of a sample people have judged."""
    sql = "SELECT count(DISTINCT query_id) FROM sample_queries SEMI JOIN current_judgments USING (query_id)"
    return int(cursor.execute(f"{sql} WHERE sample_id = ?", [sample_id]).fetchall()[0][0])


def queries_of(cursor: Cursor, sample_id: str) -> set[str]:
    """The normalised texts of a sample's queries."""
    sql = "SELECT normalised FROM queries JOIN sample_queries USING (query_id) WHERE sample_id = ?"
    return {normalised for (normalised,) in cursor.execute(sql, [sample_id]).fetchall()}


def store_sample(
    store: Store,
    parameters: dict[str, Any],
    strata: list[Stratum],
    drawn: Sequence[DrawnQuery],
    limits: Limits,
    state: tuple[object, ...],
    author: str = COMMAND_LINE,
) -> tuple[str, int | None, list[str]]:
    """Store a sample and make it the current one: its id, how many queries were added, and warnings.

    None were added where the same sample was stored before.

    Parameters
    ----------
    state: what `traffic_rows.state_of` said when the frame was read.

    Raises
    ------
    RefusedError: it says something else now.
    """
    sample_id = digest("sample", parameters, strata, sorted(drawn))
    with store.transaction(appends=True) as cursor:
        if state_of(cursor, limits, parameters["strata"]) != state:
            raise RefusedError(_changed(len(state)))
        known = (
            cursor.execute("SELECT 1 FROM samples WHERE sample_id = ?", [sample_id]).fetchone() is not None
        )
        added = 0 if known else _append(cursor, sample_id, parameters, strata, drawn)
        if get_setting(cursor, "sample") != sample_id:
            put_setting(cursor, "sample", sample_id)
            detail = {"sample": sample_id, **parameters, "queries added": added}
            record_event(cursor, "sample", detail, author)
        return sample_id, None if known else added, about_failure_modes(cursor)


def _changed(parts: int) -> str:
    what = "Traffic" if parts == 1 else "Traffic, a round, a release, a tag or a corpus"
    return f"{what} was added while the sample was drawn. Draw it again."


def _append(
    cursor: Cursor,
    sample_id: str,
    parameters: dict[str, Any],
    strata: list[Stratum],
    drawn: Sequence[DrawnQuery],
) -> int:
    query_ids, added = _add_queries(cursor, [query.normalised for query in drawn])
    report = canonical_json([stratum._asdict() for stratum in strata])
    cursor.execute(
        "INSERT INTO samples VALUES (?, ?, ?, ?)", [sample_id, canonical_json(parameters), report, utc_now()]
    )
    cursor.execute("INSERT INTO sample_logs SELECT ?, import_id FROM traffic_imports", [sample_id])
    drawn = sorted(drawn, key=lambda query: query_ids[query.normalised])
    rows = [(query_ids[one.normalised], one.stratum, one.traffic, one.probability) for one in drawn]
    names = ("query_id", "stratum", "traffic", "inclusion_probability")
    append_rows(cursor, "sample_queries", rows, names, sample_id=sample_id)
    return added


def _add_queries(cursor: Cursor, normalised: list[str]) -> tuple[dict[str, str], int]:
    """The query id of each text, and how many queries were new; one known under another id keeps that."""
    known = dict(cursor.execute(_KNOWN, [normalised]).fetchall())
    spellings = cursor.execute(_SPELLINGS, [normalised]).fetchall()
    new = [spelling for spelling in spellings if spelling[0] not in known]
    ids = {text: query_id_of(text) for text, *_ in new}
    rows = [
        (ids[text], shown, text, json.dumps({"segment": segment} if segment else {}))
        for text, shown, segment in new
    ]
    append_rows(cursor, "queries", rows, ("query_id", "text", "normalised", "metadata"), source="traffic")
    return known | ids, len(new)
