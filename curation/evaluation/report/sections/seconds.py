"""Report, time: how long a query took, for runs whose file of times says so."""

from __future__ import annotations

from curation.evaluation.evaluation import Evaluation
from curation.evaluation.inputs.run_seconds import RunSeconds
from curation.evaluation.report.section import ReportSection
from curation.reports.page import Section, Table

COLUMNS = ("system", "run", "mean", "median", "p95", "queries", "note")


def write(found: Evaluation) -> list[Section]:
    rows = [
        (system.name, run.source, *_cells(run.seconds))
        for system in found.runs
        for run in system.files
        if run.seconds is not None
    ]
    if not rows:
        return []
    sentence = "As the systems measured it. Times of different machines do not compare."
    return [Section("Time a query", sentence, (), (Table("Milliseconds a query", COLUMNS, tuple(rows)),))]


def _cells(seconds: RunSeconds) -> tuple[str, ...]:
    times = (seconds.mean, seconds.median, seconds.p95)
    shown = tuple("–" if time is None else f"{1000 * time:.1f}" for time in times)
    return (*shown, f"{seconds.n:,}" if seconds.n else "–", seconds.left_out or "")


SECTION = ReportSection(82, write)
