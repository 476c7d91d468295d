"""Stored samples of queries, one of which is the current sample.

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

from curation.core.digests import canonical_json, digest
from curation.core.errors import RefusedError
from curation.core.reports.tables import Table
from curation.core.request import DEFAULT_MODEL
from curation.core.text import describe_left_out, join_names, pluralize
from curation.ingest.importers.queries import make_query_id
from curation.queries.retired_queries import LEFT_OUT
from curation.queries.sampling.dimensions import TAG, list_names
from curation.queries.sampling.requests import DrawRequest
from curation.queries.sampling.strata import Stratum, build_strata_table
from curation.queries.unanswerable import count_unanswerable, describe_share, is_usual_share
from curation.store import Cursor, Store, append_rows, get_setting, put_setting, record_event, utc_now
from curation.store.audit_trail import COMMAND_LINE

DrawnQuery = tuple[str, str, int, float]
"""A drawn query: its normalized text, stratum, traffic and inclusion probability."""
QUERY_COLUMNS = ("query_id", "query", "asked", "stratum", "inclusion_probability", "left_out")
"""Columns of a sample's queries; `left_out` is the reason for which a query was left out, or ''."""
MIN_FOR_FIGURES = 10
"""Fewest drawn queries of a stratum for separate results on the stratum."""
# Each drawn query is shown in its most frequent spelling, with its most frequent segment; ties by text.
# All white space that str.split knows is folded first, because invisible differences make no new spelling.
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
_STORED_IDS = """
    SELECT normalised, min(query_id) FROM queries
    WHERE normalised IN (SELECT unnest(?::VARCHAR[])) GROUP BY normalised
"""


@dataclass(frozen=True)
class SampleReport:
    """The current sample, newly drawn or read from the project.

    Attributes
    ----------
    strata: counts of each stratum, including empty strata (drawn by `make_sample_chart`).
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
    parameters: dict[str, object]
    warnings: list[str]
    drawn_at: datetime = field(compare=False)
    added: int = 0
    drawn_before: bool = True
    grouped: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Say how many queries were drawn and how many rows were left out, without the warnings."""
        lines = [f"Drew {pluralize(self.size, 'query', 'queries')}; {self.added:,} are new to the project."]
        if self.drawn_before:
            lines = ["This sample was drawn before. It is now the current sample again; nothing was added."]
        if self.grouped:
            forms = ("rare spelling counts as its", "rare spellings count as their")
            grouped = pluralize(self.grouped, *forms)
            lines.append(f"{grouped} most frequent spelling.")
        return [*lines, *describe_left_out(self.left_out, "rows of traffic")]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the sample's strata."""
        return (build_strata_table(self.drawn_at, self.strata),)


def find_current_sample(store: Store) -> SampleReport | None:
    """Read the current sample of a project, or return None if there is no sample."""
    with store.reading() as cursor:
        return read_current_sample(cursor)


def read_current_sample(cursor: Cursor) -> SampleReport | None:
    """Read the current sample with an open cursor of the database, or return None if there is no sample."""
    sample_id = get_setting(cursor, "sample")
    return None if sample_id is None else _read_sample(cursor, sample_id)


def store_sample(
    store: Store,
    parameters: dict[str, Any],
    strata: list[Stratum],
    queries: Sequence[DrawnQuery],
    state: tuple[object, ...],
    author: str = COMMAND_LINE,
) -> SampleReport:
    """Make a sample the current sample, and store it unless the project has it.

    Parameters
    ----------
    state: result of `read_frame_state` when the frame was read.

    Raises
    ------
    RefusedError: the state has changed since the frame was read.
    """
    sample_id = digest("sample", parameters, strata, sorted(queries))
    with store.transaction(appends=True) as cursor:
        if read_frame_state(cursor, restore_request(parameters)) != state:
            cause = "Traffic" if len(state) == 1 else "Traffic, a round, a release, a tag or a corpus"
            raise RefusedError(f"{cause} was added while the sample was drawn. Draw the sample again.")
        is_stored = bool(cursor.execute("SELECT 1 FROM samples WHERE sample_id = ?", [sample_id]).fetchall())
        added = 0 if is_stored else _append_sample(cursor, sample_id, parameters, strata, queries)
        if get_setting(cursor, "sample") != sample_id:
            put_setting(cursor, "sample", sample_id)
            event = {"sample": sample_id, **parameters, "queries added": added}
            record_event(cursor, "sample", event, author)
        return replace(_read_sample(cursor, sample_id), added=added, drawn_before=is_stored)


def count_judged_queries(cursor: Cursor, sample_id: str) -> int:
    """Count the queries of a sample that people have judged."""
    sql = "SELECT count(DISTINCT query_id) FROM sample_queries SEMI JOIN current_judgments USING (query_id)"
    return int(cursor.execute(f"{sql} WHERE sample_id = ?", [sample_id]).fetchall()[0][0])


def list_drawn_queries(cursor: Cursor, sample_id: str) -> list[tuple[str, str, int, str, float, str]]:
    """List the queries of a sample with the values of `QUERY_COLUMNS`, the query with the most searches
    first."""
    sql = """
        SELECT query_id, text, traffic, stratum, inclusion_probability, coalesce(replace(reason, ?, ''), '')
        FROM sample_queries JOIN queries USING (query_id) LEFT JOIN retired_queries USING (query_id)
        WHERE sample_id = ? ORDER BY traffic DESC, text
    """
    return cursor.execute(sql, [LEFT_OUT, sample_id]).fetchall()


