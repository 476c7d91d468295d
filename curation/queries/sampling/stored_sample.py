"""Stored samples: their queries, which one is current, what it cannot show, and its chart.

A sample is known by the hash of its parameters, strata and queries: the same draw again adds nothing. Earlier
samples stay; the current one is the project's setting `sample`.

Warnings tell what a sample cannot show: thin strata, and too many or too few unanswerable queries. A gold set
that holds no unanswerable query never sees a system that should have kept silent; one with many of them
measures little else. Which queries are unanswerable only people can say, so before anybody has tagged
failure modes the share is unknown, not 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from markupsafe import Markup

from curation.core.digests import canonical_json, digest
from curation.core.errors import RefusedError
from curation.core.reports.charts import bars
from curation.core.reports.page import Table
from curation.core.text import join_words, left_out_sentences, percent, pluralize
from curation.ingest.importers.queries import query_id_of
from curation.queries.requests import DrawRequest
from curation.queries.sampling.designs import TAG, Stratum, names_after, strata_table
from curation.queries.unanswerable import unanswerable_share
from curation.retrieval import DEFAULT_MODEL
from curation.store import Cursor, Store, append_rows, get_setting, put_setting, record_event, utc_now
from curation.store.settings import COMMAND_LINE

DrawnQuery = tuple[str, str, int, float]
"""A query of a sample: its normalised text, stratum, traffic and probability."""
MIN_FOR_FIGURES = 10
"""A stratum with fewer queries is too small for figures of its own."""
MIN_UNANSWERABLE, MAX_UNANSWERABLE = 0.05, 0.2
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
    few = [f"{s.name} ({s.drawn} of {s.population:,})" for s in strata if 0 < s.drawn < MIN_FOR_FIGURES]
    warnings = {
        f"No query of the traffic belongs to {join_words(empty)}.": empty,
        f"No query was drawn from {join_words(missed)}: results will say nothing about these.": missed,
        (
            f"Fewer than {MIN_FOR_FIGURES} queries were drawn from {join_words(few)}: too few for figures of "
            "their own."
        ): few,
    }
    return [sentence for sentence, names in warnings.items() if names]


def about_failure_modes(cursor: Cursor) -> list[str]:
    """A sentence where the unanswerable queries of the current sample are too few, too many or unknown."""
    share = unanswerable_share(cursor)
    if share is None:
        return ["No query of the sample is tagged unanswerable yet. Tag those that the corpus cannot answer."]
    tagged, queries = share
    if MIN_UNANSWERABLE * queries <= tagged <= MAX_UNANSWERABLE * queries:
        return []
    return [
        f"{tagged:,} of {pluralize(queries, 'query', 'queries')} of the sample ({percent(tagged / queries)}) "
        f"are tagged unanswerable; {percent(MIN_UNANSWERABLE)} to {percent(MAX_UNANSWERABLE)} would show "
        "whether systems keep silent when they should, without hiding how well they find."
    ]


@dataclass(frozen=True)
class SampleReport:
    """The current sample, as it was just drawn or read back.

    Attributes
    ----------
    strata: one row for each stratum, empty ones included; `sample_chart` draws it.
    warnings: what the sample cannot show, as of now.
    parameters: what the draw was asked for, as it is stored.
    added: queries that the project did not know before this draw.
    drawn_before: this very sample was stored already; nothing was added.
    grouped: queries that count as another's spelling; their traffic is in its stratum's.
    left_out: reason → number of logged rows that could not be drawn from.
    """

    sample_id: str
    size: int
    seed: int
    strata: list[Stratum]
    parameters: dict[str, Any]
    warnings: list[str]
    drawn_at: datetime = field(compare=False)
    added: int = 0
    drawn_before: bool = True
    grouped: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """How many were drawn, and what was left out; a page has the warnings elsewhere."""
        drawn = f"Drew {pluralize(self.size, 'query', 'queries')}; {self.added:,} new to the project."
        if self.drawn_before:
            drawn = "This sample was drawn before; it is the current one, and nothing was added."
        spellings = pluralize(self.grouped, "rarer spelling counts as its", "rarer spellings count as their")
        grouped = [f"{spellings} most frequent one."] if self.grouped else []
        return [drawn, *grouped, *left_out_sentences(self.left_out, "rows of traffic")]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The strata."""
        return (strata_table(self.sample_id, self.strata),)


