"""Conditions under which an evaluation fails, for a gate in continuous integration.

    MEASURE drops [WHERE] [with n>=N]                  it is lower than the baseline's
    MEASURE drops significantly [WHERE] [with n>=N]    and the test that decides finds that
    MEASURE drops [by] X [WHERE] [with n>=N]           it is lower by X or more
    MEASURE drops by more than X [WHERE] [with n>=N]   it is lower by more than X
    MEASURE below X [WHERE] [with n>=N]                it is lower than X

WHERE is `overall` (the default), `in any FACET`, such as `in any stratum`, or `in FACET VALUE`, such as
`in band tail`; a region of the corpus may be named by its number alone, as in `in cluster 12`. The baseline
is the first system, unless another is named; that one's own figures are then in no condition. Figures of
fewer than N queries are passed over. A condition that no figure is left for is not checked, and what was not
checked has not passed.

A drop is that of the evaluation's own paired comparison, with its interval and its corrected p; where there
is none, such as of fewer than ten queries, the difference of the two figures, and nothing is significant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Literal, NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.core.text import amount, decimal, ends
from curation.evaluation.comparison.pairs import LEAST_QUERIES
from curation.evaluation.evaluation import EvaluatedSystem, Evaluation
from curation.evaluation.figures.means import MeasureFigure
from curation.evaluation.scoring.inputs.facets import CLUSTER
from curation.evaluation.scoring.metrics.measures import measures_named

OVERALL = "overall"
NAMED = 20
"""Values of a facet that a problem names."""
SAID = 3
"""Figures of which is said why they could not be checked."""
ROUNDING = 1e-12
EXAMPLES = (
    'The forms are MEASURE drops, "drops significantly", "drops by X", "drops by more than X" and "below X". '
    'Each can end with "in any FACET" or "in FACET VALUE", and with "with n>=N". For instance '
    '"ndcg_exp@10 drops significantly", "ndcg_exp@10 drops by 0.02 in any stratum with n>=30" or '
    '"recall@10 below 0.5 in band tail".'
)
_HOW = re.compile(
    r"\s+(?:(?P<how>drops)\b(?:\s+(?P<significantly>significantly)\b"
    r"|(?:\s+by)?(?P<more>\s+more\s+than)?\s+(?P<drop>[0-9.]+))?|(?P<below>below)\s+(?P<limit>[0-9.]+))",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\s+(?:overall\b|in\s+any\s+(?P<any>\S+)|in\s+(?!any\b)(?P<facet>\S+)\s+(?P<value>\S.*?)(?=\s+with\s|$))",
    re.IGNORECASE,
)
_LEAST = re.compile(r"\s+with\s+n\s*>=\s*(?P<n>\d+)", re.IGNORECASE)


class FailCondition(NamedTuple):
    """One condition.

    Attributes
    ----------
    limit: of the figure, or of the drop; `more` is whether the drop must be more than that.
    significant: whether the test that decides must find the drop.
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
    more: bool = False
    significant: bool = False


class CheckedFigure(NamedTuple):
    """A figure that was checked, or a condition that nothing could be checked for (None throughout).

    Attributes
    ----------
    where: 'overall', or facet and value.
    reference: the baseline's figure, or the limit; `baseline` is its name, or None.
    change: the system's figure less the reference; `low` and `high` are its interval, and `p` is corrected.
    met: whether it meets the condition.
    why: the figure, or none, could not be checked; '' where it was.
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
        """The figure, and how far it is from the reference, for people."""
        if self.value is None or self.reference is None or self.change is None:
            return f"No figure could be checked, so nothing has passed: {self.why or 'there is none'}."
        to = self.baseline or "the limit"
        change = decimal(self.change, sign="+")
        sentence = f"{self.system}, {self.where}: {decimal(self.value)}, {change} against {to}"
        if self.low is not None and self.high is not None:
            sentence += f" (95 %: {ends(self.low, self.high, sign='+')})"
        corrected = "" if self.p is None else f", corrected p {self.p:.3g}"
        return f"{sentence}, {amount(self.n or 0, 'query', 'queries')}{corrected}."


class CheckedCondition(NamedTuple):
    """A condition with the figures that it was checked on; none where nothing could be checked, and `why`."""

    condition: str
    figures: tuple[CheckedFigure, ...]
    why: str = ""

    @property
    def failed(self) -> tuple[CheckedFigure, ...]:
        """The figures that meet it, or that there is none."""
        met = tuple(figure for figure in self.figures if figure.met)
        return met if self.figures else (CheckedFigure(self.condition, why=self.why),)

    @property
    def outcome(self) -> Literal["failed", "passed", "not checked"]:
        """What came of it."""
        return ("failed" if self.failed else "passed") if self.figures else "not checked"


def read_conditions(texts: Iterable[str]) -> list[FailCondition]:
    """The conditions that these texts say.

    Raises
    ------
    InputError: texts that say none, with what of each was understood; all together.
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
    return list(dict.fromkeys(condition.facet for condition in conditions if condition.facet is not None))


