"""The results of an evaluation in Python: tables of systems, pairs and queries, for notebooks and papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from curation.core.errors import RefusedError
from curation.core.reports.page import render
from curation.core.reports.table_files import format_csv, format_latex, format_markdown
from curation.core.reports.tables import Table
from curation.core.request import read_request
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation
from curation.evaluation.report.system_tables import make_figures_table, make_system_table
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.qrels_file import read_qrels_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.releases.frozen_release import FrozenRelease
from curation.store import Store
from goldgrade.inputs import Source, check_runs, list_names, write_files
from goldgrade.wording import naming_arguments

NO_PROJECT = Path("no project")
"""The path of the store that an evaluation on qrels has and never opens."""
PAIR_COLUMNS = ("measure", "system", "other", "difference", "low", "high", "p", "p_corrected", "test", "n")


class ResultTable(Table):
    """A table of results: `columns` and `rows`; pandas, polars and pyarrow read the table through Arrow."""

    def to_dict(self) -> dict[str, list[object]]:
        """Return the values of each column, as `pandas.DataFrame` takes them."""
        return {name: [row[index] for row in self.rows] for index, name in enumerate(self.columns)}

    def to_csv(self) -> str:
        """Format the table as CSV."""
        return format_csv(self)

    def to_latex(self) -> str:
        """Format the table as LaTeX that works without packages."""
        return format_latex(self)

    def to_markdown(self) -> str:
        """Format the table in GitHub Flavored Markdown."""
        return format_markdown(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        return pa.table(self.to_dict()).__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return str(render("table.html", table=self))


class Results(Evaluation):
    """An evaluation with its tables; `runs`, `comparisons` and the other attributes contain all figures."""

    def compare(self) -> ResultTable:
        """Return a row for each system: each measure with its interval, and letters or arrows that show
        which systems differ significantly.
        """
        return _make_table(make_system_table(self))

    def figures(self) -> ResultTable:
        """Return a row for each system with all digits: each measure's mean, interval and n."""
        return _make_table(make_figures_table(self))

    def pairs(self) -> ResultTable:
        """Return the paired tests of all queries: difference, interval, p, and p after Holm's correction."""
        rows = [
            tuple(getattr(comparison, name) for name in PAIR_COLUMNS)
            for comparison in self.comparisons
            if comparison.stratum is None
        ]
        return ResultTable("Differences of systems", PAIR_COLUMNS, tuple(rows))

    def per_query(self) -> ResultTable:
        """Return a row for each query and system with the value of each measure.

        Raises
        ------
        RefusedError: a sealed part was evaluated.
        """
        if self.query_ids is None or self.query_texts is None:
            parts = ", ".join(self.sealed)
            raise RefusedError(f"{parts} is sealed, and a sealed part shows no values of individual queries.")
        rows: list[tuple[object, ...]] = []
        for run in self.runs:
            values = (
                zip(*(run.per_query[name] for name in self.measures), strict=True) if run.per_query else ()
            )
            names = zip(self.query_ids, self.query_texts, strict=True)
            rows += [(*query, run.name, *row) for query, row in zip(names, values, strict=True)]
        return ResultTable("Values by query", ("query_id", "query", "system", *self.measures), tuple(rows))

    def _repr_html_(self) -> str:
        return self.compare()._repr_html_()


def make_request(
    measures: str | Sequence[str] | None, by: str | Sequence[str], **values: object
) -> EvaluateRequest:
    """Make a request from a call's arguments, and reject arguments of the wrong type."""
    names = {"measures": None if measures is None else list_names("measures", measures)}
    return read_request(EvaluateRequest, {**names, "by": list_names("by", by), **values})


def evaluate_sources(
    store: Store, release: FrozenRelease, runs: Mapping[str, Source], request: EvaluateRequest
) -> Results:
    """Evaluate runs in memory or in files on a release."""
    check_runs(runs)
    labels = {f"the run {name!r}": run for name, run in runs.items()}
    with naming_arguments(EvaluateRequest), write_files(labels) as files:
        sources = [SystemFile(name, file) for name, file in zip(runs, files, strict=True)]
        evaluation = evaluate_runs(store, release, sources, request)
    return Results(**{field.name: getattr(evaluation, field.name) for field in fields(evaluation)})


def evaluate_on_qrels(
    qrels: Source, runs: Mapping[str, Source], topics: Source | None, request: EvaluateRequest
) -> Results:
    """Evaluate runs on qrels, all in memory or in files."""
    sources = {"qrels": qrels} if topics is None else {"qrels": qrels, "topics": topics}
    with write_files(sources) as files:
        name = Path(qrels).name if isinstance(qrels, str | Path) else "qrels"
        release = read_qrels_release(files[0], None if topics is None else files[1], name)
    return evaluate_sources(Store(NO_PROJECT), release, runs, request)


def _make_table(table: Table) -> ResultTable:
    return ResultTable(table.caption, table.columns, table.rows)
