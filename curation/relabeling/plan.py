"""Making of a re-labeling plan: the seeded choice of the pairs and queries of a quarter.

The id of a plan is the hash of its quarter, its settings and its choices, so the same state and seed make the
same plan. Nothing changes for annotators until a lead opens the plan.

The pairs with the highest staleness scores are chosen first, and the random part is drawn from all other
pairs. Both parts together are a stratified sample of the set: the chosen pairs are known once they are
judged, and the random part estimates the other pairs (W. G. Cochran 1977, Sampling Techniques, section 5.5).
The random part is a systematic sample with a random start, from pairs ordered by type, quarter of the last
judgment and a seeded number. Each pair has the same inclusion probability, and the number of pairs of each
type and quarter differs from its exact share by less than one (Särndal, Swensson & Wretman 1992, section
3.4).

A query leaves the set if the query logs do not contain it any more. A query without searches has no weight in
an estimate for the traffic, so its removal causes no bias. Queries that no earlier log contains form a
separate sampling frame. Each query is in either the old or the new frame and keeps the inclusion probability
of its draw, so both draws together are one probability sample of the new logs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from curation.core.digests import canonical_json, digest, sort_by_seed, to_json_value
from curation.core.errors import RefusedError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.request import describe_out_of_bounds
from curation.core.statistics.stratified_sampling import draw_proportional
from curation.core.text import pluralize
from curation.people.annotators import require_author
from curation.queries.sampling.designs import draw_stratified
from curation.queries.sampling.strata import BANDS, Labels, Stratum, classify_bands
from curation.relabeling.calendar import OPEN, PLANNED, UNFINISHED, Quarter, QuarterWork
from curation.relabeling.judged_pairs import BETWEEN, GONE, JudgedPair
from curation.relabeling.request import RANDOM_SHARE, PlanRequest
from curation.relabeling.staleness import SetState, read_set_state
from curation.relabeling.stored_plans import PAIR_COLUMNS, PlanPair, QueryChange
from curation.relabeling.traffic import LEFT
from curation.store import COMMAND_LINE, Store, append_rows, record_event, utc_now

RETIRE, ADD = "retire", "add"
RETURNED = "it was retired, and is asked again"

RANDOM, STALE = "random", "stale"
ALL_GONE = "the document is not in the corpus any more: it cannot be judged again"


@dataclass(frozen=True)
class RelabelingPlan:
    """The facts of a re-labeling plan. Most fields are numbers of pairs or queries.

    Attributes
    ----------
    set_pairs, pairs: pairs of the set, and pairs that are judged again.
    fraction_of_pairs: the share of the planned pairs among the pairs that can be judged again.
    graded_pairs: pairs that can be judged and have a grade: the population of the report.
    parts, by_type, by_quarter: planned pairs by part, by type, and by quarter of the last judgment.
    inclusion_probability: the probability of each pair in the random part; it is 1 for the other planned
        pairs.
    new_queries, retired: queries that join and leave.
    new_pairs: pairs that the joining queries are expected to bring, from the mean number of pairs of a query.
    judgments: judgments of the planned pairs and the new pairs, without the pairs that systems add at
        opening.
    left_out: pairs that cannot be judged, by reason.
    guide: 'stale' is the number of pairs that can be judged and whose grade, or the grade of a vote, the
        current guide words differently; 'taken' is the number of these pairs in the plan.
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
        """Sentences on the number of pairs that the plan judges again."""
        return [f"Planned {self.quarter}: {self.pairs:,} of {pluralize(self.set_pairs, 'pair')}."]


def choose_query_changes(state: SetState, seed: int) -> tuple[list[QueryChange], list[Stratum]]:
    """Choose the queries that leave the set, and the same number of queries that join.

    Without new logs, no query leaves or joins.

    Returns the changes, and the strata from which the joining queries were drawn.
    """
    if not state.traffic.has_new:
        return [], []
    leaving = []
    for query_id in {pair.query_id for pair in state.pairs}:
        text = state.queries[query_id].normalised
        traffic = state.traffic.find_traffic(query_id, text)
        if traffic.trend == LEFT:
            reason = f"the traffic has left it: asked {traffic.then or 0:,} times at sampling, 0 since"
            leaving.append(QueryChange(text, RETIRE, reason))
    counts = state.traffic.counts
    returning = [QueryChange(text, ADD, RETURNED) for text in state.retired if counts.get(text, (0,))[-1]]
    joining, strata = _draw_new(state.traffic.new, max(0, len(leaving) - len(returning)), seed, state.quarter)
    return [*sorted(leaving), *sorted(returning), *joining], strata


