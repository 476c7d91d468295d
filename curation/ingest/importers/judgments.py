"""Reading of judgments from a file: annotator, query, document and grade.

A file of judgments has one of three shapes: long (a judgment in each row), wide (a pair in each row, a column
for each annotator) or TREC qrels. Each shape gives a list of judgments, which `labeling.imported` adds to the
project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.characters import normalise_query
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import MAX_NOTE_LENGTH, pluralize
from curation.guides.guide import current_guide
from curation.ingest.importers.evidence_cells import parse_evidence
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.ingest.importers.known_queries import KnownQueries, QueryColumn, find_name_kind
from curation.ingest.importers.personal_data import redact
from curation.ingest.importers.queries import (
    ONE_TEXT,
    compare_named_queries,
    describe_text_conflict,
    has_email_address,
    make_query_id,
)
from curation.ingest.importers.query_import import BARE
from curation.ingest.importers.row_marks import find_mark, find_mark_columns
from curation.ingest.importers.unknown_names import UNKNOWN_DOCUMENT, UNKNOWN_QUERY, KnownIds, UnknownNames
from curation.ingest.option_maps import CANNOT_TELL, UNGRADED, format_grade, format_map, normalise_grade
from curation.ingest.readers.fields import JudgmentFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.times import NO_TIME, ImportedTimes
from curation.ingest.readers.values import field_to_text, is_missing_value, parse_whole_number
from curation.store import Store
from curation.store.documents import current_versions, ids_alike
from curation.store.row_types import Query

_POOLED_UNJUDGED = "-1"
_NO_GRADE = "neither a whole number nor the name of a grade"
_NO_MAP = "neither in --grade-map nor the name of a grade"
_REJECTED = (
    "A rejected grade does not count, so remove its row. If accept and reject are the grades, use "
    "--map grade={column} --grade-map accept=3,{word}=0,ignore=cannot-tell"
)
_SKIP_UNKNOWN = "Or leave out rows with unknown names with --skip-unknown."
_WAYS_OUT = {
    UNKNOWN_QUERY: "The file has query ids but no texts. Import the queries first (`goldgrade import queries "
    f"PATH`), or name the column with their texts with --map query_text=COLUMN. {_SKIP_UNKNOWN}",
    UNKNOWN_DOCUMENT: f"First import the corpus with the judged documents. {_SKIP_UNKNOWN}",
}
_YES = ("true", "1", "1.0", "yes", "t", "y")


class _Cell(NamedTuple):
    """A grade as written in a file; `query` is an id or a text, `query_text` is the query's text or ''."""

    line: int
    query: str
    query_text: str
    document: str
    annotator: str
    grade: str
    note: str | None
    time: Any
    evidence: Any


def _choose_columns(records: Records, requested: JudgmentFields, takes_evidence: bool) -> JudgmentFields:
    is_wide = bool(requested.annotator_columns)
    if is_wide and (requested.annotator or requested.grade or requested.annotator_name):
        records.refuse_columns(
            "--annotator-columns already names the annotators: leave out the other options that name "
            "annotators"
        )
    for column in requested.annotator_columns:
        records.choose_column("--annotator-columns", column)
    unread = {"annotator", "grade"} if is_wide else {"annotator"} if requested.annotator_name else set()
    unread |= {"grade"} if requested.grade_given is not None else set()
    unread |= set() if takes_evidence or requested.evidence else {"evidence"}
    used = records.resolve(requested, unread)
    kind = find_name_kind(used.query or "")
    if requested.query_text is None and (kind != "id" or records.format == "qrels"):
        used = replace(used, query_text=None)
    if "annotator" not in unread and used.annotator is None:
        records.refuse_columns(
            "no column was recognized as annotators: name one with --map annotator=COLUMN, several "
            "columns with --annotator-columns, or one person with --annotator"
        )
    if requested.annotator and requested.annotator_name:
        records.refuse_columns("--annotator and --map annotator both name annotators: leave out one of them")
    return used


