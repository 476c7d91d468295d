"""What a freeze is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from curation.core.operation import option


@dataclass(frozen=True)
class FreezeRequest:
    """A release of what is graded now; see `freeze.freeze`."""

    name: str = ""
    allow_disputed: bool = option(
        False, "Leave disputed pairs out", "Leave disputed pairs out, instead of refusing."
    )
    allow_changed: bool = option(
        False,
        "Keep grades of another version",
        "Keep grades of another version of their document. The release marks them. Else they are "
        "left out and counted.",
    )
    only_complete: bool = option(
        False,
        "Only pairs with all their votes",
        "Leave pairs out that lack an opinion. What counts is who was asked about them in a round.",
    )
    share: str | None = option(
        None,
        "Documents that share a grade",
        "Documents that share a grade: identical. These have the same title and body. The "
        "release names the rule and marks these grades.",
        flag="--share-grades",
        unset="each document its own",
    )
    override: str | None = option(
        None,
        "Why you freeze against the gate",
        "Why labels are frozen without the agreement of the gate. The release carries it for good.",
        unset="refuse",
    )
    seal: tuple[str, ...] = option(
        (),
        "Parts to seal as well",
        "Part to seal besides test. Its grades leave only with a reason, which is logged. Repeatable.",
        unset="test alone, where there is one",
    )
    reason: str | None = option(
        None,
        "Why sealed queries are in an open part",
        "Why queries that a release seals are in an open part. It is logged.",
        unset="refuse",
    )
