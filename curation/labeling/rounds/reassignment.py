"""The reassignment of an annotator's untouched items to other annotators.

No annotator gets a pair twice, or a pair whose expected grade practice has shown to the annotator. Items that
no annotator can take stay, are counted with the reason, and can move to a new annotator later. An annotator
who keeps work keeps all control items, and a duplicate is dropped when its pair moves; otherwise all control
items and duplicates are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.core.text import pluralize
from curation.labeling.rounds import transfer
from curation.labeling.rounds.items import RoundItem
from curation.labeling.rounds.transfer import ItemGroup, TransferBuilder, TransferInputs, TransferPlan
from curation.store import COMMAND_LINE, Cursor, Store

SEEN = "items stay, because the annotator has seen them (item skipped, or answer undone)"
SEEN_BY_ALL = "items stay, because every other annotator already has the pair"
PRACTISED = "items stay, because all other annotators know their grade from practice"


def reassign(
    store: Store, name: str, from_: str, to: Sequence[str] = (), author: str = COMMAND_LINE
) -> transfer.Transfer:
    """Move an annotator's untouched items to other annotators, keeping queries whole if possible.

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

    def read_inputs(cursor: Cursor) -> TransferInputs:
        return transfer.read_transfer_inputs(cursor, name, author, [from_, *takers], takers, extends=False)

    def make_plan(inputs: TransferInputs) -> TransferPlan:
        if inputs.state.kind in ("pilot", "practice"):
            kind = f"{name} is a {inputs.state.kind} round"
            raise RefusedError(f"{kind}: every annotator works alone, so no items can move.")
        members = [member for member in inputs.able_members if member != from_]
        if not (takers or members):
            raise RefusedError(
                f"{name} has no other annotators. Name annotators to take the items.",
                command="--to names annotators.",
            )
        return _plan_reassignment(inputs, from_, takers or members)

    return transfer.execute_transfer(store, read_inputs, make_plan, "reassign", author)


def _plan_reassignment(inputs: TransferInputs, from_: str, takers: Sequence[str]) -> TransferPlan:
    own_items = [item for item in inputs.items if item.annotator == from_]
    movable = [item for item in own_items if inputs.is_movable(item)]
    work_items = [item for item in movable if item.is_work]
    n_seen = sum(item.is_work and not item.answered and not inputs.is_movable(item) for item in own_items)
    may_not_judge = from_ in inputs.unable_annotators
    if not work_items and not (may_not_judge and movable):
        raise RefusedError(_explain_nothing_to_move(inputs.state.round, from_, n_seen))
    builder = TransferBuilder(inputs, Counter(item.annotator for item in inputs.items if not item.answered))
    stayed = _transfer_queries(builder, work_items, takers, inputs.layout.seed)
    left_out = Counter({SEEN: n_seen}) + stayed
    kept_count = len(work_items) - len(builder.moved)
    moved_ids = {item.presentation_id for item in builder.moved}
    keeps_work = kept_count > 0 and not may_not_judge

    def is_dropped(item: RoundItem) -> bool:
        """Return whether an item is dropped instead of moved, such as a blind duplicate whose pair moves."""
        return item.duplicate_of in moved_ids if keeps_work else not item.is_work

    dropped = [item for item in movable if item.presentation_id not in moved_ids and is_dropped(item)]
    return transfer.plan_transfer(
        inputs, builder, dropped, {"from": from_, "to": list(takers)}, left_out, kept_count
    )


def _transfer_queries(
    builder: TransferBuilder, items: Sequence[RoundItem], takers: Sequence[str], seed: int
) -> Counter[str]:
    """Transfer items query by query, the largest query first, to the taker with the least work.

    If no annotator can take a whole query, its pairs move one by one. Return the number of pairs that stay,
    by reason.
    """

    def try_transfer(group: ItemGroup) -> bool:
        able_takers = [taker for taker in takers if builder.can_take(taker, group)]
        if able_takers:
            query_id = group[0].query_id
            loads = {taker: (builder.loads[taker], digest(seed, query_id, taker)) for taker in able_takers}
            builder.transfer(group, min(able_takers, key=loads.__getitem__))
        return bool(able_takers)

    kept_counts: Counter[str] = Counter()
    groups = transfer.group_by_query(items)
    for _, group in sorted(groups.items(), key=lambda entry: (-len(entry[1]), digest(seed, entry[0]))):
        if not try_transfer(group):
            for item in group:
                if not try_transfer([item]):
                    seen_by_all = all((taker, *item.pair) in builder.assigned_pairs for taker in takers)
                    kept_counts[SEEN_BY_ALL if seen_by_all else PRACTISED] += 1
    return kept_counts


def _explain_nothing_to_move(round_name: str, person: str, n_seen: int) -> str:
    remark = ""
    if n_seen:
        items = pluralize(n_seen, "item stays", "items stay")
        remark = f" {items}, because {person} skipped the text or undid the answer, and so has seen the text."
    return f"{person} has no untouched items in {round_name}, so no items can move.{remark}"
