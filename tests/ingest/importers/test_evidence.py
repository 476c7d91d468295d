"""Evidence in a file of judgments: its forms, and what is refused with its line; nothing is half imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.errors import InputError
from curation.guides.guide_text import parse_guide
from curation.ingest.readers.fields import JudgmentFields
from curation.labeling.imported import JudgmentImport, import_judgments
from curation.labeling.rounds.use_guide import use_guide
from curation.store import Store
from tests.support.marking import GUIDE
from tests.support.projects import add_pairs, built_once, rows_of

Refused = Callable[..., InputError]
DOCUMENT = "😀 עברית ไทย"
"""Its body is "The body of 😀 עברית ไทย."."""


@built_once
def corpus(store: Store) -> Store:
    add_pairs(store, {"q": [DOCUMENT, "d"]})
    use_guide(store, parse_guide(GUIDE.format(ask="required")))
    return store


def load(store: Store, *rows: dict[str, Any], skip_unknown: bool = False) -> JudgmentImport:
    path = store.path.with_name("marks.jsonl")
    path.write_text("".join(f"{json.dumps({'query_id': 'q', **row})}\n" for row in rows), encoding="utf-8")
    fields = JudgmentFields(annotator_name="ada", evidence="marks")
    return import_judgments(store, path, fields, skip_unknown=skip_unknown)


def stored(store: Store) -> list[tuple[Any, ...]]:
    sql = """
        SELECT document_id, start_at, end_at, quote FROM evidence_marks m
        JOIN current_judgments j ON (j.presentation_id, j.next_revision) = (m.presentation_id, m.revision + 1)
        ORDER BY ALL
    """
    return rows_of(store, sql)


@pytest.mark.parametrize(
    "marks",
    [
        [{"start": 12, "end": 13, "quote": "😀"}, {"start": 14, "end": 19}],
        [{"start_index": 12.0, "end_index": 13, "content": "😀"}, {"start_char": "14", "end_char": "19"}],
        ["😀", "עברית"],
        '[{"text": "😀"}, {"quote": "עברית"}]',
    ],
)
def test_ranges_come_with_offsets_quotes_or_both(corpus: Store, marks: Any) -> None:
    load(corpus, {"document_id": DOCUMENT, "grade": 3, "marks": marks})
    assert stored(corpus) == [(DOCUMENT, 12, 13, "😀"), (DOCUMENT, 14, 19, "עברית")]


def test_a_quote_alone_may_have_other_white_space_and_rows_of_a_pair_add_up(corpus: Store) -> None:
    row = {"document_id": "d", "grade": 2}
    imported = load(corpus, {**row, "marks": "The\n body"}, {**row, "marks": "of"}, {**row, "marks": "of"})
    assert (imported.judgments, imported.marks) == (1, 2)
    assert "The judgments have 2 evidence passages." in imported.outcome.remarks
    assert stored(corpus) == [("d", 0, 8, "The body"), ("d", 9, 11, "of")]


def test_the_same_file_changes_nothing_and_other_marks_correct_it(corpus: Store) -> None:
    row = {"document_id": "d", "grade": 2, "marks": ["The"]}
    load(corpus, row)
    assert load(corpus, row).unchanged == 1
    assert load(corpus, {**row, "marks": ["body"]}).changed == 1
    assert stored(corpus) == [("d", 4, 8, "body")]


def test_ranges_that_are_not_in_the_text_are_named_with_their_line(corpus: Store, refused: Refused) -> None:
    ranges = [{"start": 4, "end": 99}, {"start": 0, "end": 3, "quote": "Not"}]
    row = {"document_id": "d", "grade": 3}
    error = refused(load, {**row, "marks": ranges}, {**row, "marks": "The"}, {**row, "marks": "nowhere"})
    assert list(error.problems) == [
        "line 1: evidence from 4 to 99 lies outside the document, which has 14 characters (document 'd')",
        "line 1: the text has “The” from 0 to 3; expected the quote “Not” (document 'd')",
        "line 3: the quote “nowhere” is not in the text; expected once (document 'd')",
    ]
    assert error.path == corpus.path.with_name("marks.jsonl")
    assert "Offsets count characters (Unicode code points)" in str(error)


def test_quotes_of_another_text_are_left_out_and_counted_where_unknown_things_are(corpus: Store) -> None:
    row = {"document_id": "d", "grade": 3, "marks": ["nowhere", "The", {"quote": "gone"}]}
    imported = load(corpus, row, skip_unknown=True)
    assert (imported.marks, stored(corpus)) == (1, [("d", 0, 3, "The")])
    taken = "Imported without it: 2 × an evidence quote that is not in the text."
    assert taken in imported.outcome.remarks
    assert load(corpus, row, skip_unknown=True).unchanged == 1


def test_evidence_that_its_grade_does_not_take_is_named_with_its_line(
    corpus: Store, refused: Refused
) -> None:
    rows = [{"document_id": "d", "grade": 3, "marks": ["The"]}]
    rows += [{"document_id": DOCUMENT, "grade": 0, "marks": ["The"]}]
    error = refused(load, *rows)
    expected = "line 2: grade 0 cannot have evidence: in this guide, only grades of 2 or more take evidence"
    assert list(error.problems) == [expected]
    assert "`goldgrade guide use FILE` makes a new guide current" in str(error)


@pytest.mark.parametrize(
    ("marks", "problem"),
    [
        (["o"], "the quote “o” is 2 times in the text; expected once"),
        ([], "grade 3 needs evidence: mark the passage of the document that shows it"),
        ([""], "line 1: the evidence has an empty quote; expected a list such as"),
        ([7], "evidence '7'; expected a list such as"),
        ([{"start": 3, "quote": "of"}], "has offsets that are not whole numbers; expected a list"),
        ("[{", "the evidence is not JSON"),
    ],
)
def test_a_cell_that_cannot_be_read_or_found_says_what_was_expected(
    corpus: Store, refused: Refused, marks: Any, problem: str
) -> None:
    error = refused(load, {"document_id": "d", "grade": 3, "marks": marks})
    assert problem in error.problems[0]
    assert "line 1" in str(error)


def test_a_column_of_that_name_is_evidence_where_the_guide_takes_any_and_rows_are_called_rows(
    corpus: Store, refused: Refused, tmp_path: Path
) -> None:
    row = {"query_id": ["q"], "document_id": ["d"], "grade": [3], "annotator": ["ada"]}
    path = tmp_path / "marks.parquet"
    pq.write_table(pa.table(row | {"evidence": [["not in it"]]}), path)
    (problem,) = refused(import_judgments, path).problems
    assert problem.startswith("row 1: the quote “not in it” is not in the text")
    use_guide(corpus, parse_guide(GUIDE.replace("evidence: {{", "# {{").format(ask="required")))
    assert "not used: evidence" in " ".join(import_judgments(corpus, path).outcome.remarks)
