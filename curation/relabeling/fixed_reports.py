"""Fixed drift reports: the inputs of a quarter's report are stored when the quarter is closed.

A quarter is closed when a lead closes its round, and at the latest when the next quarter is opened. Closing a
quarter stores the pairs of its report with their grades. After the closing, no decision, retired query, new
guide, corpus or release changes the report. If a lead reopens the round, the report follows the state of the
project again.
"""

from __future__ import annotations

from typing import NamedTuple

from curation.core.digests import canonical_json, to_json_value
from curation.core.text import pluralize
from curation.guides.guide import current_guide
from curation.labeling.rounds.round_states import RoundState, set_round_state
from curation.relabeling.calendar import QUARTER_LENGTH, Quarter
from curation.relabeling.regraded_pairs import DISPUTED_NOW, NOT_WHOLE, QuarterResult, read_plan_result
from curation.relabeling.stored_plans import StoredPlan, list_plans
from curation.relabeling.wrong_labels import WrongLabels, estimate_wrong_labels
from curation.store import COMMAND_LINE, Cursor, Store

MAX_POOLED_QUARTERS = 4
"""Number of quarters, the present quarter included, over which the share of wrong grades is pooled."""
_REOPENED = "(SELECT count(*) FROM round_events WHERE round_id = ? AND kind = 'reopen')"


class ReportInputs(NamedTuple):
    """The inputs of a re-labeling plan's drift report.

    Attributes
    ----------
    scale: the grades of the guide.
    pooled: the mean share of wrong grades over the last four quarters; None with fewer than two quarters.
    pooled_quarters: number of the quarters that have comparable pairs.
    fixed: whether the quarter is closed and these inputs are stored.
    """

    scale: tuple[int, ...]
    result: QuarterResult
    pooled: WrongLabels | None
    pooled_quarters: int
    fixed: bool = False


class RoundClosed(NamedTuple):
    """A closed round. `remark` is a sentence about the fixed report; '' if the round is not a re-labeling."""

    state: RoundState
    remark: str

    @property
    def sentences(self) -> list[str]:
        """Return sentences about the state of a closed round and its fixed report."""
        return [*self.state.sentences, *filter(None, [self.remark])]


def read_report_inputs(cursor: Cursor, plan: StoredPlan) -> ReportInputs:
    """Read the inputs stored when the quarter was closed, or compute them from the project."""
    stored = _read_stored_inputs(cursor, plan)
    if stored is not None:
        return stored
    result = read_plan_result(cursor, plan)
    oldest = Quarter(plan.quarter[:QUARTER_LENGTH]).before(MAX_POOLED_QUARTERS - 1)
    earlier_plans = [
        other
        for other in list_plans(cursor)
        if other.round_id
        and oldest <= other.quarter < plan.quarter
        and not (plan.is_chosen or other.is_chosen)
    ]
    results = [*(read_report_inputs(cursor, other).result for other in earlier_plans), result]
    comparable = [quarter for quarter in results if quarter.comparable]
    pooled = estimate_wrong_labels(comparable) if len(comparable) > 1 else None
    return ReportInputs(current_guide(cursor).values, result, pooled, len(comparable))


def close_round(store: Store, name: str, author: str = COMMAND_LINE, reason: str = "") -> RoundClosed:
    """Close a round, and fix the drift report if the round is a re-labeling."""
    remarks: list[str] = []

    def fix(cursor: Cursor, state: RoundState) -> None:
        for plan in list_plans(cursor):
            if plan.round_id == state.round_id:
                remarks.append(_describe_fixed_report(fix_report(cursor, plan)))

    return RoundClosed(set_round_state(store, name, "closed", author, reason, fix), "".join(remarks))


def fix_reports(cursor: Cursor) -> None:
    """Fix the drift report of each opened quarter without a fixed report, oldest quarter first."""
    for plan in sorted(list_plans(cursor), key=lambda plan: plan.quarter):
        if plan.round_id is not None:
            fix_report(cursor, plan)


def fix_report(cursor: Cursor, plan: StoredPlan) -> ReportInputs:
    """Store the inputs of a drift report, unless they were stored since the round was opened or reopened."""
    inputs = read_report_inputs(cursor, plan)
    if not inputs.fixed:
        text = canonical_json(to_json_value(inputs))
        sql = f"INSERT INTO relabeling_reports SELECT ?, {_REOPENED}, ?"
        cursor.execute(sql, [plan.plan_id, plan.round_id, text])
    return inputs


def _read_stored_inputs(cursor: Cursor, plan: StoredPlan) -> ReportInputs | None:
    from pydantic import TypeAdapter

    sql = f"SELECT inputs::TEXT FROM relabeling_reports WHERE plan_id = ? AND reopened = {_REOPENED}"  # noqa: S608
    stored = cursor.execute(sql, [plan.plan_id, plan.round_id]).fetchone()
    return TypeAdapter(ReportInputs).validate_json(stored[0])._replace(fixed=True) if stored else None


def _describe_fixed_report(inputs: ReportInputs) -> str:
    left_out = inputs.result.left_out
    disputed_count, unjudged_count = left_out.get(DISPUTED_NOW, 0), left_out.get(NOT_WHOLE, 0)
    open_pairs = [pluralize(disputed_count, "disputed pair")] if disputed_count else []
    open_pairs += [f"{pluralize(unjudged_count, 'pair')} not judged"] if unjudged_count else []
    remark = (
        f", with {' and '.join(open_pairs)}: reopen the round to count later answers" if open_pairs else ""
    )
    return f"The report of {inputs.result.name} is final{remark}."
