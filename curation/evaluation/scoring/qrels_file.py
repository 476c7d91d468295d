"""A qrels file used as a release, so that systems can be evaluated without a project.

The release has one part with all queries of the file. Its corpus is unknown, so the release has no documents,
and a run may return documents that the file does not name. A table of topics gives the queries their texts,
strata, segments and tags; figures can also be broken down by the other columns of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from curation.core.errors import InputError
from curation.evaluation.scoring.release import ALL
from curation.ingest.importers.topics import open_topics
from curation.ingest.readers.column_search import find_column, match_column
from curation.ingest.readers.fields import JudgmentFields, QueryFields, file_fields
from curation.ingest.readers.formats import SUFFIXES, FileLayout, find_suffix, read_first_lines
from curation.ingest.readers.lines import check_file
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Records
from curation.ingest.readers.run_files import RunFile
from curation.ingest.readers.text_tables import QRELS_COLUMNS
from curation.ingest.readers.values import field_to_text, parse_whole_number, to_text
from curation.releases.checksums import compute_release_id
from curation.releases.frozen_release import FrozenRelease
from curation.releases.packed import FORMER_SUFFIX, SUFFIX, is_file
from curation.releases.part_rows import FORMAT
from curation.releases.release_rows import ReleaseRow
from curation.store.release_parts import PartText

ENDINGS = (*SUFFIXES, ".qrels", ".qrel", ".txt", ".trec")
"""Endings of the names of files with qrels; any other file is named with its folder, as in ./qrels."""
EXPECTED = "Each line needs a query, a document and a whole number, as in: q1 0 d7 3"
NO_STRATUM = "no stratum"
NOT_IN_TOPICS = "not in the topics"
_OBJECT_OF_OBJECTS = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
Graded = tuple[int, str, str, str]
"""Number of a line, query, document, and the grade as written."""


def is_qrels_file(reference: str) -> bool:
    """Return whether a reference is a qrels file rather than a release's name, id or packed file."""
    path = Path(reference)
    if path.suffix.lower() in (SUFFIX, FORMER_SUFFIX):
        return False
    return find_suffix(path) in ENDINGS or (is_file(reference) and path.is_file() and not is_zipfile(path))


def read_qrels_release(path: Path, topics: Path | None = None, name: str = "") -> FrozenRelease:
    """Read a qrels file and a table of its topics as a release.

    Raises
    ------
    InputError: a file cannot be read, or a line has no query, document or grade; the error lists all
        problems.
    """
    grades = _read_grades(path)
    ids = sorted({query for query, _ in grades})
    judged = [pair for pair, grade in grades.items() if grade >= 0]  # TREC marks unjudged pairs with -1
    rows: dict[str, list[dict[str, Any]]] = {
        "release": [{"format": FORMAT, "queries": {ALL: len(ids)}, "sealed": []}],
        "guides": [
            {"scale": [{"value": grade} for grade in sorted({0, *(grades[pair] for pair in judged)})]}
        ],
        "queries": _make_queries(ids, topics),
        "qrels": [
            {"query_id": query, "document_id": document, "grade": grades[query, document]}
            for query, document in sorted(judged)
        ],
    }
    texts = {part: PartText.of_rows(part_rows) for part, part_rows in rows.items()}
    release_id = compute_release_id({part: text.sums.sha256 for part, text in texts.items()})
    return FrozenRelease(ReleaseRow(name or path.name, release_id, "{}", datetime.min, ""), texts)


def _read_grades(path: Path) -> dict[tuple[str, str], int]:
    """Read the grade of each (query, document), and raise one error with all problems in the file."""
    problems, lines = _open_lines(path)
    grades: dict[tuple[str, str], int] = {}
    first_lines: dict[tuple[str, str], int] = {}
    with suppress(InputError):  # recorded in the file's problems and raised with the other problems
        for line, query, document, text in lines:
            grade, pair = parse_whole_number(text), (query, document)
            if not query or not document:
                problems.add(line, "no query" if not query else f"no document for query {query!r}", EXPECTED)
            elif grade is None:
                found = f"the grade is {text!r}" if text else "the grade is missing"
                problems.add(line, f"query {query!r}, document {document!r}: {found}", EXPECTED)
            elif grades.setdefault(pair, grade) != grade:
                place = problems.place(first_lines[pair])
                fault = (
                    f"document {document!r} has grade {grade} for query {query!r}, and grade {grades[pair]}"
                )
                problems.add(line, f"{fault} in {place}", "Keep one grade for each query and document.")
            first_lines.setdefault(pair, line)
    problems.check()
    return grades


