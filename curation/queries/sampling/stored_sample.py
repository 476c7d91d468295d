"""Stored samples of queries, the current sample with its warnings, and a chart of its strata.

A sample is identified by the hash of its parameters, strata and queries, so drawing the same sample again
adds nothing. Earlier samples stay stored, and the setting `sample` has the id of the current sample.

The warnings of a sample name thin strata, and too many or too few unanswerable queries. A gold set without
unanswerable queries cannot show whether systems keep silent when they should; a gold set with many
unanswerable queries measures little else. Only people can say which queries are unanswerable, so the share is
unknown, not 0, before people have tagged failure modes.
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
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, join_names, percent, pluralize
from curation.ingest.importers.queries import make_query_id
from curation.queries.requests import DrawRequest
from curation.queries.sampling.designs import TAG, Stratum, names_after, strata_table
from curation.queries.unanswerable import unanswerable_share
from curation.retrieval import DEFAULT_MODEL
from curation.store import Cursor, Store, append_rows, get_setting, put_setting, record_event, utc_now
from curation.store.audit_trail import COMMAND_LINE

DrawnQuery = tuple[str, str, int, float]
"""A drawn query: its normalized text, stratum, traffic and inclusion probability."""
MIN_FOR_FIGURES = 10
"""Fewest drawn queries of a stratum for separate results on the stratum."""
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
    """Warn of strata that are empty, not drawn from, or thin."""
    empty = [stratum.name for stratum in strata if not stratum.population]
    missed = [f"{s.name} ({s.population:,})" for s in strata if s.population and not s.drawn]
    few = [f"{s.name} ({s.drawn} of {s.population:,})" for s in strata if 0 < s.drawn < MIN_FOR_FIGURES]
    warnings = {
        f"No query of the traffic belongs to {join_names(empty)}.": empty,
        f"No query was drawn from {join_names(missed)}: results will say nothing about these strata.": missed,
        (
            f"Fewer than {MIN_FOR_FIGURES} queries were drawn from {join_names(few)}: too few for separate "
            "results."
        ): few,
    }
    return [sentence for sentence, names in warnings.items() if names]


def about_failure_modes(cursor: Cursor) -> list[str]:
    """Warn of too few, too many or an unknown number of unanswerable queries in the current sample."""
    share = unanswerable_share(cursor)
    if share is None:
        return [
            "No query of the sample is tagged unanswerable yet. Tag queries that the corpus cannot answer."
        ]
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
    """The current sample, newly drawn or read from the project.

    Attributes
    ----------
    strata: counts of each stratum, including empty strata (drawn by `sample_chart`).
    warnings: sentences about figures that the sample cannot support.
    parameters: stored parameters of the draw.
    added: number of queries that the project did not have before the draw.
    drawn_before: whether the same sample was stored already, so that nothing was added.
    grouped: number of spellings whose traffic counts for a more frequent spelling.
    left_out: reason → number of logged rows that could not be drawn.
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
        """Count the drawn queries and the rows left out. Pages show the warnings separately."""
        drawn = f"Drew {pluralize(self.size, 'query', 'queries')}; {self.added:,} new to the project."
        if self.drawn_before:
            drawn = "The same sample was drawn before. The sample is current again, and nothing was added."
        spellings = pluralize(self.grouped, "rarer spelling counts as its", "rarer spellings count as their")
        grouped = [f"{spellings} most frequent spelling."] if self.grouped else []
        return [drawn, *grouped, *describe_left_out(self.left_out, "rows of traffic")]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Show the strata."""
        return (strata_table(self.sample_id, self.strata),)


def current_sample(store: Store) -> SampleReport | None:
    """Read the current sample of a project, or return None."""
    with store.reading() as cursor:
        return read_current(cursor)


def read_current(cursor: Cursor) -> SampleReport | None:
    """Read the current sample with an open cursor of the database, or return None."""
    sample_id = get_setting(cursor, "sample")
    return None if sample_id is None else _read_sample(cursor, sample_id)


def _read_sample(cursor: Cursor, sample_id: str) -> SampleReport:
    [(asked, report, drawn_at)] = cursor.execute(
        "SELECT parameters, report, drawn_at FROM samples WHERE sample_id = ?", [sample_id]
    ).fetchall()
    parameters, strata = json.loads(asked), [Stratum(**row) for row in json.loads(report)]
    warnings = about_strata(strata) + about_failure_modes(cursor)
    size, seed = parameters["size"], parameters["seed"]
    return SampleReport(sample_id, size, seed, strata, parameters, warnings, drawn_at)


def judged_queries(cursor: Cursor, sample_id: str) -> int:
    """Count the queries of a sample that people have judged."""
    sql = "SELECT count(DISTINCT query_id) FROM sample_queries SEMI JOIN current_judgments USING (query_id)"
    return int(cursor.execute(f"{sql} WHERE sample_id = ?", [sample_id]).fetchall()[0][0])


def queries_of(cursor: Cursor, sample_id: str) -> set[str]:
    """Read the normalized texts of a sample's queries."""
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
    """Make a sample the current sample, and store the sample unless the project has it.

    Parameters
    ----------
    state: result of `state_of` at the time when the frame was read.

    Raises
    ------
    RefusedError: the state has changed since the frame was read.
    """
    sample_id = digest("sample", parameters, strata, sorted(drawn))
    with store.transaction(appends=True) as cursor:
        if state_of(cursor, request_of(parameters)) != state:
            changed = "Traffic" if len(state) == 1 else "Traffic, a round, a release, a tag or a corpus"
            raise RefusedError(f"{changed} was added while the sample was drawn. Draw the sample again.")
        known = bool(cursor.execute("SELECT 1 FROM samples WHERE sample_id = ?", [sample_id]).fetchall())
        added = 0 if known else _append_sample(cursor, sample_id, parameters, strata, drawn)
        if get_setting(cursor, "sample") != sample_id:
            put_setting(cursor, "sample", sample_id)
            detail = {"sample": sample_id, **parameters, "queries added": added}
            record_event(cursor, "sample", detail, author)
        return replace(_read_sample(cursor, sample_id), added=added, drawn_before=known)


