"""The statement that counts a log in the warehouse that holds it.

Its result is a counted log: texts by segment and day, and by session where sessions are to be kept. Turned
pages and robots' sessions (`cleaning`) can only be seen row by row, so the statement leaves them out. All
else is the import's: over-long and empty texts come with the result, and are cleaned, redacted and counted.

The statement folds a text by letter case and white space, the import by NFKC and full case folding, after
redaction. So a page that was turned with another form of its text, as "ß" and "ss", counts twice. Rows of a
session at one moment go by text, for a warehouse keeps no order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from curation.core.errors import InputError, RefusedError
from curation.core.text import listed
from curation.ingest.importers.traffic.cleaning import CleaningRules
from curation.ingest.readers.fields import TrafficFields

DIALECTS = ("spark", "bigquery", "snowflake", "trino", "clickhouse", "postgres", "duckdb")
UNITS = ("day", "session")
# In Trino's words, which sqlglot puts into another's. A rule that is off (0) finds nothing.
_BEFORE = "OVER (PARTITION BY visitor ORDER BY moment, query)"
_CLEANED = """
checked AS (SELECT *, {is_checked} AS is_checked FROM logged),
paged AS (
    SELECT {kept}, LAG(folded) {before} AS folded_before, LAG(moment) {before} AS moment_before,
        LAG(times) {before} AS times_before
    FROM checked WHERE is_checked),
asked AS (
    SELECT {kept} FROM paged
    WHERE {minutes} = 0 OR NOT COALESCE(
        folded = folded_before AND times = 1 AND times_before = 1
        AND moment <= moment_before + INTERVAL '{minutes}' MINUTE, FALSE)),
timed AS (SELECT visitor, moment, LAG(moment, {fast}) {before} AS earlier FROM asked),
robots AS (
    SELECT visitor FROM timed WHERE {fast} > 0 AND moment < earlier + INTERVAL '1' MINUTE
    UNION SELECT visitor FROM asked GROUP BY visitor, CAST(moment AS DATE)
    HAVING {busy} > 0 AND COUNT(DISTINCT folded) > {busy}),
counted AS (
    SELECT {kept} FROM asked WHERE visitor NOT IN (SELECT visitor FROM robots)
    UNION ALL SELECT {kept} FROM checked WHERE NOT is_checked)
"""
_COUNTED = """
WITH logged AS (SELECT {values} FROM {table} AS log){steps}
SELECT {shown}, CAST(SUM(times) AS BIGINT) AS count FROM {source} GROUP BY {groups}
"""


class LogStatement(NamedTuple):
    """A statement of a dialect, and the options with which its result is imported."""

    sql: str
    options: str

    @property
    def sentences(self) -> tuple[str, str]:
        """The statement, and a comment that says what to do with its result."""
        return self.sql, f"-- goldgrade import traffic RESULT.parquet {self.options}".rstrip()


def log_statement(
    dialect: str, table: str, fields: TrafficFields, rules: CleaningRules, unit: str = "day"
) -> LogStatement:
    """The statement that counts the log in `table`; times there are timestamps in UTC.

    Parameters
    ----------
    fields: the table's columns; None is a column that it lacks, and of the query `query`.
    unit: 'session' keeps the sessions apart, 'day' none.

    Raises
    ------
    InputError: an unknown dialect or unit, a table's name that is none, or sessions without their column.
    RefusedError: sqlglot is not installed.
    """
    _check(dialect, fields, unit)
    try:
        import sqlglot
    except ImportError as error:
        command = "pip install sqlglot"
        raise RefusedError("Statements of other databases need sqlglot.", command=command) from error
    fold = "lowerUTF8" if dialect == "clickhouse" else "LOWER"  # LOWER is of ASCII there
    try:
        name = sqlglot.exp.to_table(table, dialect=dialect).sql("trino")
        asked = sqlglot.parse_one(_statement(name, fields, rules, unit, fold), read="trino")
    except sqlglot.ParseError as error:
        raise InputError(f"{table!r} is no table's name; expected one such as shop.searches.") from error
    options = [f"--metadata-field {name}" for name in fields.metadata]
    if unit == "session":
        options.append("--repeat-minutes 0 --bot-per-minute 0 --bot-per-day 0")
    return LogStatement(asked.sql(dialect, pretty=True), " ".join(options))


def _check(dialect: str, fields: TrafficFields, unit: str) -> None:
    if dialect not in DIALECTS:
        raise InputError(f"The dialect is {dialect!r}; expected one of {listed(DIALECTS, len(DIALECTS))}.")
    if unit not in UNITS:
        raise InputError(f"A log is counted by {unit!r}; expected {' or '.join(UNITS)}.")
    if unit == "session" and not fields.session:
        raise InputError("Nothing names the column of the sessions: name it with --session-field.")


def _statement(table: str, fields: TrafficFields, rules: CleaningRules, unit: str, fold: str) -> str:
    kept = [("segment", fields.segment), *((name, name) for name in fields.metadata)]
    columns = {_name(name): f"log.{_name(column)}" for name, column in kept if column}
    shown, groups = ["query", *columns], ["query", *columns]
    if unit == "session":
        shown.append("visitor AS session")
        groups.append("visitor")
    if fields.time:
        shown.append("MIN(moment) AS time")
        groups.append("CAST(moment AS DATE)")
    is_cleaned = bool(fields.session and fields.time)
    return _COUNTED.format(
        values=", ".join(f"{value} AS {name}" for name, value in (_values(fields, fold) | columns).items()),
        table=table,
        steps=f", {_cleaned(rules, columns)}" if is_cleaned else "",
        source="counted" if is_cleaned else "logged",
        shown=", ".join(shown),
        groups=", ".join(groups),
    )


def _values(fields: TrafficFields, fold: str) -> dict[str, str]:
    """What the steps know of a row, by their names for it."""
    query = f"COALESCE(CAST(log.{_name(fields.query or 'query')} AS VARCHAR), '')"
    session = f"NULLIF(TRIM(CAST(log.{_name(fields.session or '')} AS VARCHAR)), '')"
    return {
        "query": query,
        "folded": f"TRIM(REGEXP_REPLACE({fold}({query}), '\\s+', ' '))",
        "moment": f"log.{_name(fields.time)}" if fields.time else "NULL",
        "visitor": session if fields.session else "NULL",
        "times": f"log.{_name(fields.count)}" if fields.count else "1",
    }


def _cleaned(rules: CleaningRules, columns: Iterable[str]) -> str:
    """The steps that leave out turned pages and robots' sessions; a paste is neither."""
    checked = ["visitor IS NOT NULL", "moment IS NOT NULL", "folded <> ''"]
    if rules.characters:
        checked.append(f"LENGTH(folded) <= {rules.characters}")
    if rules.words:
        checked.append(f"LENGTH(folded) - LENGTH(REPLACE(folded, ' ', '')) < {rules.words}")
    return _CLEANED.format(
        kept=", ".join(["query", "folded", "moment", "visitor", "times", *columns]),
        before=_BEFORE,
        is_checked=" AND ".join(checked),
        minutes=rules.repeat_minutes,
        fast=rules.queries_a_minute,
        busy=rules.queries_a_day,
    )


def _name(column: str) -> str:
    """A column's name, quoted where it must be: quotes make case count, in Snowflake."""
    return column if re.fullmatch(r"[A-Za-z_]\w*", column) else '"' + column.replace('"', '""') + '"'