def checked_conditions(
    evaluation: Evaluation, conditions: Iterable[FailCondition], baseline: str | None = None
) -> tuple[CheckedCondition, ...]:
    """What came of each condition.

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
    found: list[CheckedCondition] = []
    problems = []
    for condition in conditions:
        problem = _impossible(condition, evaluation, systems[base])
        if problem:
            problems.append(f"--fail-if {condition.text!r}: {problem}")
        else:
            skipped = base if baseline is not None or condition.how == "drops" else None
            rows = list(_checked(condition, systems[base], evaluation, skipped))
            figures = tuple(row for row in rows if not row.why)
            found.append(CheckedCondition(condition.text, figures, "" if figures else _whys(rows)))
    refuse_problems(problems)
    return tuple(found)


def _read(text: str) -> FailCondition | str:
    """The condition, or what of its text was understood."""
    name = text.split(maxsplit=1)[0] if text else ""
    try:
        [measure] = measures_named([name])
        at = len(name)
        said: dict[str, str | None] = {}
        for part in (_HOW, _WHERE, _LEAST):
            match = part.match(text, at)
            if match is None and part is _HOW:
                break
            at, said = (match.end(), said | match.groupdict()) if match else (at, said)
        if at < len(text) or "how" not in said:
            rest = text[at:].strip()
            return f"{text[:at]!r} was understood" + (
                f", {rest!r} was not" if rest else ", and nothing follows"
            )
        limit = float(said["drop"] or said["limit"] or 0)
    except InputError as error:
        return error.problems[0]
    except ValueError:
        return f"{said['drop'] or said['limit']!r} is no number"
    if not (0 < limit <= (inf if measure.summary == "total" else 1)) and (said["drop"] or said["limit"]):
        return f"{limit:g} is out of the range of measures; expected a number above 0, and at most 1"
    return FailCondition(
        *(text, measure.name, "drops" if said["how"] else "below", limit),
        *(said.get("any") or said.get("facet"), said.get("value"), int(said.get("n") or 1)),
        more=bool(said["more"]) or (said["how"] is not None and said["drop"] is None),
        significant=said["significantly"] is not None,
    )


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


class _Drop(NamedTuple):
    """How far a system is from the baseline, by the paired comparison where there is one."""

    change: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    significant: bool = False
    no_verdict: str | None = None


def _checked(
    condition: FailCondition, base: EvaluatedSystem, evaluation: Evaluation, skipped: str | None
) -> Iterator[CheckedFigure]:
    """The figures, with why one cannot be checked; without those of the baseline where it is skipped."""
    drops = condition.how == "drops"
    references, pairs = dict(_figures(base, condition)), _pairs(condition, base.name, evaluation)
    for system in evaluation.runs:
        for where, figure in _figures(system, condition) if system.name != skipped else ():
            reference = references[where].value if drops else condition.limit
            drop = pairs.get((system.name, where)) if drops else None
            why = _why_not(condition, figure.n, drop)
            if figure.value is None or reference is None or why:
                why = why or "no query has a value"
                yield CheckedFigure(condition.text, system.name, where, figure.n, why=why)
                continue
            drop = drop or _Drop(figure.value - reference)
            yield CheckedFigure(
                *(condition.text, system.name, where, figure.n, figure.value, reference),
                *(drop.change, base.name if drops else None, drop.low, drop.high, drop.p),
                met=_is_met(condition, drop),
            )


def _why_not(condition: FailCondition, n: int, drop: _Drop | None) -> str:
    """Why a figure of n queries is not checked; '' where it is."""
    if n < condition.least:
        return f"{amount(n, 'query', 'queries')}, where n>={condition.least} is asked for"
    if not condition.significant or (drop is not None and drop.p is not None):
        return ""
    if drop is not None and drop.no_verdict:
        return drop.no_verdict
    if condition.facet is not None and n >= LEAST_QUERIES:
        return (
            "of so many systems, kinds of query are tested by the first measure alone: name it first in "
            "--measures"
        )
    return f"fewer than {LEAST_QUERIES} queries have a value of both systems, too few for a test"


def _whys(rows: Sequence[CheckedFigure]) -> str:
    """Why nothing could be checked, by the first figures."""
    said = [f"{row.system}, {row.where}: {row.why}" for row in rows]
    more = [f"and {len(said) - SAID:,} more"] if len(said) > SAID else []
    return "; ".join([*said[:SAID], *more])


def _is_met(condition: FailCondition, drop: _Drop) -> bool:
    if condition.how == "below":
        return drop.change < 0
    if condition.significant and not drop.significant:
        return False
    least = condition.limit + (ROUNDING if condition.more else -ROUNDING)
    return -drop.change > least


def _pairs(condition: FailCondition, base: str, evaluation: Evaluation) -> dict[tuple[str, str], _Drop]:
    """System and where → the paired difference from the baseline."""
    found = {}
    for comparison in evaluation.comparisons:
        if (
            comparison.measure != condition.measure
            or comparison.difference is None
            or base not in (comparison.system, comparison.other)
        ):
            continue
        where = (
            OVERALL
            if comparison.stratum is None
            else f"{comparison.stratum.facet} {comparison.stratum.value}"
        )
        ends = (comparison.difference, comparison.low, comparison.high)
        if comparison.system == base:
            ends = (
                -comparison.difference,
                comparison.high and -comparison.high,
                comparison.low and -comparison.low,
            )
        name = comparison.other if comparison.system == base else comparison.system
        found[name, where] = _Drop(
            *ends, comparison.p_corrected, comparison.distinguished, comparison.no_verdict
        )
    return found


def _figures(system: EvaluatedSystem, condition: FailCondition) -> Iterator[tuple[str, MeasureFigure]]:
    """The figures that a condition is about, by where they are from."""
    if condition.facet is None:
        yield OVERALL, system.overall[condition.measure]
        return
    for value, stratum in system.strata[condition.facet].items():
        figure = stratum.figures.get(condition.measure)
        if figure is not None and _meant(condition, value):
            yield f"{condition.facet} {value}", figure