def _append_sample(
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
    """Add the project's new queries; return the query id of each text, and the number of new queries."""
    known = dict(cursor.execute(_KNOWN, [normalised]).fetchall())
    spellings = cursor.execute(_SPELLINGS, [normalised]).fetchall()
    new = [spelling for spelling in spellings if spelling[0] not in known]
    ids = {text: make_query_id(text) for text, *_ in new}
    rows = [
        (ids[text], shown, text, json.dumps({"segment": segment} if segment else {}))
        for text, shown, segment in new
    ]
    append_rows(cursor, "queries", rows, ("query_id", "text", "normalised", "metadata"), source="traffic")
    return known | ids, len(new)


def sample_chart(strata: Sequence[Stratum]) -> Markup:
    """Draw two bars for each stratum: the stratum's share of the traffic, and its share of the sample."""
    rows = list(zip((stratum.name for stratum in strata), _stratum_shares(strata), strict=True))
    return bars(
        "Share of traffic and share of the sample by stratum",
        "Two bars for each stratum. The table has the same figures.",
        ("share of traffic", "share of sample"),
        rows,
    )


def _stratum_shares(strata: Sequence[Stratum]) -> list[tuple[float, float]]:
    traffic = sum(stratum.traffic for stratum in strata) or 1
    drawn = sum(stratum.drawn for stratum in strata) or 1
    return [(stratum.traffic / traffic, stratum.drawn / drawn) for stratum in strata]


def request_of(parameters: Mapping[str, Any]) -> DrawRequest:
    """Make the request of a stored sample from its parameters."""
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
    """Count the rows that the frame of a request depends on. A changed count means a changed frame."""
    tables = ["traffic_imports"]
    tables += ["rounds"] if request.exclude_judged else []
    tables += ["releases"] if request.exclude_judged or request.exclude_released else []
    tables += ["query_tags"] if names_after(TAG, request.strata) else []
    return tuple(
        int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608  names above
        for table in tables
    )
