"""What a freeze is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from curation.step import Option


@dataclass(frozen=True)
class FreezeRequest:
    """A release of what is graded now; see `freeze.freeze`."""

    name: str = ""
    allow_disputed: Annotated[
        bool, Option("Leave disputed pairs out", "Leave disputed pairs out, instead of refusing.")
    ] = False
    allow_changed: Annotated[
        bool,
        Option(
            "Keep grades of another version",
            "Keep grades of another version of their document. The release marks them. Else they are "
            "left out and counted.",
        ),
    ] = False
    only_complete: Annotated[
        bool,
        Option(
            "Only pairs with all their votes",
            "Leave pairs out that lack an opinion. What counts is who was asked about them in a round.",
        ),
    ] = False
    share: Annotated[
        str | None,
        Option(
            "Documents that share a grade",
            "Documents that share a grade: identical. These have the same title and body. The "
            "release names the rule and marks these grades.",
            flag="--share-grades",
            unset="each document its own",
        ),
    ] = None
    override: Annotated[
        str | None,
        Option(
            "Why you freeze against the gate",
            "Why labels are frozen without the agreement of the gate. The release carries it for good.",
            unset="refuse",
        ),
    ] = None
    seal: Annotated[
        tuple[str, ...],
        Option(
            "Parts to seal as well",
            "Part to seal besides test. Its grades leave only with a reason, which is logged. Repeatable.",
            unset="test alone, where there is one",
        ),
    ] = ()
    reason: Annotated[
        str | None,
        Option(
            "Why sealed queries are in an open part",
            "Why queries that a release seals are in an open part. It is logged.",
            unset="refuse",
        ),
    ] = None
