"""Files whose rows say something of queries: the query of a row, what is left out, and what an import did.

What a file says of a query is all that the project has of it then: the same again changes nothing, anything
else replaces it, as a new revision.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TypeVar

from curation.core.errors import InputError
from curation.ingest.importers.queries import KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import UNKNOWN_QUERY, UnknownNames
from curation.ingest.readers.fields import NuggetFields, ReferenceFields
from curation.ingest.readers.records import Record, Records
from curation.ingest.readers.values import text_of
from curation.store import Store

Item = TypeVar("Item")
PEOPLE = "people"
"""The source of what people wrote in the app."""
_WAYS_OUT = {
    UNKNOWN_QUERY: "Import the queries first (`goldgrade import queries PATH`), or leave such rows out with "
    "--skip-unknown."
}


@dataclass(frozen=True)
class QueryItemsImport:
    """What an import of reference answers, or of nuggets, did.

    Attributes
    ----------
    queries: that the file has some for; `items` is how many those are.
    new, changed, unchanged: queries that had none, others, or just these.
    left_out: reason → number. unknown: the queries that were left out because the project lacks them.
    personal: kind of personal data → items in which a placeholder replaces it.
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


class QueryRows:
    """The rows of a file, which name queries of the project in the first of some columns that does.

    Parameters
    ----------
    skip: leave out rows of other queries instead of refusing the file.
    """

    def __init__(self, store: Store, records: Records, columns: Iterable[str | None], skip: bool) -> None:
        with store.reading() as cursor:
            known = KnownQueries.read(cursor)
        self._records = records
        self._columns = [QueryColumn(known, name) for name in dict.fromkeys(columns)]
        self._unknown = UnknownNames(records.problems, _WAYS_OUT, {UNKNOWN_QUERY: known.alike}, skip)
        self.left_out, self.personal = Counter[str](), Counter[str]()

    def query_of(self, record: Record) -> str | None:
        """The query that a record names; that it names none, or several, is noted."""
        names = [text_of(record.fields.get(column.field or "")).strip() for column in self._columns]
        try:
            for column, name in zip(self._columns, names, strict=True):
                if name and (query := column.find(name, record.line)) is not None:
                    return query.query_id
        except InputError as error:
            self._records.problems.add(record.line, str(error))
        else:
            self._unknown.note(UNKNOWN_QUERY, names[0], record.line)
        return None

    def check(self, found: Sized, what: str) -> None:
        """Raise what is wrong with the file, or that nothing could be taken from it."""
        self._unknown.settle(self.left_out)
        self._records.problems.check()
        if not found:
            self._records.refuse_nothing_taken(what, self.left_out)

    def outcome(
        self, found: Mapping[str, Sized], changes: tuple[int, int], fields: ReferenceFields | NuggetFields
    ) -> QueryItemsImport:
        """What the import did, where this was found."""
        return QueryItemsImport(
            queries=len(found),
            items=sum(map(len, found.values())),
            new=changes[0],
            changed=changes[1],
            unchanged=len(found) - sum(changes),
            left_out=dict(+self.left_out),
            unknown=self._unknown.names,
            personal=dict(sorted(self.personal.items())),
            fields=fields,
        )


def revised(
    known: Mapping[str, tuple[int, Sequence[Item] | None]], found: Mapping[str, Sequence[Item]]
) -> tuple[list[tuple[str, int, list[Item]]], tuple[int, int]]:
    """What differs from the newest revision of each query, as the next one: query, revision and items.

    Also returned: how many queries had nothing stored, and how many had something else.

    Parameters
    ----------
    known: revision and items of each query; without items whatever was found differs.
    """
    written, new = [], 0
    for query_id, items in sorted(found.items()):
        revision, held = known.get(query_id, (-1, ()))
        if held is None or list(held) != list(items):
            written.append((query_id, revision + 1, list(items)))
            new += not held
    return written, (new, len(written) - new)
