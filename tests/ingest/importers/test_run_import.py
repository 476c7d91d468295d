"""The import of runs: formats, order, and what is refused."""

from __future__ import annotations

import json
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import REPEATED, import_run
from curation.ingest.readers.fields import RunFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.stored_runs import find_run, read_run_entries
from tests.support import examples
from tests.support.projects import all_rows


@pytest.fixture
def project(corpus, write):
    import_queries(corpus, write("q.csv", "id,query\n1,red shoes\n2,Blue Hat\n"))
    return corpus


def _places(store, name="r"):
    with store.reading() as cursor:
        return read_run_entries(cursor, find_run(cursor, name))


@pytest.fixture
def refusal(project, refused):
    """refusal(path): the sentences about a run that is refused."""
    return lambda path, **options: str(refused(import_run, path, "r", **options))


WANTED = [("1", "d1", 1, 9.5), ("1", "d2", 2, 3.0), ("2", "d3", 1, -1.0)]
TREC = "1 Q0 d1 1 9.5 my tag\n\n2 Q0 d3 1 -1 t\n1 Q0 d2 2 3 t\n"


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("r.trec", TREC, "trec"),
        ("r.txt.gz", TREC, "trec"),
        ("r.tsv", "query\trank\tdoc_id\tengine_score\n1\t1\td1\t9.5\n1\t2\td2\t3\nid:2\t1\td3\t-1\n", "tsv"),
        ("r.csv", "qid,docno,position,score\n1,d2,1,3\n1,d1,0,9.5\n2,d3,0,-1\n", "csv"),
        ("r.json", json.dumps({"2": {"d3": -1}, "1": {"d2": 3, "d1": 9.5}}), "ranx-json"),
        (
            "r.json",
            '[{"query_id": 1, "hits": {"docId": "d1"}, "score": 9.5},\n'
            ' {"query_id": 1, "hits": {"docId": "d2"}, "score": 3},\n'
            ' {"query_id": 2, "hits": {"docId": "d3"}, "score": -1}]',
            "jsonl",
        ),
    ],
)
def test_every_format_of_a_run_gives_the_same_places(project, write, name, content, format):
    result = import_run(project, write(name, content), "r")
    assert _places(project) == WANTED
    assert (result.format, result.queries, result.entries, result.is_new) == (format, 2, 3, True)
    assert result.left_out == {}


def test_ranx_parquet_is_read_by_its_own_column_names(project, tmp_path):
    columns = {"q_id": ["1", "1", "2"], "doc_id": ["d1", "d2", "d3"], "score": [9.5, 3.0, -1.0]}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    assert import_run(project, tmp_path / "r.parquet", "r").fields == RunFields(
        "q_id", "doc_id", None, "score"
    )
    assert _places(project) == WANTED


def test_a_run_without_scores_keeps_its_ranks_alone(project, write):
    layout = FileLayout(columns=("query", "rank", "document"), header=False)
    import_run(project, write("r.tsv", "1\t2\td1\n1\t1\td2\n"), "r", layout=layout)
    assert _places(project) == [("1", "d2", 1, None), ("1", "d1", 2, None)]


def test_ranks_come_before_scores_and_the_contradiction_is_counted(project, write):
    lines = "1 Q0 d1 2 9.5 t\n1 Q0 d2 1 3 t\n2 Q0 d3 1 5 t\n2 Q0 d1 2 4 t\n"
    result = import_run(project, write("r.trec", lines), "r")
    assert [place[1] for place in _places(project)] == ["d2", "d1", "d3", "d1"]
    assert (result.unordered, result.against_scores) == (1, 1)


def test_a_list_with_gaps_in_its_ranks_is_in_the_order_of_its_scores_and_counted(project, write):
    lines = "1 Q0 d1 4 9 t\n1 Q0 d2 7 9 t\n1 Q0 d3 9 9.5 t\n2 Q0 d3 0 5 t\n2 Q0 d1 1 4 t\n"
    result = import_run(project, write("r.trec", lines), "r")
    assert [place[1:3] for place in _places(project)[:3]] == [("d3", 1), ("d2", 2), ("d1", 3)]
    assert (result.gaps, result.against_scores, result.unordered) == (1, 0, 0)


