"""Ids and texts in a file that name no query or document of the project: they are counted or refused.

A refusal says by what an unknown name differs from a known one that people would read it as.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from curation.core.text import CASE, difference_of_form
from curation.ingest.readers.problems import Problems

UNKNOWN_QUERY = "unknown query"
UNKNOWN_DOCUMENT = "unknown document"
ONE_FORM = "Ids are compared character by character: write them in the file as the project has them."
Alike = Callable[[Collection[str]], Mapping[str, str]]


class KnownDocuments:
    """Which document ids there are, of those that were asked for.

    Parameters
    ----------
    find: returns the ids that exist among the given ones.
    alike: unknown id → the known id that people would read it as.
    """

    def __init__(self, find: Callable[[Iterable[str]], Collection[str]], alike: Alike) -> None:
        self._find = find
        self.alike = alike
        self._held: set[str] = set()

    def ask(self, ids: Iterable[str]) -> Collection[str]:
        """Ask for ids before they are looked up; returns those that there are."""
        known_ids = self._find({*ids})
        self._held.update(known_ids)
        return known_ids

    def __contains__(self, document_id: str) -> bool:
        return document_id in self._held


class UnknownNames:
    """The unknown queries and documents of one file, with the records that name them.

    Parameters
    ----------
    ways_out: what to do about unknown queries and about unknown documents.
    alike: of each of these, the known names that people read as some unknown ones.
    skip: leave their records out instead of refusing the file.
    """

    def __init__(
        self, problems: Problems, ways_out: Mapping[str, str], alike: Mapping[str, Alike], skip: bool
    ) -> None:
        self._problems = problems
        self._ways_out = ways_out
        self._alike = alike
        self._skip = skip
        self._records: dict[tuple[str, str], list[int]] = {}

    def note(self, what: str, name: str, line: int) -> None:
        """Note that a record names a query or document that the project does not have."""
        self._records.setdefault((what, name), []).append(line)

    @property
    def names(self) -> dict[str, list[str]]:
        """What is unknown → its names in the file, each once."""
        names_of: dict[str, list[str]] = {}
        for what, name in sorted(self._records):
            names_of.setdefault(what, []).append(name)
        return names_of

    def settle(self, left_out: Counter[str]) -> None:
        """Count what is left out by reason, or add a problem for each name, with its first record."""
        alike = {what: self._alike[what](names) for what, names in self.names.items()}
        for (what, name), lines in sorted(self._records.items(), key=lambda item: item[1][0]):
            other = alike[what].get(name, "")
            differs = difference_of_form(name, other)
            if self._skip:
                left_out[f"{what} that differs from a known one by {differs}" if differs else what] += len(
                    lines
                )
                continue
            more = f" (on {len(lines):,} {self._problems.unit}s)" if len(lines) > 1 else ""
            self._problems.add(
                lines[0],
                f"the project has no {what.removeprefix('unknown ')} {name!r}{more}{_differs(name, other)}",
                ONE_FORM if differs else self._ways_out[what],
            )


def like_known(name: str, alike: Alike) -> str:
    """The end of a sentence on an unknown name: by what it differs from a known one, if by its form alone."""
    return _differs(name, alike([name]).get(name, ""))


def _differs(name: str, other: str) -> str:
    differs = difference_of_form(name, other)
    return f"; it differs from the known {other!r} by {differs}" if differs else ""


def refuse_alike(what: str, first: Mapping[str, int], alike: Alike, problems: Problems) -> None:
    """Note each unknown name that people read as a known one; names in another case are others.

    Parameters
    ----------
    first: unknown name → its first record.
    """
    for name, other in sorted(alike(first).items(), key=lambda item: first[item[0]]):
        differs = difference_of_form(name, other)
        if differs != CASE:
            problems.add(
                first[name],
                f"the {what.removeprefix('unknown ')} {name!r} differs from the known {other!r} by {differs}",
                ONE_FORM,
            )
