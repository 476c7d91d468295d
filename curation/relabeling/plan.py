"""A quarter's re-labeling plan: how it is made, with the figures that a lead reads before opening it.

The id of a plan is the hash of its quarter, its settings and its selection, so the same state and seed make
the same plan. Nothing changes for annotators until a lead opens the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from curation.core.digests import canonical_json, digest, to_json_value
from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.request import describe_out_of_bounds
from curation.people.annotators import require_author
from curation.relabeling.calendar import refuse_second_relabeling
from curation.relabeling.due_sentences import describe_due
from curation.relabeling.judged_pairs import GONE
from curation.relabeling.pair_selection import RANDOM, select_pairs
from curation.relabeling.query_changes import ADD, RETIRE, RETURNED, select_query_changes
from curation.relabeling.request import PlanRequest
from curation.relabeling.set_state import SetState, read_set_state
from curation.relabeling.stored_plans import PAIR_COLUMNS, PlanPair, QueryChange
from curation.store import COMMAND_LINE, Store, append_rows, record_event, utc_now

DOCUMENT_GONE = "the document is no longer in the corpus, so it cannot be judged again"
"""Reason for which a re-labeling plan leaves out a pair."""


@dataclass(frozen=True)
class RelabelingPlan:
    """The figures of a re-labeling plan. Most fields are numbers of pairs or queries.

    Attributes
    ----------
    set_pairs, pairs: pairs of the set, and pairs that are judged again.
    fraction_of_pairs: the share of the planned pairs among the pairs that can be judged again.
    graded_pairs: pairs that can be judged and have a grade: the population of the report.
    reasons: planned pairs by reason.
    waiting: pairs with a reason that the plan has no room for.
    untouched: pairs whose document changed elsewhere than in what people read.
    inclusion_probability: the probability of each pair in the random part; it is 1 for the other planned
        pairs.
    new_queries, retired: queries that join and leave.
    new_pairs: pairs that the joining queries are expected to bring, from the mean number of pairs of a query.
    judgments: judgments of the planned pairs and the new pairs, without the pairs that systems add at
        opening.
    left_out: pairs that cannot be judged, by reason.
    """

    plan_id: str
    quarter: str
    fraction: float
    seed: int
    overlap: int
    set_pairs: int
    pairs: int
    fraction_of_pairs: float
    graded_pairs: int
    reasons: dict[str, int]
    judgments: int
    waiting: int = 0
    untouched: int = 0
    inclusion_probability: float = 0.0
    new_queries: int = 0
    retired: int = 0
    new_pairs: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """Return sentences on how many pairs are judged again under the plan, and why."""
        return [f"Planned {self.quarter}: {describe_due(to_json_value(self))}"]


class PlanDraft(NamedTuple):
    """A plan that is not stored yet, with its pairs, its query changes and its settings."""

    plan: RelabelingPlan
    pairs: list[PlanPair]
    changes: list[QueryChange]
    parameters: dict[str, object]


def make_plan(
    store: Store,
    request: PlanRequest,
    today: date | None = None,
    author: str = COMMAND_LINE,
    progress: Progress = silent,
) -> RelabelingPlan:
    """Make and store the re-labeling plan for the quarter of `today`.

    Raises
    ------
    InputError: the fraction is not between 10 and 20 %, or the overlap is below 1.
    RefusedError: the quarter was opened already, or an earlier quarter is still open; no pair can be judged
        again; or the author is not a lead.
    """
    refuse_problems(describe_out_of_bounds(PlanRequest, vars(request)))
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    progress("Reading the gold set", 0, 2)
    state = read_set_state(store, today)
    refuse_second_relabeling(state.work, state.quarter)
    progress("Choosing the pairs", 1, 2)
    draft = draft_plan(state, request)
    store_plan(store, draft, author)
    progress("Planned", 2, 2)
    return draft.plan


def draft_plan(state: SetState, request: PlanRequest) -> PlanDraft:
    """Choose the pairs that a plan judges again, and the queries that leave and join.

    Raises
    ------
    RefusedError: no pair can be judged again.
    """
    changes, strata = select_query_changes(state, request.seed)
    leaving = {change.normalised for change in changes if change.kind != ADD}
    staying = [pair for pair in state.pairs if state.queries[pair.query_id].normalised not in leaving]
    judgeable = [pair for pair in staying if pair.document != GONE]
    pairs = select_pairs(judgeable, request.fraction, request.seed)
    if not pairs:
        raise RefusedError(
            "There is nothing to judge again: the project has no judged pair with a document in the "
            "corpus. First judge some pairs.",
            command="`goldgrade round open NAME` opens a round.",
        )
    gone_count = len(staying) - len(judgeable)
    planned = {(pair.query_id, pair.document_id) for pair in pairs}
    probabilities = [pair.inclusion_probability or 0.0 for pair in pairs if pair.part == RANDOM]
    change_counts = Counter(change.kind for change in changes)
    new_pair_count = _expect_new_pairs(state, changes)
    selection = [
        [pair.query_id, pair.document_id, pair.reason, pair.content_hash, pair.grade] for pair in pairs
    ]
    plan = RelabelingPlan(
        plan_id=digest("relabeling", state.quarter, *vars(request).values(), selection, changes),
        quarter=state.quarter,
        **vars(request),
        set_pairs=len(state.pairs),
        pairs=len(pairs),
        fraction_of_pairs=len(pairs) / len(judgeable),
        graded_pairs=sum(pair.grade is not None for pair in judgeable),
        reasons=dict(Counter(str(pair.reason) for pair in pairs)),
        waiting=sum(bool(pair.reason) and pair.pair not in planned for pair in judgeable),
        untouched=state.untouched,
        inclusion_probability=probabilities[0] if probabilities else 0.0,
        new_queries=change_counts[ADD],
        retired=change_counts[RETIRE],
        new_pairs=new_pair_count,
        judgments=(len(pairs) + new_pair_count) * request.overlap,
        left_out={DOCUMENT_GONE: gone_count} if gone_count else {},
    )
    parameters = {**vars(request), "strata": [stratum._asdict() for stratum in strata]}
    return PlanDraft(plan, pairs, changes, parameters)


def _expect_new_pairs(state: SetState, changes: Sequence[QueryChange]) -> int:
    """Return the number of pairs that joining queries bring, if each has as many pairs as other queries."""
    joining_count = sum(change.kind == ADD and change.reason != RETURNED for change in changes)
    query_count = len({pair.query_id for pair in state.pairs})
    return round(joining_count * len(state.pairs) / query_count) if query_count else 0


def store_plan(store: Store, draft: PlanDraft, author: str) -> None:
    """Store a plan with its pairs and query changes, unless the project already has the plan."""
    query_columns = (*QueryChange._fields[:-1], "inclusion_probability")
    plan = draft.plan
    with store.transaction(appends=True) as cursor:
        if cursor.execute("SELECT 1 FROM relabeling_plans WHERE plan_id = ?", [plan.plan_id]).fetchone():
            return
        report = canonical_json(to_json_value(plan))
        values = [plan.plan_id, plan.quarter, canonical_json(draft.parameters), report, utc_now()]
        cursor.execute("INSERT INTO relabeling_plans VALUES (?, ?, ?, ?, ?)", values)
        rows = [pair[: len(PAIR_COLUMNS)] for pair in draft.pairs]
        append_rows(cursor, "relabeling_pairs", rows, PAIR_COLUMNS, plan_id=plan.plan_id)
        append_rows(cursor, "relabeling_queries", draft.changes, query_columns, plan_id=plan.plan_id)
        detail = {"plan": plan.plan_id, "quarter": plan.quarter, **draft.parameters, "pairs": plan.pairs}
        record_event(cursor, "plan re-labeling", detail, author)
