"""The page Evaluate, run by Streamlit's AppTest on a release with two parts, one of them sealed."""

from __future__ import annotations

import errno
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app import context, uploads
from app.views.evaluate.ranked_lists import mark_evidence
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.evaluation.by_query import compare_by_query
from curation.evaluation.evaluate import RunSubmission
from curation.evaluation.evaluate import submit as submit_files
from curation.evaluation.leaderboard import list_runs, rank_runs
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.result_lists import Passage
from curation.evaluation.stored_evaluations import list_evaluations, read_report, read_result
from curation.ingest.importers.reference_answers import import_answers
from curation.ingest.importers.run_import import import_run
from curation.ingest.readers.run_files import RunFile
from curation.operations.jobs import Job, Jobs, jobs_of
from curation.operations.jobs.files import uploads_root
from curation.operations.jobs.running import JobProgress
from curation.operations.jobs.stored import store_ending, store_job
from curation.operations.query_documents import read_documents
from curation.releases.overview import read_overview
from curation.store import Annotator, Store
from tests.support.evaluated_project import (
    QUERIES,
    document_ids,
    evaluated_project,
    freeze_against_the_gate,
    query,
    sealed_queries,
    write_run,
)
from tests.support.evaluated_project import ranked as lists_of
from tests.support.freezing import freeze
from tests.support.marking import evaluated_chunks
from tests.support.page import button, field, html, page_at
from tests.support.projects import newest_job, rows_of

pytestmark = pytest.mark.slow

VERA, WALT, LEE, ANNA = (
    Annotator(name, role, False)
    for name, role in (("vera", "evaluator"), ("walt", "evaluator"), ("lee", "lead"), ("anna", "annotator"))
)


