"""A lead's file of pairs to practise on: query, document, expected grade and its explanation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from curation.core.errors import InputError
from curation.core.text import LONGEST_NOTE, alike
from curation.guides.guide import current_guide
from curation.ingest.importers.queries import KnownQueries, NamedBy, named_by
from curation.ingest.importers.unknown_names import like_known
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import text_of, whole_number
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.control_items import ControlItem, ControlItemPool
from curation.people.seal_access import SealAccess
from curation.store import Cursor
from curation.store.documents import current_snapshot, snapshot_versions

FIELDS = {
    "--query-field": ("query", "query_id", "query-id"),
    "--document-field": ("document", "document_id", "doc_id", "corpus-id"),
    "--grade-field": ("grade", "relevance", "score", "label"),
    "--explanation-field": ("explanation", "reason", "why"),
}


class PracticeFile:
    """A file of pairs, and what its lines are compared with: the project's queries, documents and guide."""

    def __init__(
        self, cursor: Cursor, path: Path, columns: Mapping[str, str | None], door: SealAccess
    ) -> None:
        self._path = path
        self._columns = columns
        self._door = door
        self._queries = KnownQueries.read(cursor)
        self._guide = current_guide(cursor)
        self._hashes = snapshot_versions(cursor, current_snapshot(cursor))

    def read(self) -> ControlItemPool:
        """The pairs of the file, by query and document id.

        Raises
        ------
        InputError: the file cannot be read, or lines do not fit; all problems together.
        """
        records = Records(self._path)
        columns = [
            records.need(
                option,
                self._columns.get(option),
                usual,
                f"the {option[2:].removesuffix('-field')}",
                ids=option != "--grade-field",
            )
            for option, usual in FIELDS.items()
        ]
        found: dict[tuple[str, str], tuple[ControlItem, int]] = {}
        for record in records:
            texts = [text_of(record.fields.get(column or "")).strip() for column in columns]
            item, problems = self._item(named_by(columns[0] or ""), *texts)
            for problem in problems:
                records.problems.add(record.line, problem)
            if item is None:
                continue
            before, line = found.setdefault(item.pair, (item, record.line))
            if before.grade != item.grade:
                records.problems.add(
                    record.line,
                    f"the pair ({item.pair[0]}, {item.pair[1]}) has the grade {item.grade} here and "
                    f"{before.grade} on {records.unit} {line}: keep one of the two",
                )
        return ControlItemPool(tuple(found[pair][0] for pair in sorted(found)), frozenset(), {})

    def _item(
        self, named: NamedBy | None, query: str, document: str, grade: str, explanation: str
    ) -> tuple[ControlItem | None, list[str]]:
        """The pair of a line, or None and what is wrong with it."""
        problems = []
        known = None
        try:
            known = self._queries.find(query, named)
            if known is None:
                like = like_known(query, self._queries.alike)
                problems.append(f"the project has no query {query!r}{like}")
            elif not self._door.shows(known.query_id):
                problems.append(
                    f"a release seals the grades of the query {query!r}, and practice shows them; leave the "
                    'line out, or say why with --reason "why", which is logged'
                )
        except InputError as error:
            problems.extend(error.problems)
        if document not in self._hashes:
            like = like_known(document, partial(alike, known=self._hashes))
            problems.append(f"the corpus has no document {document!r}{like}")
        value = whole_number(grade)
        if value is None:
            problems.append(f"the grade {grade!r} is no whole number")
        elif self._guide.outside(value):
            problems.append(self._guide.outside(value))
        if not explanation:
            problems.append("a practice pair needs its explanation")
        elif len(explanation) > LONGEST_NOTE:
            problems.append(
                f"an explanation has at most {LONGEST_NOTE:,} characters, not {len(explanation):,}"
            )
        if problems or known is None or value is None:
            return None, problems
        return ControlItem(
            Candidate(known.query_id, document, self._hashes[document]), value, explanation
        ), []
