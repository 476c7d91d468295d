"""Moves of work within a round, to its members or to annotators who join.

No annotator gets a pair twice, or a pair whose expected grade practice has shown to the annotator. Items that
no annotator can take stay, are counted with the reason, and can move to a new annotator later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize
from curation.labeling.requests import MoveRequest
from curation.labeling.rounds.assignment import assign_queries
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.create_round import PRACTISED_BEFORE
from curation.labeling.rounds.items import RoundItem
from curation.labeling.rounds.transfer import (
    ItemGroup,
    Mover,
    Transfer,
    TransferInputs,
    TransferPlan,
    execute_transfer,
    group_by_query,
    plan_transfer,
    read_transfer_inputs,
)
from curation.store import COMMAND_LINE, Cursor, Store

TOUCHED = "put off or taken back: they were seen, and stay"
SEEN_BY_ALL = "items that stay, because every other annotator already has the pair"
PRACTISED = "the item stays, because all annotators without the pair know its grade from practice"
FIXED_ITEMS = 20
"""Number of next items in a queue that never move, because a screen may already have loaded these items."""


def move_work(store: Store, request: MoveRequest, author: str = COMMAND_LINE) -> Transfer:
    """Move an annotator's untouched items to other members, or add candidates and annotators to a round.

    Raises
    ------
    InputError: the request has both a reassignment and an extension, or neither; also as `reassign`.
    NotFoundError, RefusedError: as `reassign` and `extend_round`.
    """
    extends = bool(request.join or request.new)
    if (request.from_ is not None) == extends:
        raise InputError(
            "Name the annotator whose items move, or annotators who join or new candidates to add, not both.",
            command="--from names whose items move, --join names new annotators, --new adds candidates.",
        )
    if request.from_ is not None:
        return reassign(store, request.round, request.from_, request.to, author)
    return extend_round(store, request.round, request.join, request.new, author)


def reassign(
    store: Store, name: str, from_: str, to: Sequence[str] = (), author: str = COMMAND_LINE
) -> Transfer:
    """Move an annotator's untouched items to other annotators, whole queries if possible.

    If the annotator may no longer judge, skipped items move as well.

    Parameters
    ----------
    to: the annotators who get the items, members of the round or not; by default all other members.

    Raises
    ------
    InputError: `to` names the annotator whose items move.
    NotFoundError: the round or a person is unknown.
    RefusedError: the round is closed, or of a kind without reassignment (pilot, practice); there is no item
        to move, or no annotator to take the items.
    """
    takers = list(dict.fromkeys(to))
    if from_ in takers:
        raise InputError(
            f"The work of {from_} cannot be reassigned to {from_}: name a different annotator.",
            command="`--to` names the annotator who takes the work.",
        )

    def read(cursor: Cursor) -> TransferInputs:
        return read_transfer_inputs(cursor, name, author, [from_, *takers], takers, extends=False)

    def make(inputs: TransferInputs) -> TransferPlan:
        if inputs.state.kind in ("pilot", "practice"):
            raise RefusedError(
                f"{name} is a {inputs.state.kind} round: every annotator works alone, so no items can move."
            )
        others = takers or [who for who in inputs.at_work if who != from_]
        if not others:
            raise RefusedError(
                f"{name} has no other annotators. Name annotators to take the items.",
                command="--to names annotators.",
            )
        return _plan_reassignment(inputs, from_, others)

    return execute_transfer(store, read, make, "reassign", author)


def extend_round(
    store: Store,
    name: str,
    annotators: Sequence[str] = (),
    candidates: bool = True,
    author: str = COMMAND_LINE,
) -> Transfer:
    """Extend a round by candidates that no round has shown, and by annotators who share the work.

    Each new candidate goes to exactly the round's overlap of annotators. Annotators who join get untouched
    queries of the members with the most open items, until loads are even; the next 20 items of each queue
    stay. In a pilot, annotators who join get the same items as all members.

    Parameters
    ----------
    annotators: the people who join.
    candidates: add candidates; only a round of kind labeling takes candidates.

    Raises
    ------
    NotFoundError: the round or a person is unknown.
    RefusedError: the round is closed or a practice round, or there is nothing to add.
    """
    joining = list(dict.fromkeys(annotators))

    def read(cursor: Cursor) -> TransferInputs:
        return read_transfer_inputs(cursor, name, author, joining, joining, extends=candidates)

    def make(inputs: TransferInputs) -> TransferPlan:
        if inputs.state.kind == "practice":
            raise RefusedError(
                f"{name} is a practice round: annotators who join need a new practice round.",
                command="`goldgrade practice NAME --annotators NAMES` opens a practice round.",
            )
        return _plan_extension(inputs, [who for who in joining if who not in inputs.members])

    return execute_transfer(store, read, make, "extend", author)


def _plan_reassignment(inputs: TransferInputs, from_: str, takers: Sequence[str]) -> TransferPlan:
    own_items = [item for item in inputs.items if item.annotator == from_]
    movable = [item for item in own_items if inputs.is_movable(item)]
    work_items = [item for item in movable if item.is_work]
    touched = sum(item.is_work and not item.answered and not inputs.is_movable(item) for item in own_items)
    may_not_judge = from_ in inputs.away
    if not work_items and not (may_not_judge and movable):
        raise RefusedError(_explain_nothing_to_move(inputs.state.round, from_, touched))
    mover = Mover(inputs, Counter(item.annotator for item in inputs.items if not item.answered))
    left_out = Counter({TOUCHED: touched}) + _move_queries(mover, work_items, takers, inputs.layout.seed)
    kept_count = len(work_items) - len(mover.moved)
    moved_ids = {item.presentation_id for item in mover.moved}
    dropped = [
        item
        for item in movable
        if item.presentation_id not in moved_ids
        and (item.duplicate_of in moved_ids if kept_count and not may_not_judge else not item.is_work)
    ]
    return plan_transfer(inputs, mover, dropped, {"from": from_, "to": list(takers)}, left_out, kept_count)


def _move_queries(mover: Mover, items: Sequence[RoundItem], takers: Sequence[str], seed: int) -> Counter[str]:
    """Move items query by query, the largest query first, to the annotator in `takers` with the least work.

    If no annotator can take a whole query, its pairs move one by one. Return the number of pairs that stay,
    by reason.
    """

    def give(group: ItemGroup) -> bool:
        free = [who for who in takers if mover.can_take(who, group)]
        if free:
            query = group[0].query_id
            mover.move(group, min(free, key=lambda who: (mover.loads[who], digest(seed, query, who))))
        return bool(free)

    kept_counts: Counter[str] = Counter()
    groups = group_by_query(items)
    for query in sorted(groups, key=lambda query: (-len(groups[query]), digest(seed, query))):
        if not give(groups[query]):
            for item in groups[query]:
                if not give([item]):
                    seen_by_all = all((who, *item.pair) in mover.had for who in takers)
                    kept_counts[SEEN_BY_ALL if seen_by_all else PRACTISED] += 1
    return kept_counts


def _explain_nothing_to_move(name: str, annotator: str, touched_count: int) -> str:
    touched_items = pluralize(
        touched_count,
        "item was put off or taken back: it was seen, and stays",
        "items were put off or taken back: they were seen, and stay",
    )
    remark = f" {touched_items}." if touched_count else ""
    return f"{annotator} has no untouched items in {name}, so no items can move.{remark}"


def _plan_extension(inputs: TransferInputs, joined: Sequence[str]) -> TransferPlan:
    in_round = {item.pair for item in inputs.items}
    new_candidates = [candidate for candidate in inputs.new.candidates if candidate[:2] not in in_round]
    loads = Counter(item.annotator for item in inputs.items if not item.touched and item.duplicate_of is None)
    mover = Mover(inputs, loads)
    assigned = _assign_candidates(inputs, new_candidates, [*inputs.at_work, *joined], loads)
    for annotator, candidates in assigned.items():
        mover.add(annotator, candidates)
    if inputs.state.kind == "pilot":  # everybody has the same
        for annotator in joined:
            mover.add(annotator, sorted({item.candidate for item in inputs.items}))
    else:
        _share_work(mover, inputs, joined)
    if not any(mover.work.values()):
        raise RefusedError(_explain_nothing_to_add(inputs, joined))
    moved_ids = {item.presentation_id for item in mover.moved}
    dropped_items = [item for item in inputs.items if item.duplicate_of in moved_ids and not item.touched]
    assigned_pairs = {
        (annotator, *c[:2])
        for annotator, work in mover.work.items()
        for items in work.values()
        for c in items
    }
    left_out = Counter({PRACTISED_BEFORE: len(assigned_pairs & inputs.practised)})
    return plan_transfer(
        inputs, mover, dropped_items, {"annotators": list(joined)}, left_out, candidates=len(new_candidates)
    )


def _assign_candidates(
    inputs: TransferInputs,
    candidates: Sequence[Candidate],
    annotators: Sequence[str],
    loads: Mapping[str, int],
) -> dict[str, list[Candidate]]:
    """Assign each query of the new candidates to as many annotators as the round's overlap."""
    layout = inputs.layout
    if candidates and layout.overlap > len(annotators):
        raise RefusedError(
            f"Each pair of {inputs.state.round} is for {pluralize(layout.overlap, 'person', 'people')}, "
            f"and only {len(annotators)} people judge in the round now. Name annotators who join."
        )
    pairs = {candidate[:2] for candidate in candidates}
    practised = {pair[:2] for pair in inputs.practised if pair[1:] in pairs}
    work = assign_queries(candidates, annotators, layout.overlap, layout.seed, loads, practised)
    return {
        annotator: [item for items in candidates_by_query.values() for item in items]
        for annotator, candidates_by_query in work.items()
    }


