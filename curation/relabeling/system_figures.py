"""The scores of systems on successive releases, which show how new grades change evaluations.

A system's figures on two releases differ by the grades and by the queries. So each system has two rows of
figures: on all queries of each release, and on the queries that all its releases share. The move from the
first to the last release is tested on the shared queries. Sealed parts have no figures here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from curation.core.reports.charts import Mark, draw_intervals
from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.core.statistics.estimate import Estimate
from curation.core.statistics.intervals import MINIMUM_QUERIES
from curation.core.statistics.paired_intervals import paired_intervals
from curation.core.text import pluralize
from curation.evaluation.evaluable_release import read_choices
from curation.evaluation.leaderboard import SubmittedRun, list_runs
from curation.people.seal_access import read_sealed_queries
from curation.releases.release_rows import ReleaseRow, list_releases
from curation.store import Cursor

SEED = 0
MAX_CHARTED = 24
"""Maximum number of figures in the chart; the table has all figures."""
FEW_SHARED = f"fewer than {MINIMUM_QUERIES} shared queries"


class SystemMove(NamedTuple):
    """The figures of a system on a part of the split, release by release.

    Attributes
    ----------
    figures: figures on all queries of each release; means: means over the shared queries.
    shared: number of queries with a figure on each release.
    move: the mean over shared queries on the last release minus the mean on the first release.
    """

    system: str
    part: str
    measure: str
    releases: tuple[str, ...]
    figures: tuple[Estimate, ...]
    means: tuple[float | None, ...]
    shared: int
    move: Estimate

    @property
    def has_moved(self) -> bool:
        """Return whether the interval of the change in score excludes zero."""
        return self.move.low is not None and self.move.high is not None and self.move.low * self.move.high > 0


def read_system_moves(cursor: Cursor) -> tuple[SystemMove, ...]:
    """Read the figures of the systems that were evaluated on several releases, by part and system.

    Only evaluations on the page Evaluate are stored. The newest evaluation on a release counts.
    """
    runs: defaultdict[tuple[str, str, str], dict[str, tuple[ReleaseRow, SubmittedRun]]] = defaultdict(dict)
    for row in list_releases(cursor):
        for part, is_sealed in read_choices(cursor, row).parts.items():
            for run in [] if is_sealed else list_runs(cursor, row.release_id, [part], sealed=False):
                if run.figure["value"] is not None:
                    runs[part, run.system, run.figure["measure"]][row.name] = row, run
    hidden = read_sealed_queries(cursor)  # of any release, also of one after the evaluation
    return tuple(
        _compute_move(*key, list(found.values()), hidden)
        for key, found in sorted(runs.items())
        if len(found) > 1
    )


def describe_moves(moves: Sequence[SystemMove]) -> str:
    """Return a sentence on the systems whose figures moved over the releases; '' without such figures."""
    if not moves:
        return ""
    moved = [
        f"{row.system} on {row.part} by {row.move.text(sign='+')} {row.measure}"
        for row in moves
        if row.has_moved
    ]
    systems = pluralize(len(moves), "system's figures", "systems' figures")
    if not moved:
        return f"No figure of {systems} moved clearly over the releases, on the queries that they share."
    return f"Figures that moved over the releases, on the shared queries: {'; '.join(moved)}."


def make_move_section(moves: Sequence[SystemMove]) -> Section:
    """Show the systems over the releases as a line of marks and as a table."""
    rows: list[tuple[object, ...]] = []
    marks = []
    for row in moves:
        for release, figure, mean in zip(row.releases, row.figures, row.means, strict=True):
            rows.append((row.system, row.part, release, figure, figure.n, mean, row.shared))
            name = f"{row.system}, {row.part}: {release}"
            marks.append(Mark(name, Estimate(mean, why=FEW_SHARED), f"{row.shared:,} shared queries"))
    measures = ", ".join(sorted({row.measure for row in moves}))
    columns = ("system", "part", "release", f"all queries: {measures}", "queries", "shared queries", "number")
    title = "Systems over the releases, on the shared queries"
    return Section(
        "Systems over the releases",
        "On the shared queries only grades, documents and the system can move a figure; on all queries also "
        "the queries that left or joined.",
        (draw_intervals(title, marks[:MAX_CHARTED]),) if marks else (),
        (Table("Systems over the releases", columns, tuple(rows)),),
    )


def _compute_move(
    part: str,
    system: str,
    measure: str,
    found: Sequence[tuple[ReleaseRow, SubmittedRun]],
    hidden: Collection[str],
) -> SystemMove:
    known = [{query for query, value in run.values.items() if value is not None} for _, run in found]
    shared = sorted(set.intersection(*known).difference(hidden))
    matrix = np.array([[run.values[query] for query in shared] for _, run in found], np.float64)
    move = Estimate(n=len(shared), why=FEW_SHARED)
    if len(shared) >= MINIMUM_QUERIES:
        differences = matrix[-1] - matrix[0]
        low, high = paired_intervals(differences[:, np.newaxis], SEED)[:, 0].tolist()
        move = Estimate(float(differences.mean()), low, high, len(shared))
    figures = [
        Estimate(run.figure["value"], run.figure["low"], run.figure["high"], run.figure["n"])
        for _, run in found
    ]
    return SystemMove(
        system=system,
        part=part,
        measure=measure,
        releases=tuple(row.name for row, _ in found),
        figures=tuple(figures),
        means=tuple(matrix.mean(axis=1).tolist() if shared else [None] * len(found)),
        shared=len(shared),
        move=move,
    )
