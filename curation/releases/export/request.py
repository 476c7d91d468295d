"""What an export is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from curation.step import Option


@dataclass(frozen=True)
class ExportOptions:
    """What an export was asked for besides its format."""

    unjudged: Annotated[
        bool,
        Option(
            "Write candidates without a grade, too, as -1",
            "Write candidates without a grade, too, as -1. Formats of TREC alone take it.",
        ),
    ] = False
    negatives: Annotated[
        int,
        Option(
            "Hard negatives for each positive",
            "Number of hard negatives for each positive. It is at most that in triplets, exactly in ntuples.",
            least=1,
            most=1_000,
        ),
    ] = 5
    licence: Annotated[
        str,
        Option(
            "Licence of the data set",
            "Licence of the data set, as its owner names it.",
            flag="--license",
        ),
    ] = "unknown"


@dataclass(frozen=True)
class ExportRequest:
    """A release for other tools, packed into a folder; see `export.export`."""

    name: str = ""
    folder: str = ""
    format: str = "beir"
    parts: Annotated[
        tuple[str, ...],
        Option(
            "Parts to include",
            "Part whose grades are written. Repeatable.",
            flag="--part",
            unset="all; in some formats those not sealed",
        ),
    ] = ()
    reason: Annotated[
        str | None,
        Option(
            "Reason for opening the test grades",
            "Why grades of sealed parts are exported. It is logged with name and time.",
            unset="refuse",
        ),
    ] = None
    options: ExportOptions = field(default_factory=ExportOptions)
