"""Requests about releases: to freeze the current labels, and to export a release for other tools."""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.operation import option


@dataclass(frozen=True)
class FreezeRequest:
    """A request to freeze the current grades; see `freeze.freeze`."""

    name: str = ""
    allow_disputed: bool = option(
        False, "Leave disputed pairs out", "Leave disputed pairs out, instead of refusing."
    )
    allow_changed: bool = option(
        False,
        "Keep grades of another version",
        "Keep grades of another version of their document. The release marks them. Without this option they "
        "are left out and counted.",
    )
    only_complete: bool = option(
        False,
        "Only pairs with all their votes",
        "Leave out pairs that lack a planned opinion. Each person whom a round asked has a planned opinion.",
    )
    share: str | None = option(
        None,
        "Documents that share a grade",
        "Rule by which documents share a grade. The rule 'identical' means the same title and body. The "
        "release names the rule and marks these grades.",
        flag="--share-grades",
        unset="each document its own",
    )
    override: str | None = option(
        None,
        "Why you freeze against the gate",
        "Reason to freeze against the gate. The release keeps the reason.",
        unset="refuse",
    )
    seal: tuple[str, ...] = option(
        (),
        "Parts to seal as well",
        "Part to seal besides test. People get its grades only for a reason, which is logged. Repeatable.",
        unset="only the part test",
    )
    reason: str | None = option(
        None,
        "Why sealed queries are in an open part",
        "Why queries that a release seals are in an open part. The reason is logged.",
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
        "Part whose grades are written. Repeatable.",
        flag="--part",
        unset="all parts; in some formats all parts that are not sealed",
    )
    without_grades: tuple[str, ...] = option(
        (), "Parts without grades", "Part whose grades are not written. Repeatable.", unset="none"
    )
    reason: str | None = option(
        None,
        "Reason for opening the test grades",
        "Why grades of sealed parts are exported. The reason is logged with name and time.",
        unset="refuse",
    )
    unjudged: bool = option(
        False,
        "Write candidates without a grade, too, as -1",
        "Also write candidates without a grade, as -1. Only formats of TREC take this option.",
    )
    negatives: int = option(
        5,
        "Hard negatives for each positive",
        "The most hard negatives for each positive, in triplets.",
        least=1,
        most=1_000,
    )
    licence: str = option(
        "unknown",
        "Licence of the data set",
        "Licence of the data set, as its owner names it.",
        flag="--license",
    )
