"""Opening of a re-labeling plan as a blind round of the quarter.

Annotators see an ordinary round: only the plan holds the old grades, and no page of an annotator reads the
plan. Opening a quarter first fixes the reports of earlier quarters.

Each step of an opening can be repeated: a sample, pool or retirement that the project already has is not
added again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from curation.core.errors import CurationError, RefusedError
from curation.core.operation import Operation
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds import candidates
from curation.labeling.rounds.create_round import OpenedRound, open_round_over
from curation.labeling.rounds.rounds import refuse_taken_name, refuse_unable_annotators
from curation.people.annotators import require_annotators, require_author
from curation.pooling.pool import build_pool
from curation.pooling.pool_report import PoolReport
from curation.pooling.request import PoolRequest
from curation.queries.sampling import stored_sample
from curation.queries.sampling.strata import Stratum
from curation.relabeling.calendar import OPEN, find_present_quarter, read_work
from curation.relabeling.fixed_reports import fix_reports
from curation.relabeling.judged_pairs import Pair, read_pairs
from curation.relabeling.plan import ADD, RETIRE, RETURNED, RelabelingPlan, make_plan, open_error, refuse_open
from curation.relabeling.request import PlanRequest, QuarterRequest
from curation.relabeling.retired_queries import retire_query, return_query
from curation.relabeling.stored_plans import StoredPlan, find_plan, read_plan
from curation.relabeling.traffic import read_traffic
from curation.store import COMMAND_LINE, Cursor, Store
from curation.store.staging import rehearsal_folder

NOT_THERE = "the document has left the corpus, or the query the set, since the plan was made"
NO_POOL = "new queries without a document to judge: name systems that find some"
# The queries of the sample and the returned queries, each as it was drawn last.
_DRAWN_BEFORE = """
SELECT q.normalised, arg_max(s.stratum, t.rowid), arg_max(s.inclusion_probability, t.rowid)
FROM sample_queries s JOIN samples t USING (sample_id) JOIN queries q USING (query_id)
WHERE (s.sample_id = $sample OR list_contains($again::TEXT[], q.normalised))
  AND q.query_id NOT IN (SELECT query_id FROM retired_queries)
GROUP BY q.normalised ORDER BY q.normalised
"""
_PROPOSED = "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE pool_id = ?"
ChoiceInputs = tuple[list[candidates.CandidateRow], set[str], set[Pair], set[str]]
"""The candidates, the queries of the set, the pairs from the pool, and the queries that join."""


@dataclass(frozen=True)
class QuarterOpened:
    """The result of opening a re-labeling: its round, and counts of its pairs and queries.

    Attributes
    ----------
    pairs: number of pairs of the plan in the round.
    new_pairs: number of pairs of new documents and new queries in the round.
    added, retired: number of queries that joined and left the set.
    left_out: number of pairs or queries that the round lacks, by reason.
    """

    plan_id: str
    quarter: str
    pairs: int
    new_pairs: int
    added: int
    retired: int
    pool: PoolReport | None
    round: OpenedRound
    left_out: dict[str, int]
    dry_run: bool = False

    @property
    def sentences(self) -> list[str]:
        """Sentences on the opened round, the changed queries, and the left-out pairs."""
        opening = "Preview, without opening a round:" if self.dry_run else "Opened"
        return [
            f"{opening} {self.quarter} as the round {self.round.round}: {pluralize(self.pairs, 'pair')} to "
            f"judge again, {self.new_pairs:,} new, {pluralize(self.round.presentations, 'presentation')}.",
            f"{pluralize(self.added, 'query', 'queries')} joined the set, {self.retired:,} left it.",
            *(f"Left out: {number:,} {why}." for why, number in self.left_out.items()),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The number of items of each annotator."""
        return (Table("Items by annotator", ("annotator", "items"), tuple(self.round.per_annotator.items())),)


