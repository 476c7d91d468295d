"""What a new release does to past evaluations: the same runs on the old release and on the new one.

The last comparison for a plan is kept, and is a section of its report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.text import canonical_json, plain
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.evaluation import Evaluation, EvaluationOptions
from curation.evaluation.scoring.inputs.run_sources import RunSource
from curation.people.annotators import require_author
from curation.relabeling.plan.stored import find_plan
from curation.store import COMMAND_LINE, Cursor, Store, record_event, utc_now


class SystemMean(NamedTuple):
    """A system's mean on both releases, over the queries of each."""

    system: str
    before: float
    after: float


@dataclass(frozen=True)
class OrderChange:
    """The order of systems by one measure, on the old release and on the new one.

    Attributes
    ----------
    parts: of both releases, that the queries are of.
    systems: by falling mean on the old release.
    kept: whether the order is the same; swapped: pairs of systems whose order turned.
    """

    measure: str
    old: str
    new: str
    systems: tuple[SystemMean, ...]
    kept: bool
    swapped: tuple[tuple[str, str], ...]
    parts: tuple[str, ...] = ()


def compare_releases(
    store: Store,
    plan: str | None,
    old: str,
    new: str,
    runs: Sequence[RunSource],
    part: str | None = None,
    reason: str | None = None,
    author: str = COMMAND_LINE,
    progress: Progress = silent,
) -> tuple[OrderChange, ...]:
    """Compare the order of runs on two releases, and keep that with a plan, by default the newest one.

    Parameters
    ----------
    part: of both releases, or 'all'; None is all that are not sealed.
    reason: why sealed parts are evaluated, which is logged.

    Raises
    ------
    InputError, NotFoundError, RefusedError: as `evaluate_runs`; there is no such plan, or the
        author is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        plan_id = find_plan(cursor, plan).plan_id
    found = order_changes(store, old, new, runs, EvaluationOptions(part), reason, author, progress)
    with store.transaction(appends=True) as cursor:
        sql = "SELECT count(*) FROM relabeling_orders WHERE plan_id = ?"
        (number,) = cursor.execute(sql, [plan_id]).fetchall()[0]
        row = [plan_id, number, canonical_json(plain(found)), author, utc_now()]
        cursor.execute("INSERT INTO relabeling_orders VALUES (?, ?, ?, ?, ?)", row)
        systems = sorted({source.name for source in runs})
        detail = {"plan": plan_id, "old": old, "new": new, "systems": systems}
        record_event(cursor, "compare releases", detail, author)
    return found


def stored_orders(cursor: Cursor, plan_id: str) -> tuple[OrderChange, ...]:
    """The last comparison that was kept with a plan; empty where there is none."""
    sql = "SELECT orders::TEXT FROM relabeling_orders WHERE plan_id = ? ORDER BY number DESC LIMIT 1"
    rows = cursor.execute(sql, [plan_id]).fetchall()
    return tuple(_read(load) for load in json.loads(rows[0][0])) if rows else ()


def _read(row: dict[str, Any]) -> OrderChange:
    systems = tuple(SystemMean(**one) for one in row["systems"])
    swapped = tuple((one, other) for one, other in row["swapped"])
    return OrderChange(**row | {"systems": systems, "swapped": swapped, "parts": tuple(row["parts"])})


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
    InputError, NotFoundError, RefusedError: as `evaluate_runs`; or one release is named twice.
    """
    if old == new:
        raise InputError(f"the release {old!r} is named twice: expected the one before and the one after")
    before, after = (
        evaluate_runs(store, name, runs, options, reason, actor, progress) for name in (old, new)
    )
    first, second = _means(before), _means(after)
    return tuple(
        order_change(measure, old, new, first[measure], second[measure], after.parts)
        for measure in first
        if measure in second
    )


def order_change(
    measure: str,
    old: str,
    new: str,
    before: Mapping[str, float],
    after: Mapping[str, float],
    parts: Sequence[str] = (),
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
    return OrderChange(measure, old, new, systems, not swapped, swapped, tuple(parts))


def _means(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Measure → system → mean, where it has one."""
    means: dict[str, dict[str, float]] = {}
    for system in evaluation.runs:
        for measure, figure in system.overall.items():
            if figure.value is not None:
                means.setdefault(measure, {})[system.name] = figure.value
    return means
