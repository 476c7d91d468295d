"""Systems evaluated on a file of qrels, without a project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goldgrade
from curation.core.errors import InputError
from curation.evaluation.scoring.qrels_file import is_qrels_file, read_qrels_release
from curation.evaluation.scoring.release import read_release
from tests.support.command_line import invoke

GRADES = {f"q{number}": {f"d{number}": 3, f"d{number + 1}": 1, "d0": 0} for number in range(1, 13)}
NOTHING = {"q90": {"d1": 0, "d2": 0}, "q91": {"d1": -1}}
"""A query without a relevant document, and a query that nobody judged."""
GOOD = {query: {f"d{query[1:]}": 3.0, "d0": 2.0, "d99": 1.0} for query in GRADES}
BAD = {query: {"d99": 3.0, f"d{query[1:]}": 2.0} for query in list(GRADES)[:-1]}


def lines(qrels: dict[str, dict[str, int]]) -> str:
    return "".join(
        f"{query} 0 {name} {grade}\n" for query, row in qrels.items() for name, grade in row.items()
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with qrels, two runs and topics, and without a project."""
    monkeypatch.chdir(tmp_path)
    Path("web.qrels").write_text(lines(GRADES | NOTHING))
    for name, run in {"good": GOOD, "bad": BAD}.items():
        Path(f"{name}.json").write_text(json.dumps(run))
    rows = [f"{query},shoe {query},{'head' if len(query) < 3 else 'tail'},{query[-1]}" for query in GRADES]
    Path("topics.csv").write_text("\n".join(["id,text,stratum,digit", *rows]))
    return tmp_path


def test_the_means_are_those_of_ir_measures_and_the_first_line_has_both_where_they_differ(
    folder: Path,
) -> None:
    import ir_measures as ir

    result = goldgrade.evaluate(GRADES | NOTHING, {"good": GOOD, "bad": BAD}, ["ndcg@10", "map", "recall@10"])
    measures = {"ndcg@10": ir.nDCG @ 10, "map": ir.AP, "recall@10": ir.R @ 10}
    for run, scores in zip(result.runs, (GOOD, BAD), strict=True):
        theirs = ir.calc_aggregate(measures.values(), GRADES | NOTHING, scores)
        for name, measure in measures.items():
            figure = run.overall[name]
            assert figure.n == len(GRADES)
            assert figure.value is not None
            assert figure.value * figure.n / result.queries == pytest.approx(theirs[measure], abs=1e-12)
    done = invoke(
        ["evaluate", "web.qrels", "--run", "good.json", "--run", "bad.json", "--measures", "ndcg@10"]
    )
    good, bad = (run.overall["ndcg@10"].value or 0 for run in result.runs)
    assert done.stdout.splitlines()[2] == (
        "2 queries have no relevant document and therefore no ndcg@10 value. Means over the other 12: "
        f"good {good:.4f}, bad {bad:.4f}. Means over all 14, with missing values as 0 as in ir_measures: "
        f"good {good * 12 / 14:.4f}, bad {bad * 12 / 14:.4f}."
    )
    assert not (folder / "data").exists()


def test_queries_with_a_relevant_document_alone_have_one_figure(folder: Path) -> None:
    Path("web.qrels").write_text(lines(GRADES))
    done = invoke(["evaluate", "web.qrels", "--run", "good.json", "--measures", "ndcg@10"])
    assert done.exit_code == 0
    assert "ir_measures" not in done.output


def test_json_and_files_are_those_of_a_release_and_columns_of_topics_break_figures_down(folder: Path) -> None:
    command = ["--json", "evaluate", "web.qrels", "--run", "good.json", "--run", "bad.json"]
    done = invoke(
        [
            *command,
            "--topics",
            "topics.csv",
            "--breakdown",
            "stratum,digit",
            "--measures",
            "map",
            "--out",
            "table.tex",
        ]
    )
    result = json.loads(done.stdout)
    strata = result["runs"][0]["strata"]
    assert strata["stratum"].keys() == {"head", "tail", "not in the topics"}
    assert strata["digit"].keys() == {*"0123456789", "not in the topics"}
    assert [strata["digit"][digit]["queries"] for digit in "139"] == [2, 1, 1]
    assert result["comparisons"][0]["p_corrected"] < 0.05
    assert result["query_texts"][0] == "shoe q1"
    assert r"\begin{tabular}" in Path("table.tex").read_text()


def test_qrels_are_the_same_in_every_form(folder: Path) -> None:
    pairs = [(query, name, grade) for query, row in GRADES.items() for name, grade in row.items()]
    table = pa.table(
        dict(zip(("query_id", "doc_id", "relevance"), map(list, zip(*pairs, strict=True)), strict=True))
    )
    pq.write_table(table, "a.parquet")
    Path("beir.tsv").write_text(
        "query-id\tcorpus-id\tscore\n"
        + "".join(f"{query}\t{name}\t{grade}\n" for query, name, grade in pairs)
    )
    Path("marco.tsv").write_text(lines(GRADES).replace(" ", "\t"))
    Path("nested.json").write_text(json.dumps(GRADES))
    Path("bare").write_text(lines(GRADES))
    names = ("a.parquet", "beir.tsv", "marco.tsv", "nested.json", str(folder / "bare"))
    assert all(is_qrels_file(name) for name in names)
    ids = {read_qrels_release(Path(name)).row.release_id for name in names}
    assert {goldgrade.evaluate(form, {"good": GOOD}).release_id for form in (GRADES, table)} == ids
    assert len(ids) == 1


