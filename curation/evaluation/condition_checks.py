"""The check of `--fail-if` conditions against the results of an evaluation.

The values of a named baseline are not checked, nor values of fewer queries than the condition asks for. A
condition for which no value remains is unchecked, and an unchecked condition has not passed.

A drop is the difference in the evaluation's own paired comparison, with its interval and corrected p. Without
a comparison, for example with fewer than ten queries, the drop is the difference between the two values, and
is never significant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.core.text import decimal, interval_text, pluralize
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.fail_conditions import FailCondition
from curation.evaluation.figures.comparison import Comparison
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.scoring.facets import CLUSTER
from curation.evaluation.scoring.release import MIN_QUERIES

OVERALL = "overall"
MAX_NAMED_VALUES = 20
"""Maximum number of facet values that an error message names."""
MAX_NAMED_FIGURES = 3
"""Maximum number of unchecked values that a sentence names."""
ROUNDING = 1e-12


class CheckedFigure(NamedTuple):
    """A system's value that was checked against a `--fail-if` condition; all fields are None if no value
    could be checked.

    Attributes
    ----------
    where: 'overall', or the facet and its value.
    reference: the baseline's figure, or the limit.
    change: the system's figure minus the reference, with the interval `low` to `high`.
    baseline: the name of the baseline; None for a limit.
    p: the corrected p of the change.
    met: whether the figure meets the condition.
    why: the reason why the figure could not be checked; '' for a checked figure.
    """

    condition: str
    system: str | None = None
    where: str | None = None
    n: int | None = None
    value: float | None = None
    reference: float | None = None
    change: float | None = None
    baseline: str | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    met: bool = False
    why: str = ""

    @property
    def sentence(self) -> str:
        """Write the checked value and its distance from the reference value as a sentence."""
        if self.value is None or self.reference is None or self.change is None:
            return f"Nothing could be checked, so the check did not pass: {self.why or 'there is no figure'}."
        reference = self.baseline or "the limit"
        change = decimal(self.change, sign="+")
        sentence = f"{self.system}, {self.where}: {decimal(self.value)}, {change} against {reference}"
        if self.low is not None and self.high is not None:
            sentence += f" (95 %: {interval_text(self.low, self.high, sign='+')})"
        corrected = "" if self.p is None else f", corrected p {self.p:.3g}"
        return f"{sentence}, {pluralize(self.n or 0, 'query', 'queries')}{corrected}."


class CheckedCondition(NamedTuple):
    """A `--fail-if` condition with its checked values; `why` gives the reason if no value could be
    checked."""

    condition: str
    figures: tuple[CheckedFigure, ...]
    why: str = ""

    @property
    def failed(self) -> tuple[CheckedFigure, ...]:
        """List the values for which the condition holds, or one row with the reason if no value was
        checked."""
        met = tuple(figure for figure in self.figures if figure.met)
        return met if self.figures else (CheckedFigure(self.condition, why=self.why),)

    @property
    def outcome(self) -> Literal["failed", "passed", "not checked"]:
        """Return the outcome of the condition: failed, passed or not checked."""
        return ("failed" if self.failed else "passed") if self.figures else "not checked"


def check_conditions(
    evaluation: Evaluation, conditions: Iterable[FailCondition], baseline: str | None = None
) -> tuple[CheckedCondition, ...]:
    """Check each `--fail-if` condition against an evaluation.

    Parameters
    ----------
    evaluation: an evaluation with the facets of the conditions (`list_needed_facets`).

    Raises
    ------
    InputError: the evaluation lacks the baseline, or a system to compare with it, a measure or a value.
    """
    systems = {system.name: system for system in evaluation.runs}
    base = baseline or evaluation.runs[0].name
    if base not in systems:
        raise InputError(
            f"The baseline {base!r} is not a system of this evaluation; expected one of {', '.join(systems)}."
        )
    checked: list[CheckedCondition] = []
    problems = []
    for condition in conditions:
        problem = _find_misfit(condition, evaluation, systems[base])
        if problem:
            problems.append(f"--fail-if {condition.text!r}: {problem}")
        else:
            skipped = base if baseline is not None or condition.how == "drops" else None
            rows = list(_check_figures(condition, systems[base], evaluation, skipped))
            figures = tuple(row for row in rows if not row.why)
            why = "" if figures else _summarize_reasons(rows)
            checked.append(CheckedCondition(condition.text, figures, why))
    refuse_problems(problems)
    return tuple(checked)


def _find_misfit(condition: FailCondition, evaluation: Evaluation, base: EvaluatedSystem) -> str | None:
    """Explain why a condition does not fit this evaluation; None if the condition fits."""
    if condition.how == "drops" and len(evaluation.runs) < 2:
        return f"{base.name!r} is the only system; give a second --run to compare with"
    if condition.measure not in evaluation.measures:
        return f"{condition.measure} is not computed in this evaluation; add the measure to --measures"
    if condition.facet is None:
        return None
    values = base.strata[condition.facet]
    if not any(_includes_value(condition, value) for value in values):
        remainder = f" and {len(values) - MAX_NAMED_VALUES:,} more" if len(values) > MAX_NAMED_VALUES else ""
        value_names = ", ".join(list(values)[:MAX_NAMED_VALUES])
        return f"{condition.facet} has no value {condition.value!r}; it has {value_names}{remainder}"
    return None


def _includes_value(condition: FailCondition, value: str) -> bool:
    """Return whether a condition covers this value of its facet."""
    region = value.partition(" ")[0] if condition.facet == CLUSTER else value
    return condition.value in (None, value, region)


def _check_figures(
    condition: FailCondition, base: EvaluatedSystem, evaluation: Evaluation, skipped: str | None
) -> Iterator[CheckedFigure]:
    """Check the values of every system except `skipped` against a condition."""
    drops = condition.how == "drops"
    base_figures = dict(_find_figures(base, condition))
    comparisons = _find_comparisons(base.name, condition.measure, evaluation) if drops else {}
    for system in evaluation.runs:
        for where, figure in _find_figures(system, condition) if system.name != skipped else ():
            reference = base_figures[where].value if drops else condition.limit
            comparison = comparisons.get((system.name, where))
            row = CheckedFigure(condition.text, system.name, where, figure.n)
            why = _find_reason(condition, figure.n, comparison)
            if figure.value is None or reference is None or why:
                yield row._replace(why=why or "no query has a value")
                continue
            row = row._replace(value=figure.value, reference=reference, change=figure.value - reference)
            if drops:
                row = row._replace(baseline=base.name)
            if comparison is not None:
                low, high, p = comparison.low, comparison.high, comparison.p_corrected
                row = row._replace(change=comparison.difference, low=low, high=high, p=p)
            is_significant = comparison is not None and comparison.distinguished
            yield row._replace(met=_is_met(condition, row.change or 0.0, is_significant))


def _find_reason(condition: FailCondition, n: int, comparison: Comparison | None) -> str:
    """Explain why a condition does not check a value from n queries; '' if it does."""
    if n < condition.min_queries:
        return f"{pluralize(n, 'query', 'queries')}, but the condition has n>={condition.min_queries}"
    if not condition.significant or (comparison is not None and comparison.p_corrected is not None):
        return ""
    if comparison is not None and comparison.no_verdict:
        return comparison.no_verdict
    if condition.facet is not None and n >= MIN_QUERIES:
        return (
            "with this many systems, kinds of query are tested only with the first measure: name the "
            "measure first in --measures"
        )
    return f"fewer than {MIN_QUERIES} queries have values for both systems, which is too few for a test"


def _summarize_reasons(rows: Sequence[CheckedFigure]) -> str:
    """Explain why no value could be checked, giving the reasons for the first few values."""
    reasons = [f"{row.system}, {row.where}: {row.why}" for row in rows]
    remainder = [f"and {len(reasons) - MAX_NAMED_FIGURES:,} more"] if len(reasons) > MAX_NAMED_FIGURES else []
    return "; ".join([*reasons[:MAX_NAMED_FIGURES], *remainder])


def _is_met(condition: FailCondition, change: float, significant: bool) -> bool:
    if condition.how == "below":
        return change < 0
    if condition.significant and not significant:
        return False
    threshold = condition.limit + (ROUNDING if condition.any_drop else -ROUNDING)
    return -change > threshold


def _find_comparisons(base: str, measure: str, evaluation: Evaluation) -> dict[tuple[str, str], Comparison]:
    """Map each system and stratum ('overall', or facet and value) to the comparison with the baseline."""
    comparisons = {}
    for row in evaluation.comparisons:
        if row.measure != measure or row.difference is None or base not in (row.system, row.other):
            continue
        comparison = _reverse_comparison(row) if row.system == base else row
        comparisons[comparison.system, " ".join(row.stratum or (OVERALL,))] = comparison
    return comparisons


def _reverse_comparison(row: Comparison) -> Comparison:
    """Swap the two systems of a comparison; only the difference and its interval change."""
    return replace(
        row,
        system=row.other,
        other=row.system,
        difference=None if row.difference is None else -row.difference,
        low=None if row.high is None else 0.0 - row.high,  # avoids −0
        high=None if row.low is None else 0.0 - row.low,
    )


def _find_figures(system: EvaluatedSystem, condition: FailCondition) -> Iterator[tuple[str, MeasureFigure]]:
    """Yield each value that a condition checks, with 'overall' or with the facet and its value."""
    if condition.facet is None:
        yield OVERALL, system.overall[condition.measure]
        return
    for value, stratum in system.strata[condition.facet].items():
        figure = stratum.figures.get(condition.measure)
        if figure is not None and _includes_value(condition, value):
            yield f"{condition.facet} {value}", figure
