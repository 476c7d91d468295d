"""Quarters, and how far the re-labeling of each is.

A plan belongs to the quarter that it was made for. Should a clock step back over the turn of a quarter, the
quarter of the newest plan stays the present one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple, Self

from curation.core.errors import InputError
from curation.store import Cursor, utc_now

REVISIT = 8
"""From so many quarters on, two years, the age of a pair alone makes it stale."""
_NAME = re.compile(r"\d{4}-Q[1-4]")
NOT_PLANNED, PLANNED, OPEN, UNFINISHED, DONE = "not planned", "planned", "open", "left half done", "done"
# A pair of the plan that nobody was asked about (its document is gone) is not waited for.
_WORK = """
WITH asked AS (
    SELECT plan_id, count(*) AS pairs, count(*) FILTER (whole) AS whole
    FROM relabeling_progress GROUP BY plan_id),
planned AS (SELECT plan_id, count(*) AS pairs FROM relabeling_pairs GROUP BY plan_id)
SELECT p.quarter, p.plan_id, r.name, coalesce(r.closed, false),
       CASE WHEN r.name IS NULL THEN coalesce(n.pairs, 0) ELSE coalesce(a.pairs, 0) END, coalesce(a.whole, 0)
FROM relabeling_plans p LEFT JOIN relabeling_rounds b USING (plan_id)
LEFT JOIN round_states r USING (round_id)
LEFT JOIN asked a USING (plan_id) LEFT JOIN planned n USING (plan_id)
ORDER BY p.quarter, r.name IS NOT NULL, p.rowid
"""


class Quarter(str):
    """A quarter of a year by its name, such as 2026-Q4. Quarters are ordered by time.

    Raises
    ------
    InputError: it is not such a name.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} is no quarter; expected one such as 2026-Q4")
        return super().__new__(cls, name)

    @classmethod
    def of(cls, day: date) -> Self:
        """The quarter that a day is in."""
        return cls(f"{day.year:04d}-Q{(day.month - 1) // 3 + 1}")

    def since(self, earlier: Quarter) -> int:
        """How many quarters after another one; 0 where a clock stepped back over it."""
        return max(0, self._count() - earlier._count())

    def before(self, quarters: int) -> Quarter:
        """The quarter so many quarters earlier; a negative number is later."""
        year, index = divmod(self._count() - quarters, 4)
        return Quarter(f"{year:04d}-Q{index + 1}")

    def _count(self) -> int:
        """Quarters since the year 0."""
        return 4 * int(self[:4]) + int(self[-1]) - 1


class QuarterWork(NamedTuple):
    """A plan of a quarter, and how far it is.

    Attributes
    ----------
    state: 'planned', 'open', 'left half done' (its round was closed before all was answered) or 'done'.
    pairs, whole: pairs of the plan, and those that everybody who was asked has judged.
    """

    quarter: Quarter
    plan_id: str
    round: str | None
    state: str
    pairs: int
    whole: int


def present_quarter(cursor: Cursor, today: date | None) -> Quarter:
    """The quarter of today, or of the newest plan where a clock stepped back behind it."""
    newest = cursor.execute("SELECT max(quarter) FROM relabeling_plans").fetchall()[0][0]
    now = Quarter.of(today or utc_now().date())
    return max(now, Quarter(newest)) if newest else now


def read_work(cursor: Cursor) -> list[QuarterWork]:
    """All plans that were opened, and the newest of each quarter that was not; by quarter."""
    work: dict[Quarter, QuarterWork] = {}
    for name, plan_id, round_name, closed, pairs, whole in cursor.execute(_WORK).fetchall():
        state = PLANNED if round_name is None else DONE if whole == pairs else UNFINISHED if closed else OPEN
        quarter = Quarter(name)
        work[quarter] = QuarterWork(quarter, plan_id, round_name, state, pairs, whole)
    return [work[quarter] for quarter in sorted(work)]


def planned_pairs(cursor: Cursor, work: Sequence[QuarterWork], quarter: Quarter) -> set[tuple[str, str]]:
    """The query and document ids of the quarter's plan; none where it has none."""
    plans = [row.plan_id for row in work if row.quarter == quarter]
    sql = "SELECT query_id, document_id FROM relabeling_pairs WHERE list_contains(?::TEXT[], plan_id)"
    return set(cursor.execute(sql, [plans]).fetchall())