FOLDED = ["Evaluate systems", "More options", "System answers"]
ALL_QUERIES = [f"q{number}" for number in range(QUERIES)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = evaluated_project(tmp_path)
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    jobs_of(store).wait()
    left = [path for path in uploads_root(store.path).rglob("*") if path.is_file()]
    assert left == [], "an upload was left"
    store.close()


def opened(annotator: Annotator, part: str | None = None) -> AppTest:
    page = page_at("evaluate", annotator).run()
    return page if part is None else page.selectbox[1].select(part).run()


def run_bytes(tmp_path: Path, name: str) -> bytes:
    return write_run(tmp_path / "any.trec", lists_of(name)).read_bytes()


def submitted(page: AppTest, *files: tuple[str, bytes], reason: str | None = None) -> AppTest:
    sent = [(name, content, "text/plain") for name, content in files]
    page = page.file_uploader[0].set_value(sent).run()
    if reason is not None:
        field(page, "Reason for evaluating a sealed part").input(reason)
    return button(page, "Evaluate").click().run()


def of_one_measure(page: AppTest) -> AppTest:
    """The page with one measure chosen: all default ones take seconds."""
    page.multiselect[1].set_value(["ndcg_exp@10"])
    return page


def test_a_release_that_was_frozen_against_the_gate_says_so_above_its_figures(project: Store) -> None:
    freeze_against_the_gate(project, "v2")
    page = opened(VERA)
    assert page.selectbox[0].options == ["v2", "v1"]
    assert page.warning[0].value.startswith("v2 was frozen despite the gate")
    assert not page.selectbox[0].select("v1").run().warning


def test_two_runs_of_a_query_are_read_side_by_side_and_queries_are_filtered(
    project: Store, tmp_path: Path
) -> None:
    page = submitted(of_one_measure(opened(LEE)), ("a.trec", run_bytes(tmp_path, "a")))
    page = submitted(page, ("b.trec", run_bytes(tmp_path, "b")))
    picked = {one.label: one for one in page.selectbox}
    assert [picked[label].value[1] for label in ("System", "Compare with")] == ["b", "a"]
    picked["System"].select_index(1)
    picked["Compare with"].select_index(1)
    page = page.run()
    with project.reading() as cursor:
        of_b, of_a = list_evaluations(cursor, LEE)
        runs = [(of_a.evaluation_id, "a"), (of_b.evaluation_id, "b")]
        rows = compare_by_query(cursor, runs, LEE).rows
    shown = html(page)
    assert rows[0].text in shown, "the query that lost most"
    assert re.search(r'"gs-graded" style="--grade: #\w{6}">3<.*"gs-graded">not judged<', shown)
    picked = {one.label: one for one in page.selectbox}
    picked["Result"].select("Won")
    picked["Kind of query or region"].select("source: written")
    wanted = [row for row in rows if row.result == "won" and int(row.query_id[1:]) % 2]
    assert wanted[0].text in html(page.run())


def test_chunks_of_a_query_show_the_evidence_in_them_and_what_none_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = evaluated_chunks(tmp_path)
    monkeypatch.setenv(context.PROJECT, str(store.path))
    page = opened(LEE, "dev")
    shown = html(page)
    store.close()
    assert not page.exception
    assert "All <mark>ab</mark>" in " ".join(shown.split())
    assert "far: no evidence in the first 2 chunks" in shown
    assert re.search(r'href="[^"]*/query\?[^"]*">4–9, ', shown)
    assert "not in top" not in shown, "no lists of documents"


def test_evidence_has_words_before_and_after_it_and_long_gaps_are_shortened() -> None:
    text = f"{'a' * 90}<b>{'c' * 170}d{'e' * 20}f{'g' * 90}"
    spans = ((10 + 90, 10 + 93), (10 + 263, 10 + 264), (10 + 284, 10 + 285))
    passage = Passage("D1", "Title", 10, 10 + len(text), text, spans)
    assert mark_evidence(passage) == (
        f" … {'a' * 80}<mark>&lt;b&gt;</mark>{'c' * 80} … {'c' * 80}<mark>d</mark>{'e' * 20}<mark>f</mark>"
        f"{'g' * 80} … "
    )
    assert mark_evidence(passage._replace(evidence=())) == f"{text[:80]} … "
    assert mark_evidence(Passage("D1", "Title", 0, 5, "a & b", ())) == "a &amp; b"
    assert mark_evidence(Passage("D1", "Title", 0, 5, "", ())) == "<small>text not known</small>"


def test_unjudged_documents_of_two_lists_go_to_a_round(project: Store, tmp_path: Path) -> None:
    assert "Open the round" not in [one.label for one in opened(VERA).button]
    page = of_one_measure(opened(LEE))
    page = submitted(page, ("a.trec", run_bytes(tmp_path, "a")), ("b.trec", run_bytes(tmp_path, "b")))
    page = button(page, "Open the round").click().run()
    assert not page.error
    with project.reading() as cursor:
        (one,) = list_evaluations(cursor, LEE)
        row = compare_by_query(cursor, [(one.evaluation_id, name) for name in "ab"], LEE).rows[0]
    sql = "SELECT DISTINCT query_id, document_id FROM presentations JOIN rounds USING (round_id)"
    shown = rows_of(project, f"{sql} WHERE name = ? ORDER BY ALL", f"Check {row.text}")
    assert shown == [(row.query_id, name) for name in document_ids(int(row.query_id[1:]))[4:]]
    assert ("run:b",) in rows_of(project, "SELECT system FROM candidate_sources")


def test_a_lead_sends_the_missing_top_ten_of_all_systems_to_a_round(project: Store, tmp_path: Path) -> None:
    for name in "ab":
        evaluate(project, tmp_path, name, lists_of(name), "vera")
    sent = "Top ten of v1"
    proposed = [one.value for one in opened(VERA).text_input]
    assert sent not in proposed, "only leads open rounds"
    page = opened(LEE)
    assert "67\u00a0% of the 180 query-document pairs in the top ten" in html(page)
    assert sent in [one.value for one in page.text_input]
    buttons = [one for one in page.button if one.label == "Open the round"]
    page = buttons[-1].click().run()
    assert not [*page.error, *page.exception]
    assert f"The round {sent} is open, with 60 pairs of 30 queries." in html(page)
    assert sent not in [one.value for one in page.text_input], "nothing is missing any more"


def test_a_query_has_the_lists_of_evaluated_systems_for_leads(project: Store, tmp_path: Path) -> None:
    done = evaluate(project, tmp_path, "alpha", lists_of("a"), "vera")
    assert done.evaluation_id is not None
    with project.reading() as cursor:
        query_id = compare_by_query(cursor, [(done.evaluation_id, "alpha")], LEE).rows[0].query_id
    documents = read_documents(project, query_id, LEE).documents
    ranks = [document.ranks["alpha (evaluated)"] for document in documents]
    assert ranks == list(range(1, len(documents) + 1))
    row = ["pool", query_id, documents[0].document.document_id, "run:alpha", 1, None, None, None]
    with project.transaction() as cursor:
        cursor.execute(f"INSERT INTO candidate_sources VALUES ({', '.join('?' * len(row))})", row)
    again = read_documents(project, query_id, LEE)
    assert again.systems == ("run:alpha",), "a system has one column"
    assert [document.ranks["run:alpha"] for document in again.documents] == ranks
    with project.transaction() as cursor:
        cursor.execute("UPDATE candidate_sources SET system = 'run:alpha@2026-05-01' WHERE pool_id = 'pool'")
        cursor.execute("INSERT INTO runs VALUES ('r', 'alpha@2026-05-01', '', '{}', now())")
        cursor.execute("INSERT INTO engine_runs VALUES ('r', 'alpha', '', '{}', 10)")
    assert read_documents(project, query_id, LEE).systems == ("run:alpha@2026-05-01",), "an engine, too"
    for reader, name in ((Annotator("rosa", "reviewer", False), query_id), (LEE, sealed_queries(project)[0])):
        assert "alpha (evaluated)" not in read_documents(project, name, reader).systems


def test_of_a_sealed_part_a_lead_reads_no_query_either(project: Store, tmp_path: Path) -> None:
    page = submitted(opened(LEE, "test"), ("bm25.trec", run_bytes(tmp_path, "a")), reason="May")
    shown = html(page)
    assert "test is sealed, so values of individual queries are hidden." in shown
    assert not [one for one in page.selectbox if one.label in ("System", "Result")]
    texts = [query(number).text for number in range(QUERIES)]
    assert not [text for text in texts if text in shown]


def test_an_evaluator_uploads_runs_chooses_measures_and_reads_the_report(
    project: Store, tmp_path: Path
) -> None:
    page = opened(VERA)
    assert [fold.label for fold in page.expander] == FOLDED
    measures, kinds = page.multiselect[1:3]
    assert measures.value[0] == "ndcg_exp@10", "the default ones are chosen"
    assert kinds.value == ["stratum", "tag"]
    assert {"err@10", "set_f1"} <= set(measures.options)
    measures.set_value(["mrr@10", "set_f1"])
    kinds.set_value(["source"])
    files = [("bm25.trec", run_bytes(tmp_path, "a")), ("dense.trec", run_bytes(tmp_path, "b"))]
    page = submitted(page, *files)
    assert not [*page.error, *page.exception]
    assert ">Query by query<" in html(page)
    assert "Runs on v1, dev" in html(page)
    with project.reading() as cursor:
        (evaluation,) = list_evaluations(cursor, VERA)
        report = read_report(cursor, evaluation.evaluation_id, VERA)
        text = read_result(cursor, evaluation.evaluation_id, VERA)
    assert evaluation.systems == ["bm25", "dense"]
    assert report.html.startswith("<!doctype html>")
    assert "| dense − bm25 |" in report.markdown
    result = json.loads(text)
    assert result["measures"] == ["mrr@10", "set_f1"]
    assert list(result["runs"][0]["strata"]) == ["source"]
    assert result["runs"][0]["per_query"]
    assert page.multiselect[1].value == ["mrr@10", "set_f1"], "what was chosen stays for the next run"


def test_evaluators_say_why_and_see_one_rounded_figure_of_a_sealed_part_and_how_many_are_left(
    project: Store, tmp_path: Path
) -> None:
    page = opened(VERA, "test")
    assert "You have 10 sealed evaluations left this month" in html(page)
    page = submitted(page, ("a.trec", run_bytes(tmp_path, "a")))
    assert "Enter the reason for this evaluation" in page.error[0].value
    assert read_overview(project, "v1").sealed_evaluations == (), "a form that is not sent is no request"
    page = submitted(page, ("a.trec", run_bytes(tmp_path, "a")), reason="May")
    assert not page.error
    (row,) = read_overview(project, "v1").sealed_evaluations
    assert (row.evaluated_by, row.reason, row.system, row.rounded) == ("vera", "May", "a", True)
    assert "a: ndcg_exp@10 0." in html(page)
    assert ">Query by query<" not in html(page)
    assert "You have 9 sealed evaluations left this month" in html(page)
    assert not [fold for fold in page.expander if fold.label not in FOLDED]
    others = html(opened(WALT, "test"))
    assert re.search(r"Sealed evaluations on test.*>a<", others), "others see the figure and no interval"
    assert "95 %" not in others
    with project.reading() as cursor:
        assert list_evaluations(cursor, VERA) == []


def test_a_run_with_ids_of_its_own_is_evaluated_with_a_table_of_its_topics(
    project: Store, tmp_path: Path
) -> None:
    lists = lists_of("a")
    run = write_run(tmp_path / "any.trec", {f"{101 + n}": lists[f"q{n}"] for n in range(QUERIES)})
    page = submitted(opened(VERA), ("foreign.trec", run.read_bytes()))
    said = page.error[0].value.replace("\\", "")
    assert said.endswith("Choose another part, or add a table with the id and text of each query.")
    fold = next(one for one in page.expander if one.label == "My run uses other query ids")
    assert (fold.proto.expanded, len(fold.error)) == (True, 1)
    topics = "".join(f"{101 + number}\t{query(number).text}\n" for number in range(QUERIES)).encode()
    uploader = field(page, "Table of query ids")
    uploader.set_value([("topics.tsv", topics, "text/plain")])
    page = button(page.run(), "Evaluate").click().run()
    assert not page.error
    with project.reading() as cursor:
        assert [one.systems for one in list_evaluations(cursor, VERA)] == [["foreign"]]


def test_systems_of_the_project_are_searched_by_a_job_and_compared_with_an_upload(
    project: Store, tmp_path: Path
) -> None:
    table = tmp_path / "site search.csv"
    rows = [f"q{n},{name},{rank}" for n in range(QUERIES) for rank, name in enumerate(document_ids(n), 1)]
    table.write_text("\n".join(["Search phrase,Result URL,nr z", *rows[::-1]]), encoding="utf-8")
    import_run(project, RunFile(write_run(tmp_path / "stored.trec", lists_of("b"))), "stored")
    page = opened(VERA)
    systems = field(page, "Systems of the project")
    assert {"bm25", "run:stored"} <= set(systems.options)
    systems.set_value(["bm25", "run:stored"])
    sent = (table.name, table.read_bytes(), "text/csv")
    page = field(page, "Or upload runs").set_value([sent]).run()
    assert field(page, "Query (needed)").options == ["–", "Search phrase", "Result URL", "nr z"]
    assert button(page, "Evaluate").disabled
    assert "Choose the column in site search.csv for query." in html(page)
    field(page, "Query (needed)").select("Search phrase")
    field(page, "Document (needed)").select("Result URL")
    field(page, "Rank").select("nr z").run()
    field(page, "Name of the system").input("bm25")
    refused = button(page, "Evaluate").click().run().error[0].value
    assert refused.startswith("bm25 is the name of a system that you chose")
    field(page, "Name of the system").input("site")
    assert not button(page, "Evaluate").click().run().error
    jobs_of(project).wait()
    assert newest_job(project).outcome == "done", newest_job(project).message
    with project.reading() as cursor:
        (one,) = list_evaluations(cursor, VERA)
        runs = json.loads(read_result(cursor, one.evaluation_id, VERA))["runs"]
    places = {run["name"]: run["files"][0]["places"] for run in runs}
    half = QUERIES // 2
    assert (places["site"], places["stored"], places["bm25"] > 0) == (6 * half, 6 * half, True)
    shown = html(opened(VERA))
    assert re.search(r"site 1\.000, stored 0\.\d+: difference 0\.\d+ \(0\.\d+ to [\d.]+\), p ", shown)
    assert "67\u00a0% and 67\u00a0% of the top 10 are judged." in shown
    assert re.search(r"<td>stored</td>.*?<td[^>]*>67\u00a0%</td>", shown), "a column of the leaderboard"


def test_an_evaluator_gets_the_rounded_figure_of_a_stored_run_from_a_job(
    project: Store, tmp_path: Path
) -> None:
    import_run(project, RunFile(write_run(tmp_path / "stored.trec", lists_of("b"))), "stored")
    page = opened(VERA, "test")
    field(page, "Systems of the project").set_value(["run:stored"]).run()
    field(page, "Reason for evaluating a sealed part").input("May")
    assert not button(page, "Evaluate").click().run().error
    jobs_of(project).wait()
    job = newest_job(project)
    assert (job.outcome, "stored" in str(job.message)) == ("done", True), job.message
    assert [row.refused for row in read_overview(project, "v1").sealed_evaluations] == [None]


def test_a_packed_table_of_topics_is_read_by_a_job(project: Store, tmp_path: Path) -> None:
    page = opened(VERA)
    field(page, "Or upload runs").set_value([("bm25.trec", run_bytes(tmp_path, "a"), "text/plain")])
    page.run()
    topics = gzip.compress(b"101\tnobody asks this\n")
    uploader = field(page, "Table of query ids")
    uploader.set_value([("topics.tsv.gz", topics, "application/gzip")])
    button(page.run(), "Evaluate").click().run()
    job = newest_job(project)
    assert (job.kind, job.started_by) == ("evaluate", "vera")


@pytest.mark.slow
def test_many_lines_are_a_job_that_leaves_no_file(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_WAITING_BYTES", 10)
    page = submitted(opened(VERA), ("bm25.trec", run_bytes(tmp_path, "a")))
    assert not page.error
    jobs_of(project).wait()
    job = newest_job(project)
    assert (job.kind, job.outcome, job.started_by) == ("evaluate", "done", "vera")
    assert uploads_root(project.path) in Path(job.parameters["folder"]).parents
    with project.reading() as cursor:
        assert len(list_evaluations(cursor, VERA)) == 1
    assert "Evaluated 1 run on v1, dev." in html(opened(VERA))


def test_evaluators_see_their_own_evaluations_and_everybodys_rows(project: Store, tmp_path: Path) -> None:
    evaluate(project, tmp_path, "secret-idea", lists_of("a"), "vera")
    others = opened(WALT)
    assert "secret-idea" in html(others), "a row of the leaderboard"
    assert [fold.label for fold in others.expander] == FOLDED
    assert len(opened(LEE).expander) > len(FOLDED)
    with project.reading() as cursor:
        (evaluation,) = list_evaluations(cursor, LEE)
        assert list_evaluations(cursor, WALT) == []
        with pytest.raises(NotFoundError, match="You have no evaluation with this id"):
            read_report(cursor, evaluation.evaluation_id, WALT)
        with pytest.raises(RefusedError, match="needs the role evaluator or lead"):
            read_report(cursor, evaluation.evaluation_id, ANNA)


def evaluate(
    store: Store, folder: Path, name: str, lists: dict[str, list[str]], by: str, **asked: Any
) -> RunSubmission:
    """Submit one run to v1, without the page."""
    run = write_run(folder / f"{name}.trec", lists)
    request = EvaluateRequest("v1", "dev", ["ndcg_exp@10"], runs=((name, str(run)),))
    return submit_files(store, replace(request, **asked), by)


@pytest.mark.parametrize("part", ["dev", "test"])
def test_the_leaderboard_gives_equal_runs_a_common_letter_and_better_ones_a_rank(
    project: Store, tmp_path: Path, part: str
) -> None:
    best = {name: sorted(documents) for name, documents in lists_of("a").items()}
    asked = {"part": part, "reason": "May" if part == "test" else None}
    for name, lists in (("best", best), ("one", lists_of("a")), ("two", lists_of("b"))):
        evaluate(project, tmp_path, name, lists, "lee", **asked)
    ((release_id,),) = rows_of(project, "SELECT release_id FROM releases")
    with project.reading() as cursor:
        runs = list_runs(cursor, release_id, [part], part == "test")
    rows, *_ = rank_runs(runs, "ndcg_exp@10")
    first = rows[0][0]
    assert (first.system, first.best_rank, first.worst_rank, first.letters) == ("best", 1, 1, "a")
    others = [row for row, _ in rows[1:]]
    assert {(row.best_rank, row.worst_rank, row.letters) for row in others} == {(2, 3, "b")}
    *_, left_out = rank_runs([*runs, runs[0]], "ndcg_exp@10")
    assert left_out == {"same figures as an earlier evaluation": 1}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\runs\\a.trec", "a.trec"),
        (".bashrc", "bashrc"),
        ("\0/\n", "file"),
    ],
)
def test_names_of_uploads_are_no_paths(sent: str, kept: str) -> None:
    assert uploads.make_safe_name(sent) == kept


