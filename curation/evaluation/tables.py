"""An evaluation as tables, one row a figure, for notebooks and programs.

    from curation.evaluation import evaluate

    tables = evaluate(("data/goldgrade.duckdb", "v1"), {"bm25": "runs/bm25.trec"})
    tables.systems.to_pandas()

They are Arrow tables. An unknown value is null, and never 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.evaluation.comparison.pairs import Comparison
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation, EvaluationOptions
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.figures.traffic import TrafficFigure
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.store import COMMAND_LINE, open_store

RunFiles = str | Path | Sequence[str | Path]
"""A run's file, or those of several runs of one system."""
Row = dict[str, Any]

_TEXT, _NUMBER, _COUNT = pa.string(), pa.float64(), pa.int64()
_TRAFFIC = {"traffic": _NUMBER, "traffic_low": _NUMBER, "traffic_high": _NUMBER}
_KIND = {"facet": _TEXT, "kind": _TEXT}
_FIGURE = {name: {"no_interval": _TEXT, "n": _COUNT}.get(name, _NUMBER) for name in MeasureFigure._fields}
_TYPES = {"str": _TEXT, "float": _NUMBER, "int": _COUNT}
_COMPARED = {
    field.name: _TYPES[field.type.split(" ")[0]]
    for field in fields(Comparison)
    if isinstance(field.type, str) and field.type.split(" ")[0] in _TYPES
}
"""The fields of a comparison that are no records."""
SYSTEMS = pa.schema({"system": _TEXT, "measure": _TEXT, **_FIGURE, **_TRAFFIC})
STRATA = pa.schema(
    {"system": _TEXT, **_KIND, "queries": _COUNT, "left_out": _TEXT, "measure": _TEXT, **_FIGURE}
)
COMPARISONS = pa.schema({**_KIND, **_COMPARED, **_TRAFFIC})
QUERIES = pa.schema({"query_id": _TEXT, "query": _TEXT, "system": _TEXT, "measure": _TEXT, "value": _NUMBER})


class ProjectRelease(NamedTuple):
    """A release: the file of its project, and its name."""

    project: str | Path
    name: str


@dataclass(frozen=True)
class EvaluationTables:
    """The figures of an evaluation.

    Attributes
    ----------
    evaluation: what they were made of, with all that has no table: counts, leaderboard, versions.
    systems: system, measure, the fields of `MeasureFigure`, and the estimate for all searches (`traffic`).
    strata: system, facet, kind, queries, measure, and the same fields; a kind without figures has one row
        where `left_out` says why.
    comparisons: the fields of `Comparison`, and the estimate for all searches; facet and kind are null for
        all queries.
    queries: query_id, query, system, measure, value; None where a sealed part was evaluated.
    """

    evaluation: Evaluation
    systems: pa.Table
    strata: pa.Table
    comparisons: pa.Table
    queries: pa.Table | None


def evaluate(
    release: ProjectRelease | tuple[str | Path, str],
    runs: Mapping[str, RunFiles],
    options: EvaluationOptions = EvaluationOptions(),
    *,
    reason: str | None = None,
    author: str = COMMAND_LINE,
    progress: Progress = silent,
) -> EvaluationTables:
    """Score run files on a release.

    Parameters
    ----------
    release: (file of the project, name of the release).
    runs: name of a system → its run file, or the files of its runs, such as seeds.
    reason, author: why a sealed part is evaluated and by whom, which is logged.

    Raises
    ------
    InputError: options that mean nothing here, or run files that cannot be taken.
    NotFoundError: there is no such project or release.
    RefusedError: a sealed part is evaluated without a reason, or by somebody who may not; the release cannot
        be used.
    """
    project, name = release
    store = open_store(Path(project))
    return evaluation_tables(evaluate_runs(store, name, _sources(runs), options, reason, author, progress))


def evaluation_tables(evaluation: Evaluation) -> EvaluationTables:
    """The figures of an evaluation as tables."""
    queries = None if evaluation.query_ids is None else _table(_queries(evaluation), QUERIES)
    return EvaluationTables(
        evaluation=evaluation,
        systems=_table(_systems(evaluation), SYSTEMS),
        strata=_table((row for system in evaluation.runs for row in _strata(system)), STRATA),
        comparisons=_table(map(_comparison, evaluation.comparisons), COMPARISONS),
        queries=queries,
    )


def _sources(runs: Mapping[str, RunFiles]) -> list[RunSource]:
    found = []
    for name, files in runs.items():
        several = [files] if isinstance(files, str | Path) else list(files)
        if not several:
            raise InputError(f"The system {name!r} has no run file: name at least one.")
        found += [RunSource(name, Path(file)) for file in several]
    return found


def _table(rows: Iterator[Row], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=schema)


def _systems(evaluation: Evaluation) -> Iterator[Row]:
    for system in evaluation.runs:
        for measure, figure in system.overall.items():
            row = {"system": system.name, "measure": measure}
            yield row | figure._asdict() | _traffic(system.traffic.get(measure))


def _strata(system: EvaluatedSystem) -> Iterator[Row]:
    for facet, kinds in system.strata.items():
        for kind, stratum in kinds.items():
            row: Row = {"system": system.name, "facet": facet, "kind": kind}
            row |= {"queries": stratum.queries, "left_out": stratum.left_out}
            if not stratum.figures:
                yield row
            for measure, figure in stratum.figures.items():
                yield row | {"measure": measure} | figure._asdict()


def _comparison(comparison: Comparison) -> Row:
    facet, kind = comparison.stratum or (None, None)
    row = {name: getattr(comparison, name) for name in _COMPARED}
    return row | {"facet": facet, "kind": kind} | _traffic(comparison.traffic)


def _traffic(figure: TrafficFigure | None) -> Row:
    value, low, high = (None, None, None) if figure is None else (figure.value, figure.low, figure.high)
    return {"traffic": value, "traffic_low": low, "traffic_high": high}


def _queries(evaluation: Evaluation) -> Iterator[Row]:
    asked = list(zip(evaluation.query_ids or (), evaluation.query_texts or (), strict=True))
    for system in evaluation.runs:
        for measure, values in (system.per_query or {}).items():
            for query, value in zip(asked, values, strict=True):
                yield dict(zip(QUERIES.names, (*query, system.name, measure, value), strict=True))