def choose_pairs(pairs: Sequence[JudgedPair], fraction: float, seed: int) -> list[PlanPair]:
    """Choose a fraction of the pairs that can be judged again, a quarter of the fraction at random.

    Pairs are ordered by ids.
    """
    frame = sorted((pair for pair in pairs if pair.document != GONE), key=lambda pair: pair.pair)
    size = min(len(frame), max(1, round(fraction * len(frame)))) if frame else 0
    random_size = round(RANDOM_SHARE * size)
    ranked = sorted(frame, key=lambda pair: (-pair.score, digest(seed, "relabel", *pair.pair)))
    stale, others = ranked[: size - random_size], ranked[size - random_size :]
    chosen = [_make_plan_pair(pair, STALE, 1.0) for pair in stale]
    probability = random_size / max(1, len(others))
    chosen += [_make_plan_pair(pair, RANDOM, probability) for pair in _draw_random(others, random_size, seed)]
    return sorted(chosen, key=lambda pair: pair[:2])


def make_plan(
    store: Store,
    request: PlanRequest,
    today: date | None = None,
    author: str = COMMAND_LINE,
    progress: Progress = silent,
    dry_run: bool = False,
) -> RelabelingPlan:
    """Make and store the re-labeling plan of the quarter of `today`. A dry run stores nothing.

    Raises
    ------
    InputError: the fraction is not between 10 and 20 %, or the overlap is below 1.
    RefusedError: the quarter was opened already, or an earlier quarter is still open; no pair can be judged
        again; or the author is no lead.
    """
    refuse_problems(describe_out_of_bounds(PlanRequest, vars(request)))
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    progress("Reading the set", 0, 2)
    state = read_set_state(store, today)
    refuse_open(state.work, state.quarter)
    progress("Choosing the pairs", 1, 2)
    changes, strata = choose_query_changes(state, request.seed)
    leaving = {change.normalised for change in changes if change.kind != ADD}
    staying = [pair for pair in state.pairs if state.queries[pair.query_id].normalised not in leaving]
    judgeable = [pair for pair in staying if pair.document != GONE]
    pairs = choose_pairs(judgeable, request.fraction, request.seed)
    if not pairs:
        raise RefusedError(
            "There is nothing to judge again: the project has no judged pair whose document is in the "
            "corpus. Judge pairs first.",
            command="`goldgrade round open NAME` opens a round.",
        )
    left_out = {ALL_GONE: len(staying) - len(judgeable)} if len(staying) > len(judgeable) else {}
    plan = _make_record(state, judgeable, pairs, changes, left_out, request)
    if not dry_run:
        parameters = {**vars(request), "strata": [row._asdict() for row in strata]}
        _store_plan(store, plan, parameters, pairs, changes, author)
    progress("Planned", 2, 2)
    return plan


def refuse_open(work: Sequence[QuarterWork], quarter: Quarter) -> None:
    """Refuse to plan a quarter that was opened already, or while a different quarter is open.

    Raises
    ------
    RefusedError: a re-labeling is open, or the quarter had its re-labeling.
    """
    for planned in work:
        if planned.state == OPEN:
            raise open_error(planned)
        if planned.quarter == quarter and planned.state != PLANNED:
            progress = f"{planned.whole:,} of {pluralize(planned.pairs, 'pair')}"
            if planned.state == UNFINISHED:
                raise RefusedError(
                    f"The re-labeling of {quarter} is not finished: its round {planned.round!r} was closed "
                    f"with {progress} judged. Reopen the round, whose annotators and pairs come from the "
                    "plan.",
                    command=f"`goldgrade round set {planned.round} open` reopens the round.",
                )
            raise RefusedError(
                f"{quarter} was re-labeled already (round {planned.round!r}, {progress} {planned.state}). "
                "Make the next plan in the next quarter."
            )


def open_error(work: QuarterWork) -> RefusedError:
    """Make the error that refuses a new quarter while the re-labeling `work` is open."""
    return RefusedError(
        f"The re-labeling of {work.quarter} is still open: {work.whole:,} of {pluralize(work.pairs, 'pair')} "
        f"are done. Two quarters are never open at once. Finish or close the round {work.round!r}.",
        command=f"`goldgrade round set {work.round} closed` closes the round.",
    )


