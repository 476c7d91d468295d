"""The opening of a re-labeling plan as the quarter's blind round.

Annotators see an ordinary round: only the plan holds the old grades, and no page of an annotator reads the
plan. Opening a quarter first fixes the reports of earlier quarters.

Each step of an opening can be repeated: a sample, pool or retirement that the project already has is not
added again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from curation.core.errors import RefusedError
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
from curation.relabeling.calendar import OPEN, find_present_quarter, make_open_error, read_work
from curation.relabeling.fixed_reports import fix_reports
from curation.relabeling.judged_pairs import Pair, read_pairs
from curation.relabeling.plan import make_plan
from curation.relabeling.query_changes import ADD, RETIRE, apply_query_changes, extend_sample
from curation.relabeling.request import PlanRequest, QuarterRequest
from curation.relabeling.stored_plans import StoredPlan, find_plan, read_plan
from curation.store import COMMAND_LINE, Cursor, Store
from curation.store.staging import rehearsal_folder

CANDIDATE_GONE = "since the plan was made, the document left the corpus or the query left the set"
NO_DOCUMENT = "new queries have no document to judge: name systems that find documents"
"""Reasons why the round leaves out a pair of the plan, or a query that joins the set."""
_POOL_PAIRS = "SELECT DISTINCT query_id, document_id FROM candidate_sources WHERE pool_id = ?"


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
        """Return sentences about the opened round, the changed queries, and the pairs left out."""
        opening = "Preview (no round was opened):" if self.dry_run else "Opened"
        return [
            f"{opening} {self.quarter} as the round {self.round.round}: {pluralize(self.pairs, 'pair')} to "
            f"judge again, {self.new_pairs:,} new, {pluralize(self.round.presentations, 'presentation')}.",
            f"{pluralize(self.added, 'query', 'queries')} joined the gold set, and {self.retired:,} left it.",
            *(f"Left out: {count:,} {reason}." for reason, count in self.left_out.items()),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of how many items each annotator gets in the opened round."""
        return (Table("Items by annotator", ("annotator", "items"), tuple(self.round.per_annotator.items())),)


class _SelectionInputs(NamedTuple):
    """The project data from which the candidates of a re-labeling round are selected.

    Attributes
    ----------
    active: ids of the queries of the set.
    pool_pairs: pairs that the systems of the request found.
    joining: ids of the queries that join the set with the plan.
    """

    rows: list[candidates.CandidateRow]
    active: set[str]
    pool_pairs: set[Pair]
    joining: set[str]


class _CandidateSelector:
    """A selector of a re-labeling round's candidates: the plan's pairs, and new pairs from the pool.

    `planned_count` is the number of pairs of the plan in the last selection.
    """

    def __init__(self, plan: StoredPlan, pool_id: str | None) -> None:
        self.plan, self.pool_id = plan, pool_id
        self.planned_count = 0

    def read(self, cursor: Cursor) -> _SelectionInputs:
        """Read the data from which `select` selects the candidates."""
        rows, active = candidates.read_candidates(cursor)
        pool_pairs = cursor.execute(_POOL_PAIRS, [self.pool_id]).fetchall()
        texts = [change.normalised for change in self.plan.queries if change.kind == ADD]
        sql = "SELECT query_id FROM queries WHERE normalised IN (SELECT unnest(?::TEXT[]))"
        joining = {query_id for (query_id,) in cursor.execute(sql, [texts]).fetchall()}
        return _SelectionInputs(rows, active, set(pool_pairs), joining)

    def select(self, inputs: _SelectionInputs) -> candidates.Selection:
        """Select the candidates of the round from the data that `read` returned."""
        plan_pairs = {(pair.query_id, pair.document_id) for pair in self.plan.pairs}
        planned = [
            candidates.Candidate(row.query_id, row.document_id, row.content_hash)
            for row in inputs.rows
            if (row.query_id, row.document_id) in plan_pairs
            and row.content_hash is not None
            and not row.outside
            and row.query_id in inputs.active
        ]
        new = [
            candidate
            for candidate in candidates.choose_candidates(inputs.rows, inputs.active, again=False).candidates
            if (candidate.query_id, candidate.document_id) in inputs.pool_pairs
        ]
        self.planned_count = len(planned)
        queries_without_document = inputs.joining - {candidate.query_id for candidate in (*planned, *new)}
        counts = {CANDIDATE_GONE: len(plan_pairs) - len(planned), NO_DOCUMENT: len(queries_without_document)}
        left_out = {reason: count for reason, count in counts.items() if count}
        parameters = {"plan": self.plan.plan_id, "quarter": self.plan.quarter}
        return candidates.Selection([*planned, *new], parameters, left_out)


