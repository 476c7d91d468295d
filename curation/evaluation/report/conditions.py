"""Report, conditions to fail by: which hold, with the figures that meet them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from curation.core.reports.page import Section, Table
from curation.evaluation.report.section import interval

if TYPE_CHECKING:
    from curation.evaluation.fail_if import CheckedCondition


def condition_sections(conditions: Sequence[CheckedCondition]) -> list[Section]:
    """What came of the conditions to fail by, with the figures that meet one; none where there was none."""
    if not conditions:
        return []
    sentences, tables = [], []
    for condition in conditions:
        if condition.outcome == "not checked":
            sentences.append(f"Not checked: {condition.condition}: {condition.failed[0].sentence}")
        elif condition.failed:
            columns = ("system", "where", "n", "value", "against", "change", "95 % interval", "corrected p")
            rows = tuple(
                (row.system, row.where, row.n, row.value, row.reference, row.change, interval(row), row.p)
                for row in condition.failed
            )
            tables.append(Table(f"Failed: {condition.condition}", columns, rows))
    if not sentences and not tables:
        sentences.append("No condition of --fail-if holds.")
    return [Section("Conditions", "\n".join(sentences), (), tuple(tables))]
