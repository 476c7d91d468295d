"""Figures of systems as files: values of queries as `trec_eval -q` prints them, and a table for a paper.

The lines are measure, query, value; then those of all queries. Measures have trec_eval's names, such as
`ndcg_cut_10`; those that it lacks keep ours, such as `mrr@10`. A query without a value in a measure, such as
one without a relevant document, has no line of it. A query that the run misses has 0, as with trec_eval's
option -c. Ids have no white space, as in exports for TREC.

The table has systems by measures with intervals and what can be distinguished. Its figures and marks are
those of the report, so of a sealed part they are what leads see.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from curation.core.reports.page import Table
from curation.core.text import amount, printable
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.report.section import with_interval
from curation.evaluation.scoring.metrics.measures import Measure, measures_named
from curation.evaluation.significance import what_decides
from curation.releases.export.formats.trec import without_space
from curation.releases.release_rows import marked

_SAME = {
    **{"rprec": "Rprec", "gmap": "gm_map", "set_precision": "set_P", "set_f1": "set_F"},
    **{name: name for name in ("bpref", "set_recall", "num_ret", "num_rel", "num_rel_ret")},
}
_CUT = {"ndcg": "ndcg_cut", "map": "map_cut", "precision": "P", "recall": "recall", "success": "success"}
_WHOLE = {"ndcg": "ndcg", "map": "map", "mrr": "recip_rank"}
_OF_ALL = ("gm_map",)
"""Printed of all queries alone."""


def trec_name(measure: Measure) -> str:
    """What trec_eval calls a measure; our own name where it has none."""
    if measure.depth is not None:
        return f"{_CUT[measure.kind]}_{measure.depth}" if measure.kind in _CUT else measure.name
    if measure.kind == "iprec":
        return f"iprec_at_recall_{measure.recall:.2f}"
    return (_SAME | _WHOLE).get(measure.kind, measure.name)


def trec_lines(evaluation: Evaluation, system: EvaluatedSystem) -> Iterator[str]:
    """The lines of one system, each with its line feed; of a sealed part there are none by query."""
    names = {measure.name: trec_name(measure) for measure in measures_named(evaluation.measures)}
    printed = 0
    exported = without_space(evaluation.query_ids or ())
    for place, query in enumerate(evaluation.query_ids or ()):
        values = {name: (system.per_query or {})[name][place] for name in evaluation.measures}
        lines = [
            _line(names[name], exported[query], value)
            for name, value in values.items()
            if value is not None and names[name] not in _OF_ALL
        ]
        printed += bool(lines)
        yield from lines
    yield _text("runid", "all", " ".join(printable(system.name).split()))
    yield _text("num_q", "all", str(printed))
    for name in evaluation.measures:
        value = system.overall[name].value
        if value is not None:
            yield _line(names[name], "all", value)


def _line(name: str, query: str, value: float) -> str:
    return _text(name, query, f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}")


def _text(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}\n"


ABOVE, BELOW = "\u2191", "\u2193"
"""Marks of a system that is distinguished from the baseline."""


class _Marks(NamedTuple):
    """(system, measure) → mark, what a column of marks is called, and what the caption says of them."""

    marks: dict[tuple[str, str], str]
    column: str
    about: str


def system_table(evaluation: Evaluation) -> Table:
    """A row a system and a column a measure: the mean, its 95 % interval and its mark."""
    marks = _marks(evaluation)
    rows = [
        (run.name, *(_shown(run, measure, marks) for measure in evaluation.measures))
        for run in evaluation.runs
    ]
    name = marked(evaluation.release, evaluation.mark)
    caption = f"{name}, {', '.join(evaluation.parts)}: {amount(evaluation.queries, 'query', 'queries')}; in "
    caption += f"parentheses the 95 % interval. {marks.about}"
    return Table(caption.rstrip(), ("system", *evaluation.measures), tuple(rows))


def system_figures(evaluation: Evaluation) -> Table:
    """The same with every digit, for programs: a measure's mean, interval, number of queries and mark."""
    marks = _marks(evaluation)
    columns = ["system"]
    for measure in evaluation.measures:
        columns += [measure, f"{measure} low", f"{measure} high", f"{measure} n"]
        columns += [f"{measure} {marks.column}"] if marks.column else []
    rows = []
    for system in evaluation.runs:
        row: list[object] = [system.name]
        for measure in evaluation.measures:
            figure = system.overall[measure]
            row += [figure.value, figure.low, figure.high, figure.n]
            row += [marks.marks.get((system.name, measure))] if marks.column else []
        rows.append(tuple(row))
    return Table("", tuple(columns), tuple(rows))


def _shown(system: EvaluatedSystem, measure: str, marks: _Marks) -> str:
    mark = marks.marks.get((system.name, measure), "")
    return f"{with_interval(system.overall[measure])} {mark}".rstrip()


def _marks(evaluation: Evaluation) -> _Marks:
    """Letters of the leaderboards, or arrows against the baseline; none with one system."""
    overall = [comparison for comparison in evaluation.comparisons if comparison.stratum is None]
    if not overall:
        return _Marks({}, "", "")
    words = what_decides(overall[0].deciding)
    if evaluation.leaderboards:
        marks = {
            (row.system, measure): row.letters
            for measure, rows in evaluation.leaderboards.items()
            for row in rows
        }
        return _Marks(marks, "group", f"Systems with a common letter cannot be distinguished; {words}.")
    baseline = overall[0].other
    marks = {
        (one.system, one.measure): ABOVE if one.difference > 0 else BELOW
        for one in overall
        if one.distinguished and one.difference
    }
    about = f"{ABOVE} above and {BELOW} below {baseline}, beyond noise; {words}."
    return _Marks(marks, f"against {baseline}", about)
