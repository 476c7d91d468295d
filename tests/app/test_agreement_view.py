"""The Agreement page keeps what it computed, and sees what anybody has judged since."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.views import agreement
from curation.agreement import bias, breakdowns, disagreement_sources, grades, intra_annotator
from curation.agreement.fingerprint import TABLES, read_fingerprint
from curation.labeling.consensus import votes
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.imported import import_judgments
from curation.store import Store, put_setting
from tests.support.projects import import_rows, rows_of
from tests.support.started import Started

pytestmark = pytest.mark.slow

HEADER = "query,document,annotator,grade"


@pytest.fixture
def project(served: Store, tmp_path: Path) -> Store:
    """Twelve pairs of six queries, graded by two."""
    import_rows(served, [{"id": f"d{n}", "text": f"thing {n}"} for n in range(12)])
    rows = [
        f"query {n % 6},d{n},{who},{(n + add * (n == 3)) % 4}"
        for n in range(12)
        for who, add in (("a", 0), ("b", 1))
    ]
    put(served, tmp_path / "first.csv", rows)
    return served


def put(store: Store, path: Path, rows: list[str]) -> None:
    path.write_text("\n".join([HEADER, *rows]))
    import_judgments(store, path)


def page() -> AppTest:
    def script() -> None:
        from app.views import agreement
        from curation.store.row_types import Annotator

        agreement.show(Annotator("rosa", "reviewer", False))

    return AppTest.from_function(script, default_timeout=60).run()


def test_the_verdict_is_there_before_the_rest_is_computed(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise InterruptedError

    monkeypatch.setattr(agreement, "compute_annotator_details", never)  # which only the rest needs
    shown = page()
    assert shown.exception, "the rest was asked for"
    assert "12 pairs" in " ".join(one.proto.body for one in shown.get("html"))


def test_another_process_judges_and_the_next_rerun_shows_it(project: Store, tmp_path: Path) -> None:
    shown = page()
    assert "12 pairs" in " ".join(one.proto.body for one in shown.get("html"))
    project.close()
    more = tmp_path / "more.csv"
    more.write_text("\n".join([HEADER, "query 0,d1,a,2", "query 0,d1,b,2"]))
    command = ["--project", str(project.path), "import", "judgments", str(more)]
    assert Started(command, tmp_path / "log").wait(60) == 0
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
    ((asked,),) = rows_of(project, "SELECT query_id FROM queries WHERE text = 'query 0'")
    decide_pair(project, asked, "d0", 1, "it says so")
    seen.append(revision())
    with project.transaction() as cursor:
        put_setting(cursor, "consensus", '{"rule":"median"}')
    seen.append(revision())
    assert len(set(seen)) == len(seen)


def test_every_table_that_a_report_reads_is_part_of_the_revision(project: Store) -> None:
    """Whatever the sentences of the reading functions name is counted."""
    modules = (breakdowns, grades, disagreement_sources, bias, votes, intra_annotator)
    text = " ".join(Path(module.__file__ or "").read_text() for module in modules)
    tables = {name for (name,) in rows_of(project, "SELECT table_name FROM duckdb_tables()")}
    read = set(re.findall(r"\b(?:FROM|JOIN) (\w+)", text)) & tables
    # A new corpus is a new row of corpus_snapshots; events are read by the fingerprint of re-labeling alone.
    aside = {"documents", "snapshot_documents", "settings", "events"}
    assert read - aside <= set(TABLES)