def current_sample(store: Store) -> SampleReport | None:
    """The current sample of the project, or None if nothing was drawn yet."""
    with store.reading() as cursor:
        return read_current(cursor)


def read_current(cursor: Cursor) -> SampleReport | None:
    """The current sample, within a lease of the database."""
    sample_id = get_setting(cursor, "sample")
    return None if sample_id is None else _read(cursor, sample_id)


def _read(cursor: Cursor, sample_id: str) -> SampleReport:
    [(asked, report, drawn_at)] = cursor.execute(
        "SELECT parameters, report, drawn_at FROM samples WHERE sample_id = ?", [sample_id]
    ).fetchall()
    parameters, strata = json.loads(asked), [Stratum(**row) for row in json.loads(report)]
    warnings = about_strata(strata) + about_failure_modes(cursor)
    size, seed = parameters["size"], parameters["seed"]
    return SampleReport(sample_id, size, seed, strata, parameters, warnings, drawn_at)


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
    state: tuple[object, ...],
    author: str = COMMAND_LINE,
) -> SampleReport:
    """Store a sample, unless the project has it, and make it the current one.

    Parameters
    ----------
    state: what `state_of` said when the frame was read.

    Raises
    ------
    RefusedError: it says something else now.
    """
    sample_id = digest("sample", parameters, strata, sorted(drawn))
    with store.transaction(appends=True) as cursor:
        if state_of(cursor, request_of(parameters)) != state:
            raise RefusedError(_changed(len(state)))
        known = bool(cursor.execute("SELECT 1 FROM samples WHERE sample_id = ?", [sample_id]).fetchall())
        added = 0 if known else _append(cursor, sample_id, parameters, strata, drawn)
        if get_setting(cursor, "sample") != sample_id:
            put_setting(cursor, "sample", sample_id)
            detail = {"sample": sample_id, **parameters, "queries added": added}
            record_event(cursor, "sample", detail, author)
        return replace(_read(cursor, sample_id), added=added, drawn_before=known)


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
    query_ids, added = _add_queries(cursor, [normalised for normalised, *_ in drawn])
    report = canonical_json([stratum._asdict() for stratum in strata])
    cursor.execute(
        "INSERT INTO samples VALUES (?, ?, ?, ?)", [sample_id, canonical_json(parameters), report, utc_now()]
    )
    cursor.execute("INSERT INTO sample_logs SELECT ?, import_id FROM traffic_imports", [sample_id])
    rows = sorted((query_ids[normalised], *rest) for normalised, *rest in drawn)
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


def sample_chart(strata: Sequence[Stratum]) -> Markup:
    """Two bars for each stratum: its share of the traffic and of the sample."""
    rows = list(zip((stratum.name for stratum in strata), _shares(strata), strict=True))
    return bars(
        "Share of traffic and share of the sample by stratum",
        "Two bars for each stratum. The table has the same figures.",
        ("share of traffic", "share of sample"),
        rows,
    )


def _shares(strata: Sequence[Stratum]) -> list[tuple[float, float]]:
    traffic = sum(stratum.traffic for stratum in strata) or 1
    drawn = sum(stratum.drawn for stratum in strata) or 1
    return [(stratum.traffic / traffic, stratum.drawn / drawn) for stratum in strata]


def request_of(parameters: Mapping[str, Any]) -> DrawRequest:
    """The request that a stored sample was drawn by."""
    since, until = (
        datetime.fromisoformat(parameters[end]) if parameters[end] else None for end in ("since", "until")
    )
    limits = ("min_count", "exclude_judged", "group_spellings")
    return DrawRequest(
        parameters["size"],
        parameters["seed"],
        parameters["strata"],
        since=since,
        until=until,
        **{name: parameters[name] for name in limits},
        exclude_released=parameters.get("exclude_released", False),
        model=parameters.get("model", DEFAULT_MODEL),
    )


def state_of(cursor: Cursor, request: DrawRequest) -> tuple[object, ...]:
    """What a frame for this request depends on: it changes whenever the frame may have."""
    tables = ["traffic_imports"]
    tables += ["rounds"] if request.exclude_judged else []
    tables += ["releases"] if request.exclude_judged or request.exclude_released else []
    tables += ["query_tags"] if names_after(TAG, request.strata) else []
    return tuple(
        int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608  names above
        for table in tables
    )