class JudgmentFile:
    """A reader for a judgments file, checked against the project's guide, queries and documents.

    Attributes
    ----------
    judgments: judgments in the order of the file.
    source: the file's name. unit: noun for a record's number, 'line' or 'row'.
    new_queries: queries of the judgments that are new to the project.
    known_as: the project's id for each id in the file, for queries whose text the project knew.
    left_out: number of cells that were left out for each reason. unknown: names of unknown queries and
    documents.
    unread: number of judgments for each kind of value that could not be read, such as a time.

    Parameters
    ----------
    grade_map, skip_unknown: see `labeling.imported.import_judgments`.

    Raises
    ------
    InputError: the file cannot be read, or judgments are invalid; the error lists all problems.
    RefusedError: the project has no corpus yet.
    """

    def __init__(
        self,
        store: Store,
        path: Path,
        fields: JudgmentFields | None = None,
        layout: FileLayout | None = None,
        grade_map: Mapping[str, int | None] | None = None,
        skip_unknown: bool = False,
        progress: Progress = silent,
    ) -> None:
        self._records = records = Records(path, layout, progress, judged=True)
        self._problems = records.problems
        self._documents = KnownIds(partial(current_versions, store), partial(ids_alike, store))
        with store.reading() as cursor:
            self._guide, self._known_queries = current_guide(cursor), KnownQueries.read(cursor)
        self.fields = fields = _choose_columns(
            records, fields or JudgmentFields(), self._guide.evidence is not None
        )
        self._grade_map = dict(grade_map or {})
        has_ids = records.format == "qrels" or fields.query_text is not None
        self._given_grade = "" if fields.grade_given is None else str(fields.grade_given)
        self._queries = QueryColumn(self._known_queries, fields.query, "id" if has_ids else None)
        self._named: dict[str, tuple[Query, int]] = {}
        known_names = {UNKNOWN_QUERY: self._known_queries.alike, UNKNOWN_DOCUMENT: self._documents.alike}
        self._unknown = UnknownNames(records.problems, _WAYS_OUT, known_names, skip_unknown)
        self.new_queries: list[Query] = []
        self.known_as: dict[str, str] = {}
        self.left_out: Counter[str] = Counter()
        self._unknown_grades: dict[tuple[str, str], list[int]] = {}
        self._rejected: list[tuple[int, str, str]] = []
        read_columns = {*fields.used.values(), *fields.annotator_columns}
        self._marks = find_mark_columns(records.columns, read_columns, judged=True)
        self._times = ImportedTimes(fields.date_order)
        self.judgments = self._read_judgments()
        if not self.judgments:
            records.refuse_empty("judgment", self.left_out)
        self.source, self.unit = records.source, records.unit
        self.unknown, self.unread = self._unknown.names, dict(self._times.unread)

    def _read_judgments(self) -> list[ImportedJudgment]:
        """Return the judgments in the order of the file, or raise an error with all problems in the file."""
        cells: list[_Cell] = []
        with suppress(InputError):  # recorded in the file's problems and raised with the other problems
            for record in self._records:
                cells += self._read_cells(record)
        self._documents.look_up(cell.document for cell in cells)
        judgments = list(filter(None, map(self._make_judgment, cells)))
        self._add_file_problems()
        self._unknown.report(self.left_out)
        if self.fields.evidence:
            self._problems.hint(
                "There may be more problems, because evidence is checked only after these are fixed."
            )
        named = self._named.values()
        self.new_queries, self.known_as = compare_named_queries(named, self._known_queries, self._problems)
        return [
            judgment._replace(query_id=self.known_as.get(judgment.query_id, judgment.query_id))
            for judgment in judgments
        ]

    def _add_file_problems(self) -> None:
        """Record the problems that concern the judgments file as a whole."""
        for (_, problem), lines in self._unknown_grades.items():
            how_often = f" (on {len(lines):,} {self._problems.unit}s)" if len(lines) > 1 else ""
            self._problems.add(lines[0], f"{problem}{how_often}", self._advise_grade_map())
        if self._rejected:
            line, column, word = self._rejected[0]
            rows_text = pluralize(len(self._rejected), "row says", "rows say")
            way_out = _REJECTED.format(column=column, word=word)
            self._problems.add(line, f"{rows_text} {column}: {word}; this row is the first", way_out)
        if self._times.has_no_time:
            self._problems.add_general(f"no time in {self.fields.time!r} could be read", NO_TIME)

    def _advise_grade_map(self) -> str:
        """Return advice on how to map all unknown grades in the file."""
        known_grades = {text: format_grade(grade) for text, grade in self._grade_map.items()}
        scale = ", ".join(f"{grade.value} {grade.name}" for grade in self._guide.scale)
        map_text = format_map(known_grades | {text: "?" for text, _ in self._unknown_grades})
        targets = f"the guide's scale ({scale}), or to no-grade or cannot-tell"
        return f"Map these grades to {targets}: --grade-map {map_text}"

    def _read_cells(self, record: Record) -> Iterator[_Cell]:
        values, fields = record.fields, self.fields
        if mark := find_mark(values, self._marks):
            column, word = mark
            if word.startswith("reject"):
                self._rejected.append((record.line, column, word))
            self.left_out[f"marked {word}"] += 1
            return
        names = ("query", "query_text", "document", "annotator", "note", "cannot_tell")
        texts = {name: field_to_text(values, getattr(fields, name)).strip() for name in names}
        cannot_tell = texts["cannot_tell"].casefold() in _YES
        raters = fields.annotator_columns or {fields.grade or "": fields.annotator_name or texts["annotator"]}
        for column, annotator in raters.items():
            grade = " + ".join(field_to_text(values, column).strip().splitlines())
            yield _Cell(
                record.line,
                texts["query"],
                texts["query_text"],
                texts["document"],
                fields.annotator_map.get(annotator, annotator),
                CANNOT_TELL[0] if cannot_tell else self._given_grade or grade,
                texts["note"] or None,
                time=values.get(fields.time) if fields.time else None,
                evidence=values.get(fields.evidence) if fields.evidence else None,
            )

    def _make_judgment(self, cell: _Cell) -> ImportedJudgment | None:
        """Return the judgment that a cell stands for; None if the cell is left out or has a problem."""
        if not self._is_graded(cell) or not self._is_complete(cell):
            return None
        query = self._find_query(cell)
        is_known_document = self._check_document(cell)
        try:
            grade = self._parse_grade(cell.grade)
        except ValueError as error:
            self._unknown_grades.setdefault((cell.grade, str(error)), []).append(cell.line)
            return None
        if query is None or not is_known_document:
            return None
        time = self._times.time(cell.time, partial(self._problems.add, cell.line))
        try:
            evidence = parse_evidence(cell.evidence) if self.fields.evidence else None
        except InputError as error:
            self._problems.add(cell.line, str(error))
            return None
        return ImportedJudgment(
            *(query.query_id, cell.document, cell.annotator, grade, cell.note),
            submitted_at=time,
            line=cell.line,
            evidence=evidence,
        )

    def _is_graded(self, cell: _Cell) -> bool:
        reason = ""
        mapped_grade = self._grade_map.get(normalise_grade(cell.grade)) if cell.grade else UNGRADED
        if mapped_grade == UNGRADED or (is_missing_value(cell.grade) and not self._is_a_grade(cell.grade)):
            reason = "no grade"
        elif self._records.format == "qrels" and cell.grade == _POOLED_UNJUDGED:
            reason = "" if normalise_grade(cell.grade) in self._grade_map else "pooled, not judged (-1)"
        if reason:
            self.left_out[reason] += 1
        return not reason

    def _is_a_grade(self, text: str) -> bool:
        """Return whether the grade map or the labeling guide has a grade with this name, such as "None"."""
        return normalise_grade(text) in self._grade_map or self._guide.find_grade(text) is not None

    def _is_complete(self, cell: _Cell) -> bool:
        missing = [what for what in ("query", "document", "annotator") if not getattr(cell, what)]
        if missing:
            problem = f"a grade without {' and '.join(missing)}"
            self._problems.add(cell.line, problem, "Complete these rows, or remove them.")
        if (length := len(cell.note or "")) > MAX_NOTE_LENGTH:
            problem = f"a note of {length:,} characters; at most {MAX_NOTE_LENGTH:,} are kept"
            self._problems.add(cell.line, problem)
        return not missing

    def _find_query(self, cell: _Cell) -> Query | None:
        """Return the project's query with this id or text, or a new query if the file has its text."""
        redacted = redact(cell.query_text if cell.query_text != cell.query else "")
        try:
            query = self._queries.find(cell.query, cell.line)
            if not redacted.text and query is None and self._queries.by != "id":
                self._queries.note_new_text(cell.query, cell.line)
                redacted = redact(cell.query)
        except InputError as error:
            self._problems.add(cell.line, str(error))
            return None
        if not redacted.text:
            if query is None:
                self._unknown.note(UNKNOWN_QUERY, cell.query, cell.line)
            return query
        if redacted.is_empty and query is None:
            self.left_out[f"query is {BARE}"] += 1
            return None
        return self._make_query(cell, redacted.text)

    def _make_query(self, cell: _Cell, text: str) -> Query:
        """Return a query with the cell's text and id; the import later compares it with the project's
        queries."""
        normalised = normalise_query(text)
        query_id = cell.query if self._queries.by == "id" else ""
        if not query_id or has_email_address(query_id):
            query_id = make_query_id(normalised)
        query = Query(query_id, text, normalised, "imported")
        first_query, first_line = self._named.setdefault(query_id, (query, cell.line))
        if first_query.normalised != normalised:
            where = f"on {self._problems.unit} {first_line}"
            self._problems.add(cell.line, describe_text_conflict(query, first_query, where), ONE_TEXT)
        return first_query

    def _check_document(self, cell: _Cell) -> bool:
        is_known = cell.document in self._documents
        if not is_known:
            self._unknown.note(UNKNOWN_DOCUMENT, cell.document, cell.line)
        return is_known

    def _parse_grade(self, text: str) -> int | None:
        """Return the grade on the guide's scale, or None for cannot-tell; raise ValueError for others."""
        key, guide = normalise_grade(text), self._guide
        if key in self._grade_map:
            grade = self._grade_map[key]
        elif text in CANNOT_TELL:
            grade = None
        else:
            number = None if self._grade_map else parse_whole_number(text)
            grade = guide.find_grade(text) if number is None else number
            if grade is None:
                raise ValueError(f"grade {text!r} is {_NO_MAP if self._grade_map else _NO_GRADE}")
        outside = "" if grade is None else guide.describe_off_scale(grade)
        if outside:
            raise ValueError(outside)
        return grade