def _share_work(mover: Mover, inputs: TransferInputs, joined: Sequence[str]) -> None:
    """Move whole untouched queries to annotators who joined, until loads are even.

    Each query goes from the annotator with the most items to the joining annotator with the fewest items who
    can take the query. Deactivated annotators give away all their queries.
    """
    donors = [*inputs.members, *sorted(inputs.away.difference(inputs.members))]
    groups_by_donor = {who: _find_movable_queries(inputs, who) for who in donors}

    def offer(donor: str, taker: str) -> ItemGroup | None:
        """Return the donor's last query that evens the loads and that the taker can judge."""
        more = mover.loads[donor] - mover.loads[taker]
        fitting = (
            group
            for group in groups_by_donor[donor]
            if (donor in inputs.away or more > len(group)) and mover.can_take(taker, group)
        )
        return next(fitting, None)

    def next_move() -> tuple[ItemGroup, str] | None:
        for taker in sorted(joined, key=lambda who: (mover.loads[who], joined.index(who))):
            offers = [group for donor in groups_by_donor if (group := offer(donor, taker))]
            if offers:
                return max(
                    offers, key=lambda group: (mover.loads[group[0].annotator], group[0].annotator)
                ), taker
        return None

    while (move := next_move()) is not None:
        groups_by_donor[move[0][0].annotator].remove(move[0])
        mover.move(*move)


