"""`goldset import corpus`: the documents."""

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
    fields_sentence,
    layout_of,
    target,
)
from curation.cli.output import progress_bar


def import_corpus_command(
    path: Annotated[Path, typer.Argument(help="JSON lines, CSV, TSV, Parquet (.gz too) or a BEIR folder.")],
    id_field: Annotated[str | None, field("the document's id", "_id, id, doc_id")] = None,
    title_field: Annotated[str | None, field("its title", "title, name")] = None,
    body_field: Annotated[
        list[str] | None, field("its text; may be given several times", "text, body, description")
    ] = None,
    url_field: Annotated[str | None, field("its address", "url")] = None,
    date_field: Annotated[str | None, field("its date", "date, published")] = None,
    group_field: Annotated[
        str | None, field("the group of a document, such as a product line or a project")
    ] = None,
    add: Annotated[
        bool,
        typer.Option("--add", help="Add to the current corpus; without it the file is the whole new corpus."),
    ] = False,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import the documents. All other fields are kept as metadata.

    Importing the same file again changes nothing. A changed document makes a new snapshot of the corpus; the
    old one is kept.

    \b
    Examples:
      goldset import corpus beir/scifact
      goldset import corpus products.jsonl.gz --id-field id --title-field title --body-field short_description
      goldset import corpus products.json.gz --body-field description --body-field bullet_points
      goldset import corpus more-pages.csv --add
      goldset import corpus products.jsonl.gz --dry-run
    """
    from curation.imports.texts import corpus_outcome
    from curation.sources.corpus import CorpusFields, import_corpus

    fields = CorpusFields(id_field, title_field, tuple(body_field or ()), url_field, date_field, group_field)
    layout = layout_of(format, encoding, columns, no_header)
    with progress_bar() as progress:
        result = import_corpus(target(dry_run, as_json), path, fields, layout, add=add, progress=progress)
    used = fields_sentence(result.fields, "all others are metadata")
    snapshot = f"The snapshot is {result.snapshot}."
    emit_import(as_json, result, corpus_outcome(result), snapshot, used)
