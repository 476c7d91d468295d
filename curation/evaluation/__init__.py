"""Evaluation: what systems reach on a release, with the size, the interval and the holes of each figure.

    from curation.evaluation import evaluate

    tables = evaluate(("data/goldgrade.duckdb", "v1"), {"bm25": "runs/bm25.trec"})

The room reads releases and run files of the project alone. `scoring` makes a run the values of
queries; figures and comparisons are made of these alone, which `report` and `tables` show. Of a sealed part
no value of a single query leaves `evaluate_runs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curation.evaluation.evaluation import EvaluationOptions
    from curation.evaluation.tables import EvaluationTables, ProjectRelease, evaluate

__all__ = ["EvaluationOptions", "EvaluationTables", "ProjectRelease", "evaluate"]


def __getattr__(name: str) -> Any:
    """What is public, imported when it is asked for: commands that need one module load no other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from curation.evaluation import tables

    return getattr(tables, name)
