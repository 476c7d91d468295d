"""Requests to freeze the current labels as a release, and to export a release for other tools."""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.request import option


@dataclass(frozen=True)
class FreezeRequest:
    """A request to freeze the current grades as a release; see `freeze.freeze`."""

    name: str = ""
    allow_disputed: bool = option(
        False, "Leave out disputed pairs", "Leave out disputed pairs. By default, the command refuses them."
    )
    allow_changed: bool = option(
        False,
        "Keep grades of a different version",
        "Keep grades of a different version of their document. The release marks these grades. Without this "
        "option, it leaves them out and counts them.",
    )
    only_complete: bool = option(
        False,
        "Only pairs with all their votes",
        "Leave out pairs that lack a planned judgment. A round plans one judgment by each annotator of a "
        "pair.",
    )
    share: str | None = option(
        None,
        "Documents that share a grade",
        "Rule by which documents share a grade. The rule 'identical' means the same title and body. The "
        "release names the rule and marks these grades.",
        flag="--share-grades",
        unset="each document has its own grade",
    )
    override: str | None = option(
        None,
        "Reason to freeze despite the gate",
        "Reason to freeze below the agreement gate. The release keeps the reason.",
        unset="refuse",
    )
    seal: tuple[str, ...] = option(
        (),
        "Additional parts to seal",
        "Part to seal besides test. To get sealed grades, people must give a reason, which is logged. "
        "Repeatable.",
        unset="only the part test",
    )
    reason: str | None = option(
        None,
        "Reason to put sealed queries into an open part",
        "Reason to put sealed queries into an open part. The reason is logged.",
        unset="refuse",
    )


@dataclass(frozen=True)
class ExportRequest:
    """A request to export a release for other tools; see `export.export`."""

    name: str = ""
    format: str = "beir"
    folder: str = ""
    parts: tuple[str, ...] = option(
        (),
        "Parts to include",
        "Part of the split whose grades are exported. Repeatable.",
        flag="--part",
        unset="all parts; in some formats all parts that are not sealed",
    )
    without_grades: tuple[str, ...] = option(
        (), "Parts without grades", "Part of the split whose grades are left out. Repeatable.", unset="none"
    )
    reason: str | None = option(
        None,
        "Reason for opening the test grades",
        "Reason to export grades of sealed parts. The reason is logged with name and time.",
        unset="refuse",
    )
    unjudged: bool = option(
        False,
        "Write candidates without a grade, too, as -1",
        "Also write candidates without a grade, as -1. This option is only for the TREC format.",
    )
    negatives: int = option(
        5,
        "Hard negatives for each positive",
        "Maximum number of hard negatives for each positive.",
        minimum=1,
        maximum=1_000,
    )
    licence: str = option(
        "unknown", "License of the data set", "License of the data set, such as CC-BY-4.0.", flag="--license"
    )
