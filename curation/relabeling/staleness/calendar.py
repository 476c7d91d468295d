"""The calendar of re-labeling: what each quarter planned and did, and what is due in this one.

A plan belongs to the quarter that it was made for. Should a clock step back over the turn of a quarter, the
quarter of the newest plan stays the present one.

The judged pairs of the set: what each grade rests on, and what became of that since.

The set is every pair with a judgment or a decision whose query is in play, or the pairs of a release. When a
pair was judged is known by the quarter of the re-labeling that did it, else by the times of its judgments.
Judgments that
were imported without a time have none: only that they are as old as their import.

Quarters of the calendar: what plans, ages and due dates are counted in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple, Self

from curation.errors import InputError
from curation.guides.guide import current_guide, guide_lines
from curation.guides.rewording import Grades, reworded_grades
from curation.relabeling.staleness.traffic import LEFT
from curation.settling.consensus import PairConsensus, consensus
from curation.settling.votes import counted_decisions_view
from curation.sources.queries import active_queries
from curation.store import Cursor, get_setting, utc_now
from curation.store.documents import snapshot_versions
from curation.text import amount

REVISIT = 8
"""Everything is judged again within so many quarters: two years."""

_NAME = re.compile(r"(\d{4})-Q([1-4])")


class Quarter(NamedTuple):
    """A quarter of a year; quarters order and count like numbers."""

    year: int
    number: int

    @classmethod
    def of(cls, day: date) -> Self:
        """The quarter that a day is in."""
        return cls(day.year, (day.month - 1) // 3 + 1)

    @classmethod
    def named(cls, name: str) -> Self:
        """The quarter of a name such as 2026-Q4.

        Raises
        ------
        InputError: it is not one.
        """
        found = _NAME.fullmatch(name)
        if found is None:
            raise InputError(f"{name!r} is no quarter; expected one such as 2026-Q4")
        return cls(int(found[1]), int(found[2]))

    @property
    def name(self) -> str:
        return f"{self.year:04d}-Q{self.number}"

    def since(self, earlier: Quarter) -> int:
        """How many quarters after another one; 0 where a clock stepped back over it."""
        return max(0, 4 * (self.year - earlier.year) + self.number - earlier.number)

    def before(self, quarters: int) -> Quarter:
        """The quarter so many quarters earlier; a negative number is later."""
        year, place = divmod(4 * self.year + self.number - 1 - quarters, 4)
        return Quarter(year, place + 1)


SAME, CHANGED, GONE, UNKNOWN = "same", "changed", "gone", "unknown"
"""What became of the version of a document that was judged."""

Pair = tuple[str, str]


class JudgedPair(NamedTuple):
    """A pair of the set.

    Attributes
    ----------
    consensus: its grade now, and the votes it rests on.
    type: the stratum of its query in the newest sample that has it, else the query's source.
    tags: of its query.
    judged: the quarter it was judged in; None: not known.
    renewed: the last quarter whose re-labeling judged the text that the grade is about; None where none did.
    judged_at: the latest known time of its judgments and of the decision.
    known_since: the quarter in which the last of its rounds was opened: it is no younger than that.
    read_hash: the version of the document that was judged; None: not known.
    now_hash: the version in the newest corpus snapshot; None: the document is gone.
    guide_hash: the guide that it was judged under, one that makes it due if there is any; None: not known.
    guide_behind: whether its grade or a vote for it reads otherwise in the guide in force; None: not known.
    annotators: who judged it, by name.
    decisions: revisions of the reviewer's decisions.
    evidence_lost: whether the new text of its document no longer has what people marked as evidence; of a
        query that a release seals it is not looked at, as it would tell the grade.
    """

    consensus: PairConsensus
    type: str
    tags: tuple[str, ...]
    judged: Quarter | None
    renewed: Quarter | None
    judged_at: datetime | None
    known_since: Quarter | None
    read_hash: str | None
    now_hash: str | None
    guide_hash: str | None
    guide_behind: bool | None
    annotators: tuple[str, ...]
    decisions: int
    evidence_lost: bool = False

    @property
    def pair(self) -> Pair:
        """Query id and document id."""
        return self.consensus.query_id, self.consensus.document_id

    @property
    def query_id(self) -> str:
        return self.consensus.query_id

    @property
    def document(self) -> str:
        """'same', 'changed', 'gone' or 'unknown'."""
        if self.now_hash is None:
            return GONE
        if self.read_hash is None:
            return UNKNOWN
        return SAME if self.read_hash == self.now_hash else CHANGED


class _PairRecord(NamedTuple):
    """What the tables say of a pair besides its votes; `given`: guides and grades that count."""

    judged_at: datetime | None
    opened_at: datetime | None
    read_hash: str | None
    given: tuple[tuple[str, int | None], ...]
    annotators: tuple[str, ...]
    decisions: int


def read_pairs(cursor: Cursor, among: Collection[Pair] | None = None) -> list[JudgedPair]:
    """The judged pairs of the queries in play, by query id and document id.

    Parameters
    ----------
    among: only these, such as the pairs of a release.
    """
    active = {query.query_id for query in active_queries(cursor)}
    found = [
        one
        for one in consensus(cursor).pairs
        if one.query_id in active and (among is None or (one.query_id, one.document_id) in among)
    ]
    records = _records(cursor)
    judged = sorted({one.document_id for one in found})
    now = snapshot_versions(cursor, get_setting(cursor, "corpus"), judged)
    types, tags = query_types(cursor), query_tags(cursor)
    renewed = dict(_renewed(cursor))
    guide = current_guide(cursor)
    reworded = reworded_grades(cursor, guide_lines(cursor), guide)
    return [
        _pair(
            one,
            records[one.query_id, one.document_id],
            now.get(one.document_id),
            (types[one.query_id], tags.get(one.query_id, ())),
            renewed.get((one.query_id, one.document_id)),
            guide.guide_hash,
            reworded,
        )
        for one in found
    ]


def _pair(
    one: PairConsensus,
    record: _PairRecord,
    now_hash: str | None,
    kind: tuple[str, tuple[str, ...]],
    renewed: str | None,
    guide: str,
    reworded: Mapping[str, Grades],
) -> JudgedPair:
    again = Quarter.named(renewed) if renewed else None
    judged = again or _quarter(record.judged_at)
    behind = sorted(name for name, grade in record.given if grade in reworded.get(name, ()))
    return JudgedPair(
        consensus=one,
        type=kind[0],
        tags=kind[1],
        judged=judged,
        renewed=again,
        judged_at=record.judged_at,
        known_since=judged or _quarter(record.opened_at),
        read_hash=record.read_hash,
        now_hash=now_hash,
        guide_hash=behind[0] if behind else guide if record.given else None,
        guide_behind=bool(behind) if record.given else None,
        annotators=record.annotators,
        decisions=record.decisions,
    )


def _quarter(at: date | None) -> Quarter | None:
    return Quarter.of(at) if at is not None else None


def _records(cursor: Cursor) -> dict[Pair, _PairRecord]:
    rows = cursor.execute(_RECORDS.format(decisions=counted_decisions_view(cursor))).fetchall()
    return {
        (row[0], row[1]): _PairRecord(
            judged_at=row[2],
            opened_at=row[3],
            read_hash=row[4],
            given=tuple((one["guide"], one["grade"]) for one in row[5]),
            annotators=tuple(row[6]),
            decisions=row[7],
        )
        for row in rows
    }


def query_types(cursor: Cursor) -> dict[str, str]:
    """Query id → its stratum in the newest sample that has it, else its source."""
    return dict(cursor.execute(_TYPES).fetchall())


def query_tags(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    """Query id → its tags."""
    rows = cursor.execute(
        "SELECT query_id, list(tag ORDER BY tag) FROM current_query_tags GROUP BY query_id"
    ).fetchall()
    return {query_id: tuple(tags) for query_id, tags in rows}


def _renewed(cursor: Cursor) -> list[tuple[Pair, str]]:
    """Pairs whose judged text a re-labeling judged whole, with the last quarter that did."""
    if not cursor.execute("SELECT 1 FROM relabeling_rounds LIMIT 1").fetchall():
        return []  # nor would the query find any, which takes 20 ms to plan
    rows = cursor.execute(_RENEWED).fetchall()
    return [((query_id, document_id), quarter) for query_id, document_id, quarter in rows]


# The versions and guides of the judgments that count; a decision is about its own.
_RECORDS = """
WITH judged AS (
    SELECT j.query_id, j.document_id,
           max(e.submitted_at) FILTER (e.time_known) AS judged_at, max(r.opened_at) AS opened_at,
           arg_max(j.content_hash, j.written) AS content_hash,
           list(DISTINCT {{guide: j.guide_hash, grade: j.grade}}) FILTER (j.guide_hash IS NOT NULL) AS given,
           list(DISTINCT j.annotator ORDER BY j.annotator) AS annotators
    FROM counted_judgments j JOIN rounds r USING (round_id)
    JOIN judgment_events e ON e.presentation_id = j.presentation_id AND e.revision = j.next_revision - 1
    GROUP BY ALL),