def _find_movable_queries(inputs: TransferInputs, annotator: str) -> list[ItemGroup]:
    """Return the annotator's queries without a touched or upcoming item, the last queries first.

    For an annotator who may no longer judge, return all queries with unanswered items.
    """
    own_items = [item for item in inputs.items if item.annotator == annotator]
    blocked_queries: set[str] = set()
    if annotator not in inputs.away:
        fixed_items = [item for item in own_items if not item.answered][:FIXED_ITEMS]
        blocked_queries = {item.query_id for item in own_items if item.touched or item.requested}
        blocked_queries |= {item.query_id for item in fixed_items}
    movable_items = [
        item
        for item in own_items
        if inputs.is_movable(item) and item.query_id not in blocked_queries and item.is_work
    ]
    return list(reversed(group_by_query(movable_items).values()))


def _explain_nothing_to_add(inputs: TransferInputs, joined: Sequence[str]) -> str:
    name = inputs.state.round
    if joined:
        return (
            f"No items of {name} can move to {', '.join(joined)}: open items were touched or come up "
            "next, loads are even, or the new people practised on the items."
        )
    reasons = (f"{count:,} {reason}" for reason, count in inputs.new.left_out.items())
    reason_text = "; ".join(reasons) or "none is new"
    advice = "Deepen the pool first, or add annotators to the round."
    return f"No candidates can be added to {name} ({reason_text}). {advice}"
