"""The extension of a round by new candidates, or by annotators who join and share the work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from curation.core.errors import RefusedError
from curation.core.text import pluralize
from curation.labeling.rounds import transfer
from curation.labeling.rounds.assignment import assign_queries
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.rounds.create_round import PRACTISED_BEFORE
from curation.labeling.rounds.transfer import ItemGroup, TransferBuilder, TransferInputs, TransferPlan
from curation.store import COMMAND_LINE, Cursor, Store

FIXED_ITEMS = 20
"""Number of next items in a queue that never move, because a screen may already have loaded these items."""


def extend_round(
    store: Store, name: str, people: Sequence[str] = (), candidates: bool = True, author: str = COMMAND_LINE
) -> transfer.Transfer:
    """Add to a round candidates that no round has shown, and annotators who share the work.

    Each new candidate goes to exactly the round's overlap of annotators. Annotators who join get untouched
    queries of the members with the most open items, until loads are even; the next 20 items of each queue
    stay. In a pilot, annotators who join get the same items as all members.

    Parameters
    ----------
    people: the people who join.
    candidates: add candidates; only a round of kind labeling takes candidates.

    Raises
    ------
    NotFoundError: the round or a person is unknown.
    RefusedError: the round is closed or a practice round, or there is nothing to add.
    """
    joining = list(dict.fromkeys(people))

    def read_inputs(cursor: Cursor) -> TransferInputs:
        return transfer.read_transfer_inputs(cursor, name, author, joining, joining, extends=candidates)

    def make_plan(inputs: TransferInputs) -> TransferPlan:
        if inputs.state.kind == "practice":
            raise RefusedError(
                f"{name} is a practice round: annotators who join need a new practice round.",
                command="`goldgrade practice NAME --annotators NAMES` opens a practice round.",
            )
        return _plan_extension(inputs, [person for person in joining if person not in inputs.members])

    return transfer.execute_transfer(store, read_inputs, make_plan, "extend", author)


def _plan_extension(inputs: TransferInputs, joined: Sequence[str]) -> TransferPlan:
    round_pairs = {item.pair for item in inputs.items}
    unshown = inputs.new_candidates.candidates
    new_candidates = [candidate for candidate in unshown if candidate.pair not in round_pairs]
    unseen_items = [item for item in inputs.items if not item.has_events and item.duplicate_of is None]
    loads = Counter(item.annotator for item in unseen_items)
    builder = TransferBuilder(inputs, loads)
    work = _assign_candidates(inputs, new_candidates, [*inputs.able_members, *joined], loads)
    for annotator, candidates in work.items():
        builder.add(annotator, candidates)
    if inputs.state.kind == "pilot":  # everybody gets the same items
        for annotator in joined:
            builder.add(annotator, sorted({item.candidate for item in inputs.items}))
    else:
        _share_work(builder, inputs, joined)
    if not any(builder.work.values()):
        raise RefusedError(_explain_nothing_to_add(inputs, joined))
    moved_ids = {item.presentation_id for item in builder.moved}
    dropped_items = [item for item in inputs.items if item.duplicate_of in moved_ids and not item.has_events]
    assigned_pairs = {
        (annotator, *candidate.pair)
        for annotator, queries in builder.work.items()
        for candidates in queries.values()
        for candidate in candidates
    }
    left_out = Counter({PRACTISED_BEFORE: len(assigned_pairs & inputs.practised_pairs)})
    return transfer.plan_transfer(
        inputs, builder, dropped_items, {"annotators": list(joined)}, left_out, candidates=len(new_candidates)
    )


def _assign_candidates(
    inputs: TransferInputs,
    candidates: Sequence[Candidate],
    annotators: Sequence[str],
    loads: Mapping[str, int],
) -> dict[str, list[Candidate]]:
    """Assign each query of the new candidates to as many annotators as the round's overlap requires."""
    layout = inputs.layout
    if candidates and layout.overlap > len(annotators):
        raise RefusedError(
            f"Each pair of {inputs.state.round} is for {pluralize(layout.overlap, 'person', 'people')}, "
            f"and only {len(annotators)} people judge in the round now. Name annotators who join the round."
        )
    pairs = {candidate.pair for candidate in candidates}
    practised = {pair[:2] for pair in inputs.practised_pairs if pair[1:] in pairs}
    work = assign_queries(candidates, annotators, layout.overlap, layout.seed, loads, practised)
    return {
        annotator: [item for items in candidates_by_query.values() for item in items]
        for annotator, candidates_by_query in work.items()
    }


def _share_work(builder: TransferBuilder, inputs: TransferInputs, joined: Sequence[str]) -> None:
    """Transfer whole untouched queries to annotators who joined, until loads are even.

    Each query goes from the annotator with the most items to the joining annotator with the fewest items who
    can take the query. Deactivated annotators give away all their queries.
    """
    donors = [*inputs.members, *sorted(inputs.unable_annotators.difference(inputs.members))]
    groups_by_donor = {donor: _find_movable_queries(inputs, donor) for donor in donors}

    def find_offer(donor: str, taker: str) -> ItemGroup | None:
        """Find the donor's last query that makes both people's loads more even and that the taker may
        judge."""
        surplus = builder.loads[donor] - builder.loads[taker]
        movable = (
            group
            for group in groups_by_donor[donor]
            if (donor in inputs.unable_annotators or surplus > len(group)) and builder.can_take(taker, group)
        )
        return next(movable, None)

    def rank_donor(group: ItemGroup) -> tuple[int, str]:
        return builder.loads[group[0].annotator], group[0].annotator

    def find_transfer() -> tuple[ItemGroup, str] | None:
        for taker in sorted(joined, key=lambda name: (builder.loads[name], joined.index(name))):
            offers = [group for donor in groups_by_donor if (group := find_offer(donor, taker))]
            if offers:
                return max(offers, key=rank_donor), taker
        return None

    while (next_transfer := find_transfer()) is not None:
        group, taker = next_transfer
        groups_by_donor[group[0].annotator].remove(group)
        builder.transfer(group, taker)


def _find_movable_queries(inputs: TransferInputs, annotator: str) -> list[ItemGroup]:
    """Return the annotator's queries that have no touched or upcoming item, last queries first.

    For an annotator who may no longer judge, return all queries with unanswered items.
    """
    own_items = [item for item in inputs.items if item.annotator == annotator]
    blocked_queries: set[str] = set()
    if annotator not in inputs.unable_annotators:
        fixed_items = [item for item in own_items if not item.answered][:FIXED_ITEMS]
        blocked_queries = {item.query_id for item in own_items if item.has_events or item.is_second_opinion}
        blocked_queries |= {item.query_id for item in fixed_items}
    work_items = [item for item in own_items if item.is_work and inputs.is_movable(item)]
    movable_items = [item for item in work_items if item.query_id not in blocked_queries]
    return list(reversed(transfer.group_by_query(movable_items).values()))


def _explain_nothing_to_add(inputs: TransferInputs, joined: Sequence[str]) -> str:
    round_name = inputs.state.round
    if joined:
        return (
            f"No items of {round_name} can move to {', '.join(joined)}: open items were started or come "
            "next, all annotators have the same number of items, or the new people saw the items in "
            "practice."
        )
    reasons = (f"{count:,} {reason}" for reason, count in inputs.new_candidates.left_out.items())
    reason_text = "; ".join(reasons) or "there are no new candidates"
    advice = "Build a deeper pool first, or add annotators to the round."
    return f"No candidates can be added to {round_name} ({reason_text}). {advice}"
