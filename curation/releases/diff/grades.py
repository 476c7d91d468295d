"""Grades of two releases: which pairs have another one, and what had changed for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from curation.releases.diff.compared_release import ComparedRelease

UNEXPLAINED = "more or other votes"
"""What is said of a grade that differs though nothing else is known to have changed."""


class Regrade(NamedTuple):
    """A pair whose grade is another one.

    Attributes
    ----------
    before, after: None where the pair had or has no grade.
    how_before, how_after: how the grade came about: 'adjudicated', 'majority', 'single', …
    document: 'gone', 'new' or 'changed' where the corpus explains it; else ''.
    change: see `change_of`.
    """

    query_id: str
    text: str
    document_id: str
    part: str
    before: int | None
    after: int | None
    how_before: str | None
    how_after: str | None
    document: str
    change: str = ""


class GradeCounts(NamedTuple):
    """What became of the grades of a part's queries, as far as both releases have them.

    Attributes
    ----------
    kept, higher, lower: pairs with a grade in both.
    new, gone: pairs with a grade in one.
    sealed: pairs of these that are not named, because the part is sealed.
    """

    part: str
    kept: int
    higher: int
    lower: int
    new: int
    gone: int
    sealed: int


def sealed_queries(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> set[str]:
    """Queries that either release has sealed."""
    return {name for name in both if before.part(name) in before.sealed or after.part(name) in after.sealed}


def grade_changes(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> list[Regrade]:
    """Pairs of these queries whose grade is another one, or in one release only."""
    changes = []
    for pair in sorted(before.qrels.keys() | after.qrels.keys()):
        if pair[0] not in both:
            continue
        old, new = before.qrels.get(pair, {}), after.qrels.get(pair, {})
        if old.get("grade") == new.get("grade"):
            continue
        changes.append(
            Regrade(
                query_id=pair[0],
                text=after.queries[pair[0]]["text"],
                document_id=pair[1],
                part=after.part(pair[0]),
                before=old.get("grade"),
                after=new.get("grade"),
                how_before=old.get("how"),
                how_after=new.get("how"),
                document=_document(pair[1], before, after),
                change=change_of(pair, before, after),
            )
        )
    return changes


def change_of(pair: tuple[str, str], before: ComparedRelease, after: ComparedRelease) -> str:
    """What had changed for a grade that differs, as far as the releases know; it need not be the reason.

    Where the pair was judged again between them, what was not the same, as in 're-labeled: guide changed'.
    Else what became of the document; 'decided' where the reviewer's decision is new; else ''.
    """
    again = after.relabeled.get(pair)
    if again is not None and again != before.relabeled.get(pair):
        return f"re-labeled: {again[1]}"
    document = _document(pair[1], before, after)
    if document:
        return f"document {document}"
    old, new = before.qrels.get(pair, {}), after.qrels.get(pair, {})
    return "decided" if new.get("how") == "adjudicated" != old.get("how") else ""


def _document(document_id: str, before: ComparedRelease, after: ComparedRelease) -> str:
    old, new = before.documents.get(document_id), after.documents.get(document_id)
    if old == new:
        return ""
    return "gone" if new is None else "new" if old is None else "changed"


def grade_counts(
    before: ComparedRelease,
    after: ComparedRelease,
    both: Collection[str],
    changes: Iterable[Regrade],
    hidden: Collection[str],
) -> tuple[GradeCounts, ...]:
    """What became of the grades, by part; `hidden`: queries whose grades are not named."""
    found: dict[str, Counter[str]] = {part: Counter() for part in after.summary.queries}
    for query_id, _ in before.qrels.keys() & after.qrels.keys():
        if query_id in both:
            found[after.part(query_id)]["kept"] += 1
    for row in changes:
        counts = found[row.part]
        counts["sealed"] += row.query_id in hidden
        if row.before is None or row.after is None:
            counts["new" if row.before is None else "gone"] += 1
        else:
            counts["higher" if row.after > row.before else "lower"] += 1
            counts["kept"] -= 1
    return tuple(
        GradeCounts(part, *(counts[name] for name in GradeCounts._fields[1:]))
        for part, counts in found.items()
    )
