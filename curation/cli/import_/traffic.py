"""`goldset import traffic`: a log of queries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.goldset import Json
from curation.cli.import_.options import (
    Columns,
    DateOrder,
    DryRun,
    Encoding,
    Format,
    NoHeader,
    emit_import,
    field,
    fields_sentence,
    layout_of,
    target,
)
from curation.cli.output import progress_bar


def import_traffic_command(
    path: Annotated[
        Path, typer.Argument(help="A log of queries: CSV, TSV, JSON lines or Parquet (.gz too), or UBI.")
    ],
    query_field: Annotated[str | None, field("the query", "user_query, query, search_term, q, text")] = None,
    time_field: Annotated[str | None, field("the time", "time, timestamp")] = None,
    date_order: DateOrder = None,
    segment_field: Annotated[
        str | None, field("the segment, such as a shop or language", "segment, application")
    ] = None,
    session_field: Annotated[str | None, field("the session or user", "session, client_id, user")] = None,
    count_field: Annotated[str | None, field("how often the query was asked", "count")] = None,
    metadata_field: Annotated[
        list[str] | None,
        typer.Option(help="Another field to keep, for strata of a sample; may be given several times."),
    ] = None,
    max_words: Annotated[int, typer.Option(help="Leave out queries of more words; 0: off.")] = 32,
    max_characters: Annotated[int, typer.Option(help="Leave out longer queries; 0: off.")] = 256,
    repeat_minutes: Annotated[
        int,
        typer.Option(
            help="The same query of a session within so many minutes counts once, as a turned page; 0: off."
        ),
    ] = 30,
    bot_per_minute: Annotated[
        int, typer.Option(help="A session with more queries in a minute is a bot and is left out; 0: off.")
    ] = 20,
    bot_per_day: Annotated[
        int,
        typer.Option(help="A session with more different queries in a day is a bot and is left out; 0: off."),
    ] = 200,
    personal_data: Annotated[
        str, typer.Option(help="replace: by placeholders such as [email]; drop: leave the rows out.")
    ] = "replace",
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import logged queries, cleaned. Importing the same file again changes nothing.

    E-mail addresses, phone and card numbers, IBANs, public IP addresses, identity numbers and keys are never
    stored. Of a session only a keyed hash is stored. Rows that are left out are counted by reason. Times may
    be ISO 8601, seconds or milliseconds since 1970, yymmddhhmmss or yyyymmddhhmmss, and with
    --date-order numeric dates such as 03/04/2026. A time that cannot be read is unknown, never guessed.

    \b
    Examples:
      goldset import traffic queries.csv --query-field q --time-field asked_at --count-field n
      goldset import traffic ubi_queries.json.gz
      goldset import traffic excite-small.log --no-header --columns session,time,query
      goldset import traffic us-shop.csv --time-field asked_on --date-order mdy
      goldset import traffic shop.csv --metadata-field device --metadata-field country
      goldset import traffic shop.csv --personal-data drop --bot-per-minute 0 --bot-per-day 0
    """
    from curation.imports.texts import traffic_outcome
    from curation.sources.traffic.cleaning import CleaningRules
    from curation.sources.traffic.traffic_import import TrafficFields, import_traffic

    fields = TrafficFields(
        query_field,
        time_field,
        segment_field,
        session_field,
        count_field,
        tuple(metadata_field or ()),
        date_order,
    )
    layout = layout_of(format, encoding, columns, no_header)
    rules = CleaningRules(
        max_words, max_characters, repeat_minutes, bot_per_minute, bot_per_day, personal_data
    )
    with progress_bar() as progress:
        result = import_traffic(target(dry_run, as_json), path, fields, layout, progress, rules)
    further = [fields_sentence(result.fields)]
    if result.fields.time and result.unreadable_time and date_order is None:
        further.append(
            "--date-order mdy says that the month of a numeric date is first, dmy that the day is."
        )
    emit_import(as_json, result, traffic_outcome(result), *further)