def test_gaps_without_scores_keep_the_order_of_the_ranks(project, write):
    result = import_run(project, write("r.csv", "query,rank,document\n1,30,d1\n1,5,d2\n"), "r")
    assert (result.gaps, _places(project)) == (1, [("1", "d2", 1, None), ("1", "d1", 2, None)])


def test_equal_scores_are_ordered_by_document_id_descending_like_trec_eval(project, write):
    import_run(project, write("r.json", '{"1": {"d2": 1, "d4": 1, "d3": 1, "d1": 2}}'), "r")
    assert [place[1] for place in _places(project)] == ["d1", "d4", "d3", "d2"]


def test_the_same_run_again_changes_nothing_and_another_of_its_name_is_refused(project, write):
    first = import_run(project, write("a.trec", TREC), "r")
    before = all_rows(project)
    again = import_run(
        project, write("b.json", json.dumps({"1": {"d1": 9.5, "d2": 3}, "2": {"d3": -1}})), "r"
    )
    assert (again.is_new, again.run_id) == (False, first.run_id)
    with pytest.raises(RefusedError, match=r"a different run 'r' \(from a.trec\).*different name"):
        import_run(project, write("c.trec", "1 Q0 d1 1 9.5 t\n"), "r")
    assert all_rows(project) == before


def test_unknown_names_are_told_once_each_with_their_first_line(project, write, refusal):
    lines = "1 Q0 d1 1 3 t\n9 Q0 d1 1 3 t\n9 Q0 d2 2 2 t\n1 Q0 zz 2 1 t\n1 Q0 yy 3 0 t\n2 Q0 zz 1 0 t\n"
    path = write("r.trec", lines + "8 Q0 d1 1 0 t\n")
    sentence = refusal(path)
    assert "line 2: the project has no query '9' (on 2 lines)" in sentence
    assert "line 4: the project has no document 'zz' (on 2 lines)\n" in sentence
    assert "line 5: the project has no document 'yy'\n" in sentence
    assert "--skip-unknown" in sentence
    result = import_run(project, path, "r", skip_unknown=True)
    assert result.left_out == {"unknown query": 3, "unknown document": 3}
    assert result.unknown == {"unknown document": ["yy", "zz"], "unknown query": ["8", "9"]}
    assert _places(project) == [("1", "d1", 1, 3.0)]


def test_a_text_that_is_another_querys_id_is_refused_unless_the_file_says_which(project, write, refusal):
    import_queries(project, write("q2.csv", "id,query\n3,1\n"))
    sentence = refusal(write("r.csv", "query,document,score\n1,d1,1\n"))
    assert "'1' is the id of the query 'red shoes', and the text of the query '3'" in sentence
    for number, (column, cell) in enumerate([("query_id", "1"), ("query", "id:1"), ("query_text", "1")]):
        name = f"r{number}"
        import_run(project, write(f"{name}.csv", f"{column},document,score\n{cell},d1,1\n"), name)
        assert _places(project, name)[0][0] == ("3" if column == "query_text" else "1")


def test_a_run_over_an_export_with_prefixed_ids_is_mapped_back(project, write, refusal):
    path = write("r.trec", "q-1 Q0 d-d1 1 3 t\nq-2 Q0 d3 1 2 t\n")
    assert "the project has no query 'q-1'" in refusal(path)
    import_corpus(project, write("more.jsonl", [{"id": name, "text": name} for name in ("1", "d1", "d3")]))
    result = import_run(project, path, "r")
    assert [place[:2] for place in _places(project)] == [("1", "d1"), ("2", "d3")]
    assert (result.mapped, result.unknown) == (3, {})


def test_a_trec_run_over_an_export_with_encoded_ids_is_mapped_back(project, write):
    import_corpus(project, write("more.jsonl", [{"id": name, "text": name} for name in ("d1", "100% red")]))
    import_queries(project, write("q2.csv", "id,query\ntwo words,socks\n"))
    path = write("r.trec", "two%20words Q0 100%25%20red 1 3 t\n1 Q0 d1 1 2 t\n")
    result = import_run(project, path, "r")
    assert [place[:2] for place in _places(project)] == [("1", "d1"), ("two words", "100% red")]
    assert (result.mapped, result.unknown) == (2, {})


