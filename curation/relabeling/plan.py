"""Making a plan: which pairs a quarter judges again, and which queries leave and join, by a seed.

A plan's id is the hash of the quarter, its settings and all that it chose: the same state and seed make the
same plan. Nothing changes for annotators until it is opened.

The random part is drawn last, from all that the scores leave, so that together they are a stratified sample
of the set: what is chosen is known once it is judged, and the random part says what is true of the rest (W.
G. Cochran 1977, Sampling Techniques, section 5.5). It is systematic sampling with a random start along type,
quarter of the last judgment and a seeded order. Each pair of the rest has the same inclusion probability, and
each type and quarter gets within one of its share (Särndal, Swensson & Wretman 1992, section 3.4).

The traffic has left the queries that leave. Queries that were never asked before are a frame apart from that
of the sample, so a query is in one of the two frames, and keeps the inclusion probability of the draw that
took it: both draws together are one probability sample of the new logs. A query that is not asked any more
has no weight in an estimate for the traffic, so its leaving biases none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from curation.core.digests import canonical_json, digest, seeded, to_json_value
from curation.core.errors import RefusedError, refuse_problems
from curation.core.operation import out_of_bounds
from curation.core.progress import Progress, silent
from curation.core.statistics.allocation import draw_proportional
from curation.core.text import pluralize
from curation.people.annotators import require_author
from curation.queries.sampling.designs import BANDS, Labels, Stratum, band_of, draw_stratified
from curation.relabeling.calendar import NOT_PLANNED, OPEN, PLANNED, UNFINISHED, Quarter, QuarterWork
from curation.relabeling.judged_pairs import BETWEEN, GONE, JudgedPair
from curation.relabeling.request import RANDOM_SHARE, PlanRequest
from curation.relabeling.staleness import SetState, read_state
from curation.relabeling.stored_plans import PAIR_COLUMNS, PlanPair, QueryChange
from curation.relabeling.traffic import LEFT
from curation.store import COMMAND_LINE, Store, append_rows, record_event, utc_now

RETIRE, ADD = "retire", "add"
ASKED_AGAIN = "it was retired, and is asked again"

RANDOM, STALE = "random", "stale"
ALL_GONE = "the document is not in the corpus any more: it cannot be judged again"


def query_changes(state: SetState, seed: int) -> tuple[list[QueryChange], list[Stratum]]:
    """Who leaves, and as many who join, with the strata that they were drawn from; without new logs nobody
    does either.
    """
    if not state.traffic.has_new:
        return [], []
    leaving = []
    for query_id in {pair.query_id for pair in state.pairs}:
        text = state.queries[query_id].normalised
        traffic = state.traffic.of(query_id, text)
        if traffic.trend == LEFT:
            why = f"the traffic has left it: asked {traffic.then or 0:,} times at sampling, 0 since"
            leaving.append(QueryChange(text, RETIRE, why))
    back = [
        QueryChange(text, ADD, ASKED_AGAIN)
        for text in sorted(state.retired)
        if state.traffic.counts.get(text, (0,))[-1]
    ]
    joining, strata = _draw_new(state.traffic.new, max(0, len(leaving) - len(back)), seed, state.quarter)
    return [*sorted(leaving), *back, *joining], strata


def _draw_new(
    new: Sequence[tuple[str, int]], number: int, seed: int, quarter: Quarter
) -> tuple[list[QueryChange], list[Stratum]]:
    """Draw queries from new traffic, from each frequency band alike."""
    ordered = seeded(new, seed, lambda query: ["new query", query[0]])
    number = min(number, len(ordered))
    if not number:
        return [], []
    traffic = np.array([searches for _, searches in ordered], np.int64)
    names = tuple(f"{band}{BETWEEN}{quarter}" for band in BANDS)
    drawing = draw_stratified(traffic, strata := Labels(band_of(traffic), names), number)
    changes = [
        QueryChange(
            *(ordered[row][0], ADD, "new in the traffic"),
            *(strata.name_of(row), ordered[row][1], probability),
        )
        for row, probability in zip(drawing.rows.tolist(), drawing.probability.tolist(), strict=True)
    ]
    return sorted(changes), [row for row in drawing.strata if row.population]


def choose_pairs(pairs: Sequence[JudgedPair], fraction: float, seed: int) -> list[PlanPair]:
    """Choose a fraction of the pairs that can be judged, a quarter of them at random, by ids."""
    frame = sorted((pair for pair in pairs if pair.document != GONE), key=lambda pair: pair.pair)
    number = min(len(frame), max(1, round(fraction * len(frame)))) if frame else 0
    drawn = round(RANDOM_SHARE * number)
    ranked = sorted(frame, key=lambda pair: (-pair.score, digest(seed, "relabel", *pair.pair)))
    stale, rest = ranked[: number - drawn], ranked[number - drawn :]
    chosen = dict.fromkeys((pair.pair for pair in stale), (STALE, 1.0))
    chosen |= dict.fromkeys(
        (pair.pair for pair in _random_part(rest, drawn, seed)), (RANDOM, drawn / max(1, len(rest)))
    )
    return [_planned(pair, *chosen[pair.pair]) for pair in frame if pair.pair in chosen]


def _planned(pair: JudgedPair, part: str, probability: float) -> PlanPair:
    return PlanPair(
        *(*pair.pair, part, pair.stratum, probability, pair.grade, pair.how, pair.read_hash),
        *(pair.guide_hash, pair.annotators, pair.judged, pair.decisions),
    )


def _random_part(rest: Sequence[JudgedPair], number: int, seed: int) -> list[JudgedPair]:
    """Every pair with the same probability, spread over types, quarters and queries."""
    if not number:
        return []
    ordered = sorted(rest, key=lambda pair: (pair.stratum, digest(seed, "axis", *pair.pair)))
    start = int(digest("relabel", seed, len(ordered)), 16)
    drawn, _ = draw_proportional(np.ones(len(ordered), np.int64), number, start)
    return [ordered[index] for index in drawn.tolist()]


@dataclass(frozen=True)
class RelabelingPlan:
    """A plan, before it is opened.

    Attributes
    ----------
    pairs: how many are judged again; fraction_of_pairs: their share of the pairs that can be judged again.
    parts: part → pairs. by_type, by_quarter: type and quarter of the last judgment → pairs.
    graded_pairs: pairs that can be judged and have a grade; the report says how many of them are wrong.
    inclusion_probability: of each pair in the random part; the others are in the plan for certain.
    new_queries, retired: queries that join and leave.
    new_pairs: judged pairs that the joining queries will bring, by what queries have on average.
    judgments: for these pairs and the pairs of joining queries; without what systems add at opening.
    left_out: reason → number.
    guide: 'stale': pairs that can be judged and whose grade, or a vote for it, the guide words otherwise now;
        'taken': how many of them the plan takes.
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

    @property
    def sentences(self) -> list[str]:
        """How much is judged again."""
        return [f"Planned {self.quarter}: {self.pairs:,} of {pluralize(self.set_pairs, 'pair')}."]


