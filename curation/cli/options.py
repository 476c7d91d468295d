"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from curation.sources.tables.formats import FORMATS, FileLayout

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int, typer.Option(help="Seed of the random steps; it is stored with the result.")]
ReleaseName = Annotated[str, typer.Argument(help="The release's name, such as v1.")]
Licence = Annotated[str, typer.Option("--license", help="Licence of the data set, as its owner names it.")]
TagAuthor = Annotated[str, typer.Option(help="Who sets the tags; stored with them.")]


def field(what: str, usual: str = "") -> Any:
    """An option that names a field of the file to be imported; `usual` are the names it is found by."""
    return typer.Option(help=f"Field with {what}; usual: {usual}." if usual else f"Field with {what}.")


def format_option(formats: Iterable[str]) -> Any:
    """The option --format of an import that reads these formats."""
    found = "default: found from the file's name or its first bytes"
    return typer.Option("--format", help=f"{', '.join(formats)}; {found}.")


Format = Annotated[str | None, format_option(FORMATS)]
Encoding = Annotated[str, typer.Option(help="Encoding of text files, such as latin-1 or cp1252.")]
Columns = Annotated[
    str | None, typer.Option(help="Names of the columns of a table without a header, separated by commas.")
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The table has no header line; needs --columns.")]

RelevantGrade = Annotated[
    int | None,
    typer.Option(help="Lowest grade of a relevant document; default: all above the scale's lowest."),
]
NoParaphrase = Annotated[
    bool, typer.Option("--no-paraphrase", help="Paraphrases make no ties; needs no model.")
]
NoSharedDocuments = Annotated[
    bool, typer.Option("--no-shared-documents", help="A document relevant to both queries makes no tie.")
]
ParaphraseModel = Annotated[
    str | None, typer.Option(help="Model for paraphrases.", show_default="as for pools")
]


def layout_of(format: str | None, encoding: str, columns: str | None, no_header: bool) -> FileLayout:
    """How a file is to be read, as the options say it."""
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    return FileLayout(format, encoding, names, not no_header)


def listed(names: str) -> list[str]:
    """The names in a list that is separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]
