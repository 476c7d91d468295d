"""Precision: how finely a look at a sealed part measures, so that one look cannot spell out many queries.

Each query's documents can be placed so that its value is a digit of the mean. The exact mean reciprocal rank
of 38 queries with one document each, at ranks of their own, says of each whether its document is relevant.
So figures of sealed parts have `DECIMALS` decimals, a look has at most `MOST_MEASURES` measures, and their
depths are among `DEPTHS`: else the difference between success@6 and success@7 could be a query.

Such a look still tells many bits, and who spends them well learns the grades of single documents from it. So
it is for leads, and logged; others climb the Ladder (`ladder`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from curation.errors import RefusedError
from curation.evaluation.inputs.run_seconds import RunSeconds
from curation.evaluation.metrics.measures import KINDS, Measure

Figures = TypeVar("Figures")

DECIMALS = 3
MOST_MEASURES = 12
DEPTHS = (1, 3, 5, 10, 20, 50, 100, 1000)


def refuse_fine_measures(parts: Sequence[str], measures: Sequence[Measure]) -> None:
    """Stop where the measures asked for would tell of single queries by their differences.

    Raises
    ------
    RefusedError: there are too many, kinds that sealed parts do not have, or depths and persistences that are
        not usual ones.
    """
    sealed = f"{', '.join(parts)} is sealed"
    telling = [one.name for one in measures if not KINDS[one.kind].sealed]
    if telling:
        raise RefusedError(
            f"{', '.join(telling)}: {sealed}. Totals count single documents, sets are of lists as long as "
            "somebody makes them, gmap rests on the worst queries, iprec has as many levels as one likes, "
            "and subtopics are somebody's own file. Expected measures without these."
        )
    if len(measures) > MOST_MEASURES:
        raise RefusedError(
            f"{len(measures)} measures were asked for, and {sealed}: their differences would tell of single "
            f"queries. Expected {MOST_MEASURES} or fewer."
        )
    unusual = [
        one.name
        for one in measures
        if one.depth not in (None, *DEPTHS) or (one.persistence or 0.5) not in (0.5, 0.8, 0.95)
    ]
    if unusual:
        raise RefusedError(
            f"{', '.join(unusual)}: {sealed}, and measures that differ a little would tell of single "
            f"queries. Expected a depth of {', '.join(map(str, DEPTHS))}, or a persistence of 0.5, 0.8, 0.95."
        )


def rounded_figures(figures: Figures) -> Figures:
    """The same dataclass, named tuple or mapping with `DECIMALS` decimals in each float but seconds.

    Numbers of queries needed have two digits: they are the spread of differences, in other words.
    """
    return _rounded(figures)  # type: ignore[no-any-return]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, RunSeconds):
        return value  # the run's own
    if is_dataclass(value) and not isinstance(value, type):
        told = {field.name: _rounded(getattr(value, field.name)) for field in fields(value)}
        if told.get("queries_needed"):
            told["queries_needed"] = int(float(f"{told['queries_needed']:.1e}"))
        return replace(value, **told)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_replace"):
        return type(value)(*map(_rounded, value))
    return type(value)(map(_rounded, value)) if isinstance(value, list | tuple) else value
