"""The Agreement page keeps what it computed, and sees what anybody has judged since."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import context
from app.views.agreement import kept as kept_of_page
from app.views.agreement.kept import Shown, computed
from curation.agreement.annotators import bias as tendency
from curation.agreement.annotators import intra_annotator as within
from curation.agreement.between import breakdowns, grades
from curation.agreement.between import disagreement_sources as origins
from curation.agreement.report.fingerprint import TABLES, read_fingerprint
from curation.ingest.importers.corpus import import_corpus
from curation.labeling.consensus import votes
from curation.labeling.consensus.adjudication import decide
from curation.labeling.judgments.imported import import_judgments
from curation.operations.jobs.figures import figures_of
from curation.store import Store, put_setting
from tests.support.projects import new_project

HEADER = "query,document,annotator,grade"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Twelve pairs of six queries, graded by two."""
    (tmp_path / "corpus.jsonl").write_text(
        "\n".join(f'{{"id": "d{n}", "text": "thing {n}"}}' for n in range(12))
    )
    store = new_project(tmp_path / "project.duckdb")
    import_corpus(store, tmp_path / "corpus.jsonl")
    rows = [
        f"query {n % 6},d{n},{who},{(n + add * (n == 3)) % 4}"
        for n in range(12)
        for who, add in (("a", 0), ("b", 1))
    ]
    put(store, tmp_path / "first.csv", rows)
    monkeypatch.setenv(context.PROJECT, str(store.path))
    yield store
    store.close()


def put(store: Store, path: Path, rows: list[str]) -> None:
    path.write_text("\n".join([HEADER, *rows]))
    import_judgments(store, path)


def page() -> AppTest:
    def script() -> None:
        from app.views.agreement import agreement_page as agreement
        from curation.store.rows import Annotator

        agreement.show(Annotator("rosa", "reviewer", False))

    return AppTest.from_function(script, default_timeout=60).run()


def kept(store: Store) -> Shown:
    """What the page would show now, from memory if it is there."""
    return figures_of(store).now(computed, None)


def test_a_rerun_of_the_same_state_computes_nothing_anew(project: Store) -> None:
    shown = page()
    assert not shown.exception
    before = kept(project)
    shown.run()
    assert kept(project) is before
    assert before.page is not None


def test_the_verdict_is_there_before_the_rest_is_computed(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise InterruptedError

    monkeypatch.setattr(kept_of_page, "annotator_details", never)  # which only the rest needs
    shown = page()
    assert shown.exception, "the rest was asked for"
    assert "12 pairs" in " ".join(one.proto.body for one in shown.get("html"))


def test_another_process_judges_and_the_next_rerun_shows_it(project: Store, tmp_path: Path) -> None:
    shown = page()
    assert "12 pairs" in " ".join(one.proto.body for one in shown.get("html"))
    project.close()
    more = tmp_path / "more.csv"
    more.write_text("\n".join([HEADER, "query 0,d1,a,2", "query 0,d1,b,2"]))
    command = [
        Path(sys.executable).with_name("goldgrade"),
        "--project",
        str(project.path),
        "import",
        "judgments",
        str(more),
    ]
    subprocess.run(command, check=True, capture_output=True)
    shown.run()
    assert "13 pairs" in " ".join(one.proto.body for one in shown.get("html"))


def test_the_revision_changes_with_a_correction_a_decision_and_a_setting(
    project: Store, tmp_path: Path
) -> None:
    def revision() -> str:
        with project.reading() as cursor:
            return read_fingerprint(cursor)

    seen = [revision()]
    assert revision() == seen[0]
    put(project, tmp_path / "again.csv", ["query 0,d0,a,3"])
    seen.append(revision())
    with project.reading() as cursor:
        (asked,) = cursor.execute("SELECT query_id FROM queries WHERE text = 'query 0'").fetchone() or ()
    decide(project, asked, "d0", 1, "it says so")
    seen.append(revision())
    with project.transaction() as cursor:
        put_setting(cursor, "consensus", '{"rule":"median"}')
    seen.append(revision())
    assert len(set(seen)) == len(seen)


def test_every_table_that_a_report_reads_is_part_of_the_revision(project: Store) -> None:
    """Whatever the sentences of the reading functions name is counted."""
    text = " ".join(
        Path(module.__file__ or "").read_text()
        for module in (breakdowns, grades, origins, tendency, votes, within)
    )
    with project.reading() as cursor:
        tables = {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    read = set(re.findall(r"\b(?:FROM|JOIN) (\w+)", text)) & tables
    of_the_corpus = {
        "documents",
        "snapshot_documents",
        "settings",
    }  # a new corpus is a new row of corpus_snapshots
    assert read - of_the_corpus <= set(TABLES)
