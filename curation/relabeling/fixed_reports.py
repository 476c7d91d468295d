"""What the report of a quarter is computed from, and how it is fixed when the quarter is closed.

A quarter is closed when a lead closes its round, and at the latest when the next quarter is opened, before
anything changes. Closing stores the pairs: from then on no decision, retired query, new guide, corpus or
release changes the report. Who reopens the round has a report that follows again.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, to_json_value
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.labeling.rounds.rounds import RoundState, set_round
from curation.relabeling.calendar import Quarter
from curation.relabeling.regraded_pairs import (
    DISPUTED_NOW,
    NOT_WHOLE,
    QuarterResult,
    RegradedPair,
    read_plan_result,
)
from curation.relabeling.stored_plans import StoredPlan, list_plans
from curation.relabeling.wrong_labels import WrongLabels, wrong_labels
from curation.store import COMMAND_LINE, Cursor, Store

YEAR = 4
"""Quarters that are pooled."""
_REOPENED = "(SELECT count(*) FROM round_events WHERE round_id = ? AND kind = 'reopen')"


class ReportInputs(NamedTuple):
    """What the report of a plan is computed from.

    Attributes
    ----------
    scale: the grades of the guide.
    pooled: the mean of what was wrong over the last four quarters; None with fewer than two.
    pooled_quarters: how many of them have comparable pairs.
    fixed: whether the quarter is closed, and all this stored.
    """

    scale: tuple[int, ...]
    result: QuarterResult
    pooled: WrongLabels | None
    pooled_quarters: int
    fixed: bool = False


class RoundClosed(NamedTuple):
    """A closed round; `remark`: what its report says from now on, '' where the round is no re-labeling."""

    state: RoundState
    remark: str

    @property
    def sentences(self) -> list[str]:
        """The state, and the remark."""
        return [*self.state.sentences, *filter(None, [self.remark])]


def report_inputs(cursor: Cursor, row: StoredPlan) -> ReportInputs:
    """What was stored at closing, else what is true now."""
    stored = _stored(cursor, row)
    if stored is not None:
        return stored
    result, first = read_plan_result(cursor, row), Quarter(row.quarter).before(YEAR - 1)
    earlier = [plan for plan in list_plans(cursor) if plan.round_id and first <= plan.quarter < row.quarter]
    year = [(_stored(cursor, plan) or report_inputs(cursor, plan)).result for plan in earlier]
    counted = [quarter for quarter in [*year, result] if quarter.comparable]
    pooled = wrong_labels(counted) if len(counted) > 1 else None
    return ReportInputs(current_guide(cursor).values, result, pooled, len(counted))


def close_round(store: Store, name: str, author: str = COMMAND_LINE, reason: str = "") -> RoundClosed:
    """Close a round as `rounds.set_round` does; of a re-labeling, fix its report."""
    said: list[str] = []

    def fix(cursor: Cursor, state: RoundState) -> None:
        for row in list_plans(cursor):
            if row.round_id == state.round_id:
                said.append(_fixed_sentence(fix_report(cursor, row)))

    return RoundClosed(set_round(store, name, "closed", author, reason, fix), "".join(said))


def fix_reports(cursor: Cursor) -> None:
    """Fix the report of each opened quarter that has none yet, the oldest first."""
    for row in sorted(list_plans(cursor), key=lambda row: row.quarter):
        if row.round_id is not None and _stored(cursor, row) is None:
            fix_report(cursor, row)


def fix_report(cursor: Cursor, row: StoredPlan) -> ReportInputs:
    """Store what a report is computed from, unless that was done since the round was opened or reopened."""
    inputs = report_inputs(cursor, row)
    if not inputs.fixed:
        text = canonical_json(to_json_value(inputs))
        sql = f"INSERT INTO relabeling_reports SELECT ?, {_REOPENED}, ?"
        cursor.execute(sql, [row.plan_id, row.round_id, text])
    return inputs


def _stored(cursor: Cursor, row: StoredPlan) -> ReportInputs | None:
    sql = f"SELECT inputs::TEXT FROM relabeling_reports WHERE plan_id = ? AND reopened = {_REOPENED}"  # noqa: S608
    rows = cursor.execute(sql, [row.plan_id, row.round_id]).fetchall()
    return _read(json.loads(rows[0][0])) if rows else None


def _read(stored: dict[str, Any]) -> ReportInputs:
    pairs = (RegradedPair(**pair) for pair in stored["result"]["pairs"])
    result = QuarterResult(
        stored["result"]["name"],
        stored["result"]["population"],
        tuple(pair._replace(tags=tuple(pair.tags), changes=tuple(pair.changes)) for pair in pairs),
    )
    pooled = WrongLabels(**stored["pooled"]) if stored["pooled"] else None
    return ReportInputs(tuple(stored["scale"]), result, pooled, stored["pooled_quarters"], fixed=True)


def _fixed_sentence(inputs: ReportInputs) -> str:
    why = [pair.why for pair in inputs.result.pairs]
    disputed, unjudged = why.count(DISPUTED_NOW), why.count(NOT_WHOLE)
    left = [pluralize(disputed, "disputed pair")] * bool(disputed)
    left += [pluralize(unjudged, "pair", "pairs") + " not judged"] * bool(unjudged)
    rest = f", with {' and '.join(left)}: reopen the round to count what comes later" if left else ""
    return f"The report of {inputs.result.name} is fixed{rest}."
