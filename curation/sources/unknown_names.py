"""Names in a file that the project does not have: reported once each, or counted and left out.

Only the ids that a file names are asked of the database, so a large corpus costs no memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from curation.files.problems import Problems

UNKNOWN_QUERY = "unknown query"
UNKNOWN_DOCUMENT = "unknown document"


class KnownDocuments:
    """Which document ids there are, of those that were asked for.

    Parameters
    ----------
    find: those of some ids that there are.
    """

    def __init__(self, find: Callable[[Iterable[str]], Collection[str]]) -> None:
        self._find = find
        self._held: set[str] = set()

    def ask(self, ids: Iterable[str]) -> Collection[str]:
        """Ask for ids before they are looked up; returns those that there are."""
        found = self._find({*ids})
        self._held.update(found)
        return found

    def __contains__(self, document_id: str) -> bool:
        return document_id in self._held


class UnknownNames:
    """The unknown queries and documents of one file, with the records that name them.

    Parameters
    ----------
    ways_out: what to do about unknown queries and about unknown documents.
    skip: leave their records out instead of refusing the file.
    """

    def __init__(self, problems: Problems, ways_out: Mapping[str, str], skip: bool) -> None:
        self._problems = problems
        self._ways_out = ways_out
        self._skip = skip
        self._records: dict[tuple[str, str], list[int]] = {}

    def note(self, what: str, name: str, line: int) -> None:
        """Note that a record names a query or document that the project does not have."""
        self._records.setdefault((what, name), []).append(line)

    @property
    def names(self) -> dict[str, list[str]]:
        """What is unknown → its names in the file, each once."""
        found: dict[str, list[str]] = {}
        for what, name in sorted(self._records):
            found.setdefault(what, []).append(name)
        return found

    def settle(self, left_out: Counter[str]) -> None:
        """Count what is left out by reason, or add a problem for each name, with its first record."""
        for (what, name), lines in sorted(self._records.items(), key=lambda item: item[1][0]):
            if self._skip:
                left_out[what] += len(lines)
                continue
            more = f" (on {len(lines):,} {self._problems.unit}s)" if len(lines) > 1 else ""
            self._problems.add(
                lines[0],
                f"the project has no {what.removeprefix('unknown ')} {name!r}{more}",
                self._ways_out[what],
            )
