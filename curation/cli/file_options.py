"""The options of commands that read a file, such as its layout and its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from typer import Option

from curation.cli.invocation import project_store
from curation.cli.options import option, switch
from curation.ingest.option_maps import parse_column_map
from curation.ingest.readers.fields import FileField
from curation.ingest.readers.formats import FileLayout
from curation.ingest.requests import ImportRequest
from curation.store import Rehearsal, Store

Encoding = Annotated[str, option(ImportRequest, "encoding")]
Format = Annotated[str | None, option(ImportRequest, "format")]
DryRun = Annotated[
    bool, switch("--dry-run", "Show what the command would do, or what is wrong. Change nothing.")
]


def get_layout(format: str | None, encoding: str) -> FileLayout:
    """Return the file layout described by the options."""
    return ImportRequest(format=format, encoding=encoding).layout


def map_option(*fields: str) -> Any:
    """Make the option --map of a command that reads these fields of a file."""
    help = f"Column that holds a field, such as {fields[0]}=name. Repeatable. Fields: {', '.join(fields)}."
    return Option("--map", metavar="FIELD=COLUMN", help=help)


def get_columns(pairs: Sequence[str] | None, *fields: str) -> list[str | None]:
    """Return the column of each field, in the order of the fields; None for a field missing from --map.

    Raises
    ------
    InputError: --map names an unknown field, or a field twice.
    """
    columns = parse_column_map(pairs or (), [FileField("", name=name) for name in fields])
    return [columns.get(name) for name in fields]


def open_target(dry_run: bool) -> Store:
    """Open the project for an import; with --dry-run the project keeps nothing."""
    return Rehearsal(project_store()) if dry_run else project_store()