def test_an_encoded_id_that_is_also_another_id_is_refused_in_trec_alone(project, write, refusal):
    rows = [{"id": name, "text": name} for name in ("a b", "a%20b")]
    import_corpus(project, write("more.jsonl", rows))
    sentence = refusal(write("r.trec", "1 Q0 a%20b 1 3 t\n"))
    assert (
        "the document 'a%20b' may stand for the id 'a%20b', or the id 'a b' as TREC exports encode ids"
        in sentence
    )
    import_run(project, write("r.csv", "query_id,document,score\n1,a%20b,1\n"), "r")
    assert [place[:2] for place in _places(project)] == [("1", "a%20b")]


def test_a_skipped_document_leaves_its_place_empty(project, write):
    import_run(project, write("r.trec", "1 Q0 zz 1 3 t\n1 Q0 d1 2 2 t\n"), "r", skip_unknown=True)
    assert _places(project) == [("1", "d1", 2, 2.0)]


def test_a_run_of_which_nothing_is_known_is_refused(project, write, refusal):
    sentence = refusal(write("r.trec", "9 Q0 zz 1 3 t\n"), skip_unknown=True)
    assert "no ranked document was found in the file: 1 × unknown query" in sentence


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ("1 Q0 d1 1 3 t\n1 Q0 d2 1 2 t\n", "line 2: rank 1 is repeated for query '1', after line 1"),
        ("1 Q0 d1 1 nan t\n", "line 1: query '1', document 'd1': the score is 'nan'"),
        ("1 Q0 d1 1 -inf t\n", "the score is '-inf'"),
        ("1 Q0 d1 first 3 t\n", "the rank is 'first'"),
        ("1 Q0 d1 1.5 3 t\n", "Expected a whole number, counted from 0 or 1"),
        ("1 Q0 d1 -1 3 t\n", "the rank is '-1'"),
        ("1 Q0 d1 1 3\n", "line 1: 5 columns, expected 6 (query, Q0, document, rank, score, tag)"),
        ("1 Q0 d1 1 3 t\n1 Q0 d1 2 2 t\n", "line 2: document 'd1' is repeated for query '1', after line 1"),
    ],
)
def test_what_is_no_ranking_is_refused_with_its_line(project, write, refusal, lines, sentence):
    assert sentence in refusal(write("r.trec", lines))


def test_all_problems_of_a_file_are_told_together(project, write, refusal):
    lines = "1 Q0 d1 1 inf t\nbroken\n9 Q0 d1 1 3 t\n2 Q0 d1 1 3 t\n2 Q0 d2 1 2 t\n"
    sentence = refusal(write("r.trec", lines))
    for place in ("line 1: query '1'", "line 2: 1 column,", "line 3: the project", "line 5: rank 1"):
        assert place in sentence


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"1": {"d1": NaN}}', "entry 1: query '1', document 'd1': the score is nan"),
        ('{"1": {"d1": 1e999}}', "the score is inf"),
        ('{"1": {"d1": 1, "d1": 2}}', "entry 1: document 'd1' is repeated for query '1', after entry 2"),
        ('{"1": {"d1": null}}', "the score is missing"),
        ('{"1": ["d1"]}', "query '1' holds [\"d1\"]"),
        ('[{"1": 2}]', "no column was recognized as the queries: name it with --map query=COLUMN"),
        (
            '{"1":\n {',
            "line 2: broken JSON: Expecting property name enclosed in double quotes at character 3",
        ),
        (
            '{"1":\n' + "[" * 100_000,
            "line 2: the JSON text is nested too deeply; expected at most 100 levels",
        ),
        ('{"1": {"d1":\n' + "9" * 5_000 + "}}", "line 2: a whole number has more than 4,300 digits"),
        ("{}", "no ranked document was found in the file: the file is empty"),
    ],
)
def test_ranx_json_that_is_no_run_is_refused(project, write, refusal, content, sentence):
    assert sentence in refusal(write("r.json", content))


def test_a_repeated_document_keeps_its_best_place_if_asked(project, write):
    path = write("r.trec", "1 Q0 d1 1 3 t\n1 Q0 d2 2 2 t\n1 Q0 d1 3 1 t\n1 Q0 d3 4 0 t\n")
    assert import_run(project, path, "r", skip_repeated=True).left_out == {REPEATED: 1}
    assert [place[1:3] for place in _places(project)] == [("d1", 1), ("d2", 2), ("d3", 4)]


