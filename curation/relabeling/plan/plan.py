"""Making a plan: from the state of the set to what a quarter judges again, stored and readable.

A plan's id is the hash of the quarter, its settings and all that it chose: the same state and seed make the
same plan. Nothing changes for annotators until it is opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from curation.core.errors import RefusedError, refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.progress import Progress, silent
from curation.core.text import amount, canonical_json, digest, plain, points
from curation.people.annotators import require_author
from curation.relabeling.plan.choice import ALL_GONE, RANDOM, PlanPair, choose_pairs
from curation.relabeling.plan.query_changes import ADD, ASKED_AGAIN, RETIRE, QueryChange, query_changes
from curation.relabeling.request import PlanRequest
from curation.relabeling.staleness.calendar import (
    NOT_PLANNED,
    OPEN,
    PLANNED,
    UNFINISHED,
    QuarterWork,
)
from curation.relabeling.staleness.judged_pairs import BETWEEN, GONE, JudgedPair
from curation.relabeling.staleness.precision import ExpectedPrecision, SetSpread, read_spread
from curation.relabeling.staleness.quarter import Quarter
from curation.relabeling.staleness.staleness import SetState, pair_staleness, read_state
from curation.store import COMMAND_LINE, Store, append_rows, record_event, utc_now


@dataclass(frozen=True)
class RelabelingPlan:
    """A plan, before it is opened.

    Attributes
    ----------
    pairs: how many are judged again; fraction_of_pairs: of those that can be.
    parts: part → pairs. by_stratum, by_quarter: type and quarter of the last judgment → pairs.
    graded_pairs: pairs that can be judged and have a grade, of which the report says how many are wrong.
    inclusion_probability: of each pair in the random part; the others are in the plan for certain.
    new_queries, retired: queries that join and leave.
    new_pairs: judged pairs that the joining queries will bring, by what queries have on average.
    judgments: of the pairs and those of the joining queries; without what systems add at opening.
    left_out: reason → number.
    guide: stale: pairs that can be judged and whose grade, or a vote for it, the guide words otherwise now;
        taken: those of them that are in the plan.
    expected: what the random part should find; None where it is empty.
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
    parts: dict[str, int]
    by_type: dict[str, int]
    by_quarter: dict[str, int]
    inclusion_probability: float
    new_queries: int
    retired: int
    new_pairs: int
    judgments: int
    left_out: dict[str, int]
    guide: dict[str, int]
    expected: ExpectedPrecision | None


def make_plan(
    store: Store,
    fraction: float,
    seed: int,
    today: date | None = None,
    overlap: int = 2,
    author: str = COMMAND_LINE,
    progress: Progress = silent,
    half_width: float | None = None,
    dry_run: bool = False,
) -> RelabelingPlan:
    """Plan the quarter of `today` and store the plan; the same state and seed give the same plan.

    Parameters
    ----------
    half_width: of the interval of wrong labels; the random part is as large as that takes.
    dry_run: store nothing.

    Raises
    ------
    InputError: a fraction that is not 10 to 20 %, or an overlap below 1.
    RefusedError: the quarter was opened already, or an earlier one is still open; there is nothing to judge
        again; the plan has too few pairs for the half-width; the author is no lead.
    """
    refuse_problems(
        out_of_bounds(PlanRequest, {"fraction": fraction, "overlap": overlap, "half_width": half_width})
    )
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    progress("Reading the set", 0, 2)
    state = read_state(store, today)
    refuse_open_work(state.work, state.quarter)
    progress("Choosing the pairs", 1, 2)
    changes, strata = query_changes(state, seed)
    leaving = {change.normalised for change in changes if change.kind != ADD}
    staying = [
        pair._replace(score=row.score)
        for pair, row in zip(state.pairs, pair_staleness(store, state), strict=True)
        if state.queries[pair.query_id].normalised not in leaving
    ]
    able = [pair for pair in staying if pair.document != GONE]
    with store.reading() as cursor:
        spread = read_spread(cursor, (pair.query_id for pair in able))
    pairs = choose_pairs(able, fraction, seed, _random_pairs(spread, half_width, round(fraction * len(able))))
    if not pairs:
        raise RefusedError(
            "There is nothing to judge again: the project has no judged pair whose document is in the "
            "corpus. Judge pairs first.",
            command="`goldgrade round open NAME` opens a round.",
        )
    drawn = sum(pair.part == RANDOM for pair in pairs)
    expected = spread.expected(fraction, drawn) if drawn else None
    left_out = {ALL_GONE: len(staying) - len(able)} if len(staying) > len(able) else {}
    plan = _described(state, able, pairs, changes, left_out, expected, fraction, seed, overlap)
    if not dry_run:
        parameters = {
            "fraction": fraction,
            "seed": seed,
            "overlap": overlap,
            "strata": [row._asdict() for row in strata],
            **({"half_width": half_width} if half_width else {}),
        }
        _keep(store, plan, parameters, pairs, changes, author)
    progress("Planned", 2, 2)
    return plan


