"""The history of a query over the releases: its part of the split, its text, its need and its grades in
each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.reports.page import QueryName, Table
from curation.core.text import pluralize
from curation.operations.query_facts import read_facts, withheld_documents
from curation.people.seal_access import SealAccess, access_or_closed
from curation.releases.gate_override import gate_overrides, with_gate_override
from curation.releases.release_rows import list_releases
from curation.store import Annotator, Store, get_setting
from curation.store.documents import snapshot_titles
from curation.store.release_parts import read_parts

ABSENT = "not in it"


class QueryRelease(NamedTuple):
    """A query in one release; `grades` maps a document to its grade, or to the reason for a missing grade."""

    name: str
    part: str
    text: str
    need: str
    grades: Mapping[str, int | str]


@dataclass(frozen=True)
class QueryHistory:
    """A query in the releases that contain it, in the order of freezing.

    Attributes
    ----------
    is_sealed: whether grades are not shown, because a release seals them.
    missing: names of the releases without the query.
    titles: titles of the documents with a grade, by document id.
    """

    query_id: str
    releases: tuple[QueryRelease, ...]
    is_sealed: bool
    missing: tuple[str, ...]
    titles: Mapping[str, str]

    @property
    def sentences(self) -> list[str]:
        """The differences from each release to the next release, and the releases without the query."""
        sentences = []
        for before, after in zip(self.releases, self.releases[1:], strict=False):
            pair = f"{before.name} → {after.name}"
            if before.part != after.part:
                sentences.append(f"{pair}: moved from {before.part} to {after.part}.")
            if before.text != after.text:
                sentences.append(f"{pair}: reworded from “{before.text}”.")
            if before.need != after.need:
                sentences.append(f"{pair}: the information need was changed.")
            if not self.is_sealed:
                changed = sum(after.grades.get(name, ABSENT) != before.grades[name] for name in before.grades)
                new = after.grades.keys() - before.grades.keys()
                sentences.append(f"{pair}: {pluralize(changed, 'grade')} changed, {len(new):,} new.")
        sentences = sentences or ["Fewer than two releases have this query."]
        if self.missing:
            sentences.append(f"Without this query: {', '.join(self.missing)}.")
        return sentences

    @property
    def tables(self) -> tuple[Table, ...]:
        """The grades of each document in each release, the changed grades first."""
        documents = {document for release in self.releases for document in release.grades}
        grades = {name: [release.grades.get(name, ABSENT) for release in self.releases] for name in documents}
        order = sorted(documents, key=lambda name: (len(set(grades[name])) == 1, name))
        rows = tuple(
            (QueryName(self.titles.get(name, name), self.query_id, name), *map(str, grades[name]))
            for name in order
        )
        columns = ("Document", *(release.name for release in self.releases))
        return (Table("Grades by release", columns, rows, words=True),)


def query_history(
    store: Store, query_id: str, reader: Annotator, access: SealAccess | None = None
) -> QueryHistory:
    """Read the history of a query; grades are shown to the same readers as in `read_documents`.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    NotFoundError: the project has no such query.
    """
    with store.reading() as cursor:
        read_facts(cursor, query_id, reader)
        is_open = access_or_closed(cursor, access).shows(query_id)
        withheld = withheld_documents(cursor, query_id, reader.name)
        marks = gate_overrides(cursor)
        wanted = ("queries", "qrels") if is_open else ("queries",)
        parts = {row.name: read_parts(cursor, row.release_id, wanted) for row in list_releases(cursor)}
    releases, missing = [], []
    for name, texts in parts.items():
        graded = texts["qrels"].rows_of(query_id) if "qrels" in texts else ()
        grades = {
            row["document_id"]: str(row["how"]) if row["grade"] is None else int(row["grade"])
            for row in graded
            if row["document_id"] not in withheld
        }
        rows = texts["queries"].rows_of(query_id)
        for row in rows:
            need = row.get("information_need") or ""
            title = with_gate_override(name, marks.get(name))
            releases.append(QueryRelease(title, row["part"], row["text"], need, grades))
        if not rows:
            missing.append(name)
    documents = sorted({document for release in releases for document in release.grades})
    with store.reading() as cursor:
        titles = snapshot_titles(cursor, get_setting(cursor, "corpus") or "", documents)
    return QueryHistory(query_id, tuple(releases), not is_open, tuple(missing), titles)
