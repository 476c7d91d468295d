"""The import of runs: forms, order, and what is refused."""

from __future__ import annotations

import json
import random
from uuid import uuid4

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.query_import import import_queries
from curation.ingest.importers.run_import import REPEATED, import_run
from curation.ingest.importers.runs import find_run, run_entries, stored_runs
from curation.ingest.readers.fields import CorpusFields, RunFields
from curation.ingest.readers.formats import FileLayout
from tests.support import examples
from tests.support.command_line import invoke


@pytest.fixture
def project(corpus, write):
    import_queries(corpus, write("q.csv", "id,query\n1,red shoes\n2,Blue Hat\n"))
    return corpus


def _places(store, name="r"):
    with store.reading() as cursor:
        return [entry[1:] for entry in run_entries(cursor, find_run(cursor, name))]


def _refusal(store, path, **more):
    with pytest.raises(InputError) as refused:
        import_run(store, path, "r", **more)
    with store.reading() as cursor:
        assert stored_runs(cursor) == []
    return str(refused.value)


WANTED = [("1", "d1", 1, 9.5), ("1", "d2", 2, 3.0), ("2", "d3", 1, -1.0)]
TREC = "1 Q0 d1 1 9.5 my tag\n\n2 Q0 d3 1 -1 t\n1 Q0 d2 2 3 t\n"


def _parquet(path):
    columns = {"q_id": ["1", "1", "2"], "doc_id": ["d1", "d2", "d3"], "score": [9.5, 3.0, -1.0]}
    pq.write_table(pa.table(columns), path)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("r.trec", TREC, "trec"),
        ("r.txt.gz", TREC, "trec"),
        (
            "r.tsv",
            "query\trank\tdoc_id\tengine_score\n1\t1\td1\t9.5\n1\t2\td2\t3\nid:2\t1\td3\t-1\n",
            "tsv",
        ),
        ("r.csv", "qid,docno,position,score\n1,d2,1,3\n1,d1,0,9.5\n2,d3,0,-1\n", "csv"),
        ("r.json", json.dumps({"2": {"d3": -1}, "1": {"d2": 3, "d1": 9.5}}), "ranx-json"),
        (
            "r.json",
            '[{"query_id": 1, "hits": {"docId": "d1"}, "score": 9.5},\n'
            ' {"query_id": 1, "hits": {"docId": "d2"}, "score": 3},\n'
            ' {"query_id": 2, "hits": {"docId": "d3"}, "score": -1}]',
            "jsonl",
        ),
        (
            "r.jsonl",
            [
                {"query_id": 1, "document": "d2", "score": 3},
                {"query_id": 1, "document": "d1", "score": 9.5},
                {"query_id": 2, "document": "d3", "score": -1},
            ],
            "jsonl",
        ),
    ],
)
def test_every_form_of_a_run_gives_the_same_places(project, write, name, content, format):
    result = import_run(project, write(name, content), "r")
    assert _places(project) == WANTED
    assert (result.format, result.queries, result.entries, result.is_new) == (format, 2, 3, True)
    assert result.left_out == {}


def test_ranx_parquet_is_read_by_its_own_column_names(project, tmp_path):
    _parquet(tmp_path / "r.parquet")
    assert import_run(project, tmp_path / "r.parquet", "r").fields == RunFields(
        "q_id", "doc_id", None, "score"
    )
    assert _places(project) == WANTED


def test_a_run_in_a_spreadsheet_is_read_as_its_table(project, tmp_path):
    pytest.importorskip("python_calamine", reason="python-calamine is not installed")
    book = openpyxl.Workbook()
    for row in (("query", "document", "score"), (1, "d1", 9.5), (1, "d2", 3), (2, "d3", -1)):
        book.active.append(row)
    book.save(tmp_path / "r.xlsx")
    import_run(project, tmp_path / "r.xlsx", "r")
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


def test_the_same_run_again_changes_nothing_and_another_of_its_name_is_refused(project, write, contents):
    first = import_run(project, write("a.trec", TREC), "r")
    before = contents()
    again = import_run(
        project, write("b.json", json.dumps({"1": {"d1": 9.5, "d2": 3}, "2": {"d3": -1}})), "r"
    )
    assert (again.is_new, again.run_id) == (False, first.run_id)
    with pytest.raises(RefusedError, match=r"another run 'r' \(from a.trec\).*name of its own"):
        import_run(project, write("c.trec", "1 Q0 d1 1 9.5 t\n"), "r")
    assert contents() == before


