"""The call for notebooks and programs: a release and run files in, tables out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.evaluation import EvaluationOptions, evaluate
from curation.evaluation.comparison.pairs import Comparison
from curation.evaluation.tables import COMPARISONS
from curation.store import Store
from tests.support import ROOT
from tests.support.evaluated_project import evaluated_project, ranked, write_run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = evaluated_project(tmp_path)
    yield found
    found.close()


def run(folder: Path, name: str) -> Path:
    return write_run(folder / f"{name}.trec", ranked(name))


def test_the_snippet_of_the_docs_runs_and_says_what_the_docs_say(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project and the runs are where the snippet has them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "runs").mkdir()
    shutil.copy(store.path, "data/goldgrade.duckdb")
    for name in ("bm25", "seed1", "seed2"):
        run(tmp_path / "runs", name)
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    section = page[page.index("## From Python") :]
    names: dict[str, Any] = {}
    for snippet in re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL):
        exec(snippet, names)
    tables = names["tables"]
    found = tables.evaluation.runs[0].overall["ndcg_exp@10"]
    rows = tables.systems.to_pylist()
    of = {(row["system"], row["measure"]): row for row in rows}
    assert of["bm25", "ndcg_exp@10"]["value"] == found.value
    assert {"value", "low", "high", "n", "judged"} <= set(of["new", "ndcg_exp@10"])
    assert len(names["scores"].of("ndcg_exp@10")) == 1


def test_every_figure_is_a_row_and_the_unknown_is_null(store: Store, tmp_path: Path) -> None:
    runs = {name: run(tmp_path, name) for name in ("a", "b")}
    options = EvaluationOptions("dev", ["ndcg_exp@10", "bpref"], by=["source", "tag"])
    tables = evaluate((store.path, "v1"), runs, options)
    found = tables.evaluation
    assert tables.systems.num_rows == 2 * 2
    bpref = [row for row in tables.systems.to_pylist() if row["measure"] == "bpref"]
    assert [row["if_all"] for row in bpref] == [None, None]
    sources = [row for row in tables.strata.to_pylist() if row["facet"] == "source"]
    assert {row["kind"] for row in sources} == set(found.runs[0].strata["source"])
    for row in sources:
        stratum = next(one for one in found.runs if one.name == row["system"]).strata["source"][row["kind"]]
        assert row["queries"] == stratum.queries
        assert row["left_out"] or row["value"] == stratum.figures[row["measure"]].value
    overall = next(row for row in tables.comparisons.to_pylist() if row["facet"] is None)
    assert overall["difference"] == found.comparisons[0].difference
    assert tables.queries is not None
    assert tables.queries.num_rows == 2 * 2 * found.queries
    assert {one.name for one in fields(Comparison)} - {"stratum"} <= set(COMPARISONS.names)


def test_a_sealed_part_has_a_count_and_no_table_of_queries(store: Store, tmp_path: Path) -> None:
    runs = {"a": run(tmp_path, "a")}
    with pytest.raises(RefusedError, match="sealed"):
        evaluate((store.path, "v1"), runs, EvaluationOptions("test"))
    tables = evaluate((store.path, "v1"), runs, EvaluationOptions("test"), reason="May", author="lee")
    assert tables.queries is None
    assert tables.evaluation.sealed_count is not None
    assert tables.evaluation.sealed_count[1:4] == (1, 1, 2)


def test_what_is_not_there_is_said(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        evaluate((tmp_path / "none.duckdb", "v1"), {"a": run(tmp_path, "a")})
    with pytest.raises(InputError, match="The system 'a' has no run file"):
        evaluate((store.path, "v1"), {"a": []})
