"""`goldset import queries`: queries to be judged whatever the sample holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.goldset import Json
from curation.cli.import_.options import (
    Columns,
    DryRun,
    Encoding,
    Format,
    NoHeader,
    emit_import,
    field,
    layout_of,
    target,
)
from curation.cli.output import progress_bar


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
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import queries to judge, besides the sample. Importing the same file again changes nothing.

    \b
    Examples:
      goldset import queries beir/scifact
      goldset import queries needs.csv --text-field query --information-need-field need
      goldset import queries topics.tsv.gz --no-header --columns id,text
    """
    from curation.imports.texts import queries_outcome
    from curation.sources.query_import import QueryFields, import_queries

    layout = layout_of(format, encoding, columns, no_header)
    fields = QueryFields(id_field, text_field, information_need_field, answers_field)
    with progress_bar() as progress:
        result = import_queries(target(dry_run, as_json), path, fields, layout, progress)
    emit_import(as_json, result, queries_outcome(result))
