"""What became of queries, documents and grades from one release to the other.

Grades are compared for the queries that both releases have. Queries that came or went bring or take all of
their grades. Grades of a part that is sealed in either release are counted, and named only by who opens the
seal (`seal`).

A `ComparedRelease` is a release, laid out to be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from curation.door import sealed_parts
from curation.releases.verify import Opened


class ReleaseSummary(NamedTuple):
    """One of the two; `queries` and `grades` are part of the split → number; `mark` is its mark, if any."""

    name: str
    release_id: str
    format: int
    documents: int
    queries: dict[str, int]
    grades: dict[str, int]
    mark: str | None = None


class ComparedRelease:
    """A release, laid out to be compared.

    closed: queries whose grades one of the two does not have; they are left out of both.
    """

    def __init__(self, release: Opened, closed: Collection[str] = ()) -> None:
        self.release = release
        self.header = release.header
        self.summary = ReleaseSummary(
            release.row.name,
            release.row.release_id,
            self.header["format"],
            self.header["documents"],
            self.header["queries"],
            self.header["grades"],
            release.mark,
        )
        self.queries = {row["query_id"]: row for row in release.rows("queries")}
        self.qrels = {
            (row["query_id"], row["document_id"]): row
            for row in release.rows("qrels")
            if row["query_id"] not in closed
        }
        self.documents = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
        self.judged = Counter(document_id for _, document_id in self.qrels)
        self.graded = Counter(query_id for query_id, _ in self.qrels)
        self.how = Counter(row["how"] for row in self.qrels.values())
        self.systems = Counter(
            row["system"] for row in release.rows("candidates") if row["query_id"] not in closed
        )
        self.agreement = (release.rows("agreement") or [{}])[0]
        self.sealed = sealed_parts(self.header)
        self.retired: dict[str, str] = self.header.get("retired", {})
        self.relabeled = {
            (row["query_id"], row["document_id"]): (row["quarter"], row["cause"])
            for row in release.rows("relabeled")
        }

    def part(self, query_id: str) -> str:
        return str(self.queries[query_id]["part"])


class QueryRow(NamedTuple):
    """A query of one release only, with the number of its grades there, and why it was retired; '' if not."""

    query_id: str
    text: str
    part: str
    grades: int
    reason: str = ""


class Reworded(NamedTuple):
    """A query whose text is another one under the same id."""

    query_id: str
    before: str
    after: str


class Move(NamedTuple):
    """A query that went from one part of the split to another."""

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
) -> tuple[Reworded, ...]:
    """Queries of both whose text differs."""
    texts = ((name, before.queries[name]["text"], after.queries[name]["text"]) for name in sorted(both))
    return tuple(Reworded(name, old, new) for name, old, new in texts if old != new)


def moved_queries(before: ComparedRelease, after: ComparedRelease, both: Collection[str]) -> tuple[Move, ...]:
    """Queries of both whose part differs."""
    return tuple(
        Move(name, after.queries[name]["text"], before.part(name), after.part(name))
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


class Regrade(NamedTuple):
    """A pair whose grade is another one.

    Attributes
    ----------
    before, after: None where the pair had or has no grade.
    how_before, how_after: how the grade came about: 'adjudicated', 'majority', 'single', …
    document: 'gone', 'new' or 'changed' where the corpus explains it; else ''.
    cause: see `cause_of`.
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
    cause: str = ""


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
                cause=cause_of(pair, before, after),
            )
        )
    return changes


def cause_of(pair: tuple[str, str], before: ComparedRelease, after: ComparedRelease) -> str:
    """Why a grade differs, as far as the releases know.

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