def make_plan(
    store: Store,
    request: PlanRequest,
    today: date | None = None,
    author: str = COMMAND_LINE,
    progress: Progress = silent,
    dry_run: bool = False,
) -> RelabelingPlan:
    """Plan the quarter of `today` and store the plan; the same state and seed give the same plan.

    Parameters
    ----------
    dry_run: store nothing.

    Raises
    ------
    InputError: a fraction that is not 10 to 20 %, or an overlap below 1.
    RefusedError: the quarter was opened already, or an earlier one is still open; there is nothing to judge
        again; the author is no lead.
    """
    refuse_problems(out_of_bounds(PlanRequest, vars(request)))
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    progress("Reading the set", 0, 2)
    state = read_state(store, today)
    refuse_open_work(state.work, state.quarter)
    progress("Choosing the pairs", 1, 2)
    changes, strata = query_changes(state, request.seed)
    leaving = {change.normalised for change in changes if change.kind != ADD}
    staying = [pair for pair in state.pairs if state.queries[pair.query_id].normalised not in leaving]
    able = [pair for pair in staying if pair.document != GONE]
    pairs = choose_pairs(able, request.fraction, request.seed)
    if not pairs:
        raise RefusedError(
            "There is nothing to judge again: the project has no judged pair whose document is in the "
            "corpus. Judge pairs first.",
            command="`goldgrade round open NAME` opens a round.",
        )
    left_out = {ALL_GONE: len(staying) - len(able)} if len(staying) > len(able) else {}
    plan = _plan_record(state, able, pairs, changes, left_out, request)
    if not dry_run:
        parameters = {**vars(request), "strata": [row._asdict() for row in strata]}
        _store_plan(store, plan, parameters, pairs, changes, author)
    progress("Planned", 2, 2)
    return plan


