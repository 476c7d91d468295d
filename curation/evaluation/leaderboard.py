"""The leaderboard for a release's part: the runs scored on it, and their ranks.

Everybody who may evaluate sees the rows: system, figure, interval and author. On a sealed part, leads see the
evaluations of leads, from the page or from the command line, and evaluators see the rounded figures of
evaluators. The rows of other parts are the evaluations that were submitted on the page.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from curation.core.digests import canonical_json
from curation.evaluation.figures.comparison import Comparison
from curation.evaluation.figures.paired_comparisons import compare_systems
from curation.evaluation.figures.ranks import LeaderboardRow, rank_systems
from curation.evaluation.scoring.run_chunks import warn_of_unsure_ranges
from curation.releases.sealed_log import SealedEvaluation, read_query_values, read_sealed_evaluations
from curation.store import Cursor

MAX_ROWS = 20
"""Maximum number of rows of a leaderboard; every pair of rows is compared."""


class SubmittedRun(NamedTuple):
    """A run that was scored on a part of a release: its mean for a measure, and its value for each query.

    Attributes
    ----------
    by_text: whether the run gives chunks by texts that occur several times in their documents.
    """

    system: str
    author: str
    scored_at: datetime
    figure: Mapping[str, Any]
    values: Mapping[str, float | None]
    by_text: bool = False


def list_runs(cursor: Cursor, release_id: str, parts: Sequence[str], sealed: bool) -> list[SubmittedRun]:
    """List all runs scored on exactly these parts, in the order in which they were stored."""
    list_part_runs = _list_sealed_runs if sealed else _list_open_runs
    return list_part_runs(cursor, release_id, parts)


def _list_sealed_runs(cursor: Cursor, release_id: str, parts: Sequence[str]) -> list[SubmittedRun]:
    rows = [row for row in read_sealed_evaluations(cursor, release_id) if row.evaluated == list(parts)]
    rows = [row for row in rows if row.shown and not (row.of_answers or row.rounded)]
    values = read_query_values(cursor, [row.evaluation_id for row in rows])
    runs = []
    for row in rows:
        figure = get_first_figure(row.shown)
        run_values = values.get(row.evaluation_id, {})
        runs.append(SubmittedRun(row.system, row.evaluated_by, row.evaluated_at, figure, run_values))
    return runs


def _list_open_runs(cursor: Cursor, release_id: str, parts: Sequence[str]) -> list[SubmittedRun]:
    sql = """
        SELECT result, author, made_at FROM evaluations
        WHERE release_id = ? AND parts = ?::TEXT[] AND len(sealed) = 0 ORDER BY rowid
    """
    runs = []
    for text, author, made_at in cursor.execute(sql, [release_id, list(parts)]).fetchall():
        result = json.loads(str(text))
        for system in result.get("runs", ()):  # none if only answers were submitted
            measure = result["measures"][0]
            values = dict(zip(result["query_ids"], system["per_query"][measure], strict=True))
            figure = {"measure": measure, **system["overall"][measure]}
            counts = [facts.get("chunks") or {} for facts in system["files"]]
            by_text = any(count.get("twice") for count in counts)
            runs.append(SubmittedRun(system["name"], author, made_at, figure, values, by_text))
    return runs


def list_rounded_evaluations(cursor: Cursor, release_id: str, part: str) -> list[SealedEvaluation]:
    """List evaluators' rounded results on a sealed part, newest first."""
    rows = [row for row in read_sealed_evaluations(cursor, release_id) if part in row.parts]
    return [row for row in reversed(rows) if row.rounded and row.shown]


def get_first_figure(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the first measure's value, with the measure's name under the key `measure`."""
    measure, figure = next(iter(figures.items()))
    return {"measure": measure, **figure}


def rank_runs(
    runs: Sequence[SubmittedRun], measure: str
) -> tuple[list[tuple[LeaderboardRow, SubmittedRun]], dict[str, int]]:
    """Rank the best runs by a measure; two runs count as different only if the tests of all pairs of runs
    distinguish them.

    A later run of a system with the same values is left out. Further runs of the same name are numbered. Also
    return the number of runs that are left out by reason.
    """
    named_runs, left_out = _name_runs(runs, measure)
    best = sorted(named_runs, key=lambda name: (-named_runs[name].figure["value"], name))[:MAX_ROWS]
    left_out[f"below the first {MAX_ROWS}"] += len(named_runs) - len(best)
    compared = {name: named_runs[name] for name in best}
    means = {name: run.figure["value"] for name, run in compared.items()}
    rows = [(row, compared[row.system]) for row in rank_systems(means, _compare_runs(compared))]
    return rows, dict(+left_out)


def _name_runs(runs: Sequence[SubmittedRun], measure: str) -> tuple[dict[str, SubmittedRun], Counter[str]]:
    """Give each run that can be ranked a unique name, and count the runs that cannot be ranked, by reason."""
    left_out: Counter[str] = Counter()
    named_runs: dict[str, SubmittedRun] = {}
    earlier_runs: set[tuple[str, str]] = set()
    for run in runs:
        system_and_values = (run.system, canonical_json(dict(run.values)))
        if run.figure["measure"] != measure:
            left_out["evaluated with a different first measure"] += 1
        elif run.figure["value"] is None:
            left_out["evaluation without a figure"] += 1
        elif system_and_values in earlier_runs:
            left_out["same figures as an earlier evaluation"] += 1
        else:
            same_system = sum(other.system == run.system for other in named_runs.values())
            name = f"{run.system} #{same_system + 1}" if same_system else run.system
            named_runs[name] = run
        earlier_runs.add(system_and_values)
    return named_runs, left_out


def warn_of_unsure_runs(rows: Sequence[tuple[LeaderboardRow, SubmittedRun]]) -> str:
    """Warn if only some of the ranked runs have chunks at uncertain positions in documents; '' if no run or
    every run does."""
    return warn_of_unsure_ranges({row.system: run.by_text for row, run in rows})


def _compare_runs(runs: Mapping[str, SubmittedRun]) -> tuple[Comparison, ...]:
    if len(runs) < 2:
        return ()
    queries = sorted({query for run in runs.values() for query in run.values})
    values = np.array([[run.values.get(query) for query in queries] for run in runs.values()], np.float64)
    return compare_systems(tuple(runs), ("",), values[:, :, np.newaxis], {}, seed=0)
