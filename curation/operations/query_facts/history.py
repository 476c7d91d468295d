"""What releases hold of a query: its part, its words and its grades, release by release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.reports.page import QueryName, Table
from curation.core.text import amount
from curation.operations.query_facts.documents import own_documents
from curation.operations.query_facts.facts import read_facts
from curation.people.seal_access import SealAccess, door_or_shut
from curation.releases.release_rows import list_releases, marked, release_marks
from curation.store import Annotator, Store, get_setting
from curation.store.documents import snapshot_titles
from curation.store.release_parts import read_parts

ABSENT = "not in it"


class QueryRelease(NamedTuple):
    """A query in one release; `grades` is by document: the grade, or why there is none."""

    name: str
    part: str
    text: str
    need: str
    grades: Mapping[str, int | str]


@dataclass(frozen=True)
class QueryHistory:
    """A query in the releases that have it, in the order of freezing.

    Attributes
    ----------
    is_sealed: grades are not shown, because a release seals them.
    missing: releases without the query.
    titles: of the documents with a grade.
    """

    query_id: str
    releases: tuple[QueryRelease, ...]
    is_sealed: bool
    missing: tuple[str, ...]
    titles: Mapping[str, str]

    @property
    def changes(self) -> list[str]:
        """What differs from one release to the next, a sentence each."""
        found = []
        for before, after in zip(self.releases, self.releases[1:], strict=False):
            pair = f"{before.name} → {after.name}"
            if before.part != after.part:
                found.append(f"{pair}: moved from {before.part} to {after.part}.")
            if before.text != after.text:
                found.append(f"{pair}: reworded from “{before.text}”.")
            if before.need != after.need:
                found.append(f"{pair}: the information need was changed.")
            changed = [
                grade for grade in before.grades if after.grades.get(grade, ABSENT) != before.grades[grade]
            ]
            new = after.grades.keys() - before.grades.keys()
            if not self.is_sealed:
                found.append(f"{pair}: {amount(len(changed), 'grade')} changed, {len(new):,} new.")
        return found


def query_history(
    store: Store, query_id: str, reader: Annotator, door: SealAccess | None = None
) -> QueryHistory:
    """A query in all releases, as `read_documents` shows its grades.

    Raises
    ------
    RefusedError: the reader is neither reviewer nor lead.
    NotFoundError: the project has no such query.
    """
    with store.reading() as cursor:
        read_facts(cursor, query_id, reader)
        is_open = door_or_shut(cursor, door).shows(query_id)
        own, marks = own_documents(cursor, query_id, reader.name), release_marks(cursor)
        wanted = ("queries", "qrels") if is_open else ("queries",)
        parts = {row.name: read_parts(cursor, row.release_id, wanted) for row in list_releases(cursor)}
    releases, missing = [], []
    for name, texts in parts.items():
        graded = texts["qrels"].rows_of(query_id) if "qrels" in texts else ()
        grades = {row["document_id"]: _grade(row) for row in graded if row["document_id"] not in own}
        rows = texts["queries"].rows_of(query_id)
        for row in rows:
            need = row.get("information_need") or ""
            found = marked(name, marks.get(name))
            releases.append(QueryRelease(found, row["part"], row["text"], need, grades))
        if not rows:
            missing.append(name)
    documents = sorted({document for one in releases for document in one.grades})
    with store.reading() as cursor:
        titles = snapshot_titles(cursor, get_setting(cursor, "corpus") or "", documents)
    return QueryHistory(query_id, tuple(releases), not is_open, tuple(missing), titles)


def history_table(found: QueryHistory) -> Table:
    """The grades of each document in each release, those that changed first."""
    documents = {document for one in found.releases for document in one.grades}
    grades = {name: [release.grades.get(name, ABSENT) for release in found.releases] for name in documents}
    order = sorted(documents, key=lambda name: (len(set(grades[name])) == 1, name))
    rows = tuple(
        (QueryName(found.titles.get(name, name), found.query_id, name), *map(str, grades[name]))
        for name in order
    )
    return Table(
        "Grades by release", ("Document", *(release.name for release in found.releases)), rows, words=True
    )


def _grade(row: Mapping[str, Any]) -> int | str:
    return str(row["how"]) if row["grade"] is None else int(row["grade"])