def refuse_open_work(work: Sequence[QuarterWork], quarter: Quarter) -> None:
    """Refuse to begin a quarter twice, or while another one is open.

    Raises
    ------
    RefusedError: a re-labeling is open, or this quarter had its own.
    """
    for quarter_work in work:
        if quarter_work.state == OPEN:
            raise still_open(quarter_work)
        if quarter_work.quarter == quarter and quarter_work.state not in (NOT_PLANNED, PLANNED):
            done = f"{quarter_work.whole:,} of {pluralize(quarter_work.pairs, 'pair')}"
            if quarter_work.state == UNFINISHED:
                raise RefusedError(
                    f"The re-labeling of {quarter_work.quarter} is not finished: {quarter_work.round!r} was "
                    "closed "
                    f"with {done} judged. Reopen it: its people and pairs come from the plan.",
                    command=f"`goldgrade round set {quarter_work.round} open` does so.",
                )
            raise RefusedError(
                f"{quarter_work.quarter} was re-labeled already (round {quarter_work.round!r}, {done} "
                f"{quarter_work.state}). The "
                "next plan is for the next quarter."
            )


def still_open(work: QuarterWork) -> RefusedError:
    """Why nothing else can be opened."""
    return RefusedError(
        f"The re-labeling of {work.quarter} is still open: {work.whole:,} of "
        f"{pluralize(work.pairs, 'pair')} are "
        f"done. Two quarters are never open at once. Finish it, or close its round {work.round!r}.",
        command=f"`goldgrade round set {work.round} closed` closes it.",
    )


def _plan_record(
    state: SetState,
    able: Sequence[JudgedPair],
    pairs: Sequence[PlanPair],
    changes: Sequence[QueryChange],
    left_out: dict[str, int],
    request: PlanRequest,
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
        plan_id=digest("relabeling", state.quarter, *vars(request).values(), chosen, changes),
        quarter=state.quarter,
        **vars(request),
        set_pairs=len(state.pairs),
        pairs=len(pairs),
        fraction_of_pairs=len(pairs) / len(able),
        graded_pairs=sum(pair.grade is not None for pair in able),
        parts=dict(sorted(Counter(pair.part for pair in pairs).items())),
        by_type=dict(sorted(Counter(pair.stratum.rpartition(BETWEEN)[0] for pair in pairs).items())),
        by_quarter=dict(sorted(when.items())),
        inclusion_probability=(drawn[0] or 0.0) if drawn else 0.0,
        new_queries=kinds[ADD],
        retired=kinds[RETIRE],
        new_pairs=new_pairs,
        judgments=(len(pairs) + new_pairs) * request.overlap,
        left_out=left_out,
        guide={"stale": len(behind), "taken": sum(pair in planned for pair in behind)},
    )


def _store_plan(
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
            [
                plan.plan_id,
                plan.quarter,
                canonical_json(parameters),
                canonical_json(to_json_value(plan)),
                utc_now(),
            ],
        )
        append_rows(
            cursor,
            "relabeling_pairs",
            [pair[: len(PAIR_COLUMNS)] for pair in pairs],
            PAIR_COLUMNS,
            plan_id=plan.plan_id,
        )
        append_rows(cursor, "relabeling_queries", changes, names, plan_id=plan.plan_id)
        detail = {"plan": plan.plan_id, "quarter": plan.quarter, **parameters, "pairs": plan.pairs}
        record_event(cursor, "plan re-labeling", detail, author)