def _open_lines(path: Path) -> tuple[Problems, Iterator[Graded]]:
    """Open a qrels file: TREC's lines, a table, records, or one JSON object {query: {document: grade}}."""
    check_file(path, Problems(path))
    beginning = read_first_lines(path, "utf-8")
    if _OBJECT_OF_OBJECTS.match("".join(beginning)):
        file = RunFile(path, layout=FileLayout("ranx-json"))
        return file.problems, ((row.line, row.query, row.document, to_text(row.score)) for row in file)
    has_four_cells = any(len(line.split()) == len(QRELS_COLUMNS) for line in beginning[:1])
    is_plain = find_suffix(path) not in SUFFIXES and has_four_cells
    records = Records(path, FileLayout("qrels") if is_plain else None, judged=True)
    fields = [field for field in file_fields(JudgmentFields) if field.name in ("query", "document", "grade")]
    names = [find_column(field, records.columns) for field in fields]
    for field, name in zip(fields, names, strict=True):
        if name is None:
            usual = " or ".join(field.usual_names[:2])
            records.refuse_columns(
                f"no column was recognized as {field.required_noun}: rename the column to {usual}"
            )
        else:
            records.require_column(name, name, (), field.required_noun, ids=field.ids)
    return records.problems, ((record.line, *_read_cells(record.fields, names)) for record in records)


def _read_cells(fields: Mapping[str, Any], names: Sequence[str | None]) -> tuple[str, str, str]:
    query, document, grade = (field_to_text(fields, name).strip() for name in names)
    return query, document, grade


def _make_queries(ids: Sequence[str], topics: Path | None) -> list[dict[str, Any]]:
    """Make a row for each query; its field `columns` has the topic's values in the table's other columns."""
    known, others = ({}, []) if topics is None else _read_topics(topics, ids)
    rows: list[dict[str, Any]] = []
    for query_id in ids:
        topic = known.get(query_id, {})
        missing = NOT_IN_TOPICS if topics is not None and query_id not in known else ""
        tags = (tag.strip() for tag in topic.get("tags", "").split(","))
        rows.append(
            {
                "query_id": query_id,
                "text": topic.get("text", ""),
                "part": ALL,
                "source": "imported",
                "stratum": topic.get("stratum") or missing or NO_STRATUM,
                "segment": topic.get("segment") or None,
                "tags": [tag for tag in tags if tag],
                "columns": {name: topic.get(name) or missing or f"no {name}" for name in others},
                "traffic": None,
                "inclusion_probability": None,
            }
        )
    return rows


def _read_topics(path: Path, ids: Sequence[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Read the queries' topics (field → value) by query id, and the names of the other columns."""
    records = open_topics(path)
    fields = {field.name: field for field in file_fields(QueryFields) if field.name in ("id", "text")}
    columns = {name: find_column(field, records.columns) for name, field in fields.items()}
    columns |= {name: match_column((name,), records.columns) for name in ("stratum", "segment", "tags")}
    if columns["id"] is None:
        records.refuse_columns("no column was recognized as the topics' ids: rename the column to id")
    others = [name for name in records.columns if name not in columns.values()]
    columns |= {name: name for name in others}
    topics: dict[str, dict[str, str]] = {}
    for record in records:
        values = {name: field_to_text(record.fields, column).strip() for name, column in columns.items()}
        if topics.setdefault(values["id"], values) != values:
            records.problems.add(record.line, f"topic {values['id']!r} again, with other values")
    records.problems.check()
    known = {query_id: topics[query_id] for query_id in ids if query_id in topics}
    if not known:
        example = f"such as {next(iter(topics))!r}, where the qrels have {ids[0]!r}" if topics else "at all"
        records.problems.stop(f"no topic has the id of a query of the qrels: the file has topics {example}")
    return known, others
