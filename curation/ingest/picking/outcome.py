"""What an import did or would do, in figures and sentences; and what speaks against it, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from curation.core.text import counted


class ImportOutcome(NamedTuple):
    """What an import did, or would do.

    Attributes
    ----------
    changes: False where the project held all of it before.
    sentence: what it is in one sentence.
    unit: what the figures and what is left out count, such as 'documents'.
    figures: label → number, in order; the first is the headline.
    left_out: reason → number of records.
    remarks: further sentences.
    """

    changes: bool
    sentence: str
    unit: str
    figures: Mapping[str, int]
    left_out: Mapping[str, int]
    remarks: list[str]

    @property
    def sentences(self) -> list[str]:
        """All of it, a sentence each."""
        left_out = [f"Left out: {counted(count, self.unit)}: {why}." for why, count in self.left_out.items()]
        return [self.sentence, *left_out, *self.remarks]


class FileProblem(NamedTuple):
    """One problem of a file; `place` is empty where it is of the file as a whole."""

    place: str
    found: str


class DryRun(NamedTuple):
    """What an import would do, or why it would be refused.

    Attributes
    ----------
    outcome: None where it would be refused.
    problems: the first ones; `more` is how many others there are.
    way_out: what to do about them, a sentence a line.
    """

    outcome: ImportOutcome | None
    problems: list[FileProblem]
    more: int = 0
    way_out: str = ""

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> DryRun:
        """A dry run as `text.plain` has written it."""
        outcome = found["outcome"]
        problems = [FileProblem(**one) for one in found["problems"]]
        return cls(outcome and ImportOutcome(**outcome), problems, found["more"], found["way_out"])