def test_unknown_names_are_told_once_each_with_their_first_line(project, write):
    lines = "1 Q0 d1 1 3 t\n9 Q0 d1 1 3 t\n9 Q0 d2 2 2 t\n1 Q0 zz 2 1 t\n1 Q0 yy 3 0 t\n2 Q0 zz 1 0 t\n"
    path = write("r.trec", lines + "8 Q0 d1 1 0 t\n")
    told = _refusal(project, path)
    assert "line 2: the project has no query '9' (on 2 lines)" in told
    assert "line 4: the project has no document 'zz' (on 2 lines)\n" in told
    assert "line 5: the project has no document 'yy'\n" in told
    assert "--skip-unknown" in told
    result = import_run(project, path, "r", skip_unknown=True)
    assert result.left_out == {"unknown query": 3, "unknown document": 3}
    assert result.unknown == {"unknown document": ["yy", "zz"], "unknown query": ["8", "9"]}
    assert _places(project) == [("1", "d1", 1, 3.0)]


def test_a_text_that_is_another_querys_id_is_refused_unless_the_file_says_which(project, write):
    import_queries(project, write("q2.csv", "id,query\n3,1\n"))
    told = _refusal(project, write("r.csv", "query,document,score\n1,d1,1\n"))
    assert "'1' is the id of the query 'red shoes', and the text of the query '3'" in told
    for number, (column, cell) in enumerate([("query_id", "1"), ("query", "id:1"), ("query_text", "1")]):
        name = f"r{number}"
        import_run(project, write(f"{name}.csv", f"{column},document,score\n{cell},d1,1\n"), name)
        assert _places(project, name)[0][0] == ("3" if column == "query_text" else "1")


def test_a_run_over_an_export_with_prefixed_ids_is_mapped_back(project, write):
    path = write("r.trec", "q-1 Q0 d-d1 1 3 t\nq-2 Q0 d3 1 2 t\n")
    assert "the project has no query 'q-1'" in _refusal(project, path)
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


def test_an_encoded_id_that_is_another_ones_own_is_refused_in_trec_and_itself_elsewhere(project, write):
    rows = [{"id": name, "text": name} for name in ("a b", "a%20b")]
    import_corpus(project, write("more.jsonl", rows))
    told = _refusal(project, write("r.trec", "1 Q0 a%20b 1 3 t\n"))
    assert "the document 'a%20b' is that id, or 'a b' as TREC exports write it" in told
    import_run(project, write("r.csv", "query_id,document,score\n1,a%20b,1\n"), "r")
    assert [place[:2] for place in _places(project)] == [("1", "a%20b")]


def test_a_skipped_document_leaves_its_place_empty(project, write):
    import_run(project, write("r.trec", "1 Q0 zz 1 3 t\n1 Q0 d1 2 2 t\n"), "r", skip_unknown=True)
    assert _places(project) == [("1", "d1", 2, 2.0)]


def test_a_run_of_which_nothing_is_known_is_refused(project, write):
    told = _refusal(project, write("r.trec", "9 Q0 zz 1 3 t\n"), skip_unknown=True)
    assert "no place of a ranking could be taken from it: 1 × unknown query" in told


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("1 Q0 d1 1 3 t\n1 Q0 d2 1 2 t\n", "line 2: rank 1 again for query '1', after line 1"),
        ("1 Q0 d1 1 nan t\n", "line 1: query '1', document 'd1': the score is 'nan'"),
        ("1 Q0 d1 1 -inf t\n", "the score is '-inf'"),
        ("1 Q0 d1 first 3 t\n", "the rank is 'first'"),
        ("1 Q0 d1 1.5 3 t\n", "Expected a whole number from 0 or 1"),
        ("1 Q0 d1 -1 3 t\n", "the rank is '-1'"),
        ("1 Q0 d1 1 3\n", "line 1: 5 columns, expected 6 (query, Q0, document, rank, score, tag)"),
        ("1 Q0 d1 1 3 t\n1 Q0 d1 2 2 t\n", "line 2: document 'd1' again for query '1', after line 1"),
    ],
)
def test_what_is_no_ranking_is_refused_with_its_line(project, write, lines, told):
    assert told in _refusal(project, write("r.trec", lines))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "query,document,score\n1,d1,NaN\n1,d2,\n"),
        ("r.tsv", "query\tdocument\trank\tscore\n1\td1\t1\tnan\n1\td2\t2\t1e400\n"),
        (
            "r.jsonl",
            '{"query": 1, "document": "d1", "score": NaN}\n{"query": 1, "document": "d2", "score": "x"}\n',
        ),
    ],
)
def test_a_score_that_is_no_number_is_refused_in_every_form_of_table(project, write, name, content):
    told = _refusal(project, write(name, content))
    assert "query '1', document 'd1': the score is " in told
    assert "query '1', document 'd2': the score is " in told
    assert "Expected a finite number." in told


