"""Opening a quarter: queries leave and join, new documents enter the pool, and a blind round begins.

The round looks like any other to annotators: what was true of each pair is in the plan, which no screen of an
annotator reads. Reports of earlier quarters are fixed before anything changes.

Every step can be repeated: a sample, a pool or a retirement that is there already adds nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from curation.core.errors import CurationError, RefusedError
from curation.core.progress import Progress, silent
from curation.core.text import amount
from curation.labeling.rounds.candidates import (
    Candidate,
    CandidateRow,
    Chosen,
    choose_candidates,
    read_candidates,
)
from curation.labeling.rounds.create_round import RoundOpened, open_over, refuse_who_cannot_judge
from curation.labeling.rounds.layout import RoundLayout
from curation.labeling.rounds.rounds import refuse_taken
from curation.people.annotators import require_annotators, require_author
from curation.pooling.pool import build_pool
from curation.pooling.pool_report import PoolReport
from curation.queries.sampling.designs import Stratum
from curation.queries.sampling.frame.traffic_rows import state_of
from curation.queries.sampling.sample_plan import limits_of
from curation.queries.sampling.stored_sample import DrawnQuery, read_current, store_sample
from curation.relabeling.drift.closing import fix_reports
from curation.relabeling.plan.choice import PlanPair
from curation.relabeling.plan.plan import still_open
from curation.relabeling.plan.query_changes import ADD, ASKED_AGAIN, RETIRE, QueryChange
from curation.relabeling.plan.stored import PlanRow, find_plan, plan_pairs, plan_queries
from curation.relabeling.request import QuarterRequest
from curation.relabeling.staleness.calendar import OPEN, read_work
from curation.relabeling.staleness.judged_pairs import Pair, read_pairs
from curation.relabeling.staleness.retired import retire_query, return_query
from curation.relabeling.staleness.traffic import read_traffic, traffic_of
from curation.store import COMMAND_LINE, Cursor, Store
from curation.store.staging import beside_or_temporary

NOT_THERE = "the document has left the corpus, or the query the set, since the plan was made"
NO_POOL = "new queries without a document to judge: name systems that find some"


# The queries of the sample and those that come back, as drawn last.
_HELD = """
SELECT q.normalised, arg_max(s.stratum, t.rowid), arg_max(s.inclusion_probability, t.rowid)
FROM sample_queries s JOIN samples t USING (sample_id) JOIN queries q USING (query_id)
WHERE (s.sample_id = $sample OR list_contains($again::TEXT[], q.normalised))
  AND q.query_id NOT IN (SELECT query_id FROM retired_queries)
GROUP BY q.normalised ORDER BY q.normalised
"""

_PROPOSED = "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE pool_id = ?"


@dataclass(frozen=True)
class QuarterOpened:
    """A re-labeling that annotators can begin.

    Attributes
    ----------
    pairs: of the plan, that are judged again. new_pairs: pairs that nobody has judged, of new documents and
        queries.
    added, retired: queries that joined and left the set.
    left_out: reason → number.
    """

    plan_id: str
    quarter: str
    pairs: int
    new_pairs: int
    added: int
    retired: int
    pool: PoolReport | None
    round: RoundOpened
    left_out: dict[str, int]


class _Plan(NamedTuple):
    """A plan with all that belongs to it."""

    row: PlanRow
    pairs: list[PlanPair]
    queries: list[QueryChange]


def open_plan(
    store: Store, request: QuarterRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> QuarterOpened:
    """Open the round of a plan, by default of the newest one, under the name of its quarter.

    Without systems no documents for new queries, and no new documents for others, are found.

    Raises
    ------
    NotFoundError: there is no such plan, or annotators are unknown.
    RefusedError: the plan or another quarter is open, a pair was judged or decided since the plan was made,
        somebody cannot sign in, the name is taken, or the author is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        read = _read(cursor, request.plan)
        layout = checked_layout(cursor, read.row, request)
    _change_queries(store, read, author)
    asked = (request.systems, request.depth, 0, layout.seed)
    built = None
    if request.systems:
        built = build_pool(store, *asked, progress=progress, budget=request.budget, author=author)
    chooser = _Chooser(read, built.pool_id if built else None)

    def write(cursor: Cursor, opened: RoundOpened) -> None:
        _refuse_stale(cursor, read)
        cursor.execute(
            "INSERT INTO relabeling_rounds VALUES (?, ?, ?)",
            [read.row.plan_id, opened.round_id, read.row.quarter],
        )

    opened = open_over(store, layout, chooser.read, chooser.choose, author, write)
    return QuarterOpened(
        plan_id=read.row.plan_id,
        quarter=read.row.quarter,
        pairs=chooser.pairs,
        new_pairs=opened.candidates - chooser.pairs,
        added=sum(change.kind == ADD for change in read.queries),
        retired=sum(change.kind == RETIRE for change in read.queries),
        pool=built,
        round=opened,
        left_out=opened.left_out,
    )


