"""The options and arguments that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

Seed = Annotated[int, typer.Option(help="Seed of the random steps; it is stored with the result.")]
ReleaseName = Annotated[str, typer.Argument(metavar="RELEASE", help="The release's name, such as v1.")]
AnyRelease = Annotated[
    str,
    typer.Argument(metavar="RELEASE", help="A release's name, id or the start of its id, or a packed file."),
]
RoundName = Annotated[str, typer.Argument(metavar="ROUND", help="Name of the round, such as 2026-q4.")]
Limit = Annotated[
    int,
    typer.Option(
        min=0, callback=lambda rows: rows or sys.maxsize, help="Rows to show; 0: all. --json prints all rows."
    ),
]
Page = Annotated[
    Path | None, typer.Option("--html", help="Also write the output as one HTML file.", show_default="none")
]


def switch(spelling: str, help: str) -> Any:
    """Make an option without a value, such as --dry-run."""
    return typer.Option(spelling, help=help)


def split_list(names: str) -> list[str]:
    """Split a text at its commas."""
    return [name.strip() for name in names.split(",") if name.strip()]
