"""Making a plan: from the state of the set to what a quarter judges again, stored and readable.

A plan's id is the hash of the quarter, its settings and all that it chose: the same state and seed make the
same plan. Nothing changes for annotators until it is opened.

Which queries leave the set because the traffic has left them, and which join it from new traffic: queries
that were never asked before are a frame apart from that of the sample. A query is in one of the two, and
keeps the inclusion probability of the draw that took it. So both draws together are one probability sample,
and its traffic is that of the new logs. A query that is not asked any more has no weight in an estimate for
the traffic, so that its leaving biases none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np

from curation.errors import RefusedError, refuse_problems
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.relabeling.plan.choice import RANDOM, GuideWork, PairChoice, ScoredPair, choose_pairs
from curation.relabeling.request import PlanRequest
from curation.relabeling.staleness.calendar import (
    GONE,
    NOT_PLANNED,
    OPEN,
    PLANNED,
    UNFINISHED,
    Quarter,
    QuarterWork,
)
from curation.relabeling.staleness.precision import ExpectedPrecision, SetSpread, read_spread
from curation.relabeling.staleness.staleness import SetState, pair_staleness, read_state
from curation.relabeling.staleness.traffic import LEFT, NewQuery
from curation.sampling.designs import BETWEEN, Labels, Stratum, draw_stratified
from curation.sampling.frame.frame import BANDS, band_of
from curation.step import out_of_bounds
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now
from curation.text import amount, canonical_json, digest, plain, points, seeded

RETIRE, ADD = "retire", "add"
ASKED_AGAIN = "it was retired, and is asked again"


class QueryChange(NamedTuple):
    """A query that leaves or joins the set; stratum, traffic and probability are of those that are drawn."""

    normalised: str
    kind: str
    reason: str
    stratum: str | None = None
    traffic: int | None = None
    probability: float | None = None


class NewDraw(NamedTuple):
    """The queries drawn from new traffic, and the strata of the frame that they were drawn from."""

    changes: tuple[QueryChange, ...]
    strata: tuple[Stratum, ...]


def retiring(trends: Sequence[tuple[str, str, int]]) -> list[QueryChange]:
    """Queries to retire: (normalised text, trend, searches then) of each query of the set."""
    return [
        QueryChange(text, RETIRE, f"the traffic has left it: asked {then:,} times at sampling, 0 since")
        for text, trend, then in sorted(trends)
        if trend == LEFT
    ]


def draw_new(new: Sequence[NewQuery], number: int, seed: int, quarter: Quarter) -> NewDraw:
    """Draw queries from new traffic, from each frequency band alike."""
    ordered = seeded(new, seed, lambda query: ["new query", query.normalised])
    number = min(number, len(ordered))
    if not number:
        return NewDraw((), ())
    traffic = np.array([query.searches for query in ordered], np.int64)
    names = tuple(f"{band}{BETWEEN}{quarter.name}" for band in BANDS)
    drawing = draw_stratified(traffic, strata := Labels(band_of(traffic), names), number)
    changes = tuple(
        QueryChange(
            ordered[row].normalised,
            ADD,
            "new in the traffic",
            strata.name_of(row),
            ordered[row].searches,
            probability,
        )
        for row, probability in zip(drawing.rows.tolist(), drawing.probability.tolist(), strict=True)
    )
    return NewDraw(tuple(sorted(changes)), tuple(row for row in drawing.strata if row.population))


class PlanPair(NamedTuple):
    """A pair of a plan, with all that was true of it before."""

    query_id: str
    document_id: str
    part: str
    stratum: str
    inclusion_probability: float | None
    grade: int | None
    how: str
    content_hash: str | None
    guide_hash: str | None
    annotators: tuple[str, ...]
    judged: str | None
    decisions: int


@dataclass(frozen=True)
class RelabelingPlan:
    """A plan, before it is opened.

    Attributes
    ----------
    pairs: how many are judged again; fraction_of_pairs: of those that can be.
    parts: part → pairs. by_stratum, by_quarter: type and quarter of the last judgment → pairs.
    graded_pairs: pairs that can be judged and have a grade, of which the report says how many are wrong.
    inclusion_probability: of each pair in the random part; the others are in the plan for certain.
    short: pairs that will be older than two years for want of room; `needed` is the fraction that has it.
    new_queries, retired: queries that join and leave.
    new_pairs: judged pairs that the joining queries will bring, by what queries have on average.
    judgments: of the pairs and those of the joining queries; without what systems add at opening.
    left_out: reason → number.
    guide: what a change of the guide made stale.
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
    short: int
    needed: float | None
    new_queries: int
    retired: int
    new_pairs: int
    judgments: int
    left_out: dict[str, int]
    guide: GuideWork
    expected: ExpectedPrecision | None


