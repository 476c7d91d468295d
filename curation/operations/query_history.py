"""The history of a query: what each release says about the query, and what changed between releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.reports.tables import QueryName, Table
from curation.core.text import pluralize
from curation.operations.query_facts import read_facts, read_withheld_ids
from curation.people.seal_access import SealAccess, resolve_access
from curation.releases.gate_override import mark_name, read_overrides
from curation.releases.release_rows import list_releases
from curation.store import Annotator, Store, get_setting
from curation.store.documents import snapshot_titles
from curation.store.release_parts import read_parts

NOT_IN_RELEASE = "not in it"


class QueryRelease(NamedTuple):
    """A query in one release; `grades` maps a document to its grade, or to the reason why it has none."""

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
        """Return sentences on the changes between releases, and on the releases without the query."""
        sentences = []
        for before, after in zip(self.releases, self.releases[1:], strict=False):
            changes = _describe_changes(before, after, with_grades=not self.is_sealed)
            sentences += [f"{before.name} → {after.name}: {change}" for change in changes]
        sentences = sentences or ["Fewer than two releases have this query."]
        if self.missing:
            sentences.append(f"Releases without this query: {', '.join(self.missing)}.")
        return sentences

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of each document's grade in each release, changed grades first."""
        grades = {
            document_id: [str(release.grades.get(document_id, NOT_IN_RELEASE)) for release in self.releases]
            for release in self.releases
            for document_id in release.grades
        }
        ordered = sorted(grades.items(), key=lambda row: (len(set(row[1])) == 1, row[0]))
        rows = []
        for document_id, row in ordered:
            title = self.titles.get(document_id, document_id)
            rows.append((QueryName(title, self.query_id, document_id), *row))
        columns = ("Document", *(release.name for release in self.releases))
        return (Table("Grades by release", columns, tuple(rows), words=True),)


def read_history(
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
        is_open = resolve_access(cursor, access).can_show(query_id)
        withheld = read_withheld_ids(cursor, query_id, reader.name)
        overrides = read_overrides(cursor)
        tables = ("queries", "qrels") if is_open else ("queries",)
        tables_of = {row.name: read_parts(cursor, row.release_id, tables) for row in list_releases(cursor)}
    releases, missing = [], []
    for name, release_tables in tables_of.items():
        rows = release_tables["queries"].rows_of(query_id)
        if not rows:
            missing.append(name)
            continue
        [row] = rows
        qrels = release_tables["qrels"].rows_of(query_id) if is_open else ()
        grades = {
            qrel["document_id"]: str(qrel["how"]) if qrel["grade"] is None else int(qrel["grade"])
            for qrel in qrels
            if qrel["document_id"] not in withheld
        }
        title = mark_name(name, overrides.get(name))
        need = row.get("information_need") or ""
        releases.append(QueryRelease(title, row["part"], row["text"], need, grades))
    documents = sorted({document for release in releases for document in release.grades})
    with store.reading() as cursor:
        titles = snapshot_titles(cursor, get_setting(cursor, "corpus") or "", documents)
    return QueryHistory(query_id, tuple(releases), not is_open, tuple(missing), titles)


def _describe_changes(before: QueryRelease, after: QueryRelease, with_grades: bool) -> Iterator[str]:
    """Yield a sentence for each difference of a query between two releases."""
    if before.part != after.part:
        yield f"moved from {before.part} to {after.part}."
    if before.text != after.text:
        yield f"reworded from “{before.text}”."
    if before.need != after.need:
        yield "the information need was changed."
    if with_grades:
        changed = sum(after.grades.get(document_id) != grade for document_id, grade in before.grades.items())
        new = after.grades.keys() - before.grades.keys()
        yield f"{pluralize(changed, 'grade')} changed, {len(new):,} new."