def _draw_new(
    new_queries: Sequence[tuple[str, int]], size: int, seed: int, quarter: Quarter
) -> tuple[list[QueryChange], list[Stratum]]:
    """Draw queries that only the new logs contain, the same number from each frequency band."""
    ordered = sort_by_seed(new_queries, seed, lambda query: ["new query", query[0]])
    size = min(size, len(ordered))
    if not size:
        return [], []
    traffic = np.array([searches for _, searches in ordered], np.int64)
    names = tuple(f"{band}{BETWEEN}{quarter}" for band in BANDS)
    strata = Labels(classify_bands(traffic), names)
    drawing = draw_stratified(traffic, strata, size)
    changes = []
    for row, probability in zip(drawing.rows.tolist(), drawing.probability.tolist(), strict=True):
        text, searches = ordered[row]
        name = strata.get_name(row)
        changes.append(QueryChange(text, ADD, "new in the traffic", name, searches, probability))
    return sorted(changes), [stratum for stratum in drawing.strata if stratum.population]


def _make_plan_pair(pair: JudgedPair, part: str, probability: float) -> PlanPair:
    return PlanPair(
        *(*pair.pair, part, pair.stratum, probability, pair.grade, pair.how, pair.read_hash),
        *(pair.guide_hash, pair.annotators, pair.judged, pair.decisions),
    )


def _draw_random(pairs: Sequence[JudgedPair], size: int, seed: int) -> list[JudgedPair]:
    """Draw pairs with equal probabilities, spread over query types, quarters and queries."""
    if not size:
        return []
    ordered = sorted(pairs, key=lambda pair: (pair.stratum, digest(seed, "axis", *pair.pair)))
    start = int(digest("relabel", seed, len(ordered)), 16)
    drawn, _ = draw_proportional(np.ones(len(ordered), np.int64), size, start)
    return [ordered[index] for index in drawn.tolist()]


def _make_record(
    state: SetState,
    judgeable: Sequence[JudgedPair],
    pairs: Sequence[PlanPair],
    changes: Sequence[QueryChange],
    left_out: dict[str, int],
    request: PlanRequest,
) -> RelabelingPlan:
    kinds = Counter(change.kind for change in changes)
    joining = sum(change.kind == ADD and change.reason != RETURNED for change in changes)
    queries = {pair.query_id for pair in state.pairs}
    new_pairs = round(joining * len(state.pairs) / len(queries)) if queries else 0
    probabilities = [pair.inclusion_probability or 0.0 for pair in pairs if pair.part == RANDOM]
    planned = {(pair.query_id, pair.document_id) for pair in pairs}
    outdated = [pair.pair for pair in judgeable if pair.guide_behind]
    chosen = [[*pair[:3], pair.content_hash, pair.grade] for pair in pairs]
    return RelabelingPlan(
        plan_id=digest("relabeling", state.quarter, *vars(request).values(), chosen, changes),
        quarter=state.quarter,
        **vars(request),
        set_pairs=len(state.pairs),
        pairs=len(pairs),
        fraction_of_pairs=len(pairs) / len(judgeable),
        graded_pairs=sum(pair.grade is not None for pair in judgeable),
        parts=dict(sorted(Counter(pair.part for pair in pairs).items())),
        by_type=dict(sorted(Counter(pair.stratum.rpartition(BETWEEN)[0] for pair in pairs).items())),
        by_quarter=dict(sorted(Counter(pair.judged or "unknown" for pair in pairs).items())),
        inclusion_probability=probabilities[0] if probabilities else 0.0,
        new_queries=kinds[ADD],
        retired=kinds[RETIRE],
        new_pairs=new_pairs,
        judgments=(len(pairs) + new_pairs) * request.overlap,
        left_out=left_out,
        guide={"stale": len(outdated), "taken": sum(pair in planned for pair in outdated)},
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
        stored = [plan.plan_id, plan.quarter, canonical_json(parameters), canonical_json(to_json_value(plan))]
        cursor.execute("INSERT INTO relabeling_plans VALUES (?, ?, ?, ?, ?)", [*stored, utc_now()])
        rows = [pair[: len(PAIR_COLUMNS)] for pair in pairs]
        append_rows(cursor, "relabeling_pairs", rows, PAIR_COLUMNS, plan_id=plan.plan_id)
        append_rows(cursor, "relabeling_queries", changes, names, plan_id=plan.plan_id)
        detail = {"plan": plan.plan_id, "quarter": plan.quarter, **parameters, "pairs": plan.pairs}
        record_event(cursor, "plan re-labeling", detail, author)
