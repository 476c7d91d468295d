"""Reassignment of an annotator's untouched items to other annotators of the round.

No annotator gets a pair twice, or a pair whose expected grade practice has shown to the annotator. Items that
no annotator can take stay, are counted with the reason, and can move to a new annotator later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize
from curation.labeling.requests import MoveRequest
from curation.labeling.rounds.extension import extend_round
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
from curation.labeling.rounds.withdrawals import RoundItem
from curation.store import COMMAND_LINE, Cursor, Store

TOUCHED = "put off or taken back: they were seen, and stay"
SEEN_BY_ALL = "items that stay, because every other annotator already has the pair"
PRACTISED = "the item stays, because all annotators without the pair know its grade from practice"


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
        return read_transfer_inputs(cursor, name, author, [from_, *takers], takers, adds_candidates=False)

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
