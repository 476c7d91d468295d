"""The calendar of re-labelings: the quarters of the year, each with the progress of its re-labeling.

A plan of a re-labeling belongs to the quarter for which it was made. If the computer's clock is set back into
an earlier quarter, the quarter of the newest plan stays the present quarter. Pairs that a lead chose are
judged again apart from the quarter's plan: their re-labelings are called 2026-Q4.1, 2026-Q4.2, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple, Self

from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize
from curation.store import Cursor, utc_now

REVISIT_QUARTERS = 8
"""Age in quarters (two years) from which a pair counts as stale for its age only."""
QUARTER_LENGTH = len("2026-Q4")
_QUARTER_PATTERN = re.compile(r"\d{4}-Q[1-4]")
NOT_PLANNED, PLANNED, OPEN, UNFINISHED, DONE = "not planned", "planned", "open", "half done", "done"
# Pairs that the round does not show (their documents are gone) do not count in the progress.
_PROGRESS = """
WITH shown_pairs AS (
    SELECT plan_id, count(*) AS pair_count, count(*) FILTER (whole) AS judged_count
    FROM relabeling_progress GROUP BY plan_id),
planned_pairs AS (SELECT plan_id, count(*) AS pair_count FROM relabeling_pairs GROUP BY plan_id)
SELECT plan.quarter, plan_id, round.name, coalesce(round.closed, false),
       CASE WHEN round.name IS NULL THEN coalesce(planned.pair_count, 0)
            ELSE coalesce(shown.pair_count, 0) END,
       coalesce(shown.judged_count, 0)
FROM relabeling_plans plan LEFT JOIN relabeling_rounds USING (plan_id)
LEFT JOIN round_states round USING (round_id)
LEFT JOIN shown_pairs shown USING (plan_id) LEFT JOIN planned_pairs planned USING (plan_id)
WHERE NOT contains(plan.quarter, '.')
ORDER BY plan.quarter, round.name IS NOT NULL, plan.rowid
"""


class Quarter(str):
    """A quarter of a year with its name, such as 2026-Q4. Quarters compare by time.

    Raises
    ------
    InputError: the text is not the name of a quarter.
    """

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        if not _QUARTER_PATTERN.fullmatch(name):
            raise InputError(f"{name!r} is not a quarter; expected a quarter such as 2026-Q4")
        return super().__new__(cls, name)

    @classmethod
    def of(cls, day: date) -> Self:
        """Return the quarter of the year that contains a day."""
        return cls(f"{day.year:04d}-Q{(day.month - 1) // 3 + 1}")

    def since(self, earlier: Quarter) -> int:
        """Return the number of quarters from `earlier` to this quarter; 0 if `earlier` is later."""
        return max(0, self._quarters_since_year_0() - earlier._quarters_since_year_0())

    def before(self, quarters: int) -> Quarter:
        """Return the quarter that lies this number of quarters earlier.

        A negative number gives a later quarter.
        """
        year, index = divmod(self._quarters_since_year_0() - quarters, 4)
        return Quarter(f"{year:04d}-Q{index + 1}")

    def _quarters_since_year_0(self) -> int:
        """Return the number of quarters from the year 0 to this quarter."""
        return 4 * int(self[:4]) + int(self[-1]) - 1


class QuarterWork(NamedTuple):
    """The plan of a quarter's re-labeling, with its progress.

    Attributes
    ----------
    state: 'planned', 'open', 'left half done' (the round was closed before all items were answered) or
        'done'.
    pairs: number of pairs of the plan.
    whole: number of the pairs that each asked annotator has judged.
    """

    quarter: Quarter
    plan_id: str
    round: str | None
    state: str
    pairs: int
    whole: int


def find_present_quarter(cursor: Cursor, today: date | None) -> Quarter:
    """Return the current quarter, or the newest plan's quarter if that is later."""
    sql = "SELECT max(quarter[:?]) FROM relabeling_plans"
    [(newest,)] = cursor.execute(sql, [QUARTER_LENGTH]).fetchall()
    now = Quarter.of(today or utc_now().date())
    return max(now, Quarter(newest)) if newest else now


def read_work(cursor: Cursor) -> list[QuarterWork]:
    """Read each quarter's opened plan, or its newest plan if none was opened.

    Plans are ordered by quarter.
    """
    work: dict[str, QuarterWork] = {}  # later rows of a quarter replace earlier rows
    for name, plan_id, round_name, closed, pair_count, judged_count in cursor.execute(_PROGRESS).fetchall():
        if round_name is None:
            state = PLANNED
        elif judged_count == pair_count:
            state = DONE
        else:
            state = UNFINISHED if closed else OPEN
        work[name] = QuarterWork(Quarter(name), plan_id, round_name, state, pair_count, judged_count)
    return list(work.values())


def refuse_second_relabeling(work: Sequence[QuarterWork], quarter: Quarter) -> None:
    """Refuse to plan a re-labeling of a quarter that had one, or while any re-labeling is open.

    Raises
    ------
    RefusedError: a re-labeling is open, or a plan of the quarter was opened before.
    """
    for row in work:
        if row.state == OPEN:
            raise make_open_error(row)
        if row.quarter == quarter and row.state != PLANNED:
            progress = f"{row.whole:,} of {pluralize(row.pairs, 'pair')}"
            if row.state == UNFINISHED:
                raise RefusedError(
                    f"The re-labeling of {quarter} is not finished: its round {row.round!r} was closed "
                    f"with {progress} judged. Reopen the round: its annotators and pairs come from the "
                    "plan.",
                    command=f"`goldgrade round set {row.round} open` reopens the round.",
                )
            raise RefusedError(
                f"{quarter} was already re-labeled (round {row.round!r}, {progress} {row.state}). "
                "Make the next plan in the next quarter."
            )


def make_open_error(work: QuarterWork) -> RefusedError:
    """Make the error that refuses to start a new quarter while the re-labeling `work` is open."""
    return RefusedError(
        f"The re-labeling of {work.quarter} is still open: {work.whole:,} of {pluralize(work.pairs, 'pair')} "
        f"are done. Only one quarter can be open at a time. Finish or close the round {work.round!r}.",
        command=f"`goldgrade round set {work.round} closed` closes the round.",
    )
