"""The Python interface of goldgrade: projects and their releases as objects.

    import goldgrade

    project = goldgrade.open("data/shop.duckdb")
    project.sample(60, seed=7)
    project.pool(["bm25"], depth=10)

    release = goldgrade.release("v1")
    release.qrels("dev")                                     # {"q1": {"d7": 3, "d9": 0}, …}
    release.evaluate({"mine": {"q1": {"d7": 12.5}}})         # figures with their intervals

    goldgrade.evaluate("qrels.txt", {"mine": "mine.trec"})   # the same, without a project

Each method calls the function of the command with the same name, and returns the result of this function.
A path can be a string or a `Path`. Every failure raises an `Error` whose message says what to do. Grades of
sealed parts are given only with a reason, which is logged. The modules of a method are imported when the
method is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.core.errors import CurationError as Error
    from goldgrade.evaluations import Results, ResultTable
    from goldgrade.inputs import Run, Source
    from goldgrade.projects import Project
    from goldgrade.releases import Release

__all__ = [
    "Error",
    "Project",
    "Release",
    "ResultTable",
    "Results",
    "create",
    "evaluate",
    "fuse",
    "open",
    "release",
]
_LAZY_IMPORTS = {
    "Error": "curation.core.errors:CurationError",
    "Project": "goldgrade.projects:Project",
    "Release": "goldgrade.releases:Release",
    "ResultTable": "goldgrade.evaluations:ResultTable",
    "Results": "goldgrade.evaluations:Results",
}
"""The classes that are imported when they are first used: name → module and name in the module."""


def create(path: str | Path, guide: str | Path | None = None) -> Project:
    """Make a project with a labeling guide: a file, or the name of a shipped guide, such as "binary"."""
    from curation.operations.project import init_project
    from goldgrade.projects import Project

    return Project(init_project(Path(path), None if guide is None else Path(guide)))


def evaluate(
    qrels: Source,
    runs: Mapping[str, Source],
    measures: str | Sequence[str] | None = None,
    *,
    topics: Source | None = None,
    by: str | Sequence[str] = ("stratum",),
    relevant: int | None = None,
    baseline: str | None = None,
    test: str = "randomisation",
    seed: int = 0,
) -> Results:
    """Evaluate systems on qrels without a project, as `goldgrade evaluate QRELS` does.

    Parameters
    ----------
    qrels: {query id: {document id: grade}}, a table of pandas, polars or Arrow, or a file.
    runs: the run of each system, in the same forms.
    measures: names of measures, such as ["ndcg_exp@10", "recall@100"], or a single name.
    topics: a table or a file with the id of each query, and optionally its text, stratum, segment and tags.
    by: strata, tags or columns of the topics for which figures are reported separately.
    relevant: the lowest grade of a relevant document; by default every grade above 0.
    baseline: the run with which all others are compared; by default each pair of runs is compared.
    test: the test that decides: "randomisation", "t" or "wilcoxon".
    """
    from goldgrade.evaluations import evaluate_on_qrels, make_request

    request = make_request(measures, by, relevant=relevant, baseline=baseline, test=test, seed=seed)
    return evaluate_on_qrels(qrels, runs, topics, request)


def fuse(*runs: Run, depth: int = 1000) -> dict[str, dict[str, float]]:
    """Fuse runs by reciprocal rank fusion (RRF, k = 60), which uses only the ranks of documents.

    Parameters
    ----------
    runs: {query id: {document id: score}}; equal scores are in the order of trec_eval.
    depth: the number of documents of each fused list.
    """
    from goldgrade.inputs import fuse_runs

    return fuse_runs(runs, depth)


def open(path: str | Path | None = None) -> Project:
    """Open the project in a file; by default the file of $GOLDGRADE_PROJECT, else data/goldgrade.duckdb."""
    from curation.store import open_store
    from goldgrade.projects import Project

    return Project(open_store(_project_file(path)))


def release(name: str | Path, project: str | Path | None = None) -> Release:
    """Read a release by name or id from a project (see `open`), or a packed release from its file."""
    from curation.store import store_at
    from goldgrade.releases import Release

    return Release(store_at(_project_file(project)), str(name))


def _project_file(path: str | Path | None) -> Path:
    from curation.core.default_paths import find_project_file

    return Path(path) if path else find_project_file()


def __getattr__(name: str) -> object:
    if name not in _LAZY_IMPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _LAZY_IMPORTS[name].partition(":")
    value: object = getattr(import_module(module), attribute)
    return value