class _CandidateChooser:
    """Choice of the candidates of a re-labeling round: the pairs of its plan, and new pairs from the pool."""

    def __init__(self, plan: StoredPlan, pool_id: str | None) -> None:
        self.plan, self.pool_id, self.pairs = plan, pool_id, 0

    def read(self, cursor: Cursor) -> ChoiceInputs:
        """Read the candidates, the queries of the set, the pairs from the pool, and the joining queries."""
        rows, active = candidates.read_candidates(cursor)
        proposed = cursor.execute(_PROPOSED, [self.pool_id]).fetchall()
        texts = [change.normalised for change in self.plan.queries if change.kind == ADD]
        sql = "SELECT query_id FROM queries WHERE normalised IN (SELECT unnest(?::TEXT[]))"
        added = {row[0] for row in cursor.execute(sql, [texts]).fetchall()}
        return rows, active, set(proposed), added

    def choose(self, inputs: ChoiceInputs) -> candidates.Selection:
        """Choose the candidates of the round from the rows that `read` returned."""
        rows, active, proposed, added = inputs
        planned = {(pair.query_id, pair.document_id) for pair in self.plan.pairs}
        planned_candidates = [
            candidates.Candidate(row.query_id, row.document_id, row.content_hash)
            for row in rows
            if (row.query_id, row.document_id) in planned
            and row.content_hash is not None
            and not row.outside
            and row.query_id in active
        ]
        new_candidates = [
            candidate
            for candidate in candidates.choose_candidates(rows, active, again=False).candidates
            if (candidate.query_id, candidate.document_id) in proposed
        ]
        self.pairs = len(planned_candidates)
        no_document = added - {candidate.query_id for candidate in (*planned_candidates, *new_candidates)}
        left_out = {NOT_THERE: len(planned) - len(planned_candidates), NO_POOL: len(no_document)}
        parameters = {"plan": self.plan.plan_id, "quarter": self.plan.quarter}
        counts = {reason: count for reason, count in left_out.items() if count}
        return candidates.Selection([*planned_candidates, *new_candidates], parameters, counts)