def open_plan(
    store: Store, request: QuarterRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> QuarterOpened:
    """Open the round of a re-labeling plan under the name of its quarter.

    By default, the round is that of the newest plan; if this quarter has no plan, a plan is made.
    Only retrieval systems that the request names find new documents. Without systems, a new query has no
    document to judge, and the round leaves the query out.

    Raises
    ------
    NotFoundError: there is no such plan, or annotators are unknown.
    RefusedError: the plan or a different quarter is open, a pair was judged or decided since the plan was
        made, an annotator cannot sign in, the name is taken, or the author is not a lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
        plan_id = request.plan or find_quarter_plan(cursor)
    if plan_id is None:
        plan_id = make_plan(store, PlanRequest(), None, author, progress).plan_id
    with store.reading() as cursor:
        plan = read_current_plan(cursor, plan_id)
        layout = make_round_request(cursor, plan, request)
    with store.transaction(appends=True) as cursor:
        if not plan.is_chosen:
            fix_reports(cursor)
        apply_query_changes(cursor, plan, author)
    extend_sample(store, plan, author)
    report = None
    if request.systems:
        pool_request = PoolRequest(request.systems, request.depth, 0, layout.seed, judged_queries=True)
        report = build_pool(store, pool_request, progress, author)
    selector = _CandidateSelector(plan, report.pool_id if report else None)

    def record_round(cursor: Cursor, opened: OpenedRound) -> None:
        _refuse_outdated(cursor, plan)
        values = [plan.plan_id, opened.round_id, plan.quarter]
        cursor.execute("INSERT INTO relabeling_rounds VALUES (?, ?, ?)", values)

    opened = open_round_over(store, layout, selector.read, selector.select, author, record_round)
    return QuarterOpened(
        plan_id=plan.plan_id,
        quarter=plan.quarter,
        pairs=selector.planned_count,
        new_pairs=opened.candidates - selector.planned_count,
        added=sum(change.kind == ADD for change in plan.queries),
        retired=sum(change.kind == RETIRE for change in plan.queries),
        pool=report,
        round=opened,
        left_out=opened.left_out,
    )


def preview_opening(
    store: Store, request: QuarterRequest, progress: Progress = silent, author: str = COMMAND_LINE
) -> QuarterOpened:
    """Open a re-labeling plan in a temporary copy of the project, and return the result as a dry run."""
    with rehearsal_folder(store.path) as folder:
        store.copy_to(folder / store.path.name)
        project_copy = Store(folder / store.path.name)
        try:
            return replace(open_plan(project_copy, request, progress, author), dry_run=True)
        finally:
            project_copy.close()


def find_quarter_plan(cursor: Cursor) -> str | None:
    """Return the id of the present quarter's plan; None if this quarter has no plan."""
    quarter = find_present_quarter(cursor, None)
    return next((work.plan_id for work in read_work(cursor) if work.quarter == quarter), None)


def make_round_request(cursor: Cursor, plan: StoredPlan, request: QuarterRequest) -> RoundRequest:
    """Make the request for a plan's round.

    Raises
    ------
    NotFoundError: the project does not know an annotator.
    RefusedError: an annotator cannot sign in, or the name of the round is taken.
    """
    layout = RoundRequest(
        request.name or plan.quarter,
        request.annotators,
        plan.parameters["overlap"],
        request.duplicates,
        seed=plan.parameters["seed"],
    ).checked()
    refuse_unable_annotators(require_annotators(cursor, layout.annotators))
    refuse_taken_name(cursor, layout.name)
    return layout


def read_current_plan(cursor: Cursor, name: str) -> StoredPlan:
    """Read a plan that can be opened now.

    Raises
    ------
    NotFoundError: there is no such plan.
    RefusedError: see `open_plan`.
    """
    plan = read_plan(cursor, name)
    _refuse_outdated(cursor, plan)
    return plan


def _refuse_outdated(cursor: Cursor, plan: StoredPlan) -> None:
    """Reject an open plan, a plan while another quarter is open, and a plan whose pairs have changed."""
    current = find_plan(cursor, plan.plan_id)
    if current.round is not None:
        raise RefusedError(f"The plan of {current.quarter} is already open, as the round {current.round!r}.")
    for work in () if plan.is_chosen else read_work(cursor):
        if work.state == OPEN:
            raise make_open_error(work)
        if work.quarter == current.quarter and work.round is not None:
            raise RefusedError(f"{current.quarter} was already re-labeled, in the round {work.round!r}.")
    present = {pair.pair: (pair.grade, pair.read_hash, pair.decisions) for pair in read_pairs(cursor)}
    changed_count = 0
    for pair in plan.pairs:
        planned = (pair.grade, pair.content_hash, pair.decisions)
        changed_count += present.get((pair.query_id, pair.document_id), planned) != planned
    if changed_count:
        raise RefusedError(
            f"{pluralize(changed_count, 'pair of the plan was', 'pairs of the plan were')} judged or decided "
            "since the plan was made. Make a new plan.",
            command=f"`goldgrade relabel plan --share {current.parameters['fraction']:g} --seed "
            f"{current.parameters['seed']}` makes a plan with the same settings.",
        )
