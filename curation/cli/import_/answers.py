"""`goldset import answers`: reference answers of queries."""

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


def import_answers_command(
    path: Annotated[Path, typer.Argument(help="JSON lines, CSV, TSV or Parquet (.gz too).")],
    query_field: Annotated[str | None, field("the query, by id or text", "query_id, id, query")] = None,
    answer_field: Annotated[
        str | None, field("its answers: one, or a list", "answers, reference_answers, answer")
    ] = None,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out answers to queries that the project lacks.")
    ] = False,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import reference answers: any of a query's answers is right. Several lines of one query add up.

    What the file says of a query is all of its references. The same file again changes nothing.

    \\b
    Examples:
      goldset import answers squad.jsonl --query-field question
      goldset import answers faq.csv --answer-field reference_answer --skip-unknown
    """
    from curation.imports.texts import answers_outcome
    from curation.sources.reference_answers import import_answers

    layout = layout_of(format, encoding, columns, no_header)
    with progress_bar() as progress:
        result = import_answers(
            target(dry_run, as_json), path, query_field, answer_field, layout, skip_unknown, progress
        )
    emit_import(as_json, result, answers_outcome(result))
