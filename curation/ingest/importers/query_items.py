"""Import of items that belong to queries: reference answers and nuggets.

An item is one reference answer or nugget. A file names a query by id or text. The items on several lines of
the same query are combined. The items of a file replace the items that the query had before, as a new
revision. An import of the same items changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TypeVar

from curation.core.errors import InputError
from curation.core.text import pluralize
from curation.ingest.importers.known_queries import KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import UNKNOWN_QUERY, UnknownNames
from curation.ingest.outcome import ImportOutcome, describe_fields, describe_personal_data
from curation.ingest.readers.fields import NuggetFields, ReferenceFields
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text
from curation.store import Store

Item = TypeVar("Item")
_WAYS_OUT = {
    UNKNOWN_QUERY: "Import the queries first (`goldgrade import queries PATH`), or leave out their rows with "
    "--skip-unknown."
}


@dataclass(frozen=True)
class QueryItemsImport:
    """The result of importing reference answers or nuggets.

    Attributes
    ----------
    queries, items: number of queries with items in the file, and number of these items.
    new, changed, unchanged: number of queries that had no items, different items, or the same items before.
    left_out: number of records that were left out for each reason. unknown: names of queries that were left
    out because the project lacks them.
    personal: number of items with placeholders, for each kind of personal data.
    """

    queries: int
    items: int
    new: int
    changed: int
    unchanged: int
    left_out: dict[str, int]
    unknown: dict[str, list[str]]
    personal: dict[str, int]
    fields: ReferenceFields | NuggetFields

    @property
    def outcome(self) -> ImportOutcome:
        """Return the outcome of the import of answers or nuggets as counts and sentences."""
        of_nuggets = isinstance(self.fields, NuggetFields)
        unit, item = ("nuggets", "nugget") if of_nuggets else ("answers", "reference answer")
        counts = {"new": self.new, "changed": self.changed, "unchanged": self.unchanged}
        changes, queries = bool(self.new or self.changed), pluralize(self.queries, "query", "queries")
        sentence = f"Nothing changed: the project already has these {unit} to {queries}."
        if changes:
            counts_text = ", ".join(f"{count:,} {what}" for what, count in counts.items())
            sentence = f"{pluralize(self.items, item)} to {queries}: {counts_text}."
        figures = {unit: self.items, "queries": self.queries, **counts}
        remarks = [describe_fields(self.fields), *describe_personal_data(self.personal, unit, "replaced")]
        return ImportOutcome(changes, sentence, unit, figures, self.left_out, remarks)


class QueryRows:
    """Rows of a file that name the project's queries in one of several columns.

    Parameters
    ----------
    skip: whether to leave out rows of unknown queries; otherwise the file is refused.
    """

    def __init__(self, store: Store, records: Records, columns: Iterable[str | None], skip: bool) -> None:
        with store.reading() as cursor:
            known = KnownQueries.read(cursor)
        self._records = records
        self._columns = [QueryColumn(known, name) for name in dict.fromkeys(columns)]
        self._unknown = UnknownNames(records.problems, _WAYS_OUT, {UNKNOWN_QUERY: known.alike}, skip)
        self.left_out, self.personal = Counter[str](), Counter[str]()

    def find_query_id(self, record: Record) -> str | None:
        """Return the id of the query that a record names; record an unknown or ambiguous name."""
        names = [to_text(record.fields.get(column.field or "")).strip() for column in self._columns]
        try:
            for column, name in zip(self._columns, names, strict=True):
                if name and (query := column.find(name, record.line)) is not None:
                    return query.query_id
        except InputError as error:
            self._records.problems.add(record.line, str(error))
        else:
            self._unknown.note(UNKNOWN_QUERY, names[0], record.line)
        return None

    def check(self, items_of: Sized, noun: str) -> None:
        """Raise an error with the file's problems; a file without any usable item is a problem, too."""
        self._unknown.report(self.left_out)
        self._records.problems.check()
        if not items_of:
            self._records.refuse_empty(noun, self.left_out)

    def outcome(
        self, items_of: Mapping[str, Sized], changes: tuple[int, int], fields: ReferenceFields | NuggetFields
    ) -> QueryItemsImport:
        """Return the result of importing these reference answers or nuggets."""
        return QueryItemsImport(
            queries=len(items_of),
            items=sum(map(len, items_of.values())),
            new=changes[0],
            changed=changes[1],
            unchanged=len(items_of) - sum(changes),
            left_out=dict(+self.left_out),
            unknown=self._unknown.names,
            personal=dict(sorted(self.personal.items())),
            fields=fields,
        )


def find_revisions(
    known: Mapping[str, tuple[int, Sequence[Item] | None]], items_of: Mapping[str, Sequence[Item]]
) -> tuple[list[tuple[str, int, list[Item]]], tuple[int, int]]:
    """Return the id, next revision and items of each query whose items differ from the newest revision.

    The second value has two numbers: queries without stored items, and queries with different stored items.

    Parameters
    ----------
    known: newest revision and items of each query; None instead of items differs from all items.
    """
    revisions, new_queries = [], 0
    for query_id, items in sorted(items_of.items()):
        revision, stored_items = known.get(query_id, (-1, ()))
        if stored_items is None or list(stored_items) != list(items):
            revisions.append((query_id, revision + 1, list(items)))
            new_queries += not stored_items
    return revisions, (new_queries, len(revisions) - new_queries)