@dataclass(frozen=True)
class _PlannedQuarter:
    """What a plan holds before it has an id."""

    state: SetState
    choice: PairChoice
    changes: tuple[QueryChange, ...]
    strata: tuple[Stratum, ...]
    spread: SetSpread


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
    chosen = _choose(store, state, fraction, seed, half_width)
    if not chosen.choice.pairs:
        raise RefusedError(
            "There is nothing to judge again: the project has no judged pair whose document is in the "
            "corpus. Judge pairs first.",
            command="`goldset round open NAME` opens a round.",
        )
    plan = _described(chosen, fraction, seed, overlap)
    if not dry_run:
        _keep(store, plan, chosen, author, half_width)
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
                    command=f"`goldset round reopen {one.round}` does so.",
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
        command=f"`goldset round close {work.round}` closes it.",
    )


def _choose(
    store: Store, state: SetState, fraction: float, seed: int, half_width: float | None
) -> _PlannedQuarter:
    scores = pair_staleness(store, state)
    rows = [ScoredPair(pair, row.score) for pair, row in zip(state.pairs, scores, strict=True)]
    changes, strata = _query_changes(state, seed)
    leaving = {change.normalised for change in changes if change.kind != ADD}
    staying = [row for row in rows if state.queries[row.judged.query_id].normalised not in leaving]
    able = [row.judged.query_id for row in staying if row.judged.document != GONE]
    with store.reading() as cursor:
        spread = read_spread(cursor, able)
    random, number = spread.pairs_for(half_width) if half_width and able else 0, round(fraction * len(able))
    if random > number:
        raise RefusedError(
            f"An interval of ± {points(half_width or 0)} takes {random:,} random pairs or more. The plan has "
            f"{amount(number, 'pair')}: ± {points(spread.half_width(number))}, if all are random. Ask for a "
            "wider one: the report pools the quarters of a year."
        )
    choice = choose_pairs(staying, fraction, seed, state.quarter, random)
    return _PlannedQuarter(state, choice, changes, strata, spread)


def _query_changes(state: SetState, seed: int) -> tuple[tuple[QueryChange, ...], tuple[Stratum, ...]]:
    """Who leaves, and as many who join; without new logs nobody does either."""
    if not state.traffic.has_new:
        return (), ()
    trends = []
    for query_id in sorted({pair.query_id for pair in state.pairs}):
        query = state.queries[query_id]
        found = state.traffic.of(query_id, query.normalised)
        trends.append((query.normalised, found.trend, found.then or 0))
    leaving = retiring(trends)
    back = [
        QueryChange(text, ADD, ASKED_AGAIN)
        for text in sorted(state.retired)
        if state.traffic.counts.get(text, (0,))[-1]
    ]
    new = draw_new(state.traffic.new, max(0, len(leaving) - len(back)), seed, state.quarter)
    return (*leaving, *back, *new.changes), new.strata