def refuse_open_work(work: Sequence[QuarterWork], quarter: Quarter) -> None:
    """Refuse to begin a quarter twice, or while another one is open.

    Raises
    ------
    RefusedError: a re-labeling is open, or this quarter had its own.
    """
    for one in work:
        if one.state == OPEN:
            raise still_open(one)
        if one.quarter == quarter and one.state not in (NOT_PLANNED, PLANNED):
            done = f"{one.whole:,} of {amount(one.pairs, 'pair')}"
            if one.state == UNFINISHED:
                raise RefusedError(
                    f"The re-labeling of {one.quarter.name} is not finished: {one.round!r} was closed "
                    f"with {done} judged. Reopen it: its people and pairs are those of the plan.",
                    command=f"`goldgrade round reopen {one.round}` does so.",
                )
            raise RefusedError(
                f"{one.quarter.name} was re-labeled already (round {one.round!r}, {done} {one.state}). The "
                "next plan is for the next quarter."
            )


def still_open(work: QuarterWork) -> RefusedError:
    """Why nothing else can be opened."""
    return RefusedError(
        f"The re-labeling of {work.quarter.name} is still open: {work.whole:,} of "
        f"{amount(work.pairs, 'pair')} are "
        f"done. Two quarters are never open at once. Finish it, or close its round {work.round!r}.",
        command=f"`goldgrade round close {work.round}` closes it.",
    )


def _random_pairs(spread: SetSpread, half_width: float | None, number: int) -> int:
    """How many random pairs the half-width takes; 0 without one."""
    if half_width is None or not spread.pairs:
        return 0
    random = spread.pairs_for(half_width)
    if random > number:
        raise RefusedError(
            f"An interval of ± {points(half_width)} takes {random:,} random pairs or more. The plan has "
            f"{amount(number, 'pair')}: ± {points(spread.half_width(number))}, if all are random. Ask for a "
            "wider one: the report pools the quarters of a year."
        )
    return random


def _described(
    state: SetState,
    able: Sequence[JudgedPair],
    pairs: Sequence[PlanPair],
    changes: Sequence[QueryChange],
    left_out: dict[str, int],
    expected: ExpectedPrecision | None,
    fraction: float,
    seed: int,
    overlap: int,
) -> RelabelingPlan:
    kinds = Counter(change.kind for change in changes)
    joining = sum(change.kind == ADD and change.reason != ASKED_AGAIN for change in changes)
    queries = {pair.query_id for pair in state.pairs}
    new_pairs = round(joining * len(state.pairs) / len(queries)) if queries else 0
    drawn = [pair.inclusion_probability for pair in pairs if pair.part == RANDOM]
    when = Counter(pair.judged or "unknown" for pair in pairs)
    planned = {(pair.query_id, pair.document_id) for pair in pairs}
    behind = [pair.pair for pair in able if pair.guide_behind]
    chosen = [[*pair[:3], pair.content_hash, pair.grade] for pair in pairs]
    return RelabelingPlan(
        plan_id=digest("relabeling", state.quarter.name, fraction, seed, overlap, chosen, changes),
        quarter=state.quarter.name,
        fraction=fraction,
        seed=seed,
        overlap=overlap,
        set_pairs=len(state.pairs),
        pairs=len(pairs),
        fraction_of_pairs=len(pairs) / len(able),
        graded_pairs=sum(pair.consensus.grade is not None for pair in able),
        parts=dict(sorted(Counter(pair.part for pair in pairs).items())),
        by_type=dict(sorted(Counter(pair.stratum.rpartition(BETWEEN)[0] for pair in pairs).items())),
        by_quarter=dict(sorted(when.items())),
        inclusion_probability=(drawn[0] or 0.0) if drawn else 0.0,
        new_queries=kinds[ADD],
        retired=kinds[RETIRE],
        new_pairs=new_pairs,
        judgments=(len(pairs) + new_pairs) * overlap,
        left_out=left_out,
        guide={"stale": len(behind), "taken": sum(pair in planned for pair in behind)},
        expected=expected,
    )


def _keep(
    store: Store,
    plan: RelabelingPlan,
    parameters: dict[str, object],
    pairs: Sequence[PlanPair],
    changes: Sequence[QueryChange],
    author: str,
) -> None:
    names = (*QueryChange._fields[:-1], "inclusion_probability")
    with store.transaction(appends=True) as cursor:
        if cursor.execute("SELECT 1 FROM relabeling_plans WHERE plan_id = ?", [plan.plan_id]).fetchone():
            return
        cursor.execute(
            "INSERT INTO relabeling_plans VALUES (?, ?, ?, ?, ?)",
            [plan.plan_id, plan.quarter, canonical_json(parameters), canonical_json(plain(plan)), utc_now()],
        )
        append_rows(cursor, "relabeling_pairs", pairs, plan_id=plan.plan_id)
        append_rows(cursor, "relabeling_queries", changes, names, plan_id=plan.plan_id)
        detail = {"plan": plan.plan_id, "quarter": plan.quarter, **parameters, "pairs": plan.pairs}
        record_event(cursor, "plan re-labeling", detail, author)
