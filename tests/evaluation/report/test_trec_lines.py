"""Lines of individual queries against trec_eval's own output, to the byte; and none of a sealed part."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.trec_lines import to_trec_name, write_trec_lines
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.measure_names import parse_measures
from tests.evaluation.scoring.test_published import CUTOFFS, OURS, qrels, run
from tests.support.command_line import invoke
from tests.support.evaluated_project import evaluated_project, ranked, write_run
from tests.support.evaluated_runs import evaluate_lists

NAMES = {theirs: ours for theirs, ours in OURS.items() if theirs != "rbp"}
"""trec_eval's name → ours, but rbp, whose gains are by grade there."""


def evaluated(shared: Path, results: str) -> Evaluation:
    """NIST's test run on its qrels, as a release without anything else."""
    folder = shared / "trec_eval_test"
    graded = qrels(folder / "qrels.test")
    row = dict.fromkeys(("stratum", "source", "part", "segment"), "all") | {"inclusion_probability": None}
    options = EvaluateRequest(measures=list(NAMES.values()))
    return evaluate_lists(
        graded, [row] * len(graded.query_ids), [], {"STANDARD": run(folder / results)}, options
    )


@pytest.mark.parametrize(
    ("expected", "results"), [("out.test.aq", "results.test"), ("out.test.aqc", "results.trunc")]
)
def test_the_lines_are_those_of_trec_eval(shared: Path, expected: str, results: str) -> None:
    evaluation = evaluated(shared, results)
    lines = list(write_trec_lines(evaluation, evaluation.runs[0]))
    theirs = (shared / "trec_eval_test" / expected).read_text(encoding="utf-8").splitlines(keepends=True)
    of_all = {"runid", "num_q", *NAMES}
    assert set(lines) == {line for line in theirs if line.split("\t")[0].strip() in of_all}
    assert len(lines) == len(set(lines)) > 3 * len(CUTOFFS) * 4


def test_what_trec_eval_lacks_keeps_our_name() -> None:
    ours = parse_measures(["ndcg_exp@10", "mrr@10", "rbp(0.8)", "judged@10", "R@5"])
    assert [to_trec_name(one) for one in ours] == [
        *("ndcg_exp@10", "mrr@10", "rbp(0.8)", "judged@10", "recall_5")
    ]


def test_a_line_has_three_fields_whatever_ids_and_names_hold(shared: Path) -> None:
    evaluation = evaluated(shared, "results.test")
    ids = tuple(f"{one} 100%\t" for one in evaluation.query_ids or ())
    lines = list(
        write_trec_lines(replace(evaluation, query_ids=ids), replace(evaluation.runs[0], name="a\tb\nc"))
    )
    assert all(line.count("\t") == 2 and line.count("\n") == 1 for line in lines)
    assert any("\t301%20100%25%09\t" in line for line in lines)


def test_each_system_has_a_file_and_the_tables_are_beside(tmp_path: Path) -> None:
    store = evaluated_project(tmp_path)
    runs = [str(write_run(tmp_path / f"{name}.trec", ranked(name))) for name in "ab"]
    command = ["--project", str(store.path), "evaluate", "v1", "--measures", "ndcg@10,map"]
    files = {name: tmp_path / name for name in ("t.csv", "t.tex", "q.txt")}
    for path in files.values():
        command += ["--out", str(path)]
    done = invoke([*command, "--run", runs[0], "--run", runs[1], "--part", "dev"])
    assert done.exit_code == 0, done.output
    assert not files["q.txt"].exists()
    lines = (tmp_path / "q.b.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 * 30 + 2 + 2
    names = ("ndcg_cut_10", "map", "runid", "num_q")
    assert {line.split("\t")[0] for line in lines} == {f"{name:<22}" for name in names}
    head, first, _ = files["t.csv"].read_text(encoding="utf-8").splitlines()
    columns = ["ndcg@10", *(f"ndcg@10 {what}" for what in ("low", "high", "n", "group"))]
    assert head.split(",")[:6] == ["system", *columns]
    assert first.split(",")[4:6] == ["30", "a"]
    assert r"\begin{tabular}{lll}" in files["t.tex"].read_text(encoding="utf-8")
    before = Path(runs[0]).read_bytes()
    own_run = str(Path(runs[0]).with_suffix(".csv"))
    shutil.copy(runs[0], own_run)
    own = invoke([*command[:-1], own_run, "--run", own_run, "--part", "dev"])
    assert "it is also an input file; expected a different name" in str(own.exception)
    asked = ["--project", str(store.path), "evaluate", "v1", "--run", runs[0], "--run", runs[1]]
    a_of_all, table = str(tmp_path / "of.txt"), str(tmp_path / "t.csv")
    Path(runs[1]).rename(tmp_path / "of.a.txt")
    asked[-1] = f"b={tmp_path / 'of.a.txt'}"
    for more in (["--out", a_of_all], ["--out", table, "--out", table]):
        assert "expected a different name" in str(invoke([*asked, *more]).exception), more
    assert Path(runs[0]).read_bytes() == before
    with store.reading() as cursor:
        assert cursor.execute("SELECT count(*) FROM sealed_evaluations").fetchall() == [(0,)]
    sealed = invoke([*command, "--run", runs[0], "--part", "test", "--reason", "May"])
    assert "a sealed part shows no values for individual queries" in str(sealed.exception)
    with store.reading() as cursor:
        assert cursor.execute("SELECT refused IS NULL FROM sealed_evaluations").fetchall() == [(False,)]
    store.close()
