"""Options that the imports share: how the file is to be read, and which fields are taken from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from curation.cli.program import project_store
from curation.ingest.readers.formats import FORMATS, FileLayout
from curation.ingest.readers.run_files import FORMATS as RUN_FORMATS
from curation.store import Rehearsal, Store

Encoding = Annotated[str, typer.Option(help="Encoding of text files, such as latin-1 or cp1252.")]
Columns = Annotated[
    str | None,
    typer.Option(help="Names of the columns of a table without a header. Separate them by commas."),
]
DateOrder = Annotated[
    str | None,
    typer.Option(
        help="How to read dates such as 03/04/2026: mdy or dmy. The first has the month first, the "
        "other the day."
    ),
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The table has no header line; needs --columns.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Do it and take it back: say what it does, and why not.")
]


def field(what: str, usual: str = "") -> Any:
    """An option that names a field of the file to be imported; `usual` are the names it is found by."""
    return typer.Option(help=f"Field with {what}. Usual: {usual}." if usual else f"Field with {what}.")


def format_option(formats: Iterable[str]) -> Any:
    """The option --format of an import that reads these formats."""
    default = "By default it is found from the file's name or its first bytes."
    return typer.Option("--format", help=f"Format of the file. One of {', '.join(formats)}. {default}")


Format = Annotated[str | None, format_option(FORMATS)]


RunFormat = Annotated[str | None, format_option(RUN_FORMATS)]


def layout_of(format: str | None, encoding: str, columns: str | None, no_header: bool) -> FileLayout:
    """How a file is to be read, as the options say it."""
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    return FileLayout(format, encoding, names, not no_header)


def target(dry_run: bool) -> Store:
    """The project to import into, or with --dry-run one that keeps nothing."""
    return Rehearsal(project_store()) if dry_run else project_store()
