"""What a new release does to past evaluations: the same runs on the old release and on the new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.evaluation.evaluate import evaluate
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.inputs.system_runs import RunSource
from curation.progress import Progress, silent
from curation.store import COMMAND_LINE, Store


class SystemMean(NamedTuple):
    """A system's mean on both releases, over the queries of each."""

    system: str
    before: float
    after: float


class OrderChange(NamedTuple):
    """The order of systems by one measure, on the old release and on the new one.

    Attributes
    ----------
    systems: by falling mean on the old release.
    kept: whether the order is the same; swapped: pairs of systems whose order turned.
    """

    measure: str
    old: str
    new: str
    systems: tuple[SystemMean, ...]
    kept: bool
    swapped: tuple[tuple[str, str], ...]


def order_changes(
    store: Store,
    old: str,
    new: str,
    runs: Sequence[RunSource],
    options: EvaluationOptions = EvaluationOptions(),
    reason: str | None = None,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> tuple[OrderChange, ...]:
    """Evaluate the same runs on both releases, and compare the orders by each measure.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `evaluation.evaluate.evaluate`.
    """
    before, after = (evaluate(store, name, runs, options, reason, actor, progress) for name in (old, new))
    first, second = _means(before), _means(after)
    return tuple(
        order_change(measure, old, new, first[measure], second[measure])
        for measure in first
        if measure in second
    )


def order_change(
    measure: str, old: str, new: str, before: Mapping[str, float], after: Mapping[str, float]
) -> OrderChange:
    """Two orders of the same systems; systems with the same mean have no order that could turn."""
    names = sorted(before.keys() & after.keys(), key=lambda name: (-before[name], name))
    swapped = tuple(
        (one, other)
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if (before[one] - before[other]) * (after[one] - after[other]) < 0
    )
    systems = tuple(SystemMean(name, before[name], after[name]) for name in names)
    return OrderChange(measure, old, new, systems, not swapped, swapped)


def _means(found: Evaluation) -> dict[str, dict[str, float]]:
    """Measure → system → mean, where it has one."""
    means: dict[str, dict[str, float]] = {}
    for system in found.runs:
        for measure, figure in system.overall.items():
            if figure.value is not None:
                means.setdefault(measure, {})[system.name] = figure.value
    return means
