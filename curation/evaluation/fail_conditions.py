"""The conditions of --fail-if."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import inf
from typing import Literal, NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.evaluation.scoring.measure_names import parse_measures

EXAMPLES = (
    'The forms are MEASURE drops, "drops significantly", "drops by X" and "below X". '
    'Each can end with "in any FACET" or "in FACET VALUE", and with "with n>=N". For instance '
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
    """A condition under which the command fails, such as a drop of a measure.

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
    """Read conditions from texts.

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
    """List the facets of conditions."""
    return list(dict.fromkeys(condition.facet for condition in conditions if condition.facet is not None))


def _parse_condition(text: str) -> FailCondition | str:
    """Read one condition, or return a sentence that explains the error in the text."""
    name = text.split(maxsplit=1)[0] if text else ""
    try:
        [measure] = parse_measures([name])
        offset = len(name)
        clauses: dict[str, str | None] = {}
        for pattern in (_COMPARISON_CLAUSE, _STRATUM_CLAUSE, _SIZE_CLAUSE):
            match = pattern.match(text, offset)
            if match is None and pattern is _COMPARISON_CLAUSE:
                break
            if match is not None:
                offset, clauses = match.end(), clauses | match.groupdict()
        if offset < len(text) or "how" not in clauses:
            remainder = text[offset:].strip()
            problem = f"{remainder!r} was not" if remainder else "and nothing follows"
            return f"{text[:offset]!r} was understood, {problem}"
        number = clauses["drop"] or clauses["limit"]
        limit = float(number or 0)
    except InputError as error:
        return error.problems[0]
    except ValueError:
        return f"{number!r} is not a number"
    if number and not (0 < limit <= (inf if measure.summary == "total" else 1)):
        return f"{limit:g} is out of the range of measures; expected a number above 0, and at most 1"
    return FailCondition(
        *(text, measure.name, "drops" if clauses["how"] else "below", limit),
        *(clauses.get("any") or clauses.get("facet"), clauses.get("value"), int(clauses.get("n") or 1)),
        any_drop=clauses["how"] is not None and clauses["drop"] is None,
        significant=clauses["significantly"] is not None,
    )
