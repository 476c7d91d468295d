"""The pairs that are due for judging again this quarter: one list for Home, Re-label and the terminal.

The list is the stored plan of the quarter, or else the plan that would be made now. So no page and no command
can say another number than the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from curation.core.digests import to_json_value
from curation.core.errors import RefusedError
from curation.core.operation import PlainResult
from curation.core.reports.tables import QueryName, Table
from curation.core.text import percent, pluralize
from curation.labeling.rounds.grading_cost import read_pace
from curation.relabeling.calendar import NOT_PLANNED, OPEN, PLANNED, UNFINISHED, Quarter, QuarterWork
from curation.relabeling.due_sentences import (
    REASONS,
    describe_due,
    describe_rest,
    describe_work,
    list_reasons,
)
from curation.relabeling.judged_pairs import GONE
from curation.relabeling.plan import draft_plan
from curation.relabeling.query_changes import RETIRE
from curation.relabeling.request import PlanRequest
from curation.relabeling.set_state import SetState, read_set_state
from curation.relabeling.stored_plans import PlanPair, QueryChange, StoredPlan, show_plan
from curation.store import Store, get_setting
from curation.store.documents import snapshot_titles


@dataclass(frozen=True)
class DueList:
    """The pairs that people should judge again this quarter.

    Attributes
    ----------
    sentence: how many pairs are due, why, and how long judging them takes.
    is_due: whether a lead has to act: pairs are due, or a re-labeling is unfinished.
    report: the figures of the plan (`plan.RelabelingPlan`); None if the set has no pair to judge.
    work: the quarter's stored plan with its progress; None without a plan. unfinished: the earlier quarter
        whose round is still open.
    pairs: ordered by ids; sealed pairs have no grade and no reason. sealed: number of sealed pairs.
    queries: the queries that leave or join.
    set_pairs: number of pairs of the set. renewed: number of these that the last four quarters judged again.
    """

    quarter: Quarter
    sentence: str
    is_due: bool
    report: Mapping[str, Any] | None
    work: QuarterWork | None
    unfinished: QuarterWork | None
    pairs: tuple[PlanPair, ...]
    sealed: int
    queries: tuple[QueryChange, ...]
    set_pairs: int
    renewed: int

    @property
    def state(self) -> str:
        """Return the state of the quarter's re-labeling; 'not planned' without a plan."""
        return self.work.state if self.work is not None else NOT_PLANNED

    @property
    def sentences(self) -> list[str]:
        """Return the sentence on the due pairs, and sentences on all that the list leaves out."""
        lines = [self.sentence]
        if self.unfinished is not None:
            judged = f"{self.unfinished.whole:,} of {pluralize(self.unfinished.pairs, 'pair')} judged"
            lines.append(
                f"The re-labeling of {self.unfinished.quarter} is still open: {judged}. Finish or close the "
                "round first."
            )
        lines += describe_rest(self.report) if self.report and self.pairs else []
        if self.renewed:
            renewed = f"{pluralize(self.renewed, 'pair')} ({percent(self.renewed / self.set_pairs, 1)})"
            lines.append(f"Judged again in the last four quarters: {renewed}.")
        return [*lines, *list_sealed_sentences(self.sealed)]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return tables of the due pairs, and of the queries that leave or join the gold set."""
        return make_plan_tables(self.pairs, self.queries)


def read_due(store: Store, today: date | None = None, request: PlanRequest | None = None) -> DueList:
    """Read the due pairs of the quarter of `today`: the stored plan's, or else those that a plan would have.

    Parameters
    ----------
    request: the settings of the plan that would be made; None: the defaults.
    """
    state = read_set_state(store, today)
    works = {work.quarter: work for work in state.work}
    work = works.get(state.quarter)
    recent = {row.quarter for row in state.work if row.round and state.quarter.since(row.quarter) < 4}
    due = DueList(
        quarter=state.quarter,
        sentence="No pair is judged yet, so no pair can be judged again.",
        is_due=False,
        report=None,
        work=work,
        unfinished=next((row for row in state.work if row.state == OPEN and row is not work), None),
        pairs=(),
        sealed=0,
        queries=(),
        set_pairs=len(state.pairs),
        renewed=sum(pair.renewed in recent for pair in state.pairs),
    )
    if work is not None:
        return _fill_from_plan(store, due, show_plan(store, work.plan_id), work)
    if not any(pair.document != GONE for pair in state.pairs):
        return replace(due, is_due=due.unfinished is not None)
    return _fill_from_draft(store, due, state, request or PlanRequest())


def _fill_from_plan(store: Store, due: DueList, plan: StoredPlan, work: QuarterWork) -> DueList:
    if work.state == PLANNED:
        sentence = describe_due(plan.report, store.read(read_pace).seconds)
    else:
        sentence = describe_work(plan.report, work)
    is_due = due.unfinished is not None or work.state in (PLANNED, OPEN, UNFINISHED)
    due = replace(due, sentence=sentence, is_due=is_due, report=plan.report)
    return replace(due, pairs=plan.pairs, sealed=plan.sealed, queries=plan.queries)


def _fill_from_draft(store: Store, due: DueList, state: SetState, request: PlanRequest) -> DueList:
    try:
        draft = draft_plan(state, request)
    except RefusedError:  # all pairs are of queries that leave
        return due
    if state.is_fresh and not draft.changes:
        sentence = (
            f"No pair should be judged again this quarter: {state.quarter} judged all "
            f"{pluralize(due.set_pairs, 'pair')}, and no document or guide changed since."
        )
        return replace(due, sentence=sentence, is_due=due.unfinished is not None)
    with store.reading() as cursor:
        document_ids = sorted({pair.document_id for pair in draft.pairs})
        titles = snapshot_titles(cursor, get_setting(cursor, "corpus") or "", document_ids)
    pairs = [
        pair._replace(text=state.queries[pair.query_id].text, title=titles.get(pair.document_id, ""))
        for pair in draft.pairs
    ]
    report = to_json_value(draft.plan)
    due = replace(
        due, sentence=describe_due(report, store.read(read_pace).seconds), is_due=True, report=report
    )
    return replace(
        due,
        pairs=tuple(pair.without_grade() if pair.query_id in state.sealed else pair for pair in pairs),
        sealed=sum(pair.query_id in state.sealed for pair in pairs),
        queries=tuple(draft.changes),
    )


def describe_stored_plan(plan: StoredPlan) -> PlainResult:
    """Describe a stored plan of any quarter, or of pairs that a lead chose."""
    state = f"opened as {plan.round}" if plan.round else "not opened"
    pairs = f"{pluralize(len(plan.pairs), 'pair')}: {list_reasons(plan.report)}."
    why = [f"Why: {plan.parameters['reason']}"] if plan.is_chosen else []
    sentences = (
        f"Plan {plan.plan_id[:8]} of {plan.quarter}, {state}: {pairs}",
        *why,
        *describe_rest(plan.report),
    )
    sealed = list_sealed_sentences(plan.sealed)
    return PlainResult((*sentences, *sealed), make_plan_tables(plan.pairs, plan.queries))


def make_plan_tables(pairs: Sequence[PlanPair], queries: Sequence[QueryChange]) -> tuple[Table, ...]:
    """Make tables of a plan's pairs, and of the queries that leave or join the gold set."""
    pair_rows = tuple(
        (
            QueryName(pair.text, pair.query_id, pair.document_id),
            *(pair.document_id, pair.title, pair.how if pair.grade is None else pair.grade),
            *(pair.judged or "imported", REASONS[pair.reason or pair.part][1]),
        )
        for pair in pairs
    )
    query_rows = tuple(
        (query.normalised, "leaves" if query.kind == RETIRE else "joins", query.reason, query.traffic)
        for query in queries
    )
    columns = ("Query", "Document", "Title", "Grade", "Judged", "Why")
    return (
        Table(pluralize(len(pairs), "pair"), columns, pair_rows, words=True),
        Table("Queries that leave or join", ("Query", "What", "Why", "Searches"), query_rows, words=True),
    )


def list_sealed_sentences(pairs: int) -> list[str]:
    """Return a sentence on the sealed pairs of a list, or no sentence if the list has none."""
    sealed = pluralize(pairs, "pair is", "pairs are")
    return [f"{sealed} in parts that a release seals: their grades and reasons are hidden."] if pairs else []
