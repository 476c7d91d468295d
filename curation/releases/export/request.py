"""What an export is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from curation.core.operation import option


@dataclass(frozen=True)
class ExportOptions:
    """What an export was asked for besides its format."""

    unjudged: bool = option(
        False,
        "Write candidates without a grade, too, as -1",
        "Write candidates without a grade, too, as -1. Formats of TREC alone take it.",
    )
    negatives: int = option(
        5,
        "Hard negatives for each positive",
        "Most hard negatives for each positive, in triplets.",
        least=1,
        most=1_000,
    )
    licence: str = option(
        "unknown",
        "Licence of the data set",
        "Licence of the data set, as its owner names it.",
        flag="--license",
    )


@dataclass(frozen=True)
class ExportRequest:
    """A release for other tools, packed into a folder; see `export.export`."""

    name: str = ""
    folder: str = ""
    format: str = "beir"
    parts: tuple[str, ...] = option(
        (),
        "Parts to include",
        "Part whose grades are written. Repeatable.",
        flag="--part",
        unset="all; in some formats those not sealed",
    )
    reason: str | None = option(
        None,
        "Reason for opening the test grades",
        "Why grades of sealed parts are exported. It is logged with name and time.",
        unset="refuse",
    )
    options: ExportOptions = field(default_factory=ExportOptions)