def open_plan(
    store: Store, request: QuarterRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> QuarterOpened:
    """Open the round of a re-labeling plan, by default of the newest plan, under the name of its quarter.

    Only retrieval systems that the request names find new documents. Without systems, a new query has no
    document to judge, and the round leaves the query out.

    Raises
    ------
    NotFoundError: there is no such plan, or annotators are unknown.
    RefusedError: the plan or a different quarter is open, a pair was judged or decided since the plan was
        made, an annotator cannot sign in, the name is taken, or the author is no lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        plan = _read_current_plan(cursor, request.plan)
        layout = make_round_request(cursor, plan, request)
    _change_queries(store, plan, author)
    report = None
    if request.systems:
        pool_request = PoolRequest(request.systems, request.depth, 0, layout.seed, request.budget)
        report = build_pool(store, pool_request, progress, author)
    chooser = _CandidateChooser(plan, report.pool_id if report else None)

    def write(cursor: Cursor, opened: OpenedRound) -> None:
        _refuse_stale(cursor, plan)
        values = [plan.plan_id, opened.round_id, plan.quarter]
        cursor.execute("INSERT INTO relabeling_rounds VALUES (?, ?, ?)", values)

    opened = open_round_over(store, layout, chooser.read, chooser.choose, author, write)
    return QuarterOpened(
        plan_id=plan.plan_id,
        quarter=plan.quarter,
        pairs=chooser.pairs,
        new_pairs=opened.candidates - chooser.pairs,
        added=sum(change.kind == ADD for change in plan.queries),
        retired=sum(change.kind == RETIRE for change in plan.queries),
        pool=report,
        round=opened,
        left_out=opened.left_out,
    )


def preview_opening(
    store: Store, request: QuarterRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> QuarterOpened:
    """Open a plan in a temporary copy of the project, and return the result as a dry run."""
    with rehearsal_folder(store.path) as folder:
        store.copy_to(folder / store.path.name)
        copy = Store(folder / store.path.name)
        try:
            return replace(open_plan(copy, request, progress, author), dry_run=True)
        finally:
            copy.close()


def find_opening_problem(store: Store, plan: str | None = None) -> str | None:
    """Return the reason why `open_plan` would refuse the plan, whoever judges; None without a reason."""
    try:
        with store.reading() as cursor:
            _read_current_plan(cursor, plan)
    except CurationError as error:
        return error.found
    return None


def make_round_request(cursor: Cursor, plan: StoredPlan, request: QuarterRequest) -> RoundRequest:
    """Make the request for the round of a plan.

    Refuse annotators who cannot judge, and a round name that is taken.
    """
    name, overlap, seed = request.name or plan.quarter, plan.parameters["overlap"], plan.parameters["seed"]
    layout = RoundRequest(
        name, request.annotators, overlap, request.duplicates, per_day=request.per_day, seed=seed
    ).checked()
    refuse_unable_annotators(require_annotators(cursor, layout.annotators))
    refuse_taken_name(cursor, layout.name)
    return layout


def _read_current_plan(cursor: Cursor, name: str | None) -> StoredPlan:
    plan = read_plan(cursor, name)
    _refuse_stale(cursor, plan)
    return plan


def _refuse_stale(cursor: Cursor, plan: StoredPlan) -> None:
    """Refuse an open plan, a plan while another quarter is open, and a plan whose pairs have changed."""
    row = find_plan(cursor, plan.plan_id)
    if row.round is not None:
        raise RefusedError(f"The plan of {row.quarter} is open already, as the round {row.round!r}.")
    for work in read_work(cursor):
        if work.state == OPEN:
            raise open_error(work)
        if work.quarter == row.quarter and work.round is not None:
            raise RefusedError(f"{row.quarter} was re-labeled already, in the round {work.round!r}.")
    present = {pair.pair: (pair.grade, pair.read_hash, pair.decisions) for pair in read_pairs(cursor)}
    planned = {pair[:2]: (pair.grade, pair.content_hash, pair.decisions) for pair in plan.pairs}
    changed = sum(present.get(pair, facts) != facts for pair, facts in planned.items())
    if changed:
        raise RefusedError(
            f"{pluralize(changed, 'pair of the plan was', 'pairs of the plan were')} judged or decided "
            "since the plan was made. Make a new plan.",
            command=f"`goldgrade relabel plan --share {row.parameters['fraction']:g} --seed "
            f"{row.parameters['seed']}` makes a plan with the same settings.",
        )


def _change_queries(store: Store, plan: StoredPlan, author: str) -> None:
    """Retire the queries that leave the set, return retired queries, and add new queries to the sample."""
    with store.transaction(appends=True) as cursor:
        fix_reports(cursor)
        ids = dict(cursor.execute("SELECT normalised, min(query_id) FROM queries GROUP BY 1").fetchall())
        for change in plan.queries:
            if change.kind == RETIRE:
                retire_query(cursor, ids[change.normalised], change.reason, author)
            elif change.reason == RETURNED:
                return_query(cursor, ids[change.normalised], change.reason, author)
    if any(change.probability is not None for change in plan.queries):
        _extend_sample(store, plan, author)


def _extend_sample(store: Store, plan: StoredPlan, author: str) -> None:
    """Store a sample of the current and the new queries. Each query keeps its inclusion probability.

    The searches for all queries are counted in the new logs, so that the weights of old and new queries are
    comparable.
    """
    with store.reading() as cursor:
        earlier = stored_sample.read_current_sample(cursor)
        if earlier is None or earlier.parameters.get("relabeling") == plan.quarter:
            return  # there is no sample, or this plan extended the sample before
        returned = [change.normalised for change in plan.queries if change.reason == RETURNED]
        values = {"sample": earlier.sample_id, "again": returned}
        drawn = cursor.execute(_DRAWN_BEFORE, values).fetchall()
        traffic = read_traffic(cursor)
        state = stored_sample.read_frame_state(cursor, stored_sample.restore_request(earlier.parameters))
    searches = traffic.counts
    present = [
        (text, stratum, searches[text][-1] if text in searches else 0, probability)
        for text, stratum, probability in drawn
    ]
    new = [
        (change.normalised, change.stratum or "", change.traffic or 0, change.probability or 0.0)
        for change in plan.queries
        if change.probability is not None
    ]
    strata = [Stratum(**stratum) for stratum in plan.parameters["strata"]]
    new_names = {stratum.name for stratum in strata}
    old_strata = [stratum for stratum in earlier.strata if stratum.name not in new_names]
    size = len(present) + len(new)
    changes = {"size": size, "tops_up": earlier.sample_id, "relabeling": plan.quarter}
    parameters: dict[str, Any] = earlier.parameters | changes
    stored_sample.store_sample(store, parameters, [*old_strata, *strata], [*present, *new], state, author)


def _check_plan(cursor: Cursor, _request: PlanRequest | None) -> None:
    refuse_open(read_work(cursor), find_present_quarter(cursor, None))


def _make_plan(store: Store, request: PlanRequest, progress: Progress, author: str) -> RelabelingPlan:
    return make_plan(store, request, author=author, progress=progress)


def _open_or_preview(store: Store, request: QuarterRequest, progress: Progress, author: str) -> QuarterOpened:
    return (preview_opening if request.dry_run else open_plan)(store, request, progress, author)


def _check_opening(cursor: Cursor, request: QuarterRequest | None) -> None:
    if request is not None:
        make_round_request(cursor, find_plan(cursor, request.plan), request)


OPERATIONS = {
    "plan re-labeling": Operation(
        PlanRequest,
        _make_plan,
        in_progress="a re-labeling is being planned",
        on_interrupt="No plan was stored: plan it again.",
        check=_check_plan,
        first_step="reading judgments and traffic",
        stage="re-label",
    ),
    "relabel": Operation(
        QuarterRequest,
        _open_or_preview,
        in_progress="a re-labeling is being opened",
        on_interrupt="No round was opened: open the plan again. The finished steps are kept.",
        check=_check_opening,
        stage="re-label",
    ),
}