reviewed AS (SELECT query_id, document_id, max(revision) + 1 AS decisions FROM adjudications GROUP BY ALL)
SELECT query_id, document_id, greatest(j.judged_at, a.decided_at), coalesce(j.opened_at, a.decided_at),
       coalesce(a.content_hash, j.content_hash),
       CASE WHEN a.revision IS NULL THEN coalesce(j.given, [])
            WHEN a.guide_hash IS NULL THEN [] ELSE [{{guide: a.guide_hash, grade: a.grade}}] END,
       coalesce(j.annotators, []), coalesce(v.decisions, 0)
FROM judged j FULL JOIN {decisions} a USING (query_id, document_id)
LEFT JOIN reviewed v USING (query_id, document_id)
"""

_RENEWED = """
SELECT query_id, document_id, arg_max(n.quarter, n.sequence)
FROM relabeling_progress n JOIN judged_versions v USING (query_id, document_id)
WHERE n.whole AND list_contains(n.shown, v.content_hash) GROUP BY ALL
"""

_TYPES = """
WITH newest AS (
    SELECT q.query_id, arg_max(q.stratum, s.rowid) AS stratum
    FROM sample_queries q JOIN samples s USING (sample_id) GROUP BY q.query_id)
SELECT query_id, coalesce(stratum, source) FROM queries LEFT JOIN newest USING (query_id)
"""


NOT_PLANNED, PLANNED, OPEN, UNFINISHED, DONE = "not planned", "planned", "open", "left half done", "done"


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
        one = QuarterWork(Quarter.named(quarter), plan_id, round_name, state, pairs, whole)
        work[one.quarter] = one
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
        "pairs to judge now, else older than two years next quarter": sum(
            when is not None and quarter.since(when) >= REVISIT for _, when in known
        ),
        "queries that the traffic has left": sum(trend == LEFT for trend in trends),
        "queries new in the traffic": new,
    }
    reasons = {reason: count for reason, count in counts.items() if count}
    state = own.state if own is not None else NOT_PLANNED
    return DueWork(quarter.name, state, own, earlier[-1] if earlier else None, reasons)


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
