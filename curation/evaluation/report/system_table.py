"""Systems by measures with intervals and what can be distinguished: the table of a paper or a pull request.

The figures and marks are those of the report, so of a sealed part they are what a look may show.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.report.section import told
from curation.reports.page import Table
from curation.text import amount

ABOVE, BELOW = "\u2191", "\u2193"
"""Marks of a system that is distinguished from the baseline."""


class _Marks(NamedTuple):
    """(system, measure) → mark, what a column of marks is called, and what the caption says of them."""

    marks: dict[tuple[str, str], str]
    column: str
    about: str


def system_table(found: Evaluation) -> Table:
    """A row a system and a column a measure: the mean, its 95 % interval and its mark."""
    marks = _marks(found)
    rows = [(one.name, *(_shown(one, measure, marks) for measure in found.measures)) for one in found.runs]
    caption = f"{found.release}, {', '.join(found.parts)}: {amount(found.queries, 'query', 'queries')}; in "
    caption += f"parentheses the 95 % interval. {marks.about}"
    return Table(caption.rstrip(), ("system", *found.measures), tuple(rows))


def system_figures(found: Evaluation) -> Table:
    """The same with every digit, for programs: a measure's mean, interval, number of queries and mark."""
    marks = _marks(found)
    columns = ["system"]
    for measure in found.measures:
        columns += [measure, f"{measure} low", f"{measure} high", f"{measure} n"]
        columns += [f"{measure} {marks.column}"] if marks.column else []
    rows = []
    for system in found.runs:
        row: list[object] = [system.name]
        for measure in found.measures:
            figure = system.overall[measure]
            row += [figure.value, figure.low, figure.high, figure.n]
            row += [marks.marks.get((system.name, measure))] if marks.column else []
        rows.append(tuple(row))
    return Table("", tuple(columns), tuple(rows))


def _shown(system: EvaluatedSystem, measure: str, marks: _Marks) -> str:
    mark = marks.marks.get((system.name, measure), "")
    return f"{told(system.overall[measure])} {mark}".rstrip()


def _marks(found: Evaluation) -> _Marks:
    """Letters of the leaderboards, or arrows against the baseline; none with one system."""
    overall = [one for one in found.comparisons if one.stratum is None]
    if not overall:
        return _Marks({}, "", "")
    words = overall[0].deciding.words
    if found.leaderboards:
        marks = {
            (row.system, measure): row.letters for measure, rows in found.leaderboards.items() for row in rows
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
