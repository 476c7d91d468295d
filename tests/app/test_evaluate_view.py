"""The page Evaluate, run by Streamlit's AppTest on a release with two parts, one of them sealed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.views.evaluate import submit, uploads
from curation.errors import NotFoundError, RefusedError
from curation.evaluation.submitted import board, ranked, submitted_evaluations, submitted_report
from curation.jobs import Job, Jobs, jobs_of, last_job
from curation.jobs.running import Progressed
from curation.releases.overview import show
from curation.store import Annotator, Store
from tests.support.evaluated_project import evaluated_project, write_run
from tests.support.evaluated_project import ranked as lists_of

VERA, WALT, LEE, ANNA = (
    Annotator(name, role, False)
    for name, role in (("vera", "evaluator"), ("walt", "evaluator"), ("lee", "lead"), ("anna", "annotator"))
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    store = evaluated_project(tmp_path)
    monkeypatch.setenv(context.PROJECT, str(store.path))
    uploaded = tmp_path / "uploads"
    uploaded.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(uploaded))
    yield store
    jobs_of(store).wait()
    store.close()
    assert list(uploaded.glob(f"{uploads.FOLDER}*")) == [], "an upload was left"


def opened(annotator: Annotator, part: str | None = None) -> AppTest:
    def script(annotator):  # type: ignore[no-untyped-def]  # its text alone is run
        from app.navigation import all_pages

        next(found for found in all_pages() if found.address == "evaluate").show(annotator)

    page = AppTest.from_function(script, kwargs={"annotator": annotator}, default_timeout=30).run()
    return page if part is None else page.selectbox[1].select(part).run()


def run_bytes(tmp_path: Path, name: str) -> bytes:
    return write_run(tmp_path / "any.trec", lists_of(name)).read_bytes()


def submitted(page: AppTest, *files: tuple[str, bytes], reason: str | None = None) -> AppTest:
    sent = [(name, content, "text/plain") for name, content in files]
    page = page.file_uploader[0].set_value(sent).run()
    if reason is not None:
        next(one for one in page.text_input if one.label.startswith("Why")).input(reason)
    return next(one for one in page.button if one.label == "Evaluate").click().run()


def html(page: AppTest) -> str:
    return " ".join(str(element.proto.body) for element in page.get("html"))


def test_an_evaluator_uploads_runs_and_reads_their_report(project: Store, tmp_path: Path) -> None:
    page = submitted(
        opened(VERA), ("bm25.trec", run_bytes(tmp_path, "a")), ("dense.trec", run_bytes(tmp_path, "b"))
    )
    assert not page.exception
    assert not page.error
    assert "Query by query" in [one.label for one in page.expander]
    assert "Runs on v1, dev" in html(page)
    with project.reading() as cursor:
        (found,) = submitted_evaluations(cursor, VERA)
        report, result = submitted_report(cursor, found.evaluation_id, VERA)
    assert found.systems == ["bm25", "dense"]
    assert report.html.startswith("<!doctype html>")
    assert '"per_query"' in result


def test_a_sealed_part_needs_a_reason_and_shows_no_single_query(project: Store, tmp_path: Path) -> None:
    page = submitted(opened(VERA, "test"), ("bm25.trec", run_bytes(tmp_path, "a")))
    assert "say why you look at it" in page.error[0].value
    assert show(project, "v1").looks == ()
    page = submitted(opened(VERA, "test"), ("bm25.trec", run_bytes(tmp_path, "a")), reason="May")
    assert not page.error
    assert "Query by query" not in [one.label for one in page.expander]
    (look,) = show(project, "v1").looks
    assert (look.looked_by, look.reason, look.system) == ("vera", "May", "bm25")


def test_an_evaluator_chooses_measures_and_kinds_of_queries(project: Store, tmp_path: Path) -> None:
    page = opened(VERA)
    measures, kinds = page.multiselect
    assert measures.value[0] == "ndcg_exp@10", "the default ones are chosen"
    assert kinds.value == ["stratum", "tag"]
    measures.set_value(["mrr@10", "map"])
    kinds.set_value(["source"])
    page = submitted(page.run(), ("bm25.trec", run_bytes(tmp_path, "a")))
    assert not page.error
    with project.reading() as cursor:
        (one,) = submitted_evaluations(cursor, VERA)
        found = json.loads(submitted_report(cursor, one.evaluation_id, VERA)[1])
    assert found["measures"] == ["mrr@10", "map"]
    assert list(found["runs"][0]["strata"]) == ["source"]
    assert page.multiselect[0].value == ["mrr@10", "map"], "what was chosen stays for the next run"
    page.multiselect[0].set_value([])
    page = submitted(page.run(), ("dense.trec", run_bytes(tmp_path, "b")))
    assert "choose at least one" in page.error[0].value


def test_the_ladder_of_a_sealed_part_tells_of_an_improvement_and_of_nothing_else(
    project: Store, tmp_path: Path
) -> None:
    assert not opened(VERA).toggle, "it is for sealed parts"
    page = opened(VERA, "test")
    page = submitted(page.toggle[0].set_value(True).run(), ("a.trec", run_bytes(tmp_path, "a")), reason="May")
    assert not page.error
    assert "better than before by more than noise" in html(page)
    page = submitted(page, ("b.trec", run_bytes(tmp_path, "b")), reason="June")
    assert "no improvement beyond noise" in html(page)
    assert not page.expander
    assert [one.figures["ndcg_exp@10"]["value"] is None for one in show(project, "v1").looks] == [False, True]
    with project.reading() as cursor:
        assert submitted_evaluations(cursor, VERA) == []


def test_a_file_that_cannot_be_read_gets_its_sentences_and_lines(project: Store) -> None:
    page = submitted(opened(VERA), ("bad.trec", b"q0 Q0 d0.0 1 high run\nq0 Q0\n"))
    (error,) = page.error
    assert "bad\\.trec" in error.value
    assert "line 1" in error.value


def test_a_double_click_evaluates_once(project: Store, tmp_path: Path) -> None:
    page = submitted(opened(VERA), ("bm25.trec", run_bytes(tmp_path, "a")))
    assert not page.file_uploader[0].value, "the form is fresh"
    with project.reading() as cursor:
        assert len(submitted_evaluations(cursor, VERA)) == 1


def test_many_lines_are_a_job_that_leaves_no_file(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submit, "AT_ONCE", 10)
    page = submitted(opened(VERA), ("bm25.trec", run_bytes(tmp_path, "a")))
    assert not page.error
    jobs_of(project).wait()
    with project.reading() as cursor:
        job = last_job(cursor)
        assert job is not None
        assert (job.kind, job.outcome, job.started_by) == ("evaluate", "done", "vera")
        assert len(submitted_evaluations(cursor, VERA)) == 1
    assert "Evaluated 1 runs on v1, dev." in html(opened(VERA))


def test_evaluators_see_their_own_evaluations_and_everybodys_rows(project: Store, tmp_path: Path) -> None:
    submitted(opened(VERA), ("secret-idea.trec", run_bytes(tmp_path, "a")))
    others = opened(WALT)
    assert "secret-idea" in html(others), "a row of the leaderboard"
    assert not others.expander
    assert opened(LEE).expander
    with project.reading() as cursor:
        (found,) = submitted_evaluations(cursor, LEE)
        assert submitted_evaluations(cursor, WALT) == []
        with pytest.raises(NotFoundError, match="no such evaluation of yours"):
            submitted_report(cursor, found.evaluation_id, WALT)
        with pytest.raises(RefusedError, match="for the evaluator or lead"):
            submitted_report(cursor, found.evaluation_id, ANNA)


@pytest.mark.parametrize("part", ["dev", "test"])
def test_the_leaderboard_gives_equal_runs_a_common_letter_and_better_ones_a_rank(
    project: Store, tmp_path: Path, part: str
) -> None:
    best = {name: sorted(found) for name, found in lists_of("a").items()}
    reason = "May" if part == "test" else None
    for name, lists in (("best", best), ("one", lists_of("a")), ("two", lists_of("b"))):
        path = write_run(tmp_path / f"{name}.trec", lists)
        submitted(opened(VERA, part), (path.name, path.read_bytes()), reason=reason)
    with project.reading() as cursor:
        release_id = cursor.execute("SELECT release_id FROM releases").fetchall()[0][0]
        runs = board(cursor, release_id, [part], part == "test")
    found = ranked(runs, "ndcg_exp@10")
    first = found.rows[0]
    assert (first.system, first.best_rank, first.worst_rank, first.letters) == ("best", 1, 1, "a")
    assert {(row.best_rank, row.worst_rank, row.letters) for row in found.rows[1:]} == {(2, 3, "b")}
    assert ranked([*runs, runs[0]], "ndcg_exp@10").left_out == {"the same figures again": 1}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("../../etc/passwd", "passwd"), ("C:\\runs\\a.trec", "a.trec"), (".bashrc", "bashrc"), ("\0/\n", "run")],
)
def test_names_of_uploads_are_no_paths(sent: str, kept: str) -> None:
    assert uploads.file_name(sent) == kept


def test_an_evaluator_is_told_nothing_of_other_work(project: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("id", "pool", {}, "lee", datetime(2026, 5, 1))
    monkeypatch.setattr(Jobs, "at_work", lambda _: (job, Progressed("searching", 1, 2)))
    page = opened(VERA)
    assert not page.exception
    assert "lee" not in html(page)
    assert [one.label for one in page.button] == ["Evaluate"]