@pytest.mark.parametrize("name", ["v1", "v1.goldgrade", "0a1b2c3d", "folder/v1.goldset"])
def test_names_of_releases_and_packed_files_are_no_qrels(name: str) -> None:
    assert not is_qrels_file(name)


def test_every_problem_of_the_qrels_is_named_with_its_line(folder: Path) -> None:
    path = folder / "bad.txt"
    path.write_text("q1 0 d1 x\nq1 0 d2 1\nq1 0 d2 2\nq2 0 d1\n")
    with pytest.raises(InputError) as raised:
        read_qrels_release(path)
    assert raised.value.problems == [
        "line 4: 3 cells, expected 4 (query, iteration, document, grade)",
        "line 1: query 'q1', document 'd1': the grade is 'x'",
        "line 3: document 'd2' has grade 2 for query 'q1', and grade 1 in line 2",
    ]
    path.with_suffix(".csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        InputError, match="no column was recognized as the grades: rename the column to grade or rating"
    ):
        read_qrels_release(path.with_suffix(".csv"))
    with pytest.raises(
        InputError, match=r"no topic has the id of a query of the qrels: .* 'q1', where .* 'x'"
    ):
        goldgrade.evaluate({"x": {"d": 1}}, {"good": GOOD}, topics="topics.csv")


def test_a_run_of_other_names_and_options_of_projects_are_refused(folder: Path) -> None:
    for run, sentence in (({"q1": {"x": 1.0}}, "in the qrels, which have"), ({"t1": {"d1": 1}}, "not 'q1'")):
        with pytest.raises(goldgrade.Error, match=f"the run 'a': .*{sentence}"):
            goldgrade.evaluate(GRADES, {"a": run})
    done = invoke(["evaluate", "web.qrels", "--run", "good.json", "--part", "dev", "--hard-negatives"])
    assert "--part needs a release of a project, and web.qrels has only qrels" in str(done.exception)
    assert "--hard-negatives needs" in str(done.exception)
    missing = invoke(["evaluate", "no.qrels", "--run", "good.json"])
    assert str(missing.exception) == "no.qrels: there is no such file"


def test_a_document_outside_the_qrels_keeps_its_rank_and_is_not_unknown(folder: Path) -> None:
    release = read_qrels_release(Path("web.qrels"))
    assert read_release(None, release).documents is None  # type: ignore[arg-type]  # no store is read
    figure = goldgrade.evaluate(GRADES, {"bad": BAD}, "mrr@10").runs[0]
    assert figure.overall["mrr@10"].value == pytest.approx(0.5 * 11 / 12)
    assert (figure.files[0].unknown_documents, figure.overall["mrr@10"].judged) == (0, 0.5)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3, {"a": GOOD}), r"qrels is int '3'; expected a path, \{query"),
        ((GRADES, [GOOD]), "runs is list .*expected a run for each name"),
        (
            (GRADES, {"a": {"q1": 3}}),
            "the run 'a', query 'q1' is int '3'; expected a number for each document",
        ),
        (
            (GRADES, {"a": {"q1": {"d1": "x"}}}),
            "the run 'a', query 'q1', document 'd1' is str 'x'; expected a n",
        ),
        ((GRADES, {"a": GOOD}, 3), "measures is int '3'; expected a name or a list of names"),
        (({"q1": {"d1": 0.5}}, {"a": GOOD}), "qrels: entry 1: query 'q1', document 'd1': the grade is '0.5'"),
    ],
)
def test_a_wrong_type_is_refused_with_what_was_expected(arguments: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(goldgrade.Error, match=sentence):
        goldgrade.evaluate(*arguments)


def test_results_are_tables_for_papers_frames_and_notebooks() -> None:
    result = goldgrade.evaluate(GRADES | NOTHING, {"good": GOOD, "bad": BAD}, ["ndcg@10", "map"])
    assert result.compare().columns == ("system", "ndcg@10", "map")
    assert result.compare().to_latex().startswith(r"\begin{table}")
    assert "| good |" in result.compare().to_markdown()
    assert result._repr_html_() == result.compare()._repr_html_()
    assert "<td>good</td>" in result._repr_html_()
    (ndcg, _) = result.pairs().to_dict()["p_corrected"]
    assert ndcg == result.comparisons[0].p_corrected
    frame = pa.table(result.per_query())
    assert frame.column_names == ["query_id", "query", "system", "ndcg@10", "map"]
    values = frame.filter(pa.compute.equal(frame["system"], "good"))["map"].to_pylist()
    assert tuple(values) == result.runs[0].per_query["map"]  # type: ignore[index]
    assert result.figures().to_csv().splitlines()[0].startswith("system,ndcg@10,ndcg@10 low")
