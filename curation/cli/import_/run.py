"""`goldset import run`: the ranked lists of another system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.goldset import Json
from curation.cli.import_.options import (
    Columns,
    DryRun,
    Encoding,
    NoHeader,
    emit_import,
    field,
    fields_sentence,
    format_option,
    layout_of,
    target,
)
from curation.cli.output import progress_bar
from curation.files.run_files import FORMATS

RunFormat = Annotated[str | None, format_option(FORMATS)]


def import_run_command(
    path: Annotated[
        Path, typer.Argument(help="A TREC run, a table (TSV, CSV, JSON lines) or ranx's own file.")
    ],
    name: Annotated[str, typer.Option(help="Name of the run; a pool refers to it as run:NAME.")],
    query_field: Annotated[str | None, field("the query, by id or text", "query_id, q_id, query")] = None,
    document_field: Annotated[str | None, field("the document's id", "document, doc_id, docno")] = None,
    rank_field: Annotated[str | None, field("the rank, from 1 or 0", "rank, position")] = None,
    score_field: Annotated[
        str | None, field("the score; it orders a list without ranks, or with gaps in them")
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown", help="Leave out lines whose query or document the project does not have."
        ),
    ] = False,
    skip_repeated: Annotated[
        bool,
        typer.Option(
            "--skip-repeated", help="Keep the best rank of a document that is repeated for a query."
        ),
    ] = False,
    format: RunFormat = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import a run: a system's ranked list for each query. Importing it again changes nothing.

    A list is ordered by its ranks, or by its scores where it has no ranks. Equal scores are ordered by
    document id, descending, as in trec_eval. Lines may come in any order, but no rank may be repeated.
    Lists with gaps in their ranks are counted. Scores order them; without scores the ranks do. Ids that an
    export prefixed (q-1) or encoded (two%20words) are mapped back.

    \b
    Examples:
      goldset import run bm25-tuned.trec.gz --name bm25-tuned
      goldset import run run_vector.tsv --name vector --query-field query --score-field engine_score
      goldset import run splade.json --name splade --format ranx-json --skip-unknown
      goldset import run top10.tsv --name shop --no-header --columns query,rank,document
    """
    from curation.files.run_files import RunFields
    from curation.imports.grades import run_outcome
    from curation.sources.run_import import import_run

    fields = RunFields(query_field, document_field, rank_field, score_field)
    layout = layout_of(format, encoding, columns, no_header)
    with progress_bar() as progress:
        result = import_run(
            target(dry_run, as_json),
            path,
            name,
            fields,
            layout,
            skip_unknown=skip_unknown,
            skip_repeated=skip_repeated,
            progress=progress,
        )
    read = f"Read as {result.format}. {fields_sentence(result.fields)}"
    emit_import(as_json, result, run_outcome(result), read)