def test_what_is_no_run_is_refused_with_what_to_say(project, write, refusal):
    trec, table = write("r.trec", TREC), write("r.csv", "query,document,grade\n1,d1,2\n")
    assert "is trec, which has no columns to name" in refusal(trec, fields=RunFields(query="q"))
    assert "no format 'trek'" in refusal(trec, layout=FileLayout("trek"))
    assert "neither the file's name nor its beginning" in refusal(write("r.txt", "a b c\n"))
    assert "name one with --map rank=COLUMN or --map score=COLUMN" in refusal(table)


@pytest.mark.parametrize("name", ["", "a,b", "run:a", "a b"])
def test_a_name_must_fit_into_a_list_of_systems(project, write, name):
    with pytest.raises(InputError, match="cannot name a run"):
        import_run(project, write("r.trec", TREC), name)


def test_a_run_that_is_not_there_is_told_with_those_that_are(project, write):
    import_run(project, write("r.trec", TREC), "r")
    with project.reading() as cursor, pytest.raises(NotFoundError, match=r"no run 's'. Runs: r\."):
        find_run(cursor, "s")


def test_an_import_says_what_was_read_left_out_and_put_in_order(project, write):
    lines = "1 Q0 d2 2 3 t\n1 Q0 d1 1 2 t\n9 Q0 d1 1 2 t\n2 Q0 d1 10 3 t\n2 Q0 d2 20 2 t\n"
    imported = import_run(project, write("r.trec", lines), "shop", skip_unknown=True)
    assert imported.outcome.sentences == [
        "Imported the run 'shop': 4 places for 2 queries. A pool refers to the run as run:shop.",
        "Left out: 1 line: unknown query.",
        "Read as trec. Fields used: query query, document document, rank rank, score score.",
        "1 query was not in the order of its ranks and was reordered.",
        "Note: the lists of 1 query have missing ranks. These lists were ordered by score, as in trec_eval. "
        "Compare the number of results with the original if lines may have been lost.",
        "Note: for 1 query the scores contradict the ranks. The lists were ordered by rank; trec_eval would "
        "order them by score.",
    ]


def test_an_import_tells_its_progress_and_writes_one_event(project, write):
    steps = []
    import_run(project, write("r.trec", TREC), "r", progress=lambda *step: steps.append(step))
    assert steps == [("reading r.trec", 3, 3)]
    with project.reading() as cursor:
        rows = cursor.execute("SELECT detail->>'entries' FROM events WHERE action = 'import run'").fetchall()
    assert rows == [("3",)]


@pytest.mark.slow
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(4)), scores=st.lists(st.integers(-2, 2), min_size=4, max_size=4))
def test_the_order_of_the_lines_never_matters(project, write, order, scores):
    rows = [{"query": "1", "document": f"d{n + 1}", "score": scores[n]} for n in range(4)]
    names = [f"r{uuid4()}" for _ in range(2)]
    import_run(project, write("r.jsonl", rows), names[0])
    import_run(project, write("r.jsonl", [rows[n] for n in order]), names[1])
    places = _places(project, names[0])
    assert places == _places(project, names[1])
    assert [place[2] for place in places] == [1, 2, 3, 4]
    keys = [(score, document) for _, document, _, score in places]
    assert keys == sorted(keys, reverse=True)


def test_nists_own_run_is_read_whatever_the_order_of_its_lines(corpus, shared, write):
    path = shared / "trec_eval_test" / "results.test"
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    documents = sorted({row[2] for row in rows})
    import_corpus(corpus, write("c.jsonl", [{"id": name, "text": name} for name in documents]))
    queries = sorted({row[0] for row in rows})
    import_queries(corpus, write("q.jsonl", [{"id": name, "text": f"topic {name}"} for name in queries]))
    result = import_run(corpus, path, "nist", layout=FileLayout("trec"))
    assert (result.entries, result.unordered, result.against_scores) == (1500, 3, 0)
    ranks = {(row[0], row[2]): int(row[3]) for row in rows}
    assert all(ranks[place[:2]] == place[2] for place in _places(corpus, "nist"))