def test_uploads_that_do_not_fit_on_the_disk_are_refused_with_a_sentence(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    sent = run_bytes(tmp_path, "a")
    monkeypatch.setattr("app.views.evaluate.run_files.write_upload", full)
    page = submitted(opened(VERA), ("bm25.trec", sent))
    told = page.error[0].value.replace("\\", "")
    assert "could not be saved on the server (No space left on device). Nothing was evaluated" in told


def toggled(page: AppTest, *labels: str) -> AppTest:
    for label in labels:
        field(page, label).set_value(True)
    return page.run()


def test_baseline_threshold_and_repeated_documents_are_asked_for_on_the_page(
    project: Store, tmp_path: Path
) -> None:
    page = of_one_measure(opened(VERA))
    repeated = run_bytes(tmp_path, "a") + b"q1 Q0 d1.0 7 -1 run\n"
    files = [("a.trec", repeated), ("b.trec", run_bytes(tmp_path, "b")), ("c.trec", run_bytes(tmp_path, "c"))]
    page = submitted(page, *files)
    said = page.error[0].value.replace("\\", "")
    assert said.startswith("a.trec: line "), "the file by its name, not by where the server put it"
    assert "document 'd1.0' is repeated for query 'q1'" in said
    assert said.endswith("correct the file, or keep the best rank.")
    field(page, "Compare each system with").select("b")
    field(page, "Lowest grade of a relevant document").select(2)
    field(page, "Significance test").select("wilcoxon")
    page = toggled(page, "Leave out repeated", "Effect of hard")
    for also in (
        "Lowest grade of a relevant document: 2, Leave out repeated documents, ",
        "Compare each system with: b, Significance test: Wilcoxon&#x27;s signed-rank test",
    ):
        assert also in html(page)
    page = button(page.run(), "Evaluate").click().run()
    assert not page.error
    assert "Hard negatives" in [fold.label for fold in page.expander]
    with project.reading() as cursor:
        (one,) = list_evaluations(cursor, VERA)
        found = json.loads(read_result(cursor, one.evaluation_id, VERA))
    assert {(pair["system"], pair["other"]) for pair in found["comparisons"]} == {("a", "b"), ("c", "b")}
    assert {pair["test"] for pair in found["comparisons"]} == {"wilcoxon"}
    assert found["relevant_grade"] == 2
    assert found["runs"][0]["files"][0]["left_out"]["repeated document of a query"] == 1


ROUNDED = "evaluators get only one rounded figure"


def sealed_request(*runs: Path, **asked: Any) -> EvaluateRequest:
    request = EvaluateRequest("v1", "test", ["ndcg_exp@10", "mrr@10"], ["stratum", "source"], "May")
    return replace(request, runs=tuple((path.stem, str(path)) for path in runs), **asked)


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ({"to_pool": 10}, ROUNDED),
        ({"correctness": "other.duckdb=v1"}, ROUNDED),
        ({"faithfulness": "other.duckdb=v1"}, ROUNDED),
        ({"hard_negatives": True}, ROUNDED),
    ],
)
def test_no_option_gives_an_evaluator_grades_of_a_sealed_part(
    project: Store, tmp_path: Path, asked: dict[str, Any], refused: str
) -> None:
    runs = [write_run(tmp_path / f"{name}.trec", lists_of(name)) for name in "ab"]
    with pytest.raises((RefusedError, InputError), match=refused):
        submit_files(project, sealed_request(*runs, **asked), "vera")
    assert all(row.refused for row in read_overview(project, "v1").sealed_evaluations)
    assert len(read_overview(project, "v1").sealed_evaluations) == 2, "a row for each run"


