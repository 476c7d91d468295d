"""Queries and documents of two releases: which came, left, moved, or have another text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from curation.releases.diff.compared_release import ComparedRelease


class QueryRow(NamedTuple):
    """A query of one release only, with the number of its grades there, and why it was retired; '' if not."""

    query_id: str
    text: str
    part: str
    grades: int
    reason: str = ""


class ChangedQuery(NamedTuple):
    """A query of both releases whose text, or whose part of the split, is another one."""

    query_id: str
    text: str
    before: str
    after: str


def queries_only_in(here: ComparedRelease, there: ComparedRelease) -> tuple[QueryRow, ...]:
    """Queries of this release that the other does not have."""
    return tuple(
        QueryRow(query_id, row["text"], row["part"], here.graded[query_id], there.retired.get(query_id, ""))
        for query_id, row in sorted(here.queries.items())
        if query_id not in there.queries
    )


def reworded_queries(
    before: ComparedRelease, after: ComparedRelease, both: Collection[str]
) -> tuple[ChangedQuery, ...]:
    """Queries of both whose text differs."""
    texts = ((name, before.queries[name]["text"], after.queries[name]["text"]) for name in sorted(both))
    return tuple(ChangedQuery(name, new, old, new) for name, old, new in texts if old != new)


def moved_queries(
    before: ComparedRelease, after: ComparedRelease, both: Collection[str]
) -> tuple[ChangedQuery, ...]:
    """Queries of both whose part of the split differs."""
    return tuple(
        ChangedQuery(name, after.queries[name]["text"], before.part(name), after.part(name))
        for name in sorted(both)
        if before.part(name) != after.part(name)
    )


class DocumentRow(NamedTuple):
    """A document of the corpus; `judged` is its number of grades: in the old release, or where it is new."""

    document_id: str
    judged: int


class Documents(NamedTuple):
    """What became of the corpus: ids, those with most grades first."""

    gone: tuple[DocumentRow, ...]
    new: tuple[DocumentRow, ...]
    changed: tuple[DocumentRow, ...]
    kept: int


def document_changes(before: ComparedRelease, after: ComparedRelease) -> Documents:
    """Documents that came, went, or have another version."""
    old, new = before.documents, after.documents
    both = old.keys() & new.keys()
    changed = {name for name in both if old[name] != new[name]}
    return Documents(
        gone=_ordered(old.keys() - new.keys(), before.judged),
        new=_ordered(new.keys() - old.keys(), after.judged),
        changed=_ordered(changed, before.judged),
        kept=len(both) - len(changed),
    )


def _ordered(names: Iterable[str], judged: Mapping[str, int]) -> tuple[DocumentRow, ...]:
    rows = (DocumentRow(name, judged.get(name, 0)) for name in names)
    return tuple(sorted(rows, key=lambda row: (-row.judged, row.document_id)))