def preview_opening(
    store: Store, request: QuarterRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> QuarterOpened:
    """What `open_plan` would open: it does so in a copy of the project, which is then removed."""
    with beside_or_temporary(store.path) as folder:
        store.copy_to(folder / store.path.name)
        copy = Store(folder / store.path.name)
        try:
            return open_plan(copy, request, progress, author)
        finally:
            copy.close()


def opening_problem(store: Store, plan: str | None = None) -> str | None:
    """Why `open_plan` would refuse this plan for any annotators, in words for a page; else None."""
    try:
        with store.reading() as cursor:
            _read(cursor, plan)
    except CurationError as error:
        return error.found
    return None


def checked_layout(cursor: Cursor, row: PlanRow, request: QuarterRequest) -> RoundLayout:
    """The layout of a plan's round; raises why these people cannot judge it, or the name cannot be taken."""
    overlap, seed, name = row.parameters["overlap"], row.parameters["seed"], request.name or row.quarter
    layout = RoundLayout(
        *(name, "labeling", request.annotators, overlap, request.duplicates, seed), per_day=request.per_day
    ).checked()
    refuse_who_cannot_judge(require_annotators(cursor, layout.annotators))
    refuse_taken(cursor, layout.name)
    return layout


def _read(cursor: Cursor, name: str | None) -> _Plan:
    row = find_plan(cursor, name)
    read = _Plan(row, plan_pairs(cursor, row.plan_id), plan_queries(cursor, row.plan_id))
    _refuse_stale(cursor, read)
    return read


def _refuse_stale(cursor: Cursor, plan: _Plan) -> None:
    """Refuse a plan that is open, while another one is, or that no longer says what is true of its pairs."""
    row = find_plan(cursor, plan.row.plan_id)
    if row.round is not None:
        raise RefusedError(f"The plan of {row.quarter} is open already, as the round {row.round!r}.")
    for work in read_work(cursor):
        if work.state == OPEN:
            raise still_open(work)
        if work.quarter.name == row.quarter and work.round is not None:
            raise RefusedError(f"{row.quarter} was re-labeled already, in the round {work.round!r}.")
    now = {pair.pair: pair for pair in read_pairs(cursor)}
    changed = 0
    for pair in plan.pairs:
        one = now.get((pair.query_id, pair.document_id))
        if one is not None:
            known = (pair.grade, pair.content_hash, pair.decisions)
            changed += known != (one.consensus.grade, one.read_hash, one.decisions)
    if changed:
        raise RefusedError(
            f"{amount(changed, 'pair of the plan was', 'pairs of the plan were')} judged or decided "
            "since it was made. Plan again.",
            command=f"`goldgrade relabel plan --share {row.parameters['fraction']:g} --seed "
            f"{row.parameters['seed']}` does so with the same settings.",
        )


def _change_queries(store: Store, plan: _Plan, author: str) -> None:
    """Retire who is not asked any more, bring back who is again, and draw the new queries into the sample."""
    with store.transaction(appends=True) as cursor:
        fix_reports(cursor)
        ids = dict(cursor.execute("SELECT normalised, min(query_id) FROM queries GROUP BY 1").fetchall())
        for change in plan.queries:
            if change.kind == RETIRE:
                retire_query(cursor, ids[change.normalised], change.reason, author)
            elif change.reason == ASKED_AGAIN:
                return_query(cursor, ids[change.normalised], change.reason, author)
    if any(change.probability is not None for change in plan.queries):
        _extend_sample(store, plan, author)


def _extend_sample(store: Store, plan: _Plan, author: str) -> None:
    """The current sample with the new queries: both keep the probabilities of their draws.

    All traffic is that of the new logs, so that weights of old and new queries are of the same searches.
    """
    with store.reading() as cursor:
        earlier = read_current(cursor)
        if earlier is None:
            return
        if earlier.parameters.get("relabeling") == plan.row.quarter:
            return  # it was extended before
        again = [change.normalised for change in plan.queries if change.reason == ASKED_AGAIN]
        values = {"sample": earlier.sample_id, "again": again}
        drawn = cursor.execute(_HELD, values).fetchall()
        logged = read_traffic(cursor)
        limits = limits_of(earlier.parameters)
        state = state_of(cursor, limits, earlier.parameters["strata"])
    asked = traffic_of(logged).counts
    held = [
        DrawnQuery(text, stratum, asked[text][-1] if text in asked else 0, probability)
        for text, stratum, probability in drawn
    ]
    new = [
        DrawnQuery(change.normalised, change.stratum or "", change.traffic or 0, change.probability or 0.0)
        for change in plan.queries
        if change.probability is not None
    ]
    strata = [Stratum(**stratum) for stratum in plan.row.parameters["strata"]]
    kept = [stratum for stratum in earlier.strata if stratum.name not in {one.name for one in strata}]
    parameters: dict[str, Any] = earlier.parameters | {
        "size": len(held) + len(new),
        "tops_up": earlier.sample_id,
        "relabeling": plan.row.quarter,
    }
    store_sample(store, parameters, [*kept, *strata], [*held, *new], limits, state, author)


class _Chooser:
    """Which candidates the round shows."""

    def __init__(self, plan: _Plan, pool_id: str | None) -> None:
        self.plan, self.pool_id, self.pairs = plan, pool_id, 0

    def read(self, cursor: Cursor) -> tuple[list[CandidateRow], set[str], set[Pair], set[str]]:
        """Candidates, queries in play, pairs that the pool proposes, and queries that join."""
        rows, active = read_candidates(cursor)
        proposed = cursor.execute(_PROPOSED, [self.pool_id]).fetchall()
        texts = [change.normalised for change in self.plan.queries if change.kind == ADD]
        sql = "SELECT query_id FROM queries WHERE normalised IN (SELECT unnest(?::TEXT[]))"
        added = {row[0] for row in cursor.execute(sql, [texts]).fetchall()}
        return rows, active, set(proposed), added

    def choose(self, read: tuple[list[CandidateRow], set[str], set[Pair], set[str]]) -> Chosen:
        rows, active, proposed, added = read
        planned = {(pair.query_id, pair.document_id) for pair in self.plan.pairs}
        again = [
            Candidate(row.query_id, row.document_id, row.content_hash)
            for row in rows
            if (row.query_id, row.document_id) in planned
            and row.content_hash is not None
            and not row.outside
            and row.query_id in active
        ]
        new = [
            candidate
            for candidate in choose_candidates(rows, active, again=False).candidates
            if (candidate.query_id, candidate.document_id) in proposed
        ]
        self.pairs = len(again)
        lonely = added - {one.query_id for one in new} - {one.query_id for one in again}
        left_out = {NOT_THERE: len(planned) - len(again), NO_POOL: len(lonely)}
        parameters = {"plan": self.plan.row.plan_id, "quarter": self.plan.row.quarter}
        counts = {reason: count for reason, count in left_out.items() if count}
        return Chosen([*again, *new], parameters, counts)
