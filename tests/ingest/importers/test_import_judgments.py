"""The import of judgments: shapes, scales, and what is refused."""

from __future__ import annotations

from datetime import datetime

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.queries import make_query_id
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.option_maps import parse_annotator_columns, parse_grade_map
from curation.ingest.readers.fields import JudgmentFields
from curation.labeling.imported import import_judgments
from curation.queries.sampling.draw import draw_sample
from curation.queries.sampling.requests import DrawRequest
from tests.support.projects import rows_of

HEAD = "query,document,annotator,grade\n"


def _judged(store, columns="q.text, j.document_id, j.annotator, j.kind, j.grade"):
    sql = f"SELECT {columns} FROM current_judgments j JOIN queries q USING (query_id) ORDER BY ALL"
    return rows_of(store, sql)


def test_the_long_form_is_a_judgment_a_row(corpus, write):
    path = write(
        "j.csv",
        "query,document,annotator,grade,note,submitted_at\nshoes,d1,ada,3.0,fits,2024-01-02\nhat,d2,bo,0,,\n",
    )
    result = import_judgments(corpus, path)
    assert _judged(corpus) == [("hat", "d2", "bo", "grade", 0), ("shoes", "d1", "ada", "grade", 3)]
    assert _judged(corpus, "j.note, j.submitted_at")[0] == ("fits", datetime(2024, 1, 2))
    assert (result.judgments, result.added_pairs, result.added_queries) == (2, 2, 2)
    assert result.added_annotators == ["ada", "bo"]


def _timed(write, *cells):
    rows = "".join(f'shoes,d{n},ada,3,"{cell}"\n' for n, cell in enumerate(cells, 1))
    return write("j.csv", f"query,document,annotator,grade,submitted_at\n{rows}")


def test_a_time_that_cannot_be_read_leaves_nothing_out(corpus, write):
    result = import_judgments(corpus, _timed(write, "last spring", "2024-01-02"))
    assert (result.judgments, result.left_out, result.unread) == (2, {}, {"unreadable time": 1})


def test_a_numeric_date_is_refused_until_its_order_is_said(corpus, write):
    path = _timed(write, "3.4.2026 10:30")
    with pytest.raises(InputError, match=r"(?s)line 2: .*day or the month is first.*--date-order mdy"):
        import_judgments(corpus, path)
    assert _judged(corpus) == []
    import_judgments(corpus, path, JudgmentFields(date_order="dmy"))
    assert _judged(corpus, "j.submitted_at") == [(datetime(2026, 4, 3, 10, 30),)]


def test_the_wide_form_is_a_judgment_a_cell_and_empty_cells_are_none(corpus, write):
    path = write("j.csv", "query,docid,r1,r2\nshoes,d1,3,\nshoes,d2,1,2\n")
    fields = JudgmentFields(annotator_columns=parse_annotator_columns("r1=ada, r2"))
    result = import_judgments(corpus, path, fields)
    assert _judged(corpus) == [
        ("shoes", "d1", "ada", "grade", 3),
        ("shoes", "d2", "ada", "grade", 1),
        ("shoes", "d2", "r2", "grade", 2),
    ]
    assert result.left_out == {"no grade": 1}


def test_queries_are_found_by_id_or_by_text(corpus, write):
    import_queries(corpus, write("q.csv", "id,query\n301,Red Shoes\n"))
    for cell, document in (("301", "d1"), ("red  SHOES", "d2"), ("id:301", "d3"), ("text:red shoes", "d4")):
        result = import_judgments(corpus, write("j.csv", HEAD + f"{cell},{document},ada,1\n"))
        assert result.added_queries == 0
    assert [row[:2] for row in _judged(corpus)] == [("Red Shoes", f"d{number}") for number in range(1, 5)]


NAMED = "id,query\n501,red shoes\n502,501\n503,hat\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            HEAD + "501,d1,ada,1\n",
            "'501' is the id of the query 'red shoes', and the text of the query '502'",
        ),
        (
            HEAD + "503,d1,ada,1\nblue hat,d1,ada,1\n",
            "'blue hat' can only be the text of a query, but '503' on line 2 is",
        ),
        (
            HEAD + "Hat,d1,ada,1\n503,d1,bo,1\n",
            "'503' is the id of a query, but 'Hat' on line 2 can only be the text of a query",
        ),
        (
            "query_id,query,document,annotator,grade\n503,green hat,d1,ada,1\n",
            "query '503' has the text 'green hat', but 'hat' in the project",
        ),
    ],
)
def test_a_cell_that_may_mean_two_queries_is_refused(corpus, write, refused, content, sentence):
    import_queries(corpus, write("q.csv", NAMED))
    assert sentence in str(refused(import_judgments, write("j.csv", content)))


@pytest.mark.slow
def test_an_unknown_id_is_never_a_query(corpus, write, refused):
    import_queries(corpus, write("q.csv", "id,query\nf1,red shoes\n"))
    head = "query_id,document,annotator,grade\n"
    path = write("j.csv", head + "f1,d1,ada,1\nf37,d1,ada,1\nf37,d2,ada,1\nf38,d2,ada,1\n")
    message = str(refused(import_judgments, path))
    assert "line 3: the project has no query 'f37' (on 2 lines)" in message
    assert "line 5: the project has no query 'f38'" in message
    assert "goldgrade import queries" in message
    result = import_judgments(corpus, path, skip_unknown=True)
    assert (result.judgments, result.added_queries) == (1, 0)
    assert result.left_out == {"unknown query": 3}
    assert result.unknown == {"unknown query": ["f37", "f38"]}