def test_a_score_that_is_no_number_is_refused_in_parquet(project, tmp_path):
    columns = {"q_id": ["1", "1"], "doc_id": ["d1", "d2"], "score": [float("nan"), None]}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    told = _refusal(project, tmp_path / "r.parquet")
    assert "row 1: query '1', document 'd1': the score is nan" in told
    assert "row 2: query '1', document 'd2': the score is missing" in told


def test_all_problems_of_a_file_are_told_together(project, write):
    lines = "1 Q0 d1 1 inf t\nbroken\n9 Q0 d1 1 3 t\n2 Q0 d1 1 3 t\n2 Q0 d2 1 2 t\n"
    told = _refusal(project, write("r.trec", lines))
    for place in ("line 1: query '1'", "line 2: 1 column,", "line 3: the project", "line 5: rank 1"):
        assert place in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"1": {"d1": NaN}}', "entry 1: query '1', document 'd1': the score is nan"),
        ('{"1": {"d1": 1e999}}', "the score is inf"),
        ('{"1": {"d1": 1, "d1": 2}}', "entry 1: document 'd1' again for query '1', after entry 2"),
        ('{"1": {"d1": null}}', "the score is missing"),
        ('{"1": ["d1"]}', "query '1' holds [\"d1\"]"),
        ('[{"1": 2}]', "no column is known to hold the queries: name it with --query-field"),
        (
            '{"1":\n {',
            "line 2: broken JSON: Expecting property name enclosed in double quotes at character 3",
        ),
        ('{"1":\n' + "[" * 100_000, "line 2: it is nested too deeply; expected at most 100 levels"),
        ('{"1": {"d1":\n' + "9" * 5_000 + "}}", "line 2: a whole number has more than 4,300 digits"),
        ("{}", "no place of a ranking could be taken from it: it is empty"),
    ],
)
def test_ranx_json_that_is_no_run_is_refused(project, write, content, told):
    assert told in _refusal(project, write("r.json", content))


def test_a_repeated_document_keeps_its_best_place_if_asked(project, write):
    path = write("r.trec", "1 Q0 d1 1 3 t\n1 Q0 d2 2 2 t\n1 Q0 d1 3 1 t\n1 Q0 d3 4 0 t\n")
    assert import_run(project, path, "r", skip_repeated=True).left_out == {REPEATED: 1}
    assert [place[1:3] for place in _places(project)] == [("d1", 1), ("d2", 2), ("d3", 4)]


def test_a_table_needs_a_rank_or_a_score(project, write):
    told = _refusal(project, write("r.csv", "query,document,grade\n1,d1,2\n"))
    assert "name one with --rank-field or --score-field" in told


def test_forms_without_columns_take_no_names(project, write):
    told = _refusal(project, write("r.trec", TREC), fields=RunFields(query="q"))
    assert "is trec, which has no columns to name" in told


def test_a_file_of_no_known_form_is_refused(project, write):
    assert "neither its name nor its beginning" in _refusal(project, write("r.txt", "a b c\n"))
    assert "no run format 'trek'" in _refusal(project, write("r.txt", TREC), layout=FileLayout("trek"))


@pytest.mark.parametrize("name", ["", "a,b", "run:a", "a b"])
def test_a_name_must_fit_into_a_list_of_systems(project, write, name):
    with pytest.raises(InputError, match="cannot name a run"):
        import_run(project, write("r.trec", TREC), name)


def test_a_run_that_is_not_there_is_told_with_those_that_are(project, write):
    import_run(project, write("r.trec", TREC), "r")
    with project.reading() as cursor, pytest.raises(NotFoundError, match=r"no run 's'. Runs: r\."):
        find_run(cursor, "s")


