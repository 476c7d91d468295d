# mypy: disallow-any-expr
"""A user's program with every public name of `goldgrade`, which mypy checks strictly with the other packages.

No expression may have the type Any. `tests/test_python.py` compares the names with the interface, and runs
the part on qrels.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

import goldgrade


def curate(folder: Path) -> str:
    """From files to a release."""
    project: goldgrade.Project = goldgrade.create(folder / "project.duckdb", guide="graded")
    imported: str = project.import_file(
        "corpus", "docs.jsonl", fields={"body": ["text"]}, titles_only=True
    ).sentence
    sampled: int = project.sample(60, seed=7).size
    pooled: int = project.pool(["bm25"], depth=10, random_negatives=5).candidates
    regions: int = len(project.coverage().regions)
    alpha: float | None = project.agreement().between.ordinal.value
    project.split({"dev": 0.7, "test": 0.3}, paraphrase=None)
    release_id: str = project.freeze("v1").release_id
    names: list[str] = project.releases()
    assert_type(project.release("v1"), goldgrade.Release)
    project.close()
    goldgrade.open(folder / "project.duckdb").close()
    return f"{imported} {sampled} {pooled} {regions} {alpha} {release_id} {names}"


def curate_further(project: goldgrade.Project) -> tuple[object, ...]:
    """Rounds, judges, engines, and what comes after a release."""
    project.add_engine("shop", "opensearch", "shop.yaml")
    found: int = project.search_engine("shop", "live", depth=100).queries
    presentations: int = project.open_round("first", ["ada", "ben"], overlap=2, seed=7).presentations
    graded: int = project.ask_judge("model", release="v1").graded
    planned: object = project.plan_relabeling(fraction=0.1, seed=7)
    opened: object = project.relabel(["ada"], duplicates=0.1)
    regraded: list[dict[str, object]] = project.diff("v1", "v2").regrades
    return found, presentations, graded, planned, opened, regraded


def use_release(path: Path) -> float | None:
    """Read a release, and evaluate a run on it."""
    release: goldgrade.Release = goldgrade.release("v1", path)
    facts: tuple[str, str, dict[str, int], tuple[str, ...], str | None]
    facts = (release.name, release.id, release.parts, release.sealed, release.mark)
    queries: dict[str, str] = release.queries("dev")
    qrels: dict[str, dict[str, int]] = release.qrels(reason=str(facts))
    texts: list[str] = [document.text for document in release.documents()]
    runs: list[str] = [run.system for run in release.run("runs", ["bm25"], depth=100).runs]
    written: Path = release.export("beir", "out").out
    problems: Sequence[str] = release.verify().problems
    try:
        results = release.evaluate({"mine": qrels, "file": "mine.trec"}, "dev", measures="ndcg_exp@10")
    except goldgrade.Error as error:
        raise SystemExit(f"{error} {queries} {texts} {runs} {written} {problems}") from error
    answers = release.evaluate_answers({"rag": "answers.jsonl"}, "dev", by="type")
    first: object = results.lists["mine"]["evaluation_lists"]["rank"]
    return (
        results.runs[0].overall["ndcg_exp@10"].value
        or answers.systems[0].overall["f1"].value
        or float(f"{first}")
    )


def use_qrels() -> tuple[str, str, str, str]:
    """Evaluate runs on qrels, without a project."""
    qrels = {"q1": {"d1": 3, "d2": 0}, "q2": {"d1": 1}}
    runs = {"a": {"q1": {"d1": 9.5}, "q2": {"d3": 1.2}}, "b": {"q1": {"d2": 0.7}}}
    runs["both"] = goldgrade.fuse(runs["a"], runs["b"], depth=10)
    results: goldgrade.Results = goldgrade.evaluate(qrels, runs, ["ndcg_exp@10"], by="stratum", test="t")
    table: goldgrade.ResultTable = results.compare()
    columns: dict[str, list[object]] = results.per_query().to_dict()
    pairs: tuple[tuple[object, ...], ...] = results.pairs().rows
    return table.to_latex(), table.to_markdown(), results.figures().to_csv(), f"{columns} {pairs}"