def _described(chosen: _PlannedQuarter, fraction: float, seed: int, overlap: int) -> RelabelingPlan:
    choice, state = chosen.choice, chosen.state
    kinds = Counter(change.kind for change in chosen.changes)
    joining = sum(change.kind == ADD and change.reason != ASKED_AGAIN for change in chosen.changes)
    queries = sorted({pair.query_id for pair in state.pairs})
    new_pairs = round(joining * len(state.pairs) / len(queries)) if queries else 0
    drawn = [one.probability for one in choice.pairs if one.part == RANDOM]
    when = Counter(one.scored.judged.judged for one in choice.pairs)
    return RelabelingPlan(
        plan_id=_plan_id(chosen, fraction, seed, overlap),
        quarter=state.quarter.name,
        fraction=fraction,
        seed=seed,
        overlap=overlap,
        set_pairs=len(state.pairs),
        pairs=len(choice.pairs),
        fraction_of_pairs=len(choice.pairs) / choice.frame,
        graded_pairs=choice.graded,
        parts=dict(sorted(Counter(one.part for one in choice.pairs).items())),
        by_type=dict(sorted(Counter(one.scored.judged.type for one in choice.pairs).items())),
        by_quarter={
            quarter.name if quarter else "unknown": when[quarter]
            for quarter in sorted(when, key=lambda one: (one is None, one or state.quarter))
        },
        inclusion_probability=drawn[0] if drawn else 0.0,
        short=choice.short,
        needed=choice.needed,
        new_queries=kinds[ADD],
        retired=kinds["retire"],
        new_pairs=new_pairs,
        judgments=(len(choice.pairs) + new_pairs) * overlap,
        left_out=choice.left_out,
        guide=choice.guide,
        expected=chosen.spread.expected(fraction, len(drawn)) if drawn else None,
    )


def _plan_id(chosen: _PlannedQuarter, fraction: float, seed: int, overlap: int) -> str:
    pairs = [
        [*one.scored.pair, one.part, one.scored.judged.read_hash, one.scored.judged.consensus.grade]
        for one in chosen.choice.pairs
    ]
    return digest("relabeling", chosen.state.quarter.name, fraction, seed, overlap, pairs, chosen.changes)


def _keep(
    store: Store, plan: RelabelingPlan, chosen: _PlannedQuarter, author: str, half_width: float | None
) -> None:
    parameters = {
        "fraction": plan.fraction,
        "seed": plan.seed,
        "overlap": plan.overlap,
        "strata": [row._asdict() for row in chosen.strata],
        **({"half_width": half_width} if half_width else {}),
    }
    with store.transaction(appends=True) as cursor:
        if cursor.execute("SELECT 1 FROM relabeling_plans WHERE plan_id = ?", [plan.plan_id]).fetchone():
            return
        cursor.execute(
            "INSERT INTO relabeling_plans VALUES (?, ?, ?, ?, ?)",
            [plan.plan_id, plan.quarter, canonical_json(parameters), canonical_json(plain(plan)), utc_now()],
        )
        _append_pairs(cursor, plan.plan_id, chosen.choice)
        _append_queries(cursor, plan.plan_id, chosen.changes)
        detail = {"plan": plan.plan_id, "quarter": plan.quarter, **parameters, "pairs": plan.pairs}
        record_event(cursor, "plan re-labeling", detail, author)


def _append_pairs(cursor: Cursor, plan_id: str, choice: PairChoice) -> None:
    rows = [
        PlanPair(
            *(*one.scored.pair, one.part, one.scored.stratum, one.probability, *judged.consensus[2:4]),
            *(judged.read_hash, judged.guide_hash, judged.annotators),
            *(judged.judged.name if judged.judged else None, judged.decisions),
        )
        for one in choice.pairs
        for judged in [one.scored.judged]
    ]
    append_rows(cursor, "relabeling_pairs", rows, plan_id=plan_id)


def _append_queries(cursor: Cursor, plan_id: str, changes: Sequence[QueryChange]) -> None:
    names = (*QueryChange._fields[:-1], "inclusion_probability")
    append_rows(cursor, "relabeling_queries", changes, names, plan_id=plan_id)