def test_what_leads_see_of_a_sealed_part_names_no_query_and_no_document(
    project: Store, tmp_path: Path
) -> None:
    """Also in what is stored and downloaded."""
    runs = [write_run(tmp_path / f"{name}.trec", lists_of(name)) for name in "ab"]
    import_answers(project, answers_file(tmp_path, ALL_QUERIES))
    freeze(project, "v2")
    answers = (("a", str(answers_file(tmp_path, sealed_queries(project)))),)
    questions = {"hard_negatives": True}
    asked = sealed_request(*runs, release="v2", **questions, answers=answers)
    done = submit_files(project, asked, "lee")
    assert done.evaluation_id is not None
    with project.reading() as cursor:
        report = read_report(cursor, done.evaluation_id, LEE)
        result = read_result(cursor, done.evaluation_id, LEE)
    assert [one.heading for one in report.sections][:2] == ["Retrieval, answers, faithfulness", "Answers"]
    assert "Hard negatives" in {one.heading for one in report.sections}
    named = {*sealed_queries(project), *(query(number).text for number in range(QUERIES))}
    named |= {name for number in range(QUERIES) for name in document_ids(number)}
    for text in (result, report.html):
        assert not [name for name in named if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)]
    found = json.loads(result)
    assert {run["per_query"] is None for run in found["runs"]} == {True}
    assert found["answers"]["systems"][0]["per_query"] is None


