"""Conditions under which an evaluation fails, for a gate in continuous integration.

    MEASURE drops X [WHERE] [with n>=N]     it is lower than the baseline's by X or more
    MEASURE below X [WHERE] [with n>=N]     it is lower than X

WHERE is `overall` (the default), `in any FACET`, such as `in any stratum`, or `in FACET VALUE`, such as
`in band tail`; a region of the corpus may be named by its number alone, as in `in cluster 12`. The baseline
is the first system, unless another is named. Figures of fewer than N queries are passed over. A condition
that no figure is left for fails too: what was not checked has not passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Literal, NamedTuple

from curation.errors import InputError, refuse_problems
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.scoring.inputs.release import CLUSTER
from curation.scoring.metrics.measures import measures_named

OVERALL = "overall"
NAMED = 20
"""Values of a facet that a problem names."""
EXAMPLES = (
    'Expected for instance "ndcg_exp@10 drops 0.02 in any stratum with n>=30", "mrr@10 below 0.5" or '
    '"recall@10 drops 0.05 in band tail".'
)
_CONDITION = re.compile(
    r"(?P<measure>\S+)\s+(?P<how>drops|below)\s+(?P<limit>[0-9.]+)"
    r"(?:\s+(?:(?P<overall>overall)|in\s+any\s+(?P<any>\S+)|in\s+(?P<facet>\S+)\s+(?P<value>\S.*?)))?"
    r"(?:\s+with\s+n\s*>=\s*(?P<n>\d+))?",
    re.IGNORECASE,
)


class FailCondition(NamedTuple):
    """One condition.

    Attributes
    ----------
    facet, value: None for all queries; the value None is any.
    least: queries that a figure needs to be checked.
    """

    text: str
    measure: str
    how: Literal["drops", "below"]
    limit: float
    facet: str | None
    value: str | None
    least: int


class FailedFigure(NamedTuple):
    """A figure that meets a condition, or a condition that nothing could be checked for (all else None).

    Attributes
    ----------
    where: 'overall', or facet and value.
    reference: the baseline's figure, or the limit.
    change: the system's figure less the reference.
    """

    condition: str
    system: str | None
    where: str | None
    n: int | None
    value: float | None
    reference: float | None
    change: float | None


def read_conditions(texts: Iterable[str]) -> list[FailCondition]:
    """The conditions that these texts say.

    Raises
    ------
    InputError: texts that say none; all together.
    """
    found, problems = [], []
    for text in texts:
        condition = _read(text.strip())
        if isinstance(condition, str):
            problems.append(f"--fail-if {text!r}: {condition}")
        else:
            found.append(condition)
    refuse_problems(problems, way_out=EXAMPLES)
    return found


def facets_needed(conditions: Iterable[FailCondition]) -> list[str]:
    """The facets that conditions are about."""
    return list(dict.fromkeys(one.facet for one in conditions if one.facet is not None))


def failed_figures(
    evaluation: Evaluation, conditions: Iterable[FailCondition], baseline: str | None = None
) -> tuple[FailedFigure, ...]:
    """All figures that meet a condition, condition by condition.

    Parameters
    ----------
    evaluation: with all that the conditions name (`facets_needed`).

    Raises
    ------
    InputError: the evaluation lacks the baseline, or a system to compare with it, a measure or a value.
    """
    systems = {system.name: system for system in evaluation.runs}
    base = baseline or evaluation.runs[0].name
    if base not in systems:
        raise InputError(f"The baseline {base!r} is no system here; expected one of {', '.join(systems)}.")
    found: list[FailedFigure] = []
    problems = []
    for condition in conditions:
        problem = _impossible(condition, evaluation, systems[base])
        if problem:
            problems.append(f"--fail-if {condition.text!r}: {problem}")
        else:
            found += _failed(condition, systems[base], evaluation.runs)
    refuse_problems(problems)
    return tuple(found)


def _read(text: str) -> FailCondition | str:
    """The condition, or what is wrong with its text."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        return "is no condition"
    try:
        [measure] = measures_named([match["measure"]])
        limit = float(match["limit"])
    except InputError as error:
        return error.problems[0]
    except ValueError:
        return f"{match['limit']!r} is no number"
    how: Literal["drops", "below"] = "drops" if match["how"].lower() == "drops" else "below"
    if not 0 < limit <= (inf if measure.summary == "total" else 1):
        return f"{match['limit']} is out of the range of measures; expected a number above 0, and at most 1"
    facet = match["any"] or match["facet"]
    least = int(match["n"]) if match["n"] else 1
    return FailCondition(text, measure.name, how, limit, facet, match["value"], least)


def _impossible(condition: FailCondition, evaluation: Evaluation, base: EvaluatedSystem) -> str | None:
    """Why a condition means nothing for this evaluation, if so."""
    if condition.how == "drops" and len(evaluation.runs) < 2:
        return f"there is nothing to compare {base.name!r} with; give a second --run"
    if condition.measure not in evaluation.measures:
        return f"{condition.measure} is not computed here; name it in --measures"
    if condition.facet is None:
        return None
    values = base.strata[condition.facet]
    if not any(_meant(condition, value) for value in values):
        more = f" and {len(values) - NAMED:,} more" if len(values) > NAMED else ""
        known = ", ".join(list(values)[:NAMED])
        return f"{condition.facet} has no value {condition.value!r}; it has {known}{more}"
    return None


def _meant(condition: FailCondition, value: str) -> bool:
    """Whether a condition is about this value of its facet."""
    number = value.partition(" ")[0] if condition.facet == CLUSTER else value
    return condition.value in (None, value, number)


def _failed(
    condition: FailCondition, base: EvaluatedSystem, systems: Sequence[EvaluatedSystem]
) -> list[FailedFigure]:
    failed, checked = [], 0
    references = dict(_figures(base, condition))
    for system in systems:
        if condition.how == "drops" and system.name == base.name:
            continue
        for where, figure in _figures(system, condition):
            known = references[where].value if condition.how == "drops" else condition.limit
            if figure.value is None or known is None or figure.n < condition.least:
                continue
            checked += 1
            change = figure.value - known
            met = -change >= condition.limit - 1e-12 if condition.how == "drops" else change < 0
            if met:
                failed.append(
                    FailedFigure(condition.text, system.name, where, figure.n, figure.value, known, change)
                )
    if not checked:
        return [FailedFigure(condition.text, *(None,) * 6)]
    return failed


def _figures(system: EvaluatedSystem, condition: FailCondition) -> Iterator[tuple[str, MeasureFigure]]:
    """The figures that a condition is about, by where they are from."""
    if condition.facet is None:
        yield OVERALL, system.overall[condition.measure]
        return
    for value, stratum in system.strata[condition.facet].items():
        figure = stratum.figures.get(condition.measure)
        if figure is not None and _meant(condition, value):
            yield f"{condition.facet} {value}", figure