def read_sample_texts(cursor: Cursor, sample_id: str) -> set[str]:
    """Read the normalized texts of the queries in a stored sample."""
    sql = "SELECT normalised FROM queries JOIN sample_queries USING (query_id) WHERE sample_id = ?"
    return {normalised for (normalised,) in cursor.execute(sql, [sample_id]).fetchall()}


def restore_request(parameters: Mapping[str, Any]) -> DrawRequest:
    """Restore the request for a stored sample from its parameters."""
    times = (parameters["since"], parameters["until"])
    since, until = (datetime.fromisoformat(time) if time else None for time in times)
    options = ("min_count", "exclude_judged", "group_spellings")
    return DrawRequest(
        parameters["size"],
        parameters["seed"],
        parameters["strata"],
        since=since,
        until=until,
        **{name: parameters[name] for name in options},
        exclude_released=parameters.get("exclude_released", False),
        model=parameters.get("model", DEFAULT_MODEL),
    )


def read_frame_state(cursor: Cursor, request: DrawRequest) -> tuple[object, ...]:
    """Count the rows on which a request's frame depends; if the count changes, the frame has changed."""
    tables = ["traffic_imports"]
    tables += ["rounds"] if request.exclude_judged else []
    tables += ["releases"] if request.exclude_judged or request.exclude_released else []
    tables += ["query_tags"] if list_names(TAG, request.strata) else []
    return tuple(
        int(cursor.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])  # noqa: S608  names above
        for table in tables
    )


def warn_of_strata(strata: Sequence[Stratum]) -> list[str]:
    """Return warnings about strata that are empty, not drawn from, or thin."""
    warnings = []
    if empty := [stratum.name for stratum in strata if not stratum.population]:
        warnings.append(f"No query of the traffic belongs to {join_names(empty)}.")
    if undrawn := [f"{s.name} ({s.population:,})" for s in strata if s.population and not s.drawn]:
        names = join_names(undrawn)
        warnings.append(f"No query was drawn from {names}: the sample gives no results for these strata.")
    if thin := [f"{s.name} ({s.drawn} of {s.population:,})" for s in strata if 0 < s.drawn < MIN_FOR_FIGURES]:
        warnings.append(
            f"Fewer than {MIN_FOR_FIGURES} queries were drawn from {join_names(thin)}: too few for separate "
            "results."
        )
    return warnings


def warn_of_failure_modes(cursor: Cursor) -> list[str]:
    """Return warnings about too few, too many or unknown unanswerable queries in the current sample."""
    share = count_unanswerable(cursor)
    if share is None:
        advice = "Tag queries that the corpus cannot answer."
        return [f"No query of the sample is tagged unanswerable yet. {advice}"]
    return [] if is_usual_share(*share) else [describe_share(*share, " of the sample")]


def _read_sample(cursor: Cursor, sample_id: str) -> SampleReport:
    sql = "SELECT parameters, report, drawn_at FROM samples WHERE sample_id = ?"
    [(parameters_json, strata_json, drawn_at)] = cursor.execute(sql, [sample_id]).fetchall()
    parameters = json.loads(parameters_json)
    strata = [Stratum(**row) for row in json.loads(strata_json)]
    warnings = warn_of_strata(strata) + warn_of_failure_modes(cursor)
    size, seed = parameters["size"], parameters["seed"]
    return SampleReport(sample_id, size, seed, strata, parameters, warnings, drawn_at)


def _append_sample(
    cursor: Cursor,
    sample_id: str,
    parameters: dict[str, Any],
    strata: list[Stratum],
    queries: Sequence[DrawnQuery],
) -> int:
    """Store a new sample, and return the number of queries that are new to the project."""
    query_ids, added = _add_queries(cursor, [normalised for normalised, *_ in queries])
    parameters_json = canonical_json(parameters)
    strata_json = canonical_json([stratum._asdict() for stratum in strata])
    row = [sample_id, parameters_json, strata_json, utc_now()]
    cursor.execute("INSERT INTO samples VALUES (?, ?, ?, ?)", row)
    cursor.execute("INSERT INTO sample_logs SELECT ?, import_id FROM traffic_imports", [sample_id])
    rows = sorted((query_ids[normalised], *figures) for normalised, *figures in queries)
    columns = ("query_id", "stratum", "traffic", "inclusion_probability")
    append_rows(cursor, "sample_queries", rows, columns, sample_id=sample_id)
    return added


def _add_queries(cursor: Cursor, normalised: list[str]) -> tuple[dict[str, str], int]:
    """Add the project's new queries; return the query id of each text, and the number of new queries."""
    stored_ids = dict(cursor.execute(_STORED_IDS, [normalised]).fetchall())
    spellings = cursor.execute(_SPELLINGS, [normalised]).fetchall()
    new_spellings = [spelling for spelling in spellings if spelling[0] not in stored_ids]
    new_ids = {text: make_query_id(text) for text, *_ in new_spellings}
    rows = [
        (new_ids[text], spelling, text, json.dumps({"segment": segment} if segment else {}))
        for text, spelling, segment in new_spellings
    ]
    append_rows(cursor, "queries", rows, ("query_id", "text", "normalised", "metadata"), source="traffic")
    return stored_ids | new_ids, len(new_spellings)