def answers_file(folder: Path, queries: list[str]) -> Path:
    path = folder / "answers.jsonl"
    rows = [{"query_id": name, "answer": f"answer {name[1:]}"} for name in queries]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_answers_alone_get_their_report_and_no_row_of_the_leaderboard(project: Store, tmp_path: Path) -> None:
    import_answers(project, answers_file(tmp_path, ALL_QUERIES))
    freeze(project, "v2")
    page = opened(LEE)
    page = page.selectbox[0].select("v2").run()
    sent = answers_file(tmp_path, ALL_QUERIES).read_bytes()
    uploader = field(page, "Answer files")
    page = uploader.set_value([("new.jsonl", sent, "application/json")]).run()
    graded = [one.label for one in page.selectbox if "people's grades" in one.label]
    assert len(graded) == 3, "leads choose where people graded answers"
    page = button(page, "Evaluate").click().run()
    assert not page.error
    assert "Answers" in [one.label for one in page.expander]
    assert "No run has been scored on this part yet." in html(page)


def test_a_lead_makes_candidates_of_what_nobody_judged(project: Store, tmp_path: Path) -> None:
    page = opened(LEE)
    field(page, "Add documents").set_value(10)
    page = submitted(page.run(), ("new.trec", run_bytes(tmp_path, "a")))
    assert not page.error
    jobs_of(project).wait()
    assert "have no grade; 60 were added as candidates." in html(opened(LEE))


def test_an_evaluator_sees_their_own_job_and_nothing_of_other_work(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = None
    for name, message in (("vera", "Evaluated 1 run on v1, dev."), ("walt", "Evaluated 7 runs on v1, test.")):
        job = store_job(project, "evaluate", {"folder": str(tmp_path / "gone")}, name, last)[0]
        store_ending(project, job.job_id, "done", message)
        last = job.job_id
    shown = html(opened(VERA))
    assert "Evaluated 1 run on" in shown
    assert "walt" not in shown
    running = [
        Job("one", "evaluate", {"folder": ""}, "walt", datetime(2026, 5, 1)),
        Job("other", "pool", {}, "lee", datetime(2026, 5, 1)),
    ]
    at_work = {job.job_id: (job, JobProgress("at it", 1, 2)) for job in running}
    monkeypatch.setattr(Jobs, "running_jobs", lambda _: at_work)
    page = opened(VERA)
    assert not page.exception
    assert not [name for name in ("walt", "lee") if name in html(page)]
    assert [button.label for button in page.button] == ["Evaluate"]
