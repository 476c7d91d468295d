"""The calendar of re-labeling: what each quarter planned and did, and what is due in this one.

A plan belongs to the quarter that it was made for. Should a clock step back over the turn of a quarter, the
quarter of the newest plan stays the present one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from curation.core.text import amount
from curation.relabeling.staleness.judged_pairs import CHANGED, GONE, JudgedPair, Pair
from curation.relabeling.staleness.quarter import REVISIT, Quarter
from curation.relabeling.staleness.traffic import LEFT
from curation.store import Cursor, utc_now

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


class CalendarQuarter(NamedTuple):
    """A quarter of the calendar: pairs of the set that were last judged in it, and its re-labeling if it had
    one.
    """

    quarter: str
    judged: int
    work: QuarterWork | None


@dataclass(frozen=True)
class DueWork:
    """What is due in a quarter, and how many pairs are out of date.

    Attributes
    ----------
    state: of the quarter's re-labeling; 'not planned' if there is none.
    own: that re-labeling. unfinished: the earlier one that is neither done nor closed.
    reasons: reason → number of pairs, queries or documents.
    stale: pairs whose score says that they are out of date; `planned` of them are in the quarter's plan.
    """

    quarter: str
    state: str
    own: QuarterWork | None
    unfinished: QuarterWork | None
    reasons: dict[str, int]
    stale: int = 0
    planned: int = 0

    @property
    def is_due(self) -> bool:
        """Whether somebody has something to do: nothing was done yet and there is a reason, or work is open
        or was left half done.
        """
        if self.unfinished is not None or self.state in (PLANNED, OPEN, UNFINISHED):
            return True
        return self.state == NOT_PLANNED and bool(self.reasons)

    @property
    def stale_sentence(self) -> str:
        """How many pairs are out of date, and what the quarter does about them."""
        if not self.stale:
            return "No pair is out of date."
        said = f"{amount(self.stale, 'pair is', 'pairs are')} out of date"
        if self.state in (PLANNED, OPEN):
            return f"{said}; the plan of {self.quarter} renews {self.planned:,} of them."
        if self.state == UNFINISHED:
            return f"{said}; the re-labeling of {self.quarter} is {self.state}."
        if self.state == DONE:
            return f"{said}; the re-labeling of {self.quarter} is done, so they wait for the next one."
        return f"{said}; {self.quarter} has no plan yet."


@dataclass(frozen=True)
class RelabelingCalendar:
    """The calendar of the last two years.

    Attributes
    ----------
    quarters: oldest first, the present one last.
    older, unknown: pairs that were judged before these quarters, or at a time that nobody knows.
    renewed: pairs of the set that the re-labelings of the last four quarters judged whole.
    renewed_share: of the set; None for an empty one.
    """

    quarters: tuple[CalendarQuarter, ...]
    older: int
    unknown: int
    renewed: int
    renewed_share: float | None
    due: DueWork


def present_quarter(cursor: Cursor, today: date | None) -> Quarter:
    """The quarter of today, or of the newest plan where a clock stepped back behind it."""
    newest = cursor.execute("SELECT max(quarter) FROM relabeling_plans").fetchall()[0][0]
    now = Quarter.of(today or utc_now().date())
    return max(now, Quarter.named(newest)) if newest else now


def read_work(cursor: Cursor) -> list[QuarterWork]:
    """All plans that were opened, and the newest of each quarter that was not; by quarter."""
    work: dict[Quarter, QuarterWork] = {}
    for quarter, plan_id, round_name, closed, pairs, whole in cursor.execute(_WORK).fetchall():
        state = PLANNED if round_name is None else DONE if whole == pairs else UNFINISHED if closed else OPEN
        quarter_work = QuarterWork(Quarter.named(quarter), plan_id, round_name, state, pairs, whole)
        work[quarter_work.quarter] = quarter_work
    return [work[quarter] for quarter in sorted(work)]


def planned_pairs(cursor: Cursor, work: Sequence[QuarterWork], quarter: Quarter) -> set[Pair]:
    """The pairs of the quarter's plan; none where it has none."""
    plans = [one.plan_id for one in work if one.quarter == quarter]
    sql = "SELECT query_id, document_id FROM relabeling_pairs WHERE list_contains(?::TEXT[], plan_id)"
    return set(cursor.execute(sql, [plans]).fetchall())


def calendar_of(
    pairs: Sequence[JudgedPair],
    work: Sequence[QuarterWork],
    quarter: Quarter,
    trends: Sequence[str],
    new: int,
) -> RelabelingCalendar:
    """The calendar.

    Parameters
    ----------
    trends: of the traffic of each query of the set.
    new: queries that only the new logs have.
    """
    judged = Counter(pair.judged for pair in pairs)
    shown = [quarter.before(back) for back in reversed(range(REVISIT + 1))]
    by_quarter = {one.quarter: one for one in work}
    known = sum(count for when, count in judged.items() if when is not None)
    recent = {one.quarter for one in work if one.round is not None and quarter.since(one.quarter) < 4}
    renewed = sum(pair.renewed in recent for pair in pairs)
    return RelabelingCalendar(
        quarters=tuple(CalendarQuarter(one.name, judged[one], by_quarter.get(one)) for one in shown),
        older=known - sum(judged[one] for one in shown),
        unknown=judged[None],
        renewed=renewed,
        renewed_share=renewed / len(pairs) if pairs else None,
        due=_due(pairs, work, quarter, trends, new),
    )


def _due(
    pairs: Sequence[JudgedPair],
    work: Sequence[QuarterWork],
    quarter: Quarter,
    trends: Sequence[str],
    new: int,
) -> DueWork:
    own = next((one for one in work if one.quarter == quarter), None)
    earlier = [one for one in work if one.quarter != quarter and one.state == OPEN]
    known = [(pair, pair.judged or pair.known_since) for pair in pairs if pair.document != GONE]
    counts = {
        "pairs whose document changed": sum(pair.document == CHANGED for pair in pairs),
        "pairs whose evidence is not in the new text": sum(pair.evidence_lost for pair in pairs),
        "pairs with a grade or vote whose words changed in the guide": sum(
            bool(pair.guide_behind) for pair, _ in known
        ),
        "pairs last judged in an earlier quarter": sum(
            when is None or quarter.since(when) > 0 for _, when in known
        ),
        "pairs last judged two years ago or earlier": sum(
            when is not None and quarter.since(when) >= REVISIT for _, when in known
        ),
        "queries that the traffic has left": sum(trend == LEFT for trend in trends),
        "queries new in the traffic": new,
    }
    reasons = {reason: count for reason, count in counts.items() if count}
    state = own.state if own is not None else NOT_PLANNED
    return DueWork(quarter.name, state, own, earlier[-1] if earlier else None, reasons)