def test_an_import_tells_its_progress_and_writes_one_event(project, write):
    steps = []
    import_run(project, write("r.trec", TREC), "r", progress=lambda *step: steps.append(step))
    assert steps == [("reading r.trec", 3, 3)]
    with project.reading() as cursor:
        rows = cursor.execute("SELECT detail->>'entries' FROM events WHERE action = 'import run'").fetchall()
    assert rows == [("3",)]


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


@pytest.mark.slow
def test_the_runs_of_the_second_icecat_campaign(store, shared, write):
    icecat = shared / "chorus_icecat"
    import_corpus(store, icecat / "products.jsonl.gz", CorpusFields("id", "title", ("short_description",)))
    lines = (icecat / "campaign_2" / "run_no-vector.tsv").read_text(encoding="utf-8").splitlines()[1:]
    texts = dict.fromkeys(line.split("\t")[1] for line in lines)
    import_queries(store, write("q.tsv", "text\n" + "\n".join(texts) + "\n"))
    by_text = RunFields(query="query")
    path = icecat / "campaign_2" / "run_no-vector.tsv"
    assert "(on 10 lines)" in _refusal(store, path)  # the campaign's own query ids
    assert import_run(store, path, "no-vector", by_text).entries == 1274
    vector = import_run(store, icecat / "campaign_2" / "run_vector-2.tsv", "vector", by_text)
    assert (vector.entries, vector.against_scores, vector.unordered) == (1350, 123, 0)
    path = icecat / "campaign_2" / "run_with-vector.tsv"
    with pytest.raises(InputError, match=r"line 222: document '3442775' again .* after line 212"):
        import_run(store, path, "with-vector", by_text)
    assert import_run(store, path, "with-vector", by_text, skip_repeated=True).left_out == {REPEATED: 3}


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


def test_nists_thinned_run_has_gaps_and_is_taken(corpus, shared, write):
    lines = (shared / "trec_eval_test" / "results.test").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if int(line.split()[3]) % 10 != 5]
    names = sorted({line.split()[2] for line in kept})
    import_corpus(corpus, write("c.jsonl", [{"id": name, "text": name} for name in names]))
    import_queries(corpus, write("q.jsonl", [{"id": q, "text": f"topic {q}"} for q in (301, 302, 303)]))
    result = import_run(corpus, write("thin.trec", "\n".join(kept)), "nist")
    assert (result.entries, result.gaps) == (1350, 3)
    scores = [place[3] for place in _places(corpus, "nist") if place[0] == "301"]
    assert scores == sorted(scores, reverse=True)


def test_a_shuffled_run_is_the_same_run(project, write):
    lines = TREC.split("\n")
    random.Random(3).shuffle(lines)
    first = import_run(project, write("a.trec", TREC), "r")
    again = import_run(project, write("b.trec", "\n".join(lines)), "r")
    assert (again.is_new, again.run_id) == (False, first.run_id)


def test_the_command_says_what_was_read_and_left_out(project, write):
    lines = "1 Q0 d2 2 3 t\n1 Q0 d1 1 2 t\n9 Q0 d1 1 2 t\n"
    arguments = [
        "--project",
        str(project.path),
        "import",
        "run",
        str(write("r.trec", lines)),
        "--name",
        "shop",
    ]

    def run(*options):
        result = invoke([*arguments, *options], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    shown = run("--skip-unknown")
    assert "Imported the run 'shop': 2 places for 1 query. A pool names it as run:shop." in shown
    assert "Read as trec. Fields used: query query, document document, rank rank, score score." in shown
    assert "1 query was not in the order of its ranks" in shown
    assert "for 1 query the scores contradict the ranks" in shown
    assert "Left out: 1 line: unknown query" in shown
    gaps = write("gaps.trec", "1 Q0 d1 10 3 t\n1 Q0 d2 20 2 t\n")
    said = invoke(["--project", str(project.path), "import", "run", str(gaps), "--name", "gaps"]).stdout
    assert "for 1 query ranks are missing. These lists are ordered by score" in " ".join(said.split())
    again = json.loads(run("--skip-unknown", "--json"))
    assert (again["is_new"], again["entries"], again["left_out"]) == (False, 2, {"unknown query": 1})
