"""Unknown queries and documents that a file names.

An import leaves out or refuses the records with unknown names. A refusal shows a known id that looks the
same, and the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from curation.core.characters import CASE, describe_lookalike
from curation.ingest.readers.problems import Problems

UNKNOWN_QUERY = "unknown query"
UNKNOWN_DOCUMENT = "unknown document"
ONE_FORM = "Ids must match exactly: write ids in the file as they appear in the project."
Alike = Callable[[Collection[str]], Mapping[str, str]]


class KnownIds:
    """The known ones among the document ids that a file names.

    Parameters
    ----------
    find: function that returns the known ids among given ids. alike: function that returns, for each unknown
    id, a known id that looks the same.
    """

    def __init__(self, find: Callable[[Iterable[str]], Collection[str]], alike: Alike) -> None:
        self._find = find
        self.alike = alike
        self._known_ids: set[str] = set()

    def look_up(self, ids: Iterable[str]) -> Collection[str]:
        """Look up ids and remember the known ids for the operator `in`; return the known ids."""
        known_ids = self._find({*ids})
        self._known_ids.update(known_ids)
        return known_ids

    def __contains__(self, document_id: str) -> bool:
        return document_id in self._known_ids


class UnknownNames:
    """Unknown queries and documents that a file names, with the records in which they occur.

    Parameters
    ----------
    ways_out: advice about unknown queries, and advice about unknown documents.
    alike: function that finds known names that look the same as unknown names, for queries and for documents.
    skip: whether to leave out the records with unknown names; otherwise the file is refused.
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
        """Record an unknown query or document named by a record in the file."""
        self._records.setdefault((what, name), []).append(line)

    @property
    def names(self) -> dict[str, list[str]]:
        """Return the unknown names of the file, for queries and for documents."""
        names_of: dict[str, list[str]] = {}
        for what, name in sorted(self._records):
            names_of.setdefault(what, []).append(name)
        return names_of

    def report(self, left_out: Counter[str]) -> None:
        """Count the records left out for each reason, or add one problem for each unknown name."""
        alike = {what: self._alike[what](names) for what, names in self.names.items()}
        for (what, name), lines in sorted(self._records.items(), key=lambda item: item[1][0]):
            other = alike[what].get(name, "")
            difference = describe_lookalike(name, other)
            if self._skip:
                reason = f"{what} that differs from a known id by {difference}" if difference else what
                left_out[reason] += len(lines)
                continue
            more = f" (on {len(lines):,} {self._problems.unit}s)" if len(lines) > 1 else ""
            problem = f"the project has no {what.removeprefix('unknown ')} {name!r}{more}"
            way_out = ONE_FORM if difference else self._ways_out[what]
            self._problems.add(lines[0], problem + _difference_clause(name, other), way_out)


def describe_similar_name(name: str, alike: Alike) -> str:
    """Return a clause about the known name that looks like an unknown name; '' if no known name looks like
    it."""
    return _difference_clause(name, alike([name]).get(name, ""))


def _difference_clause(name: str, similar_name: str) -> str:
    difference = describe_lookalike(name, similar_name)
    return f"; it differs from the known {similar_name!r} by {difference}" if difference else ""


def refuse_similar_names(what: str, first_lines: Mapping[str, int], alike: Alike, problems: Problems) -> None:
    """Add a problem for each unknown name that looks like a known name, unless the names differ only in case.

    Parameters
    ----------
    first_lines: number of the first record with each unknown name.
    """
    for name, similar_name in sorted(alike(first_lines).items(), key=lambda item: first_lines[item[0]]):
        difference = describe_lookalike(name, similar_name)
        if difference != CASE:
            noun = what.removeprefix("unknown ")
            problem = f"the {noun} {name!r} differs from the known {similar_name!r} by {difference}"
            problems.add(first_lines[name], problem, ONE_FORM)