@pytest.mark.slow
def test_a_file_with_ids_and_texts_keeps_both_so_that_its_runs_match(corpus, write):
    import_traffic(corpus, write("log.csv", "query\nred shoes\n"))
    draw_sample(corpus, DrawRequest(1, seed=0))
    rows = "7,Red Shoes,d1,ada,1\n8,blue hat,d1,ada,2\n8,Blue  hat,d2,ada,1\n"
    result = import_judgments(corpus, write("j.csv", "query_id,query,document,annotator,grade\n" + rows))
    assert (result.judgments, result.added_queries) == (3, 1)
    assert set(_judged(corpus, "q.query_id, q.text")) == {
        ("8", "blue hat"),
        (make_query_id("red shoes"), "red shoes"),
    }
    run = import_run(corpus, write("r.trec", "7 Q0 d1 1 2 t\n8 Q0 d2 1 1 t\n"), "r")
    assert (run.queries, run.left_out) == (2, {})


def test_an_unknown_query_is_added_by_its_text(corpus, write):
    import_judgments(corpus, write("j.csv", HEAD + "Red Shoes,d1,ada,1\nred shoes,d2,ada,1\n"))
    rows = rows_of(corpus, "SELECT query_id, text, source FROM queries")
    assert rows == [(make_query_id("red shoes"), "Red Shoes", "imported")]


def test_a_text_that_two_queries_have_is_refused(corpus, write):
    import_queries(corpus, write("q.csv", "id,query\n1,shoes\n2,Shoes\n"))
    with pytest.raises(InputError, match=r"line 2: several queries have the text 'shoes' \(1, 2\)"):
        import_judgments(corpus, write("j.csv", HEAD + "shoes,d1,ada,1\n"))


def test_another_scale_is_mapped(corpus, write):
    path = write("j.csv", HEAD + "a,d1,x,100.000\na,d2,x,10\na,d3,x,E\na,d4,x,?\n")
    grade_map = parse_grade_map("100=3,10=2,e=1,?=cannot-tell")
    import_judgments(corpus, path, grade_map=grade_map)
    assert [row[3:] for row in _judged(corpus)] == [
        ("grade", 3),
        ("grade", 2),
        ("grade", 1),
        ("cannot_tell", None),
    ]


def test_cannot_tell_is_told_by_the_grade_or_by_a_field(corpus, write):
    path = write(
        "j.csv",
        "query,document,annotator,grade,unrateable\na,d1,x,,True\na,d2,x,cannot tell,False\na,d3,x,0,False\n",
    )
    import_judgments(corpus, path, JudgmentFields(cannot_tell="unrateable"))
    assert [row[3:] for row in _judged(corpus)] == [
        ("cannot_tell", None),
        ("cannot_tell", None),
        ("grade", 0),
    ]


def test_every_problem_of_the_judgments_is_told_at_once_and_nothing_is_changed(corpus, write, refused):
    rows = ["a,d1,x,7", "a,d1,y,2.5", "a,d1,z,good", "a,zz,x,1", ",d1,x,1", "a,d1,,1", "a,d2,x,1"]
    error = refused(import_judgments, write("j.csv", HEAD + "\n".join(rows)))
    assert error.problems == [
        "line 6: a grade without query",
        "line 7: a grade without annotator",
        "line 2: grade 7 is not on the guide's scale (0, 1, 2, 3)",
        "line 3: grade '2.5' is neither a whole number nor the name of a grade",
        "line 4: grade 'good' is neither a whole number nor the name of a grade",
        "line 5: the project has no document 'zz'",
    ]
    for part in ("j.csv: line 2", "--grade-map", "--skip-unknown"):
        assert part in str(error)


@pytest.mark.parametrize(
    ("content", "fields", "sentence"),
    [
        ("query,document,grade\na,d1,1\n", None, "no column was recognized as annotators"),
        ("query,annotator,grade\na,x,1\n", None, "the documents' ids: name it with --map document=COLUMN"),
        (
            HEAD + "a,d1,x,1\n",
            JudgmentFields(annotator_columns={"r1": "r1"}),
            "--annotator-columns names 'r1'",
        ),
        (
            HEAD + "a,d1,x,1\n",
            JudgmentFields(grade="grade", annotator_columns={"grade": "g"}),
            "leave out the other options",
        ),
        (
            HEAD + "a,d1,x,1\n",
            JudgmentFields(annotator="annotator", annotator_name="x"),
            "leave out one of them",
        ),
        (HEAD + "a,d1,x,\n", None, "no judgment could be read from the file: 1 no grade"),
        ("query,document,annotator,grade,note\na,d1,x,1," + "n" * 5_000, None, "a note of 5,000 characters"),
    ],
)
def test_bad_input_is_refused_in_sentences_and_changes_nothing(
    corpus, write, refused, content, fields, sentence
):
    assert sentence in str(refused(import_judgments, write("j.csv", content), fields))


def test_a_grade_map_that_cannot_be_read_is_refused_as_a_whole():
    with pytest.raises(InputError) as refused:
        parse_grade_map("1=x,2,3=3,3.0=2,4=-1")
    assert [problem.split(";")[0] for problem in refused.value.problems] == [
        "--grade-map: found '1=x'",
        "--grade-map: found '2'",
        "--grade-map: '3.0' is mapped twice",
        "--grade-map: found '4=-1'",
    ]
