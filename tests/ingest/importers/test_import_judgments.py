"""The import of judgments: shapes, scales, and what is refused."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.queries import query_id_of
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import import_run
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.importers.value_maps import parse_annotator_columns, parse_grade_map
from curation.ingest.readers.fields import CorpusFields, JudgmentFields
from curation.ingest.readers.formats import FileLayout
from curation.labeling.judgments.imported import import_judgments
from curation.queries.sampling.sample import draw_sample

HEAD = "query,document,annotator,grade\n"


def _judged(store, columns="q.text, j.document_id, j.annotator, j.kind, j.grade"):
    with store.reading() as cursor:
        return cursor.execute(
            f"SELECT {columns} FROM current_judgments j JOIN queries q USING (query_id) ORDER BY ALL"
        ).fetchall()


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


def _timed(write, *cells, head="submitted_at"):
    rows = "".join(f'shoes,d{n},ada,3,"{cell}"\n' for n, cell in enumerate(cells, 1))
    return write("j.csv", f"query,document,annotator,grade,{head}\n{rows}")


def test_a_time_that_cannot_be_read_leaves_nothing_out(corpus, write):
    result = import_judgments(corpus, _timed(write, "last spring", "2024-01-02"))
    assert (result.judgments, result.left_out, result.unread) == (2, {}, {"unreadable time": 1})


@pytest.mark.parametrize("cell", ["03/04/2026", "3.4.2026 10:30", "13/02/2026", "03-04-2026 1:05 PM"])
def test_a_numeric_date_is_refused_until_its_order_is_said(corpus, write, cell):
    with pytest.raises(InputError, match=r"(?s)line 2: .*day or the month is first.*--date-order mdy"):
        import_judgments(corpus, _timed(write, cell))
    assert _judged(corpus) == []


@pytest.mark.parametrize(
    ("order", "cell", "time"),
    [
        ("mdy", "03/04/2026", datetime(2026, 3, 4)),
        ("dmy", "03/04/2026", datetime(2026, 4, 3)),
        ("mdy", "12/31/2026 12:05:09 AM", datetime(2026, 12, 31, 0, 5, 9)),
        ("mdy", "1/2/2026, 1:05 p.m.", datetime(2026, 1, 2, 13, 5)),
        ("dmy", "31.12.2026 23:59", datetime(2026, 12, 31, 23, 59)),
        ("mdy", "2026-03-04T05:06:07Z", datetime(2026, 3, 4, 5, 6, 7)),
    ],
)
def test_a_numeric_date_is_read_in_the_order_that_is_said(corpus, write, order, cell, time):
    import_judgments(corpus, _timed(write, cell), JudgmentFields(date_order=order))
    assert _judged(corpus, "j.submitted_at") == [(time,)]


def test_a_date_that_its_order_does_not_allow_is_refused(corpus, write):
    with pytest.raises(InputError, match=r"'13/02/2026' is no date with the month first"):
        import_judgments(corpus, _timed(write, "13/02/2026"), JudgmentFields(date_order="mdy"))


@pytest.mark.parametrize(
    ("name", "unit", "cells", "taken"),
    [
        ("seconds", None, ("12.5", "0"), [0, 12_500]),
        ("took_ms", None, ("12.5", "800"), [12, 800]),
        ("took", "ms", ("90", "1e3"), [90, 1_000]),
    ],
)
def test_a_duration_is_the_active_time_of_its_judgment(corpus, write, name, unit, cells, taken):
    fields = JudgmentFields(duration=name, duration_unit=unit)
    import_judgments(corpus, _timed(write, *cells, head=name), fields)
    with corpus.reading() as cursor:
        sql = "SELECT active_ms FROM judgment_events ORDER BY active_ms"
        assert [row[0] for row in cursor.execute(sql).fetchall()] == taken


def test_a_duration_without_a_unit_is_refused_and_one_that_cannot_be_read_is_counted(corpus, write):
    with pytest.raises(InputError, match=r"unit of the durations in 'took'.*--duration-unit"):
        import_judgments(corpus, _timed(write, "12", head="took"), JudgmentFields(duration="took"))
    fields = JudgmentFields(duration="took", duration_unit="s")
    result = import_judgments(corpus, _timed(write, "-1", "long", head="took"), fields)
    assert (result.judgments, result.unread) == (2, {"unreadable duration": 2})


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


def test_qrels_need_the_queries_and_leave_out_what_was_only_pooled(corpus, write):
    import_queries(corpus, write("q.csv", "id,query\n301,shoes\n"))
    path = write("t.qrels", "301 0 d1 2\n301 0 d2 -1\n")
    result = import_judgments(corpus, path, JudgmentFields(annotator_name="nist"))
    assert _judged(corpus) == [("shoes", "d1", "nist", "grade", 2)]
    assert result.left_out == {"pooled, not judged (-1)": 1}


def test_qrels_of_unknown_queries_are_refused_or_skipped(corpus, write, contents):
    import_queries(corpus, write("q.csv", "id,query\n301,shoes\n"))
    path = write("t.qrels", "301 0 d1 2\n302 0 d1 1\n301 0 zz 1\n")
    before = contents()
    with pytest.raises(InputError) as refused:
        import_judgments(corpus, path, JudgmentFields(annotator_name="nist"))
    assert "line 2: the project has no query '302'" in str(refused.value)
    assert "line 3: the project has no document 'zz'" in str(refused.value)
    assert contents() == before
    result = import_judgments(corpus, path, JudgmentFields(annotator_name="nist"), skip_unknown=True)
    assert (result.judgments, result.left_out) == (1, {"unknown query": 1, "unknown document": 1})


def test_queries_are_found_by_id_or_by_text(corpus, write):
    import_queries(corpus, write("q.csv", "id,query\n301,Red Shoes\n"))
    for cell, document in (("301", "d1"), ("red  SHOES", "d2"), ("id:301", "d3"), ("text:red shoes", "d4")):
        result = import_judgments(corpus, write("j.csv", HEAD + f"{cell},{document},ada,1\n"))
        assert result.added_queries == 0
    assert [row[:2] for row in _judged(corpus)] == [("Red Shoes", f"d{number}") for number in range(1, 5)]


NAMED = "id,query\n501,red shoes\n502,501\n503,hat\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            HEAD + "501,d1,ada,1\n",
            "'501' is the id of the query 'red shoes', and the text of the query '502'",
        ),
        (HEAD + "503,d1,ada,1\nblue hat,d1,ada,1\n", "'blue hat' can only be a text, but '503' on line 2 is"),
        (
            HEAD + "Hat,d1,ada,1\n503,d1,bo,1\n",
            "'503' is a query's id, but 'Hat' on line 2 can only be a text",
        ),
        (
            "query_id,query,document,annotator,grade\n503,green hat,d1,ada,1\n",
            "query '503' has the text 'green hat', but 'hat' in the project",
        ),
    ],
)
def test_a_cell_that_may_mean_two_queries_is_refused(corpus, write, contents, content, told):
    import_queries(corpus, write("q.csv", NAMED))
    before = contents()
    with pytest.raises(InputError, match=re.escape(told)):
        import_judgments(corpus, write("j.csv", content))
    assert contents() == before


@pytest.mark.parametrize(("column", "text"), [("query_id", "red shoes"), ("query_text", "501")])
def test_the_name_of_a_column_says_whether_it_holds_ids_or_texts(corpus, write, column, text):
    import_queries(corpus, write("q.csv", NAMED))
    import_judgments(corpus, write("j.csv", f"{column},document,annotator,grade\n501,d1,ada,1\n"))
    assert [row[0] for row in _judged(corpus)] == [text]


def test_an_unknown_id_is_never_a_query(corpus, write, contents):
    import_queries(corpus, write("q.csv", "id,query\nf1,red shoes\n"))
    head = "query_id,document,annotator,grade\n"
    path = write("j.csv", head + "f1,d1,ada,1\nf37,d1,ada,1\nf37,d2,ada,1\nf38,d2,ada,1\n")
    before = contents()
    with pytest.raises(InputError) as refused:
        import_judgments(corpus, path)
    assert "line 3: the project has no query 'f37' (on 2 lines)" in str(refused.value)
    assert "line 5: the project has no query 'f38'" in str(refused.value)
    assert "goldgrade import queries" in str(refused.value)
    assert contents() == before
    result = import_judgments(corpus, path, skip_unknown=True)
    assert (result.judgments, result.added_queries) == (1, 0)
    assert result.left_out == {"unknown query": 3}
    assert result.unknown == {"unknown query": ["f37", "f38"]}


def test_a_missing_document_is_named_once(corpus, write):
    rows = "".join(f"a,{name},r{number},1\n" for number in range(20) for name in ("zz", "yy"))
    with pytest.raises(InputError) as refused:
        import_judgments(corpus, write("j.csv", HEAD + rows))
    assert refused.value.problems == [
        "line 2: the project has no document 'zz' (on 20 lines)",
        "line 3: the project has no document 'yy' (on 20 lines)",
    ]


def test_a_file_with_ids_and_texts_keeps_both_so_that_its_runs_match(corpus, write):
    import_traffic(corpus, write("log.csv", "query\nred shoes\n"))
    draw_sample(corpus, 1, seed=0)
    rows = "7,Red Shoes,d1,ada,1\n8,blue hat,d1,ada,2\n8,Blue  hat,d2,ada,1\n"
    result = import_judgments(corpus, write("j.csv", "query_id,query,document,annotator,grade\n" + rows))
    assert (result.judgments, result.added_queries) == (3, 1)
    assert set(_judged(corpus, "q.query_id, q.text")) == {
        ("8", "blue hat"),
        (query_id_of("red shoes"), "red shoes"),
    }
    run = import_run(corpus, write("r.trec", "7 Q0 d1 1 2 t\n8 Q0 d2 1 1 t\n"), "r")
    assert (run.queries, run.left_out) == (2, {})


def test_qrels_by_a_files_ids_find_the_sampled_queries_of_those_texts(corpus, write):
    import_traffic(corpus, write("log.csv", "query\nred shoes\n"))
    draw_sample(corpus, 1, seed=0)
    import_queries(corpus, write("q.jsonl", [{"_id": "42", "text": "Red Shoes"}]))
    result = import_judgments(corpus, write("t.qrels", "42 0 d1 2\n"), JudgmentFields(annotator_name="nist"))
    assert (result.judgments, result.added_queries) == (1, 0)
    assert _judged(corpus, "q.query_id") == [(query_id_of("red shoes"),)]
    by_text = import_judgments(corpus, write("j.csv", HEAD + "red shoes,d2,ada,1\n"))
    assert by_text.added_queries == 0


def test_an_unknown_query_is_added_by_its_text(corpus, write):
    import_judgments(corpus, write("j.csv", HEAD + "Red Shoes,d1,ada,1\nred shoes,d2,ada,1\n"))
    with corpus.reading() as cursor:
        rows = cursor.execute("SELECT query_id, text, source FROM queries").fetchall()
    assert rows == [(query_id_of("red shoes"), "Red Shoes", "imported")]


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


def test_importing_the_same_judgments_again_changes_nothing(corpus, write, contents):
    path = write("j.csv", HEAD + "a,d1,x,3\na,d2,y,\na,d3,y,1\n")
    import_judgments(corpus, path)
    before = contents()
    again = import_judgments(corpus, path)
    assert (again.judgments, again.unchanged) == (0, 2)
    after = contents()
    assert {name: rows for name, rows in after.items() if name != "events"} == {
        name: rows for name, rows in before.items() if name != "events"
    }


def test_every_problem_of_the_judgments_is_told_at_once_and_nothing_is_changed(corpus, write, contents):
    before = contents()
    rows = ["a,d1,x,7", "a,d1,y,2.5", "a,d1,z,good", "a,zz,x,1", ",d1,x,1", "a,d1,,1", "a,d2,x,1"]
    with pytest.raises(InputError) as refused:
        import_judgments(corpus, write("j.csv", HEAD + "\n".join(rows)))
    assert refused.value.problems == [
        "line 6: a grade without query",
        "line 7: a grade without annotator",
        "line 2: grade 7 is not on the guide's scale (0, 1, 2, 3)",
        "line 3: grade '2.5' is not a whole number, and not the name of a grade",
        "line 4: grade 'good' is not a whole number, and not the name of a grade",
        "line 5: the project has no document 'zz'",
    ]
    assert "j.csv: line 2" in str(refused.value)
    assert "--grade-map" in str(refused.value)
    assert "--skip-unknown" in str(refused.value)
    assert contents() == before


@pytest.mark.parametrize(
    ("content", "fields", "sentence"),
    [
        (HEAD + "a,d1,x,1\na,d1,x,2\n", None, "j.csv: line 3: x gives the pair"),
        ("query,document,grade\na,d1,1\n", None, "no column is known to say who judged"),
        ("query,annotator,grade\na,x,1\n", None, "the documents' ids: name it with --document-field"),
        (
            HEAD + "a,d1,x,1\n",
            JudgmentFields(annotator_columns={"r1": "r1"}),
            "--annotator-columns names 'r1'",
        ),
        (
            HEAD + "a,d1,x,1\n",
            JudgmentFields(grade="grade", annotator_columns={"grade": "g"}),
            "leave the other",
        ),
        (HEAD + "a,d1,x,1\n", JudgmentFields(annotator="annotator", annotator_name="x"), "leave one of them"),
        (HEAD + "a,d1,x,\n", None, "no judgment could be taken from it: 1 no grade"),
        ("query,document,annotator,grade,note\na,d1,x,1," + "n" * 5_000, None, "a note of 5,000 characters"),
        ("", None, "is empty"),
        ((HEAD + "caf\xe9,d1,x,1\n").encode("latin-1"), None, "--encoding latin-1"),
    ],
)
def test_bad_input_is_refused_in_sentences_and_changes_nothing(
    corpus, write, contents, content, fields, sentence
):
    before = contents()
    with pytest.raises(InputError) as refused:
        import_judgments(corpus, write("j.csv", content), fields)
    assert sentence in str(refused.value)
    assert contents() == before


def test_without_a_corpus_judgments_are_refused_with_what_to_do(store, write):
    with pytest.raises(RefusedError, match="goldgrade import corpus PATH"):
        import_judgments(store, write("j.csv", HEAD + "a,d1,x,1\n"))


def test_a_grade_map_that_cannot_be_read_is_refused_as_a_whole():
    with pytest.raises(InputError) as refused:
        parse_grade_map("1=x,2,3=3,3.0=2,4=-1")
    assert [problem.split(";")[0] for problem in refused.value.problems] == [
        "--grade-map: found '1=x'",
        "--grade-map: found '2'",
        "--grade-map: '3.0' is mapped twice",
        "--grade-map: found '4=-1'",
    ]


@pytest.mark.slow
@pytest.mark.slow
def test_the_icecat_ratings_of_both_campaigns_are_imported_as_they_are(store, shared):
    folder = shared / "chorus_icecat"
    fields = CorpusFields(id="id", title="title", body=("short_description",))
    import_corpus(store, folder / "products.jsonl.gz", fields)
    columns = parse_annotator_columns("agent_1_rating,agent_2_rating,agent_3_rating")
    wide = JudgmentFields("query", "docid", annotator_columns=columns)
    first = import_judgments(store, folder / "Broad_Query_Set_individual_ratings.csv", wide)
    assert (first.judgments, first.added_pairs, first.added_queries) == (9_564, 3_188, 135)
    long = JudgmentFields(cannot_tell="unrateable")
    second = import_judgments(store, folder / "campaign_2" / "judgements_long.csv", long)
    assert (second.judgments, len(second.added_annotators)) == (1_942, 13)
    kinds = Counter(row[0] for row in _judged(store, "j.kind"))
    assert kinds == {"grade": 9_564 + 1_920, "cannot_tell": 22}


def test_a_latin_1_file_is_read_when_it_is_said(corpus, write):
    content = (HEAD + "caf\xe9,d1,x,1\n").encode("latin-1")
    import_judgments(corpus, write("j.csv", content), layout=FileLayout(encoding="latin-1"))
    assert _judged(corpus, "q.text") == [("café",)]
