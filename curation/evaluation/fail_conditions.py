"""The `--fail-if` conditions, under which an evaluation fails in continuous integration.

    MEASURE drops [WHERE] [with n>=N]                  the figure is lower than the baseline's
    MEASURE drops significantly [WHERE] [with n>=N]    and the test that decides finds the difference
    MEASURE drops [by] X [WHERE] [with n>=N]           the figure is lower by X or more
    MEASURE below X [WHERE] [with n>=N]                the figure is lower than X

WHERE is `overall` (the default), `in any FACET`, such as `in any stratum`, or `in FACET VALUE`, such as
`in band tail`; a region of the corpus may be named by its number alone, as in `in cluster 12`. The baseline
is the first system by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.evaluation.scoring.measure_names import parse_measures

EXAMPLES = (
    'The forms are MEASURE drops, "drops significantly", "drops by X" and "below X". '
    'Each form can end with "in any FACET" or "in FACET VALUE", and with "with n>=N". For example, '
    '"ndcg_exp@10 drops significantly", "ndcg_exp@10 drops by 0.02 in any stratum with n>=30" or '
    '"recall@10 below 0.5 in band tail".'
)
_COMPARISON_CLAUSE = re.compile(
    r"\s+(?:(?P<how>drops)\b(?:\s+(?P<significantly>significantly)\b"
    r"|(?:\s+by)?\s+(?P<drop>[0-9.]+))?|(?P<below>below)\s+(?P<limit>[0-9.]+))",
    re.IGNORECASE,
)
_STRATUM_CLAUSE = re.compile(
    r"\s+(?:overall\b|in\s+any\s+(?P<any>\S+)|in\s+(?!any\b)(?P<facet>\S+)\s+(?P<value>\S.*?)(?=\s+with\s|$))",
    re.IGNORECASE,
)
_SIZE_CLAUSE = re.compile(r"\s+with\s+n\s*>=\s*(?P<n>\d+)", re.IGNORECASE)


class FailCondition(NamedTuple):
    """A condition under which the `evaluate` command fails, such as a drop in a measure.

    Attributes
    ----------
    limit: the limit of the figure, or of the drop.
    facet: the facet of the condition; None for all queries.
    value: the value of the facet; None for any value.
    min_queries: the number of queries that a figure needs for the check.
    any_drop: whether any drop above 0 counts.
    significant: whether the test that decides must find the drop.
    """

    text: str
    measure: str
    how: Literal["drops", "below"]
    limit: float
    facet: str | None
    value: str | None
    min_queries: int
    any_drop: bool = False
    significant: bool = False


def read_conditions(texts: Iterable[str]) -> list[FailCondition]:
    """Parse the texts of `--fail-if` conditions.

    Raises
    ------
    InputError: texts are not conditions; one error lists all of the texts, each with the part that was
    understood.
    """
    conditions, problems = [], []
    for text in texts:
        condition = _parse_condition(text.strip())
        if isinstance(condition, str):
            problems.append(f"--fail-if {text!r}: {condition}")
        else:
            conditions.append(condition)
    refuse_problems(problems, way_out=EXAMPLES)
    return conditions


def list_needed_facets(conditions: Iterable[FailCondition]) -> list[str]:
    """List the facets, such as stratum or tag, that `--fail-if` conditions name."""
    return list(dict.fromkeys(condition.facet for condition in conditions if condition.facet is not None))


def _parse_condition(text: str) -> FailCondition | str:
    """Read one condition, or return a sentence that explains what is wrong with it."""
    name = text.split(maxsplit=1)[0] if text else ""
    try:
        [measure] = parse_measures([name])
    except InputError as error:
        return error.problems[0]
    clauses, end = _match_clauses(text, len(name))
    if end < len(text) or "how" not in clauses:
        remainder = text[end:].strip()
        problem = f"but {remainder!r} is not part of a condition" if remainder else "but nothing follows"
        return f"{text[:end]!r} is clear, {problem}"
    number = clauses["drop"] or clauses["limit"]
    try:
        limit = float(number or 0)
    except ValueError:
        return f"{number!r} is not a number"
    if number and not 0 < limit <= 1:
        return f"{limit:g} is outside the range of measures; expected a number above 0 and at most 1"
    return FailCondition(
        text=text,
        measure=measure.name,
        how="drops" if clauses["how"] else "below",
        limit=limit,
        facet=clauses.get("any") or clauses.get("facet"),
        value=clauses.get("value"),
        min_queries=int(clauses.get("n") or 1),
        any_drop=clauses["how"] is not None and clauses["drop"] is None,
        significant=clauses["significantly"] is not None,
    )


def _match_clauses(text: str, start: int) -> tuple[dict[str, str | None], int]:
    """Match the clauses that follow the measure's name in a condition; return the matched groups and the end
    of the last clause."""
    clauses: dict[str, str | None] = {}
    for pattern in (_COMPARISON_CLAUSE, _STRATUM_CLAUSE, _SIZE_CLAUSE):
        match = pattern.match(text, start)
        if match is not None:
            clauses |= match.groupdict()
            start = match.end()
        elif pattern is _COMPARISON_CLAUSE:
            break
    return clauses, start
