"""`goldset import queries`: queries to be judged whatever the sample holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, project_store
from curation.cli.import_.options import Columns, Encoding, Format, NoHeader, field, layout_of
from curation.cli.output import emit, progress_bar, say, say_rest

if TYPE_CHECKING:
    from curation.sources.query_import import QueryImport

SHOWN = 10


def import_queries_command(
    path: Annotated[Path, typer.Argument(help="JSON lines, CSV, TSV, Parquet (.gz too) or a BEIR folder.")],
    id_field: Annotated[
        str | None,
        typer.Option(
            help="Field with the query's id; usual: _id, id, query_id. Without one, ids are generated."
        ),
    ] = None,
    text_field: Annotated[str | None, field("its text", "text, query")] = None,
    information_need_field: Annotated[
        str | None, field("the information need", "information_need, narrative")
    ] = None,
    answers_field: Annotated[
        str | None, field("reference answers, one or a list", "answers, reference_answers")
    ] = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Import queries to judge, besides the sample. Importing the same file again changes nothing.

    \b
    Examples:
      goldset import queries beir/scifact
      goldset import queries needs.csv --text-field query --information-need-field need
      goldset import queries topics.tsv.gz --no-header --columns id,text
    """
    from curation.sources.query_import import QueryFields, import_queries

    layout = layout_of(format, encoding, columns, no_header)
    fields = QueryFields(id_field, text_field, information_need_field, answers_field)
    with progress_bar() as progress:
        result = import_queries(project_store(), path, fields, layout, progress)
    emit(as_json, result, lambda: _show_queries(result))


def _show_queries(result: QueryImport) -> None:
    if result.added or result.changed:
        counts = f"{result.added:,} added, {result.changed:,} changed, {result.unchanged:,} unchanged"
        say(f"{result.queries:,} queries: {counts}.")
    else:
        say(f"Nothing changed: the project has these {result.queries:,} queries.")
    if result.known_as:
        pairs = [f"{theirs} is {ours}" for theirs, ours in result.known_as.items()]
        more = f" and {len(pairs) - SHOWN:,} more" if len(pairs) > SHOWN else ""
        say(
            f"{len(pairs):,} of them the project knew by their text and keep its id: "
            f"{', '.join(pairs[:SHOWN])}{more}. Judgments that name them by either id are understood."
        )
    if result.answers:
        say(f"{result.answers:,} queries got new reference answers.")
    for kind, count in result.personal.items():
        say(f"personal data, replaced: {count:,} queries with {kind}")
    say_rest(result.left_out, result.replaced, "queries")
